// SPDX-License-Identifier: MIT
//
// Drawers: the sides of the page where it is narrow, as they come and go.
import { panesAt } from "./panes";
import { set, state } from "./state";

/** Until a drawer can be seen, and so have the focus. */
const DRAWN_MS = 30;

/** The id of the button that opened each of them last. */
const openers = { left: "to-discussions", right: "to-panes" };

/** By the button of this id; with a pane, this one is shown. */
export function toggleDrawer(which: "left" | "right", by: string, pane?: string): void {
	openers[which] = by;
	if (which === "right" && (pane || !state.pane))
		set({ pane: pane ?? panesAt("side")[0]?.id ?? null });
	const isOpening = state.drawer !== which;
	set({ drawer: isOpening ? which : null });
	if (isOpening)
		setTimeout(() => document.querySelector<HTMLElement>(which === "left"
			? ".left [aria-current=page]" : ".right [role=tab][aria-selected=true]")?.focus(), DRAWN_MS);
}

/** The way out of a drawer, where fingers look for one; back to what opened it. */
export function CloseDrawer() {
	return (
		<button type="button" class="icon narrow-only" aria-label="Close" onClick={() => {
			const opener = openers[state.drawer ?? "right"];
			set({ drawer: null });
			setTimeout(() => document.getElementById(opener)?.focus(), DRAWN_MS);
		}}><span aria-hidden="true">×</span></button>
	);
}
