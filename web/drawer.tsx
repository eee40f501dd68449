// SPDX-License-Identifier: MIT
//
// Drawers: opening and closing the side panels on a narrow page.
import { panesAt } from "./panes";
import { set, state } from "./state";

/** Until a drawer is visible and can be focused. */
const DRAWN_MS = 30;

/** The id of the button that last opened each drawer. */
const openers = { left: "to-discussions", right: "to-panes" };

/** by: id of the button that was pressed; pane: shown in the drawer. */
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

/** The drawer's close button; returns the focus to the button that opened it. */
export function CloseDrawer() {
	return (
		<button type="button" class="icon narrow-only" aria-label="Close" onClick={() => {
			const opener = openers[state.drawer ?? "right"];
			set({ drawer: null });
			setTimeout(() => document.getElementById(opener)?.focus(), DRAWN_MS);
		}}><span aria-hidden="true">×</span></button>
	);
}
