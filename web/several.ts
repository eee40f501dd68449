// SPDX-License-Identifier: MIT
//
// Several models at once: the picker starts them, the composer knows the question. When all have
// ended, their replies are compared.
import { say, undo } from "./actions";
import { notify } from "./notice";
import { compareWith } from "./pane_compare";
import { set, state } from "./state";
import { findTake, takeOf } from "./store";
import { count } from "./words";
import type { Run } from "./types";

/** The composer. */
interface Asker {
	/** Asks its text, or if it is empty, requests replies to the end of the take. */
	ask: (models: string[]) => void;
	text: () => string;
	type: (text: string) => void;
	/** Attaches files to the next message. */
	attach: (files: File[]) => void;
}

let asker: Asker | null = null;

export function setAsker(composer: Asker | null): void {
	asker = composer;
}

export function askModels(models: string[]): void {
	asker?.ask(models);
}

/** The unsent question. */
export function questionText(): string {
	return asker?.text() ?? "";
}

/** False: there is no message to attach them to. */
export function attachFiles(files: File[]): boolean {
	if (asker && files.length > 0)
		asker.attach(files);
	return asker !== null;
}

export function typeQuestion(text: string): void {
	asker?.type(text);
}

const groups = new Map<string, { left: number; ended: Run[] }>();

/** These runs of this page belong together. */
export function severalBegan(runs: Run[]): void {
	if (runs[0]?.group)
		groups.set(runs[0].group, { left: runs.length, ended: [] });
}

/** One of them has ended. */
export function severalEnded(run: Run): void {
	const group = groups.get(run.group ?? "");
	if (!group)
		return;
	group.ended.push(run);
	if (--group.left > 0)
		return;
	groups.delete(run.group!);
	void allEnded(group.ended).catch(() => undefined);
}

/** Reports the result, and opens the comparison if the window still shows the same place. */
async function allEnded(runs: Run[]): Promise<void> {
	const kept = runs.filter((run) => run.entry), failed = runs.filter((run) => run.state === "failed");
	const problem = failed.map((run) => `${run.model}: ${run.problem?.detail ?? "the model's server failed"}`).join(" ");
	if (kept.length === 0) {
		if (failed.length > 0)
			set({ toast: { text: `No model replied. ${problem}`, isProblem: true } });
		else
			say("Stopped before any reply arrived.", false);
		return;
	}
	const text = `${count(kept.length, "model")} replied.${problem && ` No reply from ${problem}`}`;
	const others: string[] = [];
	for (const run of kept) {
		const take = run.take && run.discussion === state.disc ? await findTake(run.take, run.discussion) : undefined;
		if (take && take.id !== state.take)
			others.push(take.id);
	}
	const tell = (isOpen: boolean) => notify({
		text, isProblem: failed.length > 0,
		action: { label: "Undo", run: () => void undo() },
		...(others.length > 0 && !isOpen && { repair: { label: "Compare", run: () => compareWith(others[0]) } }),
	}, Math.max(...kept.map((run) => run.seq ?? 0)));
	if (others.length > 0 && takeOf(state.take) && state.overlay === null && !state.editing && runs[0].discussion === state.disc)
		compareWith(others[0], () => tell(true));
	else
		tell(false);
}
