// SPDX-License-Identifier: MIT
//
// Shared by the panes: loading data while a component is shown, and running a model.
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
	/** Why loading failed; "": it did not. */
	problem: string;
	isLoading: boolean;
	again: () => void;
}

/** The result of load(), loaded again when deps change. The old result is shown in the meantime. */
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

/** An editable text and the saved text it is based on; draft: an unsaved text from earlier. A newly saved text
 * replaces an unedited one during rendering: an effect would run after the next key and discard it. */
export function useEditedText(saved: string, draft: string | null = null): [string, (change: StateUpdater<string>) => void, string] {
	const [text, setText] = useState(draft ?? saved), [base, setBase] = useState(saved);
	if (saved !== base) {
		setBase(saved);
		setText((now) => (now === base ? saved : now));
	}
	return [text, setText, base];
}

/** Runs a model from start to end. Throws the server's error. */
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
	/** Why it failed; "": it did not, or a hook cancelled it silently. */
	problem: string;
	/** null: it failed or was stopped; see `problem`. */
	start: (wish: RunWish) => Promise<Run | null>;
	stop: () => void;
}

/** A model run in a dialog: its progress and result. */
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

/** Puts text into the composer with the cursor after it. Text that the user wrote there is kept below. */
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

/** Opens the take (name or id) that a change affected. */
export async function openTakeOf(result: Result | Run | null): Promise<void> {
	const wanted = result?.take;
	if (!wanted || !state.disc)
		return;
	const found = await findTake(wanted);
	if (found && found.id !== state.take)
		await open(state.disc, found.id);
}

/** The current model: that of the discussion, otherwise of the server; "": none. */
export function useModel(): string {
	const own = useStore((from) => from.settings)?.settings.model, usual = useStore((from) => from.info)?.model;
	return String(own ?? usual ?? "");
}
