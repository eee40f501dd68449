// SPDX-License-Identifier: MIT
//
// News: changes by other clients, as a one-line message. Changes by this page are not reported.
import { set } from "./state";
import type { Change, Step } from "./types";

const ours = new Set<number>();
const undecided: Change[] = [];
let openRequests = 0;

/** This page sends a change. Until the answer arrives, rows by "web" may be its own (or another window's). */
export function requestStarted(): void {
	openRequests++;
}

export function requestEnded(seq: number | undefined): void {
	openRequests--;
	if (seq !== undefined)
		ours.add(seq);
	if (openRequests > 0)
		return;
	for (const change of undecided.splice(0))
		if (!ours.has(change.seq) && !isImported(change))
			reportNews(change);
}

const imports: { after: number; upto: number }[] = [];

/** An import by this page. It makes a row for each discussion, all of which are in this range. */
export function importedHere(after: number, upto: number): void {
	imports.push({ after, upto });
}

function isImported(change: Change): boolean {
	return change.op === "import" && change.by === "web" && imports.some((each) => each.after < change.seq && change.seq <= each.upto);
}

let runCount = 0;
const BY_RUNS = new Set(["entry.append", "entry.reply", "entry.fail", "entry.edit", "batch", "take.branch", "head.move"]);

/** A model starts (1) or stops (-1) working for this page; its changes are not news. */
export function runningHere(by: number): void {
	runCount += by;
}

export function isOurs(change: Change): boolean {
	if (ours.delete(change.seq) || isImported(change) || (runCount > 0 && change.by === "web" && BY_RUNS.has(change.op)))
		return true;
	if (openRequests > 0 && change.by === "web") {
		undecided.push(change);
		return true;
	}
	return false;
}

declare const OP_WORDS: Record<string, string>; // from the table of operations: tools/web.py
const WORDS: Record<string, string> = { ...OP_WORDS, batch: "changed several things", import: "imported" };

/** Messages about a change of this page that say more than the words of its operation. */
const SENTENCES: Record<string, string> = {
	"entry.edit": "Saved.", "take.branch": "Started a new take.", "take.promote": "The take is now a separate discussion.",
	"discussion.extract": "Copied the path to a new discussion.", "head.move": "The next entry continues from here.", batch: "",
};

export function doneSentence(op: string): string {
	const words = WORDS[op];
	return SENTENCES[op] ?? words.charAt(0).toUpperCase() + words.slice(1) + ".";
}

/** A step of the history in words: "edited an entry". */
export function wordsOf(step: Step): string {
	const many = step.op === "entry.delete" ? /\d+ entries/.exec(step.what) : null;
	if (step.op === "entry.delete")
		return `deleted ${many?.[0] ?? "an entry"}`;
	if (step.op === "batch" && step.did)
		return step.did.replace(/^(\w+) entry$/, "$1 an entry");
	return WORDS[step.op] ?? step.what;
}

function who(by: string): string {
	return by === "web" ? "Another window" : by;
}

export function reportNews(change: Change): void {
	if (change.kind === "view" || change.kind === "note")
		return;
	const removed = (change.splices ?? []).reduce((sum, splice) => sum + (splice.remove ?? 0), 0);
	const what = change.op === "entry.delete" ? `deleted ${removed === 1 ? "an entry" : `${removed} entries`}` : WORDS[change.op] ?? change.op;
	const isMove = change.op === "undo" || change.op === "redo"; // these words have no object
	set({ news: `${who(change.by)} ${what}${isMove ? " a change" : ""}` });
}
