// SPDX-License-Identifier: MIT
//
// Runs: models at work (src/server/run.h), with their texts as they grow. The page is drawn at
// most once a frame, however many pieces arrive.
import { post, path, request } from "./api";
import { forgetGrowing, grow } from "./growing";
import { modelProblem } from "./model_problem";
import { answered, asking, runningHere } from "./news";
import { set, state } from "./state";
import { open, pinned } from "./store";
import type { Run } from "./types";

const started = new Set<string>();
const over = new Map<string, Run>();
let isDue = false;
let next: Map<string, Run> | null = null;

function change(): Map<string, Run> {
	next ??= new Map(state.runs);
	if (!isDue) {
		isDue = true;
		requestAnimationFrame(flush);
		setTimeout(flush, 200); // frames stop in a hidden window
	}
	return next;
}

function flush(): void {
	isDue = false;
	if (!next)
		return;
	set({ runs: next });
	next = null;
}

function now(name: string): Run | undefined {
	return (next ?? state.runs).get(name);
}

export function runSeen(run: Run): void {
	const old = now(run.run);
	change().set(run.run, { ...run, laid: old?.laid, text: run.text ?? old?.text ?? "", thinking: run.thinking ?? old?.thinking ?? "" });
}

export function runDelta(name: string,
		piece: { text?: string; thinking?: string; notice?: string; reply?: number }): void {
	const old = now(name);
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

/** One that is looked at: its text as blocks. Cheap when they are there. */
export function layOut(run: Run): void {
	grow(run.run, run.text ?? "", (laid) => {
		const old = now(run.run);
		if (old)
			change().set(run.run, { ...old, laid });
	});
}

/** After a connection was lost: those in flight are sent again. */
export function runsForgotten(): void {
	next = null;
	forgetGrowing();
	set({ runs: new Map() });
}

export function runEnded(run: Run): void {
	change().delete(run.run);
	forgetGrowing(run.run);
	flush();
	if (!started.has(run.run))
		over.set(run.run, run); // it was faster than the answer that names it
	if (!started.delete(run.run))
		return;
	ended(run);
}

/** One of ours: say what went wrong, show what it made. */
function ended(run: Run): void {
	runningHere(-1);
	if (run.state === "failed" || run.problem)
		set({ toast: modelProblem(run.problem?.detail ?? "The model's server failed.", run.problem?.code ?? "") });
	const take = run.replies?.find((reply) => reply.take)?.take ?? run.take;
	if (take && take !== state.take && run.discussion === state.disc && run.state !== "failed")
		void open(state.disc, take);
}

interface Flight {
	flight: string; discussion: string; take: string; model?: string; text: string;
}

/** A reply that another process receives. */
export function runFlight(flight: Flight): void {
	const name = "flight " + flight.flight;
	change().set(name, {
		laid: now(name)?.laid, run: name, state: "running", how: "elsewhere",
		discussion: flight.discussion, take: flight.take, model: flight.model, text: flight.text,
	});
}

export function runFlightEnded(flight: string): void {
	change().delete("flight " + flight);
	forgetGrowing("flight " + flight);
}

export interface RunWish {
	how: "ask" | "again" | "continue" | "compact" | "compress" | "go";
	[field: string]: unknown;
}

/** Set a model to work in the open take. Throws a Problem. */
export async function startRun(wish: RunWish): Promise<Run> {
	const { discussion, take } = pinned();
	asking();
	runningHere(1);
	try {
		const run = await post<Run>(path("discussions", discussion, "runs"), { ...wish, take });
		const quick = over.get(run.run);
		if (quick) {
			ended(quick);
			return quick;
		}
		started.add(run.run);
		if (run.state === "running" && !now(run.run))
			runSeen(run); // else events have told more of it by now
		return run;
	} catch (error) {
		runningHere(-1);
		throw error;
	} finally {
		answered(undefined);
	}
}

export async function stopRun(name: string): Promise<void> {
	await request("DELETE", path("runs", name));
}

/** Those at work in the open take. */
export function runsHere(runs: ReadonlyMap<string, Run>): Run[] {
	return [...runs.values()].filter((run) =>
		run.discussion === state.disc && (!run.take || run.take === state.take));
}
