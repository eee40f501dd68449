// SPDX-License-Identifier: MIT
//
// Panes: a registry for further parts of the page. A part is a component in a separate file that
// calls addPane(); web/pane_list.ts imports them all.
//
//   side      a tab on the right: outline, history …; state.pane is the open one
//   top       always visible, in the header: the search field
//   overlay   above the page, while state.overlay is its id: a palette, a comparison
import type { ComponentType } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { showsPane } from "./rights";
import { set, state, subscribe } from "./state";

export interface Pane {
	id: string;
	title: string;
	place: "side" | "top" | "overlay";
	view: ComponentType;
	/** Sort key. */
	order?: number;
}

const panes: Pane[] = [];

export function addPane(pane: Pane): void {
	panes.push(pane);
	panes.sort((a, b) => (a.order ?? 100) - (b.order ?? 100));
}

export function panesAt(place: Pane["place"]): Pane[] {
	return panes.filter((pane) => pane.place === place && (place === "overlay" || showsPane(pane.id)));
}

/** Opens a side pane, or closes it if it is open. */
export function togglePane(id: string): void {
	const isOpen = state.pane === id && (state.drawer === "right" || !isNarrow());
	set({ pane: isOpen ? null : id, drawer: isOpen ? null : isNarrow() ? "right" : state.drawer });
}

const KEPT = "retake.pane";

/** Opens the side pane that was open last in this browser, and remembers changes. */
export function keepPane(): void {
	if (isNarrow())
		return; // a drawer, initially closed
	try {
		let kept = localStorage.getItem(KEPT);
		set({ pane: panesAt("side").find((each) => each.id === kept)?.id ?? null });
		subscribe(() => {
			if (state.pane === kept || isNarrow())
				return;
			kept = state.pane;
			if (kept)
				localStorage.setItem(KEPT, kept);
			else
				localStorage.removeItem(KEPT);
		});
	} catch {
		// no local storage: initially closed
	}
}

export function openOverlay(id: string | null): void {
	set({ overlay: id });
}

const NARROW = "(max-width: 1000px)", PHONE = "(max-width: 700px)";

/** Is the page so narrow that its sides are drawers? */
export function isNarrow(): boolean {
	return matchMedia(NARROW).matches;
}

function useMedia(media: string): boolean {
	const [is, setIs] = useState(() => matchMedia(media).matches);
	useLayoutEffect(() => {
		const query = matchMedia(media), changed = () => setIs(query.matches);
		query.addEventListener("change", changed);
		return () => query.removeEventListener("change", changed);
	}, []);
	return is;
}

/** The same as a hook. */
export function useNarrow(): boolean {
	return useMedia(NARROW);
}

/** Is the page so narrow that the header has room for only a few buttons? */
export function usePhone(): boolean {
	return useMedia(PHONE);
}
