// SPDX-License-Identifier: MIT
//
// Dialog: a modal question. The browser's <dialog> keeps the focus inside, returns it when it
// closes, and closes with Esc.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { set, state, useStore } from "./state";

export interface DialogProps {
	title: string;
	onClose: () => void;
	children: ComponentChildren;
	class?: string;
}

export function Dialog(props: DialogProps) {
	const element = useRef<HTMLDialogElement>(null);
	const close = useRef(props.onClose);
	close.current = props.onClose;
	// a layout effect, because the next key already belongs to the dialog
	useLayoutEffect(() => {
		const dialog = element.current!;
		const before = document.activeElement as HTMLElement | null;
		const cursor = before instanceof HTMLTextAreaElement ? [before.selectionStart, before.selectionEnd] : null;
		dialog.showModal();
		return () => {
			dialog.close();
			if (!before?.isConnected)
				return;
			before.focus();
			// Chromium leaves the selection in the removed dialog: the field would have the focus but ignore input
			if (cursor)
				(before as HTMLTextAreaElement).setSelectionRange(cursor[0], cursor[1]);
		};
	}, []);
	return (
		<dialog ref={element} class={"dialog " + (props.class ?? "")} aria-label={props.title}
			onCancel={(event) => { event.preventDefault(); close.current(); }}
			onClick={(event) => { if (event.target === element.current) close.current(); }}>
			<div class="dialog-body">
				<div class="dialog-head">
					<h2>{props.title}</h2>
					<button type="button" class="icon" aria-label="Close" onClick={() => close.current()}>×</button>
				</div>
				{props.children}
			</div>
		</dialog>
	);
}

// ---- a line to be typed, a yes or no: one at a time, from anywhere ----

interface Question {
	title: string;
	text?: string;
	/** undefined: a yes/no question. */
	value?: string;
	suggestions?: string[];
	/** Options to choose from, [value, text], instead of a line. */
	choices?: [string, string][];
	isNumber?: boolean;
	yes: string;
	isDanger?: boolean;
	/** "Yes" cannot be undone: "no" has the focus. */
	isLoss?: boolean;
	answer: (value: string | null) => void;
}

let question: Question | null = null, asked = 0;

function put(wanted: Question): void {
	question?.answer(null);
	question = wanted;
	asked++;
	set({});
}

/** Asks for a line of text; null: cancelled. */
export function askLine(title: string, value: string,
		more: { text?: string; yes?: string; suggestions?: string[]; choices?: [string, string][]; isNumber?: boolean } = {}): Promise<string | null> {
	return new Promise((answer) => put({ title, value, yes: "OK", ...more, answer }));
}

export async function askYes(title: string, text: string, yes: string, isDanger = false, isLoss = false): Promise<boolean> {
	return (await new Promise<string | null>((answer) => put({ title, text, yes, isDanger, isLoss, answer }))) !== null;
}

function QuestionDialog(props: { asked: Question }) {
	const { asked } = props;
	const [value, setValue] = useState(asked.value ?? "");
	const result = useRef<string | null>(null);
	// answers after the dialog has closed and the focus is back where it was
	useLayoutEffect(() => () => asked.answer(result.current), []);
	const end = (value: string | null) => {
		result.current = value;
		question = null;
		set({});
	};
	return (
		<Dialog title={asked.title} onClose={() => end(null)}>
			<form onSubmit={(event) => { event.preventDefault(); end(value); }}>
				{asked.text && <p>{asked.text}</p>}
				{asked.choices ? (
					<select class="line" autoFocus aria-label={asked.title} value={value} onChange={(event) => setValue(event.currentTarget.value)}>
						{asked.choices.map(([each, text]) => <option value={each}>{text}</option>)}
					</select>
				) : asked.value !== undefined && (
					<input class="line" autoFocus onFocus={(event) => event.currentTarget.select()} aria-label={asked.title} value={value} list="suggestions"
						type={asked.isNumber ? "number" : "text"} min={0}
						onInput={(event) => setValue(event.currentTarget.value)} />
				)}
				{asked.suggestions && (
					<datalist id="suggestions">{asked.suggestions.map((each) => <option value={each} />)}</datalist>
				)}
				<footer>
					<button type="button" class={asked.isLoss ? "primary" : ""} autoFocus={asked.isLoss} onClick={() => end(null)}>{asked.isLoss ? "Keep editing" : "Cancel"}</button>
					<button type="submit" class={asked.isDanger ? "danger" : "primary"}
						autoFocus={asked.value === undefined && !asked.isLoss}>{asked.yes}</button>
				</footer>
			</form>
		</Dialog>
	);
}

export function Questions() {
	const now = useStore(() => question);
	return now ? <QuestionDialog key={asked} asked={now} /> : null;
}

/** Is a dialog or menu open? Then single keys are not for the page. */
export function isCovered(): boolean {
	return state.overlay !== null || document.querySelector("dialog[open]") !== null;
}
