// SPDX-License-Identifier: MIT
//
// Keeper: keeps the keyboard focus. When the focused element disappears (a deleted row, a button
// that has done its work), the nearest suitable element gets it. After a pointer press the focus is
// left alone.
import { focusTake } from "./focus";

/** Code that removes an element has this long to set the focus itself. */
const PAUSE_MS = 50;

/** Containers and the element inside that gets the focus. The innermost remaining container is used. */
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

// The last focused element and its ancestors, innermost first; null: the focus need not be restored.
let focusPath: HTMLElement[] | null = null;
let timer: number | undefined;

function isLost(): boolean {
	const at = document.activeElement;
	// some browsers leave the focus on a disabled element, which then swallows every key
	return focusPath !== null && (at === null || at === document.body || at.matches(":disabled"));
}

function inDialog(): HTMLElement | null {
	const dialog = [...document.querySelectorAll<HTMLElement>("dialog[open]")].pop();
	return dialog?.querySelector<HTMLElement>("footer button:not(:disabled)") ??
		dialog?.querySelector<HTMLElement>("input, select, textarea, li button, button") ?? null;
}

function nearby(): HTMLElement | null {
	// the same element, rendered again
	const again = focusPath![0]?.id ? document.getElementById(focusPath![0].id) : null;
	if (again && again.getClientRects().length > 0 && !again.matches(":disabled"))
		return again;
	for (const element of focusPath!.filter((each) => each.isConnected))
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

function scheduleRestore(): void {
	if (focusPath !== null)
		timer ??= window.setTimeout(restore, PAUSE_MS);
}

export function keepFocus(): void {
	document.addEventListener("focusin", (event) => {
		focusPath = event.composedPath().filter((each): each is HTMLElement => each instanceof HTMLElement && each !== document.body);
	});
	document.addEventListener("pointerdown", () => { focusPath = null; }, true);
	// if the focused element is gone, a key restores the focus without waiting
	document.addEventListener("keydown", () => { if (isLost() && !focusPath![0]?.isConnected) restore(); }, true);
	new MutationObserver(scheduleRestore).observe(document.getElementById("app")!,
		{ childList: true, subtree: true, attributes: true, attributeFilter: ["disabled", "hidden", "open", "class"] });
}
