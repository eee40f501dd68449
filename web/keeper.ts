// SPDX-License-Identifier: MIT
//
// Keeper: who works with keys does not lose the focus. When what had it goes away (a row that is
// deleted, a button that is done with), the nearest sensible thing around it gets it. Who presses
// a pointer somewhere means it, and is left alone.
import { focusTake } from "./focus";

/** Until those who know better have had their turn. */
const PAUSE_MS = 50;

/** What may be around: where the focus goes inside it. The innermost that is left counts. */
const PLACES: [string, string][] = [
	[".pane-rows", "[tabindex='0']"],
	[".verbs", "button:not(:disabled)"],
	[".pane", "[tabindex='0'], input, textarea, button:not(:disabled)"],
	[".side", "[role=tab][aria-selected=true]"],
	[".discussions", "[aria-current=page]"],
	[".discussions", ".name"],
	[".take-bar", "[role=tab][aria-selected=true]"],
	[".composer", "#composer"],
];

// What had the focus last, and all around it, from the inside out; null: nobody misses it.
let around: HTMLElement[] | null = null;
let timer: number | undefined;

function isLost(): boolean {
	const at = document.activeElement;
	// what is disabled keeps the focus in some browsers, and swallows every key
	return around !== null && (at === null || at === document.body || at.matches(":disabled"));
}

function inDialog(): HTMLElement | null {
	const dialog = [...document.querySelectorAll<HTMLElement>("dialog[open]")].pop();
	return dialog?.querySelector<HTMLElement>("footer button:not(:disabled)") ??
		dialog?.querySelector<HTMLElement>("input, select, textarea, li button, button") ?? null;
}

function nearby(): HTMLElement | null {
	// the same, drawn anew
	const again = around![0]?.id ? document.getElementById(around![0].id) : null;
	if (again && again.getClientRects().length > 0 && !again.matches(":disabled"))
		return again;
	for (const element of around!.filter((each) => each.isConnected))
		for (const [place, inside] of PLACES) {
			const found = element.matches(place) ? element.querySelector<HTMLElement>(inside) : null;
			if (found && found.getClientRects().length > 0 && getComputedStyle(found).visibility === "visible")
				return found;
		}
	return null;
}

function restore(): void {
	window.clearTimeout(timer);
	timer = undefined;
	if (!isLost())
		return;
	const place = inDialog() ?? nearby();
	if (place)
		place.focus();
	else
		focusTake();
}

function look(): void {
	if (around !== null)
		timer ??= window.setTimeout(restore, PAUSE_MS);
}

export function keepFocus(): void {
	document.addEventListener("focusin", (event) => {
		around = event.composedPath().filter((each): each is HTMLElement => each instanceof HTMLElement && each !== document.body);
	});
	document.addEventListener("pointerdown", () => { around = null; }, true);
	// the next key does not wait for anybody's turn, where what had the focus is gone
	document.addEventListener("keydown", () => { if (isLost() && !around![0]?.isConnected) restore(); }, true);
	new MutationObserver(look).observe(document.getElementById("app")!,
		{ childList: true, subtree: true, attributes: true, attributeFilter: ["disabled", "hidden", "open", "class"] });
}
