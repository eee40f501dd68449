// SPDX-License-Identifier: MIT
//
// Runs: models at work (src/server/run.h), with their streaming text. Renders at most once per
// frame, however many chunks arrive.
import { run as runWish, say, show, switchTake, undo } from "./actions";
import { post, path, request } from "./api";
import { replyBegan } from "./finished";
import { forgetStreams, updateStream } from "./streaming";
import { modelProblem } from "./model_problem";
import { requestEnded, requestStarted, runningHere } from "./news";
import { notify } from "./notice";
import { severalBegan, severalEnded } from "./several";
import { set, state } from "./state";
import { findTake, open, pinned, takeOf } from "./store";
import { takeTitle } from "./words";
import type { Run } from "./types";

/** Runs started by this page: the request, and the take that was open. */
const started = new Map<string, Started>();
const endedEarly = new Map<string, Run>();
/** Callbacks for the end of runs. */
const endCallbacks = new Map<string, (run: Run) => void>();
const STOP_TIMEOUT_MS = 6000;
let isFlushScheduled = false;
let next: Map<string, Run> | null = null;

function change(): Map<string, Run> {
	next ??= new Map(state.runs);
	if (!isFlushScheduled) {
		isFlushScheduled = true;
		requestAnimationFrame(flush);
		setTimeout(flush, 200); // a hidden window gets no animation frames
	}
	return next;
}

function flush(): void {
	isFlushScheduled = false;
	if (!next)
		return;
	set({ runs: next });
	next = null;
}

function currentRun(name: string): Run | undefined {
	return (next ?? state.runs).get(name);
}

export function runSeen(run: Run): void {
	const old = currentRun(run.run);
	change().set(run.run, { ...run, rendered: old?.rendered, text: run.text ?? old?.text ?? "", thinking: run.thinking ?? old?.thinking ?? "" });
}

export function runDelta(name: string,
		piece: { text?: string; thinking?: string; notice?: string; reply?: number }): void {
	const old = currentRun(name);
	if (!old)
		return;
	const isNext = piece.reply !== undefined && piece.reply !== (old.reply ?? 0);
	change().set(name, {
		...old,
		reply: piece.reply ?? old.reply,
		text: (isNext ? "" : old.text ?? "") + (piece.text ?? ""),
		thinking: (isNext ? "" : old.thinking ?? "") + (piece.thinking ?? ""),
		notice: piece.notice ?? (piece.text ? undefined : old.notice),
	});
}

/** Renders the text of a visible run to blocks; does nothing if they are up to date. */
export function renderRun(run: Run): void {
	updateStream(run.run, run.text ?? "", (rendered) => {
		const old = currentRun(run.run);
		if (old)
			change().set(run.run, { ...old, rendered });
	});
}

/** After a lost connection: the server sends the active runs again. */
export function forgetRuns(): void {
	next = null;
	forgetStreams();
	set({ runs: new Map() });
}

export function runEnded(run: Run): void {
	change().delete(run.run);
	forgetStreams(run.run);
	flush();
	if (!started.has(run.run))
		endedEarly.set(run.run, run); // it ended before the response to its request arrived
	const from = started.get(run.run);
	if (from && started.delete(run.run))
		reportEnd(run, from);
	endCallbacks.get(run.run)?.(run);
}

/** A run of this page ended: reports errors and opens the result, unless the user has moved elsewhere or is
 * editing. */
function reportEnd(run: Run, start: Started): void {
	const { wish, take: from, steps } = start;
	runningHere(-1);
	start.left--;
	start.isAsked ||= run.state === "done" || !!run.question || !!run.entry;
	const unasked = start.left === 0 && !start.isAsked ? start.unasked : undefined;
	unasked?.restore();
	if (run.group)
		return severalEnded(run);
	if (isShownAtQuestion(run))
		return;
	if (run.state === "stopped")
		reportStopped(run);
	else if (run.state === "failed" || run.problem)
		set({ toast: modelProblem(run.problem?.detail ?? "The model's server failed.", run.problem?.code ?? "",
			unasked ? { label: "Try again", run: unasked.retry } : retryOf(run, wish, from)) });
	else if (run.note && REPLIES.has(run.how))
		say(run.note[0].toUpperCase() + run.note.slice(1), !!run.entry, run.seq);
	else if (steps > 1)
		notify({ text: "Saved the message and asked again.", action: { label: "Undo", run: () => void undo(steps) } }, run.seq);
	const take = run.replies?.find((reply) => reply.take)?.take ?? run.take;
	if (take && run.discussion === state.disc && run.state !== "failed")
		void showReply(run, take, from).catch(() => undefined);
}

/** Is the error, or that it was stopped, shown at the question in the open take (web/failure.tsx)? */
function isShownAtQuestion(run: Run): boolean {
	const question = run.question ?? (typeof run.at === "string" ? run.at : undefined);
	return (run.state === "failed" || run.state === "stopped") && REPLIES.has(run.how) && run.how !== "continue" && !run.entry && run.discussion === state.disc &&
		question !== undefined && state.outline?.id.includes(question) === true && !run.replies?.length;
}

/** A retry: a partial reply is continued, and a question that already exists is not added again. */
function retryOf(run: Run, wish: RunWish, take: string | null): { label: string; run: () => void } {
	const isPart = REPLIES.has(wish.how) && !!run.entry;
	const next: RunWish = isPart ? { how: "continue", at: run.entry }
		: wish.how === "ask" && run.question ? { how: "again", at: run.question } : wish;
	const again = async () => {
		if (state.disc !== run.discussion || state.take !== take)
			await show(run.discussion, take ?? undefined);
		await runWish(next);
	};
	return { label: isPart ? "Continue" : "Try again", run: () => void again() };
}

const REPLIES = new Set(["ask", "again", "continue"]);

/** Stopping is not an error. A run that was stopped in a dialog is reported there. */
function reportStopped(run: Run): void {
	const isKept = !!run.entry || !!run.replies?.some((reply) => reply.entry);
	if (REPLIES.has(run.how))
		say(isKept ? "Stopped. The partial reply is kept." : "Stopped before any of the reply arrived.", isKept, run.seq);
	else if (state.overlay === null)
		say("Stopped. Nothing was changed.", false);
}

async function showReply(run: Run, named: string, from: string | null): Promise<void> {
	const take = await findTake(named, run.discussion);
	if (!take || take.id === state.take || run.discussion !== state.disc)
		return;
	const show = () => void open(run.discussion, take.id);
	if (state.take !== from || state.editing) {
		if (!state.toast?.isProblem)
			set({ toast: { text: `The reply is in the take “${takeTitle(take)}”.`, action: { label: "Show it", run: show } } });
		return;
	}
	const left = takeOf(from);
	await open(run.discussion, take.id);
	if (run.how === "again" && run.state === "done" && from !== null && left)
		reportAnotherReply(run, from);
}

/** A new reply replaces the previous one in view: reports where that is and how to return. */
function reportAnotherReply(run: Run, from: string): void {
	const n = run.replies?.length ?? 1;
	const text = n === 1 ? "This is another reply." : `This is one of ${n} more replies.`;
	notify({
		text: `${text} The arrows ‹ › above it lead to the others; all are kept.`,
		repair: { label: "Previous reply", run: () => void switchTake(from) },
		action: { label: "Undo", run: () => void undo(n) },
	}, run.seq);
}

interface Flight {
	flight: string; discussion: string; take: string; model?: string; text: string;
}

/** A reply that another process receives. */
export function runFlight(flight: Flight): void {
	const name = "flight " + flight.flight;
	change().set(name, {
		rendered: currentRun(name)?.rendered, run: name, state: "running", how: "elsewhere",
		discussion: flight.discussion, take: flight.take, model: flight.model, text: flight.text,
	});
}

export function runFlightEnded(flight: string): void {
	change().delete("flight " + flight);
	forgetStreams("flight " + flight);
}

export interface RunWish {
	how: "ask" | "again" | "continue" | "compact" | "compress" | "go" | "merge";
	[field: string]: unknown;
}

/** For a request all of whose runs ended without storing the question. */
export interface Unasked {
	restore: () => void;
	retry: () => void;
}

interface Started {
	wish: RunWish;
	take: string | null;
	/** Number of steps that Undo reverts: the reply and the changes made for it. */
	steps: number;
	unasked?: Unasked;
	left: number;
	isAsked: boolean;
}

/** Starts a model in the open take. Throws a Problem. */
export async function startRun(wish: RunWish, steps = 1, unasked?: Unasked): Promise<Run> {
	const { discussion, take } = pinned();
	requestStarted();
	const models = Array.isArray(wish.models) ? wish.models.length : 1;
	runningHere(models);
	try {
		const answer = await post<Run | { runs: Run[] }>(path("discussions", discussion, "runs"), { ...wish, take });
		const from: Started = { wish, take: take || null, steps, unasked, left: models, isAsked: false };
		if ("runs" in answer)
			return startedSeveral(answer.runs as Run[], from);
		const run = answer;
		const quick = endedEarly.get(run.run);
		if (quick) {
			reportEnd(quick, from);
			return quick;
		}
		started.set(run.run, from);
		replyBegan(run.run);
		if (run.state === "running" && !currentRun(run.run))
			runSeen(run); // otherwise events have reported a newer state
		return run;
	} catch (error) {
		runningHere(-models);
		throw error;
	} finally {
		requestEnded(undefined);
	}
}

/** Several runs for one question: the first represents them. */
function startedSeveral(runs: Run[], from: Started): Run {
	severalBegan(runs);
	for (const run of runs) {
		const quick = endedEarly.get(run.run);
		if (!quick) {
			started.set(run.run, from);
			replyBegan(run.run);
			if (run.state === "running" && !currentRun(run.run))
				runSeen(run);
		}
	}
	for (const quick of runs.map((run) => endedEarly.get(run.run)))
		if (quick)
			reportEnd(quick, from);
	return runs[0];
}

export async function stopRun(name: string): Promise<void> {
	await request("DELETE", path("runs", name));
}

/** Stops a run and waits for its end. null: it could not be stopped, or its end was not reported in time. */
export function stopToEnd(name: string): Promise<Run | null> {
	return new Promise((done) => {
		const end = (run: Run | null) => {
			clearTimeout(late);
			endCallbacks.delete(name);
			done(run);
		};
		const late = setTimeout(() => end(null), STOP_TIMEOUT_MS);
		endCallbacks.set(name, end);
		stopRun(name).catch(() => end(null));
	});
}

/** A run of this page that is active in the open take. */
export function startedHere(): Run | undefined {
	return runsHere(next ?? state.runs).find((run) => started.has(run.run)); // even if it is not rendered yet
}

/** The question has been stored as an entry. */
export function runAsked(name: string, question: string): void {
	const old = currentRun(name);
	if (old)
		change().set(name, { ...old, question });
}

/** Active runs in the open take that can be stopped. */
export function ownRuns(runs: ReadonlyMap<string, Run>): Run[] {
	return runsHere(runs).filter((run) => run.how !== "elsewhere");
}

/** Active runs in the open take. */
export function runsHere(runs: ReadonlyMap<string, Run>): Run[] {
	return [...runs.values()].filter((run) =>
		run.discussion === state.disc && (!run.take || run.take === state.take));
}
