// SPDX-License-Identifier: MIT
//
// Run rows: streaming replies, after the entries of their take.
import { useEffect } from "preact/hooks";
import { sayProblem } from "./actions";
import { renderedBlocks } from "./streaming";
import { StreamingMarkdown } from "./markdown";
import { useStore } from "./state";
import { renderRun, stopRun } from "./runs";
import type { Run } from "./types";

const WHAT: Record<string, string> = {
	ask: "is writing", again: "is writing another reply", continue: "is continuing",
	compact: "is summarising", compress: "is compressing", go: "is summarising", merge: "is summarising a take", elsewhere: "is writing in another program",
};

export function RunRows(props: { runs: Run[] }) {
	return <>{props.runs.map((run) => <RunRow key={run.run} run={run} />)}</>;
}

function RunRow(props: { run: Run }) {
	const { run } = props;
	const outline = useStore((from) => from.outline);
	useEffect(() => renderRun(run), [run.text]);
	return (
		<section class={"entry is-model running" + (run.how === "continue" ? " continues" : "")} aria-label="Arriving reply" data-run={run.run}>
			<header class="entry-head">
				<span class="role">{outline ? "AI" : ""}</span>
				<span class="quiet">{run.model} {WHAT[run.how] ?? run.how} <span class="dots" aria-hidden="true">…</span></span>
				{run.group && <button type="button" class="stop small" aria-label={`Stop ${run.model}`} onClick={() => void stopRun(run.run).catch(sayProblem)}>Stop</button>}
			</header>
			{run.notice && <p class="quiet" role="status">{run.notice}</p>}
			{run.thinking && (
				<details class="thinking"><summary>Thinking</summary><div class="plain">{run.thinking}</div></details>
			)}
			<div class="entry-body live"><StreamingMarkdown text={run.text ?? ""} tree={renderedBlocks(run.text ?? "", run.rendered)} /></div>
		</section>
	);
}
