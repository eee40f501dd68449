// SPDX-License-Identifier: MIT
//
// Notice: the line that says what became of a change, with a button that takes that change back.
// The button is about that very step: as soon as another one comes, the line goes away. Undo
// stays where it always is, in the bar at the top.
import { set, state } from "./state";
import type { Toast } from "./state";
import type { Change } from "./types";

let newest = 0;

/** Seq: the step that it is about; left out: nothing that is still to be heard of. */
export function notify(toast: Toast, seq = newest): void {
	// somebody was faster: a button would undo what they did
	const isNewest = seq >= newest;
	set({ toast: { ...toast, action: isNewest ? toast.action : undefined, seq } });
}

function concernsUs(change: Change): boolean {
	if (change.kind !== "step" && change.kind !== "move")
		return false;
	return !!change.whole || !!change.project || change.discussion === undefined ||
		change.discussion === state.disc || !!change.discussions?.includes(state.disc ?? "");
}

/** A row arrived: what was said before is about something older. What went wrong stays. */
export function noticeHears(change: Change): void {
	if (!concernsUs(change))
		return;
	newest = Math.max(newest, change.seq);
	const toast = state.toast;
	if (toast && !toast.isProblem && (toast.seq ?? 0) < change.seq)
		set({ toast: null });
}
