// SPDX-License-Identifier: MIT
//
// Continuing from another entry, optionally with a model's summary of the entries that are left.
// Nothing changes until the summary is complete, nor if it fails or is stopped.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { Dialog } from "./dialog";
import { showEntry } from "./entry_acts";
import { openTakeOf, runToEnd, toComposer, useModel, useWork } from "./pane_data";
import { headRow, isSamePoint, isUserMessage, entriesLeft } from "./pane_tree";
import { addPane, openOverlay } from "./panes";
import { set, state } from "./state";
import { discPath } from "./store";
import { count } from "./words";
import type { Columns, Run } from "./types";

interface Way {
	entry: string;
	/** Number of entries that are left. */
	left: number;
	/** The entry is a question, which the next message replaces. */
	isInstead: boolean;
}

let way: Way | null = null;

async function arrive(entry: string, run: Run): Promise<void> {
	await openTakeOf(run);
	if (run.editor !== undefined) {
		toComposer(String(run.editor));
		act.say("Change the question below: sending it starts a new take.", true, run.seq);
	} else {
		set({ focus: entry });
		showEntry(entry, false);
		act.say("The next entry continues from here.", true, run.seq);
	}
	if (run.notice)
		act.say(String(run.notice), true, run.seq);
}

/** Moves without a summary. Needs no model. */
async function justGo(entry: string): Promise<void> {
	try {
		const run = await runToEnd({ how: "go", entry, select: true, summary: false }, () => undefined, () => false);
		if (run.problem?.quiet)
			return;
		if (run.state !== "done")
			throw new Error(run.problem?.detail ?? "The head did not move.");
		await arrive(entry, run);
	} catch (error) {
		act.sayProblem(error);
	}
}

/** Enter on a row of the tree: seed 4. */
export async function goTo(columns: Columns, row: number): Promise<void> {
	const entry = columns.id[row];
	if (state.outline && columns.seq < state.outline.seq) {
		// the display may be outdated: the current branch must be known
		await act.idle();
		columns = await get<Columns>(discPath("tree"), { columns: 1, preview: 0, bare: 1 });
		row = columns.id.indexOf(entry);
		if (row < 0)
			return act.say("That entry no longer exists.", false);
	}
	const head = headRow(columns, state.take, state.head);
	if (isSamePoint(columns, head, row))
		return act.say("Already at this point.", false);
	const to = isUserMessage(columns, row) ? columns.parent[row] : row;
	const left = entriesLeft(columns, head, to);
	if (left === 0)
		return justGo(entry);
	way = { entry, left, isInstead: to !== row };
	openOverlay("leave");
}

function Leave() {
	const { entry, left, isInstead } = way!;
	const model = useModel(), work = useWork();
	const writes = model !== "" && !model.startsWith("builtin/");
	const [words, setWords] = useState("");
	const close = () => (work.isBusy ? work.stop() : openOverlay(null));
	const goPlain = () => {
		openOverlay(null);
		void justGo(entry);
	};
	const goSummed = async () => {
		const run = await work.start({ how: "go", entry, select: true, summary: true, ...(writes && words.trim() ? { instructions: words.trim() } : {}) });
		if (!run)
			return;
		openOverlay(null);
		await arrive(entry, run);
	};
	return (
		<Dialog title="Continue from there?" onClose={close}>
			<p>Your next message {isInstead ? "replaces that question" : "follows that entry"}, in a new take. {
				left === 1 ? "The later entry stays in its take" : `The ${count(left, "later entry", "later entries")} stay in their take`}, unchanged.
				Add a summary if the model should know about {left === 1 ? "it" : "them"}.</p>
			<label class="field">Focus of the summary (optional)
				<textarea rows={2} value={words} disabled={work.isBusy || !writes} aria-describedby={model && !writes ? "leave-note" : undefined} onInput={(event) => setWords(event.currentTarget.value)} />
			</label>
			{!model && <p class="note">No model is set for a summary. You can continue without one.</p>}
			{model && !writes && <p class="note" id="leave-note">{model} is not a language model: its summary is an extract and ignores instructions.</p>}
			{work.problem && <p class="note problem" role="alert">{work.problem}</p>}
			{work.isBusy && <p class="quiet" role="status">{work.run?.notice ?? "The model is writing a summary …"}</p>}
			<footer>
				<button type="button" onClick={close}>{work.isBusy ? "Stop" : "Stay here"}</button>
				<button type="button" class="primary" disabled={work.isBusy} autoFocus onClick={goPlain}>Without a summary</button>
				<button type="button" disabled={work.isBusy || !model} onClick={() => void goSummed()}>With a summary</button>
			</footer>
		</Dialog>
	);
}

addPane({ id: "leave", title: "Continue from there?", place: "overlay", view: Leave });
