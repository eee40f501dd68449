// SPDX-License-Identifier: MIT
//
// Selection: a bar with the number of selected entries and the actions on them.
import { useLayoutEffect } from "preact/hooks";
import * as act from "./actions";
import { focusKept, focusTake, list } from "./focus";
import { placeOf } from "./outline";
import { set, state, useStore } from "./state";
import { MUTED } from "./types";
import { count } from "./words";

function endSelection(): void {
	set({ anchor: null, isSelecting: false });
	focusTake();
}

async function mute(entries: string[], muted: boolean): Promise<void> {
	await act.batch(entries.map((entry) => ({ op: "entry.mute", entry, muted })),
		{ say: `${muted ? "Muted" : "Unmuted"} ${count(entries.length, "entry", "entries")}.`, asSeen: true });
}

export function SelectionBar() {
	const outline = useStore((from) => from.outline), isSelecting = useStore((from) => from.isSelecting);
	useStore((from) => from.anchor);
	useStore((from) => from.focus);
	useLayoutEffect(() => list.makeRoom());
	const entries = act.selected(), n = entries.length;
	if (!outline || state.anchor === null || (n < 2 && !isSelecting))
		return null;
	const allMuted = entries.every((entry) => outline.flags[placeOf(outline, entry)] & MUTED);
	const remove = () => {
		set({ isSelecting: false });
		const isKept = focusKept();
		void act.remove(entries).then(() => { if (isKept()) focusTake(); });
	};
	return (
		<div class="selection" role="toolbar" aria-label="Selected entries">
			<span role="status">{count(n, "entry", "entries")} selected{n === 1 && ". Choose the last one."}</span>
			<span class="space" />
			<button type="button" onClick={remove}>Delete {count(n, "entry", "entries")}</button>
			<button type="button" onClick={() => void mute(entries, !allMuted)}>{allMuted ? "Unmute" : "Mute"}</button>
			<button type="button" title="Esc" onClick={endSelection}>Cancel</button>
		</div>
	);
}
