// SPDX-License-Identifier: MIT
//
// Undo: which steps a press of undo or redo affects. Switches only record which take is open, and
// drafts are unsent text: neither counts as a step. The server skips switches of others by itself,
// and keeps drafts on request.
import { get, path, request } from "./api";
import { wordsOf } from "./news";
import { state } from "./state";
import { discPath, findTake } from "./store";
import { beginning, oneLine, titleOf } from "./words";
import type { Run, Step, StepEffects } from "./types";

const NEAR_STEPS = 100;
const ADDS = /^(added|inserted) an? (entry|reply)$/;
/** Number of attempts when other changes come in between. */
export const MAX_TRIES = 5;

export type Direction = "undo" | "redo";

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

/** The newest steps, and the tag that is valid until there are others. */
export interface HistorySnapshot extends Page {
	tag: string;
}

/** null: the history changes too quickly. */
export async function readSnapshot(): Promise<HistorySnapshot | null> {
	for (let i = 0; i < MAX_TRIES; i++) {
		const [page, about] = await Promise.all([readPage(), request<{ seq: number }>("GET", discPath())]);
		if (page.seq === about.data.seq && about.tag)
			return { ...page, tag: about.tag };
	}
	return null;
}

/** The steps that `count` undos or redos affect, by seq. */
export function stepSeqs(steps: Step[], direction: Direction, count: number): number[] {
	return affectedSteps(steps, direction).slice(0, count).map((each) => each.seq);
}

/** The user opened another take or discussion. */
export function isSwitch(step: Step): boolean {
	return step.op === "take.switch" || step.op === "discussion.switch";
}

/** A stored draft. */
export function isDraft(step: Step): boolean {
	return step.setting === "draft";
}

/** Does the user perceive it as a step? */
export function isCounted(step: Step): boolean {
	return !isSwitch(step) && !isDraft(step);
}

/** The steps that undo would affect, newest first; or the one that redo would restore. */
function affectedSteps(steps: Step[], direction: Direction): Step[] {
	if (direction === "undo")
		return steps.filter((each) => !each.undone && isCounted(each));
	// the newest step in effect, and below it the steps whose drafts redo replaces
	let now = steps.find((each) => !each.undone && !isSwitch(each)) ?? steps.find((each) => each.current);
	const after = (seq: number) => steps.find((each) => each.undone && isCounted(each) && each.parent === seq);
	let next = after(now?.seq ?? 0);
	while (!next && now && isDraft(now)) {
		const { parent } = now;
		now = steps.find((each) => each.seq === parent);
		next = after(parent ?? 0);
	}
	next ??= steps.find((each) => each.undone && isCounted(each) && each.parent === (steps.find((one) => one.current)?.seq ?? 0));
	return next ? [next] : [];
}

/** The next step to undo or redo; undefined: not among the loaded steps. */
export function nextStep(steps: Step[], direction: Direction): Step | undefined {
	return affectedSteps(steps, direction)[0];
}

/** The steps, of those that were loaded, that an undo or redo affected. */
export async function movedSteps(seq: number, steps: Step[]): Promise<Step[]> {
	const row = await get<StepEffects>(path("history", seq));
	const moves = new Set((row.moves ?? []).map((move) => move.step));
	return steps.filter((each) => moves.has(each.seq));
}

const BEGINNING = 40;

/** Describes a step. For an added entry: what it is, and its first words. */
export async function fullWords(step: Step): Promise<string> {
	const words = isDraft(step) ? "the draft" : wordsOf(step);
	const about = oneLine(beginning(step.about ?? "", ""), BEGINNING), quoted = about && ` “${about}”`;
	const made = step.op === "discussion.new" && /"(.+)"$/.exec(step.what);
	if (made)
		return `started the discussion “${titleOf(state.discussions.find((each) => each.name === made[1]) ?? { name: made[1] })}”`;
	if (!ADDS.test(words))
		return step.op.startsWith("entry.") ? words + quoted : words;
	try {
		const { effects } = await get<StepEffects>(path("history", step.seq));
		const into = effects.find((each) => each.effect === "splice" && Array.isArray(each.after) && each.after.length > 0);
		const { role } = (into?.after as { role: string }[])[0], at = (into?.at ?? 0) + 1;
		if (step.op === "entry.reply")
			return (into!.before as unknown[]).length ? `continued the reply${quoted}` : `added the reply${quoted}`;
		return /^user$/i.test(role) && step.op !== "entry.insert" && quoted ? `added the question${quoted}` : `${words.split(" ")[0]} entry ${at} (${role})${quoted}`;
	} catch {
		return words;
	}
}

/** Describes one step; "": more than one, or not loaded. */
export async function movedWords(steps: Step[], count: number): Promise<string> {
	const seen = steps.filter(isCounted);
	return count === 1 && (seen.length === 1 || steps.length === 1) ? fullWords(seen[0] ?? steps[0]) : "";
}

/** Number of existing steps of a run, of which this is the newest one: 1 for its question, or 0; null: there are
 * other changes since it started. */
export async function runStepCount(run: Run, newest: Step | undefined): Promise<number | null> {
	if (!newest || Date.parse(newest.at) < Date.parse(String(run.started)))
		return 0;
	const { effects } = await get<StepEffects>(path("history", newest.seq));
	return effects.some((each) => Array.isArray(each.after) && each.after.some((entry) => entry.id === run.question)) ? 1 : null;
}

/** Is it a step of this run? */
export async function isStepOfRun(run: Run, step: Step): Promise<boolean> {
	const own = new Set([run.question, run.entry, ...(run.replies ?? []).map((reply) => reply.entry)]);
	const { effects } = await get<StepEffects>(path("history", step.seq));
	return effects.some((each) => Array.isArray(each.after) && each.after.some((entry) => entry.id && own.has(entry.id)));
}

/** The take that a step changed, if it still exists and the open one was not changed. */
export async function takeElsewhere(step: Step | undefined): Promise<string | null> {
	const take = step?.take?.id;
	if (!step || !take || take === state.take)
		return null;
	const { effects } = await get<StepEffects>(path("history", step.seq));
	if (effects.some((each) => each.effect === "splice" && each.discussion === state.disc && each.take === state.take))
		return null;
	return (await findTake(take))?.id === take ? take : null;
}
