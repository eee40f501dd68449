// SPDX-License-Identifier: MIT
//
// Undo: which steps one press takes back or brings back, as people see it. Switches only say where
// somebody is: they are no steps here, and the server passes over those of others itself. What was
// typed in one go is a step.
import { get, path, request } from "./api";
import { wordsOf } from "./news";
import { state } from "./state";
import { discPath, findTake } from "./store";
import { beginning, oneLine } from "./words";
import type { Run, Step, StepEffects } from "./types";

const NEAR_STEPS = 100;
const ADDS = /^(added|inserted) an? (entry|reply)$/;
/** So often something is tried that others may come in between of. */
export const MOST_TRIES = 5;

export type Way = "undo" | "redo";

/** The way that this page went last. A draft makes way for what redo brings back: it is not taken back by that. */
export const lastWay: { way: Way | null } = { way: null };

interface Page {
	steps: Step[];
	seq: number;
}

function readPage(): Promise<Page> {
	return get<Page>(discPath("history"), { limit: NEAR_STEPS });
}

export async function nearSteps(): Promise<Step[]> {
	return (await readPage()).steps;
}

/** The newest steps, and the tag that holds as long as there are no others. */
export interface Seen extends Page {
	tag: string;
}

/** null: it changes too quickly to be read. */
export async function seenSteps(): Promise<Seen | null> {
	for (let i = 0; i < MOST_TRIES; i++) {
		const [page, about] = await Promise.all([readPage(), request<{ seq: number }>("GET", discPath())]);
		if (page.seq === about.data.seq && about.tag)
			return { ...page, tag: about.tag };
	}
	return null;
}

/** The steps of ours that go so many times in this way, by their numbers. */
export function wayOf(steps: Step[], way: Way, count: number): number[] {
	return inTheWay(steps, way).filter(isSeen).slice(0, count).map((each) => each.seq);
}

/** Somebody went to another take or discussion. */
export function isSwitch(step: Step): boolean {
	return step.op === "take.switch" || step.op === "discussion.switch";
}

/** What somebody was writing, kept. */
export function isDraft(step: Step): boolean {
	return step.setting === "draft";
}

/** Is it one that people would call a step? */
export function isSeen(step: Step): boolean {
	return !isSwitch(step);
}

/** Steps as they would be taken back, newest first; or the one that would be brought back. */
function inTheWay(steps: Step[], way: Way): Step[] {
	if (way === "undo")
		return steps.filter((each) => !each.undone && !isSwitch(each));
	let now = steps.find((each) => !each.undone && !isSwitch(each)) ?? steps.find((each) => each.current);
	// drafts that redo made way for stay beside what it brought back
	const after = (seq: number) => {
		const all = steps.filter((each) => each.undone && !isSwitch(each) && each.parent === seq);
		return all.find(isSeen) ?? all[0];
	};
	let next: Step | undefined = after(now?.seq ?? 0);
	while (!next && now && isDraft(now)) { // it makes way for what was undone before it
		const { parent } = now;
		now = steps.find((each) => each.seq === parent);
		next = after(parent ?? 0);
	}
	next ??= steps.find((each) => each.undone && each.parent === (steps.find((one) => one.current)?.seq ?? 0));
	return next ? [next] : [];
}

/** What undo would take back, or redo bring back; none: it is too far to say. */
export function nextStep(steps: Step[], way: Way): Step | undefined {
	const all = inTheWay(steps, way);
	return all.find(isSeen) ?? all[0];
}

/** The steps that a row of undo or redo moved, of those that were read before. */
export async function moved(seq: number, steps: Step[]): Promise<Step[]> {
	const row = await get<StepEffects>(path("history", seq));
	const moves = new Set((row.moves ?? []).map((move) => move.step));
	return steps.filter((each) => moves.has(each.seq));
}

const BEGINNING = 40;

/** A step in words. Of one that brought in an entry: what that is, and how it begins. */
export async function fullWords(step: Step): Promise<string> {
	const words = isDraft(step) ? "the draft" : wordsOf(step);
	if (!ADDS.test(words))
		return words;
	try {
		const { effects } = await get<StepEffects>(path("history", step.seq));
		const into = effects.find((each) => each.effect === "splice" && Array.isArray(each.after) && each.after.length > 0);
		const about = oneLine(beginning(step.about ?? "", ""), BEGINNING), quoted = about && ` “${about}”`;
		const { role } = (into?.after as { role: string }[])[0], at = (into?.at ?? 0) + 1;
		if (step.op === "entry.reply")
			return (into!.before as unknown[]).length ? `continued the reply${quoted}` : `added the reply${quoted}`;
		return /^user$/i.test(role) && step.op !== "entry.insert" && quoted ? `added the question${quoted}` : `${words.split(" ")[0]} entry ${at} (${role})${quoted}`;
	} catch {
		return words;
	}
}

/** In words, those that people see; "": it is too far to say. */
export async function movedWords(steps: Step[], count: number): Promise<string> {
	const seen = steps.filter(isSeen);
	return count === 1 && (seen.length === 1 || steps.length === 1) ? fullWords(seen[0] ?? steps[0]) : "";
}

/** How many of the steps that are there a model at work has made, of which this is the newest: its
 *  question, or none; null: somebody has done something since it began. */
export async function stepsOf(run: Run, newest: Step | undefined): Promise<number | null> {
	if (!newest || Date.parse(newest.at) < Date.parse(String(run.started)))
		return 0;
	const { effects } = await get<StepEffects>(path("history", newest.seq));
	return effects.some((each) => Array.isArray(each.after) && each.after.some((entry) => entry.id === run.question)) ? 1 : null;
}

/** Is it one that the model at work made? */
export async function isOf(run: Run, step: Step): Promise<boolean> {
	const own = new Set([run.question, run.entry, ...(run.replies ?? []).map((reply) => reply.entry)]);
	const { effects } = await get<StepEffects>(path("history", step.seq));
	return effects.some((each) => Array.isArray(each.after) && each.after.some((entry) => entry.id && own.has(entry.id)));
}

/** The take that a step was about, where the open one has no part in it and it is there. */
export async function elsewhere(step: Step | undefined): Promise<string | null> {
	const take = step?.take?.id;
	if (!step || !take || take === state.take)
		return null;
	const { effects } = await get<StepEffects>(path("history", step.seq));
	if (effects.some((each) => each.effect === "splice" && each.discussion === state.disc && each.take === state.take))
		return null;
	return (await findTake(take))?.id === take ? take : null;
}
