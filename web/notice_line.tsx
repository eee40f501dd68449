// SPDX-License-Identifier: MIT
//
// Renders the notice (notice.ts) below the entries, or in the open overlay.
import { useLayoutEffect } from "preact/hooks";
import { list } from "./focus";
import { set, useStore } from "./state";

export function NoticeLine() {
	const toast = useStore((from) => from.toast);
	useLayoutEffect(() => list.makeRoom());
	if (!toast)
		return null;
	return (
		<div class={"toast" + (toast.isProblem ? " problem" : "")}>
			<span role={toast.isProblem ? "alert" : "status"}>{toast.text}</span>
			{toast.repair && <button type="button" onClick={toast.repair.run}>{toast.repair.label}</button>}
			{toast.action && <button type="button" onClick={toast.action.run}>{toast.action.label}</button>}
			<button type="button" class="icon" aria-label="Close the message" onClick={() => set({ toast: null })}>×</button>
		</div>
	);
}
