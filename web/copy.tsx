// SPDX-License-Identifier: MIT
//
// Copy: copies text to the clipboard, in the page and in an exported one, and the copy button.
import { useEffect, useState } from "preact/hooks";

const SHOWN_MS = 1500;

/** Fallback for pages without the clipboard API, such as a local file in some browsers. */
function copySelected(text: string): boolean {
	const field = document.createElement("textarea"), had = document.activeElement as HTMLElement | null;
	field.className = "unseen-field";
	field.value = text;
	(document.querySelector("dialog[open]") ?? document.body).append(field);
	field.select();
	const isDone = document.execCommand("copy");
	field.remove();
	had?.focus({ preventScroll: true });
	return isDone;
}

/** true: copied. */
export async function toClipboard(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copySelected(text);
	}
}

type State = "ready" | "done" | "failed";
const WORDS: Record<State, string> = { ready: "Copy", done: "Copied", failed: "Not copied" };

export function CopyButton(props: { text: () => string | Promise<string>; label: string; tabIndex?: number; title?: string }) {
	const [is, setState] = useState<State>("ready");
	useEffect(() => {
		if (is === "ready")
			return;
		const timer = setTimeout(() => setState("ready"), SHOWN_MS);
		return () => clearTimeout(timer);
	}, [is]);
	const copy = async () => setState(await toClipboard(await props.text()) ? "done" : "failed");
	return (
		<button type="button" class="icon text copy" tabIndex={props.tabIndex} title={props.title}
			aria-label={is === "ready" ? props.label : WORDS[is]} onClick={() => void copy()}>{WORDS[is]}</button>
	);
}
