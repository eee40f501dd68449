// SPDX-License-Identifier: MIT
//
// Drawers: the sides of the page where it is narrow, as they come and go.
import { panesAt } from "./panes";
import { set, state } from "./state";

/** Until a drawer can be seen, and so have the focus. */
const DRAWN_MS = 30;

export function toggleDrawer(which: "left" | "right"): void {
	if (which === "right" && !state.pane)
		set({ pane: panesAt("side")[0]?.id ?? null });
	const isOpening = state.drawer !== which;
	set({ drawer: isOpening ? which : null });
	if (isOpening)
		setTimeout(() => document.querySelector<HTMLElement>(which === "left"
			? ".left [aria-current=page]" : ".right [role=tab][aria-selected=true]")?.focus(), DRAWN_MS);
}

/** The way out of a drawer, where fingers look for one; back to what opened it. */
export function CloseDrawer(props: { opener: string }) {
	return (
		<button type="button" class="icon narrow-only" aria-label="Close" onClick={() => {
			set({ drawer: null });
			setTimeout(() => document.getElementById(props.opener)?.focus(), DRAWN_MS);
		}}><span aria-hidden="true">×</span></button>
	);
}
