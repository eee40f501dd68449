// SPDX-License-Identifier: MIT
//
// Notice: the message that reports a change, with a button that undoes exactly that change; it
// disappears as soon as another step arrives. The general undo button is in the header.
import { set, state } from "./state";
import type { Toast } from "./state";
import type { Change } from "./types";

let newest = 0;

/** seq: the step that the message is about; by default the newest known one. */
export function notify(toast: Toast, seq = newest): void {
	// another step came first: a button would undo that one
	const isNewest = seq >= newest;
	set({ toast: { ...toast, action: isNewest ? toast.action : undefined, seq } });
}

function concernsUs(change: Change): boolean {
	if (change.kind !== "step" && change.kind !== "move")
		return false;
	return !!change.whole || !!change.project || change.discussion === undefined ||
		change.discussion === state.disc || !!change.discussions?.includes(state.disc ?? "");
}

/** A row arrived: earlier messages are outdated. Errors stay. */
export function noticeChange(change: Change): void {
	if (!concernsUs(change))
		return;
	newest = Math.max(newest, change.seq);
	const toast = state.toast;
	if (toast && !toast.isProblem && (toast.seq ?? 0) < change.seq)
		set({ toast: null });
}
