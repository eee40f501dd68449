// SPDX-License-Identifier: MIT
//
// Verbs: the actions of the panes, for the palette and for menus.
import * as act from "./actions";
import { address } from "./api";
import { askLine } from "./dialog";
import { ownDraft } from "./drafts";
import { focusComposerAfter } from "./focus";
import { openOverlay } from "./panes";
import { isNarrow } from "./panes";
import { hasTokens, mayManage, mayRun } from "./rights";
import { set, state } from "./state";
import { takeOf } from "./store";
import { newTake, promote, rename } from "./tabs";
import { templatesOf, useTemplate } from "./templates";
import { formatName, isGeneratedName } from "./words";
import type { Discussion } from "./types";

const TRIES = 40, PAUSE_MS = 50;

export interface PaneVerb {
	id: string;
	text: string;
	/** Synonyms for searching. */
	words?: string;
	run: () => void;
}

/** Focuses a field of a pane as soon as it is rendered. */
export function goToField(pane: string, id: string, tries = TRIES): void {
	if (tries === TRIES)
		set({ pane, ...(isNarrow() ? { drawer: "right" as const } : {}) });
	const field = document.getElementById(id);
	if (field) {
		field.closest("details")?.setAttribute("open", "");
		field.scrollIntoView({ block: "center" });
		field.focus();
	} else if (tries > 0) {
		setTimeout(() => goToField(pane, id, tries - 1), PAUSE_MS);
	}
}

/** Text, id of the field, synonyms. */
const FIELDS: [string, string, string?][] = [
	["Set the temperature", "set-temperature"],
	["Set top p", "set-top-p"],
	["Set the maximum number of tokens", "set-max-tokens", "max tokens"],
	["Set the number of steps that can be undone", "set-maximum-number-of-undo-steps", "undo capacity"],
	["Set the track", "set-track-of-this-discussion", "bind discussion"],
	["Report edits to the model", "set-notices", "edit notices"],
	["Let replies change the working prompt", "set-updates", "prompt updates"],
	["Set when to compact", "set-tokens-reserved-for-the-reply", "compaction automatic reserve"],
];

// Keys that are pressed while a pane opens are queued for the pane.
let isPaneOpening = false;
const queuedKeys: KeyboardEvent[] = [];

export function openPane(id: string): void {
	set({ pane: id, ...(isNarrow() ? { drawer: "right" as const } : {}) });
	isPaneOpening = true;
	setTimeout(() => {
		if (!isPaneOpening)
			return;
		document.getElementById(`pane-tab-${id}`)?.focus();
		enterPane(id, TRIES);
	});
}

export function queueKey(event: KeyboardEvent): void {
	if (!isPaneOpening || !event.isTrusted || event.ctrlKey || event.metaKey || event.altKey || /^(Tab|Shift|Control|Alt|Meta)$/.test(event.key))
		return;
	if (event.key === "Escape") { // cancels the queue
		queuedKeys.length = 0;
		isPaneOpening = false;
		return;
	}
	event.preventDefault();
	event.stopImmediatePropagation();
	queuedKeys.push(event);
}

const FIELD = "textarea, input[type=search], input[type=text], input:not([type])";

/** Replays a key event. */
function replayKey({ key, code, shiftKey }: KeyboardEvent): void {
	if (!document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true })) || key.length > 1)
		return;
	const field = document.activeElement as HTMLTextAreaElement; // the key may have moved the focus
	if (!field.matches(FIELD))
		return;
	field.setRangeText(key, field.selectionStart, field.selectionEnd, "end");
	field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** The pane has the focus, or opening it was cancelled: replays the queued keys. A key may move the focus to a
 * field elsewhere, which then gets the keys after it. Nothing else outside the pane gets any. */
async function replayKeys(): Promise<void> {
	const pane = document.getElementById("pane");
	for (let event = queuedKeys.shift(); event; event = queuedKeys.shift()) {
		const at = document.activeElement;
		if (!pane?.contains(at) && !at?.matches(FIELD))
			continue;
		replayKey(event);
		await new Promise((done) => setTimeout(done)); // until the effect is rendered
	}
	isPaneOpening = false;
}

/** Focuses the rows of the pane as soon as they exist, or its first field, unless the user has moved the focus
 * since. */
function enterPane(id: string, tries: number): void {
	if (!isPaneOpening)
		return;
	if (document.activeElement !== document.getElementById(`pane-tab-${id}`))
		return void replayKeys();
	const first = id === "outline" || id === "history" ? "#pane .pane-rows [tabindex='0']" : "#pane input, #pane textarea";
	const place = document.querySelector<HTMLElement>(first);
	place?.focus();
	if (place || tries === 0)
		void replayKeys();
	else
		setTimeout(() => enterPane(id, tries - 1), PAUSE_MS);
}

/** Downloads a file that the server generates. */
export function download(query: Record<string, string | number | null>): void {
	const link = document.createElement("a");
	link.href = address("/export", query);
	link.download = "";
	link.click();
}

/** A new discussion in which nothing has been changed or typed yet. */
function unusedDiscussion(): Discussion | undefined {
	return state.discussions.find((each) => each.updated === null && each.entries === 0 && each.takes === 1 && isGeneratedName(each.name) && !ownDraft(`compose.${each.id}`));
}

/** Without a name: the first question will be its title. An unused one is opened instead. */
export async function beginDiscussion(): Promise<void> {
	const unused = unusedDiscussion();
	if (unused) {
		set({ drawer: null });
		return focusComposerAfter(act.switchDiscussion(unused.id));
	}
	const names = new Set(state.discussions.map((each) => each.name));
	let number = 2;
	while (names.has(`discussion-${number}`))
		number++;
	set({ drawer: null });
	await focusComposerAfter(act.newDiscussion(`discussion-${number}`));
}

export async function newDiscussion(): Promise<void> {
	const name = await askLine("New discussion", "", { text: "Name", yes: "Create" });
	if (!name?.trim())
		return;
	set({ drawer: null });
	await focusComposerAfter(act.newDiscussion(name.trim()));
}

export async function truncate(): Promise<void> {
	const pairs = await askLine("Truncate", "3", { text: "Number of question-answer pairs to keep, from the end.", isNumber: true });
	if (pairs)
		await act.truncate(Number(pairs));
}

/** The verbs that are possible now. */
export function paneVerbs(): PaneVerb[] {
	const mine = takeOf(state.take);
	const verbs: (PaneVerb | false | undefined)[] = [
		{ id: "pane-outline", text: "Go to the outline", run: () => openPane("outline") },
		{ id: "pane-history", text: "Go to the history", words: "undo steps versions", run: () => openPane("history") },
		{ id: "pane-prompt", text: "Edit the prompt", words: "tokens usage cost price context instructions", run: () => openPane("prompt") },
		{ id: "pane-settings", text: "Settings", run: () => openPane("settings") },
		...FIELDS.map(([text, field, words]) => ({ id: field, text, words: `setting ${words ?? ""}`, run: () => goToField("settings", field) })),
		{ id: "system-prompt", text: "Edit the instructions", words: "system prompt base global project setting", run: () => goToField("prompt", "project_system_prompt") },
		{ id: "working-prompt", text: "Edit the working prompt", run: () => goToField("prompt", "working-prompt") },
		{ id: "presets", text: "Save or load a preset", words: "setting", run: () => goToField("settings", "presets") },
		{ id: "templates", text: "Templates …", words: "prompt snippets variables new edit", run: () => openOverlay("templates") },
		...templatesOf(state.settings?.settings).map((each) => ({ id: `template-${each.name}`, text: `Use the template ${each.name}`, run: () => useTemplate(each) })),
		{ id: "files", text: "Choose files to send", words: "context files screenshots attach setting", run: () => goToField("settings", "file-lists") },
		{ id: "filter", text: "Filter by role", words: "show only", run: () => document.querySelector<HTMLElement>(".role-filter")?.focus() },
		...(mine ? [
			{ id: "take-new", text: "New take …", words: "branch fork", run: () => void newTake() },
			{ id: "take-rename", text: "Rename the take …", run: () => void rename(mine) },
		] : []),
		mine && state.takes.length > 1 && { id: "take-promote", text: "Make the take a discussion …", words: "promote", run: () => void promote(mine) },
		{ id: "roles", text: "Edit the roles …", words: "add remove", run: () => openOverlay("roles") },
		{ id: "new", text: "New discussion", run: () => void beginDiscussion() },
		{ id: "new-named", text: "New discussion with a name …", run: () => void newDiscussion() },
		{ id: "ask-several", text: "Ask several models …", words: "compare models at once side by side", run: () => openOverlay("several") },
		state.takes.length > 1 && { id: "compare", text: "Compare takes …", words: "branches diff side by side", run: () => openOverlay("compare") },
		{ id: "sent", text: "Compare the last request with the next one …", run: () => openOverlay("sent") },
		{ id: "compact", text: "Compact or compress …", words: "summarise summarize summary", run: () => openOverlay("compact") },
		{ id: "truncate", text: "Truncate the take …", run: () => void truncate() },
		{ id: "clear", text: "Clear the take", run: () => void act.clear() },
		state.takes.length > 1 && { id: "delete-take", text: "Delete the take", run: () => void act.deleteTake(state.take!) },
		{ id: "collapse-all", text: "Collapse all entries", run: () => void act.collapseAll(true) },
		{ id: "expand-all", text: "Expand all entries", run: () => void act.collapseAll(false) },
		{ id: "import", text: "Import files …", run: () => openOverlay("import") },
		{ id: "export", text: "Export …", words: "share save page download", run: () => openOverlay("export") },
		...(state.info?.formats ?? []).filter((format) => format.writes && format.name !== "canonical").map((format) => ({
			id: `export-${format.name}`, text: `Export this take: ${formatName(format)}`,
			run: () => download({ discussion: state.disc, take: state.take, format: format.name }),
		})),
		{ id: "stats", text: "Statistics …", words: "stats count usage tokens cost spending calendar activity days models", run: () => openOverlay("stats") },
		mayManage() && { id: "members", text: "Members …", words: "users roles rights access", run: () => openOverlay("members") },
		mayManage() && { id: "share", text: "Share …", words: "link public read only", run: () => openOverlay("share") },
		!!state.account?.quotas && { id: "limits", text: "Limits of this account …", words: "quota usage", run: () => openOverlay("limits") },
		hasTokens() && { id: "tokens", text: "Access tokens …", words: "api personal secret", run: () => openOverlay("tokens") },
		{ id: "purge", text: "Purge a secret …", run: () => openOverlay("purge") },
		{ id: "reset", text: "Reset the project …", run: () => openOverlay("reset") },
	];
	return verbs.filter((verb) => !!verb).filter((verb) => mayRun(verb.id));
}
