// SPDX-License-Identifier: MIT
//
// What the panes share: reading something from the server as long as it is looked at, and a model
// at work until its end.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StateUpdater } from "preact/hooks";
import { get, path } from "./api";
import { startRun, stopRun } from "./runs";
import { set, state, useStore } from "./state";
import { findTake, open } from "./store";
import { isNarrow } from "./panes";
import type { RunWish } from "./runs";
import type { Result, Run } from "./types";

export interface Loaded<T> {
	data: T | null;
	/** Why it could not be read; "": it could. */
	problem: string;
	isLoading: boolean;
	again: () => void;
}

/** What load() gives, read again when one of deps is another one. The old stays in view meanwhile. */
export function useLoaded<T>(load: () => Promise<T>, deps: unknown[], wait_ms = 0): Loaded<T> {
	const [result, setResult] = useState<{ data: T | null; problem: string; isLoading: boolean }>(
		{ data: null, problem: "", isLoading: true });
	const [turn, setTurn] = useState(0);
	const isFirst = useRef(true);
	useEffect(() => {
		let isOld = false;
		const begin = () => {
			setResult((old) => ({ ...old, isLoading: true }));
			load().then(
				(data) => { if (!isOld) setResult({ data, problem: "", isLoading: false }); },
				(error: Error) => { if (!isOld) setResult({ data: null, problem: error.message, isLoading: false }); });
		};
		const timer = setTimeout(begin, isFirst.current ? 0 : wait_ms);
		isFirst.current = false;
		return () => {
			isOld = true;
			clearTimeout(timer);
		};
	}, [...deps, turn]);
	return { ...result, again: () => setTurn((n) => n + 1) };
}

/** A text that is being written, and what it began with; draft: what was left of it earlier. What is saved comes in unless one is
 *  writing, and as soon as it is drawn: an effect is later than the next key, and would undo that. */
export function useWritten(saved: string, draft: string | null = null): [string, (change: StateUpdater<string>) => void, string] {
	const [text, setText] = useState(draft ?? saved), [base, setBase] = useState(saved);
	if (saved !== base) {
		setBase(saved);
		setText((now) => (now === base ? saved : now));
	}
	return [text, setText, base];
}

/** A model at work, from the start to its end. Throws what the server says. */
export async function runToEnd(wish: RunWish, seen: (run: Run) => void, isOff: () => boolean): Promise<Run> {
	let run = await startRun(wish);
	seen(run);
	for (let wait_ms = 40; run.state === "running"; wait_ms = Math.min(wait_ms * 2, 500)) {
		await new Promise((done) => setTimeout(done, wait_ms));
		if (isOff())
			await stopRun(run.run).catch(() => undefined);
		run = await get<Run>(path("runs", run.run));
		seen(run);
	}
	return run;
}

export interface Work {
	isBusy: boolean;
	run: Run | null;
	/** Why it failed; "": it did not, or a hook cancelled it and said nothing. */
	problem: string;
	/** Null: it failed or was stopped, and problem says so. */
	start: (wish: RunWish) => Promise<Run | null>;
	stop: () => void;
}

/** A model at work for a dialog: its progress, and what became of it. */
export function useWork(): Work {
	const [run, setRun] = useState<Run | null>(null);
	const [problem, setProblem] = useState(""), [isBusy, setBusy] = useState(false);
	const isStopped = useRef(false);
	const start = async (wish: RunWish) => {
		isStopped.current = false;
		setProblem("");
		setBusy(true);
		try {
			const end = await runToEnd(wish, setRun, () => isStopped.current);
			if (end.state === "done")
				return end;
			setProblem(end.problem?.quiet ? "" : end.state === "stopped" ? "Stopped. Nothing was changed."
				: `${end.problem?.detail ?? "The model's server failed."} Nothing was changed.`);
		} catch (error) {
			setProblem((error as Error).message);
		} finally {
			setBusy(false);
		}
		return null;
	};
	return { isBusy, run, problem, start, stop: () => { isStopped.current = true; } };
}

let put = "";

/** Put text into the field where the next entry is written, and the cursor behind it. What somebody
 *  wrote there stays, below it. */
export function toComposer(text: string): void {
	const field = document.getElementById("composer") as HTMLTextAreaElement | null;
	if (!field)
		return;
	const written = field.value === put ? "" : field.value.trim();
	field.value = put = written && written !== text ? `${text}\n${written}` : text;
	field.dispatchEvent(new Event("input", { bubbles: true }));
	if (isNarrow())
		set({ drawer: null });
	setTimeout(() => {
		field.focus();
		field.setSelectionRange(text.length, text.length);
	});
}

/** Show the take that a change went to (its name or id). */
export async function openTakeOf(result: Result | Run | null): Promise<void> {
	const wanted = result?.take;
	if (!wanted || !state.disc)
		return;
	const found = await findTake(wanted);
	if (found && found.id !== state.take)
		await open(state.disc, found.id);
}

/** The model that answers: the discussion's, else what the server was started with; "": none. */
export function useModel(): string {
	const own = useStore((from) => from.settings)?.settings.model, usual = useStore((from) => from.info)?.model;
	return String(own ?? usual ?? "");
}
