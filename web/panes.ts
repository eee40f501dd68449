// SPDX-License-Identifier: MIT
//
// Panes: where further parts of the page hang themselves in. A part is a component in a file of
// its own that calls addPane(); web/pane_list.ts imports them all.
//
//   side      a tab on the right: outline, history …; state.pane says which one is open
//   top       always there, in the bar at the top: the search box
//   overlay   over everything, while state.overlay is its id: a palette, a comparison
import type { ComponentType } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { set, state } from "./state";

export interface Pane {
	id: string;
	title: string;
	place: "side" | "top" | "overlay";
	view: ComponentType;
	/** Smaller comes first. */
	order?: number;
}

const panes: Pane[] = [];

export function addPane(pane: Pane): void {
	panes.push(pane);
	panes.sort((a, b) => (a.order ?? 100) - (b.order ?? 100));
}

export function panesAt(place: Pane["place"]): Pane[] {
	return panes.filter((pane) => pane.place === place);
}

/** Open a side pane, or close it when it is open already. */
export function togglePane(id: string): void {
	const isOpen = state.pane === id && (state.drawer === "right" || !isNarrow());
	set({ pane: isOpen ? null : id, drawer: isOpen ? null : isNarrow() ? "right" : state.drawer });
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

/** The same, for what is drawn otherwise then. */
export function useNarrow(): boolean {
	return useMedia(NARROW);
}

/** Is it so narrow that the bar at the top has room for few buttons? */
export function usePhone(): boolean {
	return useMedia(PHONE);
}
