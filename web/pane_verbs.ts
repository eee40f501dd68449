// SPDX-License-Identifier: MIT
//
// Verbs: what the panes can do, for the palette and for menus of others.
import * as act from "./actions";
import { address } from "./api";
import { askLine } from "./dialog";
import { openOverlay } from "./panes";
import { isNarrow } from "./panes";
import { set, state } from "./state";

const TRIES = 40, PAUSE_MS = 50;

export interface PaneVerb {
	id: string;
	text: string;
	run: () => void;
}

export function openPane(id: string): void {
	set({ pane: id, ...(isNarrow() ? { drawer: "right" as const } : {}) });
	setTimeout(() => {
		document.getElementById(`pane-tab-${id}`)?.focus();
		enterPane(id, TRIES);
	});
}

/** To its rows as soon as they are there, or to its first field; unless people went elsewhere meanwhile. */
function enterPane(id: string, tries: number): void {
	if (document.activeElement !== document.getElementById(`pane-tab-${id}`))
		return;
	const first = id === "outline" || id === "history" ? "#pane .pane-rows [tabindex='0']" : "#pane input, #pane textarea";
	const place = document.querySelector<HTMLElement>(first);
	if (place)
		place.focus();
	else if (tries > 0)
		setTimeout(() => enterPane(id, tries - 1), PAUSE_MS);
}

/** Let the browser save a file that the server writes. */
export function download(query: Record<string, string | number | null>): void {
	const link = document.createElement("a");
	link.href = address("/export", query);
	link.download = "";
	link.click();
}

async function newDiscussion(): Promise<void> {
	const name = await askLine("New discussion", "", { text: "What is it about?", yes: "Begin" });
	if (name?.trim())
		await act.newDiscussion(name.trim());
}

async function truncate(): Promise<void> {
	const pairs = await askLine("Truncate", "3", { text: "Keep so many of the last pairs of question and answer.", isNumber: true });
	if (pairs)
		await act.truncate(Number(pairs));
}

/** Those that make sense now. */
export function paneVerbs(): PaneVerb[] {
	const verbs: (PaneVerb | false)[] = [
		{ id: "pane-outline", text: "Go to the outline", run: () => openPane("outline") },
		{ id: "pane-history", text: "Go to the history", run: () => openPane("history") },
		{ id: "pane-prompt", text: "Edit the prompt", run: () => openPane("prompt") },
		{ id: "pane-settings", text: "Settings", run: () => openPane("settings") },
		{ id: "new", text: "New discussion …", run: () => void newDiscussion() },
		state.takes.length > 1 && { id: "compare", text: "Compare takes …", run: () => openOverlay("compare") },
		{ id: "sent", text: "Compare what was sent last with what will be …", run: () => openOverlay("sent") },
		{ id: "compact", text: "Compact or compress …", run: () => openOverlay("compact") },
		{ id: "truncate", text: "Truncate the take …", run: () => void truncate() },
		{ id: "clear", text: "Clear the take", run: () => void act.clear() },
		state.takes.length > 1 && { id: "delete-take", text: "Delete the take", run: () => void act.deleteTake(state.take!) },
		{ id: "collapse-all", text: "Collapse all entries", run: () => void act.collapseAll(true) },
		{ id: "expand-all", text: "Expand all entries", run: () => void act.collapseAll(false) },
		{ id: "import", text: "Import files …", run: () => openOverlay("import") },
		{ id: "export", text: "Export …", run: () => openOverlay("export") },
		...(state.info?.formats ?? []).filter((format) => format.writes && format.name !== "canonical").map((format) => ({
			id: `export-${format.name}`, text: `Export this take as ${format.name}`,
			run: () => download({ discussion: state.disc, take: state.take, format: format.name }),
		})),
		{ id: "purge", text: "Purge a secret …", run: () => openOverlay("purge") },
		{ id: "reset", text: "Reset the project …", run: () => openOverlay("reset") },
	];
	return verbs.filter((verb) => verb !== false);
}
