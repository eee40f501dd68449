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

const WORDS: Record<string, string> = {
	"entry.append": "added an entry", "entry.insert": "inserted an entry",
	"entry.reply": "added a reply", "entry.fail": "got no reply", "entry.edit": "edited an entry",
	"entry.role": "changed a role", "entry.delete": "deleted", "entry.move": "moved an entry",
	"entry.mute": "muted or unmuted an entry", "entry.split": "split an entry",
	"entry.merge": "merged two entries", "take.branch": "branched", "take.switch": "switched takes",
	"take.rename": "renamed a take", "take.delete": "deleted a take",
	"take.clear": "cleared a take", "take.truncate": "truncated a take",
	"take.graft": "copied entries", "take.promote": "promoted a take",
	"head.move": "continued from another entry", "label.set": "changed a label",
	"discussion.new": "started a discussion", "discussion.switch": "switched discussions",
	"discussion.rename": "renamed a discussion", "discussion.delete": "deleted a discussion",
	"role.add": "added a role", "role.remove": "removed a role",
	"prompt.notify": "notified the model of the prompt", "track.toggle": "switched to or from a track",
	"discussion.extract": "started a discussion from a path",
	"files.set": "changed a list of files", "track.set": "set the track", "preset.save": "saved a preset",
	"preset.load": "loaded a preset", "preset.delete": "deleted a preset",
	"prompt.update": "changed the prompt", "setting.set": "changed a setting",
	"project.reset": "reset the project", undo: "undid", redo: "redid", jump: "jumped to another state",
	revert: "reverted a step", batch: "changed several things", import: "imported",
};

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
	let what = WORDS[change.op] ?? change.op;
	const removed = (change.splices ?? []).reduce((sum, splice) => sum + (splice.remove ?? 0), 0);
	if (change.op === "entry.delete")
		what += removed === 1 ? " an entry" : ` ${removed} entries`;
	set({ news: `${who(change.by)} ${what}` });
}
