// SPDX-License-Identifier: MIT
//
// Keys: all key bindings in one table, which drives the handler, the help (?), the hints in menus
// and the palette. A single letter is a command only on an entry that was chosen with the keyboard;
// anywhere else outside a text field it is text for the composer. Single keys can be disabled;
// those with Ctrl (or Cmd) always work.
import * as act from "./actions";
import { isCovered } from "./dialog";
import * as ask from "./entry_acts";
import { focusComposer, focusTake, hasKeys } from "./focus";
import { placeOf } from "./outline";
import { openPane } from "./pane_verbs";
import { isNarrow, openOverlay, togglePane } from "./panes";
import { mayRun } from "./rights";
import { set, state } from "./state";
import { shownRows } from "./store";

export interface Command {
	id: string;
	title: string;
	group: "Move" | "Entry" | "Take" | "History" | "Page";
	/** The first is shown. "Ctrl" also means Cmd. */
	keys: string[];
	run: () => void;
	/** Acts on the focused entry: does nothing without one. */
	needsEntry?: boolean;
}

/** The entry that keys act on; within a selection, the entry of the button that was pressed last. */
function focused(): string | null {
	const own = state.anchor !== null && last !== null && entryThen === state.focus && last === document.activeElement
		? last.closest<HTMLElement>("[data-entry].selected")?.dataset.entry : undefined;
	const entry = own ?? state.focus;
	return state.outline && placeOf(state.outline, entry) >= 0 ? entry : null;
}

/** Shows and focuses another row; extend: selects the rows from the anchor to it. */
function moveFocus(by: number | "first" | "last", extend = false): void {
	const outline = state.outline;
	if (!outline || outline.id.length === 0)
		return;
	const rows = shownRows(), count = rows ? rows.length : outline.id.length;
	if (count === 0)
		return;
	const now = placeOf(outline, state.focus);
	const at = rows ? rows.indexOf(now) : now;
	const wanted = by === "first" ? 0 : by === "last" ? count - 1 : at < 0 ? count - 1 : at + by;
	const next = Math.min(Math.max(wanted, 0), count - 1);
	const id = outline.id[rows ? rows[next] : next];
	set({ focus: id, anchor: extend ? state.anchor ?? state.focus : null });
	ask.showEntry(id);
}

const SENDS = "retake.enter";

/** Does Enter send the entry, and Shift+Enter insert a line break? By default if there is a keyboard: an on-screen
 * one has no Shift+Enter. */
export function doesEnterSend(): boolean {
	const kept = localStorage.getItem(SENDS);
	return kept ? kept === "sends" : hasKeys();
}

export function switchEnter(on: boolean): void {
	localStorage.setItem(SENDS, on ? "sends" : "lines");
	set({});
}

/** To the next entry of the user before (-1) or after the focused one. */
function moveToUser(by: 1 | -1): void {
	const outline = state.outline;
	if (!outline)
		return;
	const now = placeOf(outline, state.focus), rows = shownRows(), shown = rows && new Set(rows);
	for (let at = now < 0 ? outline.id.length - 1 : now + by; at >= 0 && at < outline.id.length; at += by)
		if (outline.role[at].toLowerCase() === "user" && (!shown || shown.has(at))) {
			set({ focus: outline.id[at], anchor: null });
			return ask.showEntry(outline.id[at]);
		}
}

/** Opens a pane and focuses it; closes it if it is open. */
function visitPane(id: string): void {
	if (state.pane === id && !isNarrow())
		togglePane(id);
	else
		openPane(id);
}

function leave(): void {
	const isInPane = document.activeElement?.closest(".side, .left, .selection");
	if (!isInPane && state.anchor === null && state.drawer === null && act.stopReplies())
		return;
	set({ anchor: null, isSelecting: false, drawer: null });
	if (isInPane)
		setTimeout(focusTake); // elements under a drawer are inert until it has closed
}

const onEntry = (run: (entry: string) => void) => () => {
	const entry = focused();
	if (entry)
		run(entry);
};

export const commands: Command[] = [
	{ id: "next", title: "Next entry", group: "Move", keys: ["j", "ArrowDown"], run: () => moveFocus(1) },
	{ id: "previous", title: "Previous entry", group: "Move", keys: ["k", "ArrowUp"], run: () => moveFocus(-1) },
	{ id: "select-next", title: "Extend the selection to the next entry", group: "Move", keys: ["Shift+J", "Shift+ArrowDown"], run: () => moveFocus(1, true) },
	{ id: "select-previous", title: "Extend the selection to the previous entry", group: "Move", keys: ["Shift+K", "Shift+ArrowUp"], run: () => moveFocus(-1, true) },
	{ id: "question-previous", title: "Previous user entry", group: "Move", keys: ["p"], run: () => moveToUser(-1) },
	{ id: "question-next", title: "Next user entry", group: "Move", keys: ["Shift+P"], run: () => moveToUser(1) },
	{ id: "first", title: "First entry", group: "Move", keys: ["Home"], run: () => moveFocus("first") },
	{ id: "last", title: "Last entry", group: "Move", keys: ["End"], run: () => moveFocus("last") },

	{ id: "edit", title: "Edit", group: "Entry", keys: ["e", "Enter"], needsEntry: true, run: onEntry(ask.startEdit) },
	{ id: "insert-before", title: "Insert before", group: "Entry", keys: ["i"], needsEntry: true, run: onEntry((entry) => ask.startInsert({ before: entry })) },
	{ id: "insert-after", title: "Insert after", group: "Entry", keys: ["a"], needsEntry: true, run: onEntry((entry) => ask.startInsert({ after: entry })) },
	{ id: "role", title: "Change the role", group: "Entry", keys: ["r"], needsEntry: true, run: onEntry((entry) => void ask.askRole(entry)) },
	{ id: "delete", title: "Delete (all selected entries)", group: "Entry", keys: ["d", "Delete"], needsEntry: true, run: () => void act.remove(act.selected()) },
	{ id: "collapse", title: "Collapse or expand", group: "Entry", keys: ["c", "Space"], needsEntry: true, run: onEntry(ask.toggleCollapsed) },
	{ id: "read", title: "Rendered text or source", group: "Entry", keys: ["v"], needsEntry: true, run: onEntry(ask.toggleRead) },
	{ id: "mute", title: "Mute or unmute", group: "Entry", keys: ["x"], needsEntry: true, run: onEntry(ask.toggleMuted) },
	{ id: "label", title: "Label", group: "Entry", keys: ["m"], needsEntry: true, run: onEntry((entry) => void ask.askLabel(entry)) },
	{ id: "copy", title: "Copy the text", group: "Entry", keys: ["y"], needsEntry: true, run: onEntry(ask.copy) },
	{ id: "again", title: "Again: another reply", group: "Entry", keys: ["g"], needsEntry: true, run: onEntry((entry) => ask.again(entry, 1)) },
	{ id: "up", title: "Move up", group: "Entry", keys: ["Alt+ArrowUp"], needsEntry: true, run: onEntry((entry) => void act.moveBy(entry, -1)) },
	{ id: "down", title: "Move down", group: "Entry", keys: ["Alt+ArrowDown"], needsEntry: true, run: onEntry((entry) => void act.moveBy(entry, 1)) },
	{ id: "versions", title: "Versions of the entry", group: "Entry", keys: ["w"], needsEntry: true, run: onEntry(ask.showVersions) },

	{ id: "branch", title: "Branch here", group: "Take", keys: ["b"], needsEntry: true, run: onEntry((entry) => void act.branch(entry)) },
	{ id: "take-previous", title: "Previous take", group: "Take", keys: ["["], run: () => void act.stepTake(-1) },
	{ id: "take-next", title: "Next take", group: "Take", keys: ["]"], run: () => void act.stepTake(1) },

	{ id: "undo", title: "Undo", group: "History", keys: ["u", "Ctrl+Z"], run: () => void act.undo() },
	{ id: "redo", title: "Redo", group: "History", keys: ["Shift+U", "Ctrl+Shift+Z", "Ctrl+Y"], run: () => void act.redo() },
	{ id: "history", title: "History", group: "History", keys: ["h"], run: () => visitPane("history") },

	{ id: "compose", title: "Write an entry", group: "Page", keys: ["n"], run: focusComposer },
	{ id: "outline", title: "Outline", group: "Page", keys: ["o"], run: () => visitPane("outline") },
	{ id: "search", title: "Search", group: "Page", keys: ["/"], run: () => ask.focusSearch() },
	{ id: "save", title: "Save", group: "Page", keys: ["Ctrl+S"], run: act.save },
	{ id: "palette", title: "All commands", group: "Page", keys: ["Ctrl+K"], run: () => openOverlay("palette") },
	{ id: "help", title: "Help and keys", group: "Page", keys: ["?"], run: () => openOverlay("help") },
	{ id: "leave", title: "Clear the selection, stop a reply, or return to the entries", group: "Page", keys: ["Escape"], run: leave },
];

function commandOf(id: string): Command | undefined {
	return commands.find((command) => command.id === id);
}

/** The key of a command, for menus. */
export function hintOf(id: string): string | undefined {
	const key = commandOf(id)?.keys.find((each) => areOn() || !isSingle(each));
	return key && shown(key);
}

/** One letter or symbol: speech input may trigger it, so it can be disabled. */
function isSingle(key: string): boolean {
	return /^(Shift\+)?.$/.test(key);
}

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

export function shown(key: string): string {
	return key.replace("Ctrl+", isMac ? "⌘" : "Ctrl+").replace("ArrowUp", "↑").replace("ArrowDown", "↓");
}

function keyOf(event: KeyboardEvent): string {
	const name = event.key === " " ? "Space" : event.key;
	const isLetter = /^[a-z]$/i.test(name);
	// symbols such as "?" already imply Shift
	const shift = event.shiftKey && (isLetter || name.length > 1) ? "Shift+" : "";
	const ctrl = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
	return ctrl + (event.altKey ? "Alt+" : "") + shift +
		(isLetter ? (ctrl || shift ? name.toUpperCase() : name) : name);
}

const SWITCH = "retake.keys";

/** Are single keys enabled? */
export function areOn(): boolean {
	return localStorage.getItem(SWITCH) !== "off";
}

export function switchKeys(on: boolean): void {
	localStorage.setItem(SWITCH, on ? "on" : "off");
	set({});
}

function isText(element: Element | null): boolean {
	return element instanceof HTMLElement &&
		(element.isContentEditable || /^(TEXTAREA|SELECT)$/.test(element.tagName) ||
		 (element instanceof HTMLInputElement && !/^(checkbox|radio|button|submit|file)$/.test(element.type)));
}

/** Keys that buttons, links, tabs and scrolling handle themselves. */
function isNativeKey(key: string, element: Element | null): boolean {
	if (!/^(Enter|Space|Arrow|Home|End|Shift\+Arrow|Delete)/.test(key))
		return false;
	return element !== null && element !== document.body &&
		element.closest("button, a, summary, [role=tab], [role=menu], [role=tree], [role=listbox]") !== null;
}

// The last focused element, and the focused entry at that time: the latter may have changed since.
let last: Element | null = null, entryThen: string | null = null;
document.addEventListener("focusin", (event) => {
	last = event.target as Element;
	entryThen = state.focus;
});

/** The focused element, or the last one if it was just removed (by a delete key). */
function keyTarget(element: Element | null): Element | null {
	if (element !== null && element !== document.body)
		return element;
	return last !== null && !last.isConnected ? last : null;
}

// After a click, typing is text for the composer and not a command on the clicked entry.
let isByPointer = false;
const MODIFIER = /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|Fn|NumLock|Dead|Process|Unidentified)$/;

function setByPointer(is: boolean): void {
	isByPointer = is;
	document.documentElement.toggleAttribute("data-keys", !is); // shows the focus ring of the entry
}

setByPointer(false);
document.addEventListener("pointerdown", () => setByPointer(true), true);
document.addEventListener("keydown", (event) => {
	if (event.key.length > 1 && !MODIFIER.test(event.key))
		setByPointer(false);
}, true);

/** Was an entry, or an element in it, chosen with the keyboard? */
function isOnEntry(element: Element | null): boolean {
	return !isByPointer && keyTarget(element)?.closest(".entry") != null;
}

function isPrintable(event: KeyboardEvent): boolean {
	const isChord = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
	return !isChord && !event.metaKey && event.key !== " " && (event.key.length === 1 || event.key === "Dead");
}

export function onKey(event: KeyboardEvent): void {
	if (event.defaultPrevented || event.isComposing)
		return;
	const key = keyOf(event), isPlain = !key.startsWith("Ctrl+");
	const target = document.activeElement;
	if (isText(target) && (isPlain || (/^Ctrl\+(Shift\+)?[ZY]$/.test(key) && !(target as HTMLElement).dataset.untouched)))
		return; // once something was typed, a text field has its own undo
	if (isNativeKey(key, target) || (isCovered() && key !== "Ctrl+K"))
		return;
	const command = commands.find((each) => each.keys.includes(key) && mayRun(each.id));
	const isCommand = command && (isSingle(key) ? areOn() && isOnEntry(target) : true);
	if (!isCommand) {
		if (isPrintable(event))
			focusComposer(); // the key is then typed there
		return;
	}
	if (command.needsEntry && (!focused() || keyTarget(target)?.closest(".entry") == null))
		return;
	event.preventDefault();
	command.run();
}
