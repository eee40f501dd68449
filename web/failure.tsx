// SPDX-License-Identifier: MIT
//
// Failure: the reason why a question has no reply, shown at the question, with a retry button.
import * as act from "./actions";
import { openOverlay } from "./panes";
import { runsHere } from "./runs";
import { useStore } from "./state";

interface Failed {
	code?: string;
	detail?: string;
	model?: string;
}

/** Renders nothing for an entry without a failure, or while it is being answered. */
export function Failure(props: { entry: string }) {
	const { entry } = props;
	const failures = useStore((from) => from.settings)?.failures as Record<string, Failed> | undefined;
	const runs = useStore((from) => from.runs);
	const failed = failures?.[entry];
	if (!failed || runsHere(runs).some((run) => run.at === entry || run.question === entry))
		return null;
	return (
		<p class="failure" role="note">
			{failed.code === "interrupted" ? <span><b>Stopped</b> before the reply began.</span>
				: <span><b>Not answered.</b> {act.sentence(failed.detail ?? "")}</span>}
			<button type="button" onClick={() => void act.run({ how: "again", at: entry })}>Retry</button>
			{failed.code === "credentials" && <button type="button" onClick={() => openOverlay("model")}>Choose a model</button>}
		</p>
	);
}
