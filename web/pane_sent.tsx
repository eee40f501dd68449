// SPDX-License-Identifier: MIT
//
// The last request beside the next one: a section of the prompt pane that lists the changes since,
// and a comparison of the two requests with the differences marked.
import { useMemo, useState } from "preact/hooks";
import { get } from "./api";
import { Dialog } from "./dialog";
import { useLoaded } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { compare, partsOf } from "./request";
import { state, useStore } from "./state";
import { discPath, takeOf } from "./store";
import { Difference } from "./versions";
import { count, when, whenFull } from "./words";
import type { Part } from "./request";
import type { Context, Sent } from "./types";

const PAGE = 100, PAUSE_MS = 300;

/** GET …/context, also used by the pane. */
export function readContext(budget: number | null): Promise<Context> {
	return get<Context>(discPath("context"), { take: state.take, budget });
}

function useSent() {
	const disc = useStore((from) => from.disc), take = useStore((from) => from.take);
	const version = useStore((from) => from.version);
	return useLoaded(() => get<Sent>(discPath("sent"), { take: state.take }), [disc, take, version], PAUSE_MS);
}

/** A request as JSON, formatted when it is opened. */
export function RequestText(props: { body: unknown }) {
	const [isOpen, setOpen] = useState(false);
	return (
		<details onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>The request itself</summary>
			{isOpen && <pre class="request" tabIndex={0}>{JSON.stringify(props.body, null, 2)}</pre>}
		</details>
	);
}

/** "2 new entries, 1 edited, the working prompt, temperature" */
function changesOf(sent: Sent): string {
	const of = (change: string) => sent.entries.filter((each) => each.change === change).length;
	return [
		of("new") && `${count(of("new"), "new entry", "new entries")}`,
		of("edited") && `${of("edited").toLocaleString()} edited`,
		of("gone") && `${of("gone").toLocaleString()} no longer sent`,
		sent.moved && "a different order",
		sent.prompt && "the working prompt",
		sent.files.length > 0 && count(sent.files.length, "file", "files"),
		...sent.settings.map((key) => key.replace(/_/g, " ")),
	].filter(Boolean).join(", ");
}

export function SentLast() {
	const { data, problem } = useSent();
	const take = useStore((from) => from.take);
	if (!data)
		return <p class="quiet">{problem ? problem[0].toUpperCase() + problem.slice(1) : "Reading …"}</p>;
	const changed = changesOf(data), from = data.take !== take ? takeOf(data.take)?.name ?? data.take : null;
	return (
		<>
			<p>
				To <strong>{data.service ?? data.provider}/{data.model}</strong>, <time dateTime={data.at} title={whenFull(data.at)}>{when(data.at)}</time>,
				{from && `in the take ${from}, `}right after step {data.seq.toLocaleString()}.
			</p>
			{!data.exact && <p class="note">It cannot be rebuilt exactly: a hook changed it, a text was purged, or another version of Retake sent it.</p>}
			<p class="quiet">{data.same ? "The same request would be sent again, byte for byte." : changed ? `Since then: ${changed}.` : "It would now be sent in a different form."}</p>
			<div class="verbs"><button type="button" onClick={() => openOverlay("sent")}>Compare with the next request</button></div>
			<RequestText body={data.body} />
		</>
	);
}

function Who(props: { role: string }) {
	const kind = props.role === "user" ? " user" : /^(settings|tools)$/.test(props.role) ? " mark" : "";
	return <span class={"who" + kind}>{props.role}</span>;
}

function Side(props: { part: Part | null; other: Part | null; isLeft: boolean }) {
	const { part, other, isLeft } = props;
	if (!part)
		return <div class="side-entry none" />;
	return (
		<article class={`side-entry${other ? "" : isLeft ? " out" : " in"}`} aria-label={`${part.role}, ${isLeft ? "last request" : "next request"}`}>
			<header>
				<Who role={part.role} />
				<span class="space" />
				<span class="side-name quiet small">{isLeft ? "last request" : "next request"}</span>
			</header>
			{other
				? <div class={isLeft ? "shows-out" : "shows-in"}><Difference before={isLeft ? part.text : other.text} after={isLeft ? other.text : part.text} /></div>
				: <div class="plain">{part.text}</div>}
		</article>
	);
}

/** A run of common parts: their number; expandable. */
function SameParts(props: { parts: Part[] }) {
	const [isOpen, setOpen] = useState(false);
	const shown = props.parts.slice(0, PAGE);
	return (
		<details class="same-parts" onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>{count(props.parts.length, "part is", "parts are")} the same</summary>
			{isOpen && shown.map((part) => (
				<div class="same-part"><Who role={part.role} /><div class="plain">{part.text}</div></div>
			))}
			{isOpen && props.parts.length > PAGE && <p class="quiet">and {(props.parts.length - PAGE).toLocaleString()} more</p>}
		</details>
	);
}

function CompareSent() {
	const sent = useSent(), version = useStore((from) => from.version);
	const context = useLoaded(() => readContext(null), [version], PAUSE_MS);
	const [shown, setShown] = useState(PAGE);
	const before = sent.data, after = context.data;
	const lines = useMemo(() => (before && after ? compare(partsOf(before.body), partsOf(after.body)) : null), [before, after]);
	const problem = sent.problem || context.problem;
	const different = lines?.filter((line) => line.same === null).length;
	return (
		<Dialog title="Last and next request" class="wide compare" onClose={() => openOverlay(null)}>
			{problem ? <p class="note problem" role="alert">{problem}</p> : !lines && <p class="quiet">Reading …</p>}
			{before && after && (
				<div class="compare-heads">
					<p><strong>Last request</strong> <span class="quiet">{when(before.at)}, to {before.service ?? before.provider}/{before.model}</span></p>
					<p><strong>Next request</strong> <span class="quiet">{after.model ? `to ${after.service ?? after.provider}/${after.model}` : "no model set"}</span></p>
				</div>
			)}
			{different === 0 && <p class="quiet">There are no differences.</p>}
			<div class="compare-rows">
				{lines?.slice(0, shown).map((line, at) => (line.same
					? <SameParts key={at} parts={line.same} />
					: (
						<div class="compare-row" key={at}>
							<Side part={line.before} other={line.after} isLeft />
							<Side part={line.after} other={line.before} isLeft={false} />
						</div>
					)))}
			</div>
			{lines && lines.length > shown && <button type="button" onClick={() => setShown(shown + PAGE)}>Show more ({(lines.length - shown).toLocaleString()} left)</button>}
		</Dialog>
	);
}

addPane({ id: "sent", title: "Last and next request", place: "overlay", view: CompareSent });
