// SPDX-License-Identifier: MIT
//
// Actions on one entry that need more than an operation: a question first, or another part of the
// page.
import * as act from "./actions";
import { askLine } from "./dialog";
import { flagsOf, placeOf } from "./outline";
import { openOverlay } from "./panes";
import { may } from "./rights";
import { roleName } from "./speaker";
import { set, state } from "./state";
import { findTake, linkTo, readEntry } from "./store";
import { COLLAPSED, MUTED, READ_MODE } from "./types";
import type { Mark } from "./markdown";
import type { Content, Entry } from "./types";

export { list, showEntry } from "./focus";

/** Starts a selection from this entry to the one that is touched next. */
export function select(entry: string): void {
	set({ focus: entry, anchor: entry, isSelecting: true, ...(!state.toast?.isProblem && { toast: null }) }); // an earlier Undo would be misleading
}

export function focusSearch(): void {
	openOverlay("palette");
}

function flagsNow(entry: string): number {
	const outline = state.outline!;
	const body = state.bodies.get(entry);
	if (body && state.tags.has(entry))
		return flagsOf(body);
	return outline.flags[placeOf(outline, entry)] ?? 0;
}

export function textOf(content: Content): string {
	if (typeof content === "string")
		return content;
	return content.filter((block) => block.type === "text").map((block) => block.text ?? "").join("\n");
}

async function bodyOf(entry: string): Promise<Entry> {
	return state.bodies.get(entry) ?? (await readEntry(entry)).entry;
}

export function startEdit(entry: string): void {
	if (!may("edit"))
		return; // a double click
	if (flagsNow(entry) & COLLAPSED)
		void act.view(entry, () => ({ collapsed: false }));
	set({ editing: { entry }, focus: entry, anchor: null });
}

/** The role that usually follows this one, as user and model alternate. */
export function nextRole(role: string | undefined): string {
	const roles = state.settings?.roles ?? [];
	const user = roles.find((each) => each.toLowerCase() === "user") ?? roles[0] ?? "User";
	const model = roles.find((each) => /^(ai|assistant|model)$/i.test(each)) ?? "AI";
	return role?.toLowerCase() === "user" ? model : user;
}

export function startInsert(place: { before?: string; after?: string }): void {
	const outline = state.outline!;
	const at = place.after ? placeOf(outline, place.after) : placeOf(outline, place.before!) - 1;
	set({ editing: { entry: null, ...place, role: nextRole(at < 0 ? undefined : outline.role[at]) } });
}

export async function askRole(entry: string): Promise<void> {
	const outline = state.outline!;
	const now = outline.role[placeOf(outline, entry)], roles = state.settings?.roles ?? [];
	const name = await askLine("Change the role", roleName(now), {
		text: "One of the project's roles, or any other.", suggestions: roles.map(roleName),
	});
	const role = [now, ...roles].find((each) => roleName(each) === name) ?? name;
	if (role && role !== now)
		await act.changeRole(entry, role);
}

export async function askLabel(entry: string): Promise<void> {
	const now = state.outline?.labels.get(entry) ?? "";
	const text = await askLine("Label", now, { text: "A name for this entry. Leave empty for none." });
	if (text !== null && text !== now)
		await act.label(entry, text.trim());
}

export async function askMoveBefore(entry: string): Promise<void> {
	const outline = state.outline!;
	const text = await askLine("Move before …", "", {
		text: `The number (1 to ${outline.id.length}), id or label of the entry that will follow. ` +
			"Leave empty to move to the end.",
	});
	if (text === null)
		return;
	const wanted = text.trim();
	if (wanted === "")
		await act.move(entry, { after: outline.id[outline.id.length - 1] });
	else
		await act.move(entry, { before: /^\d+$/.test(wanted) ? outline.id[Number(wanted) - 1] ?? wanted : wanted });
}

export async function askBranch(entry: string): Promise<void> {
	const name = await askLine("Branch here", "", { text: "Name (optional)" });
	if (name !== null)
		await act.branch(entry, name.trim() || undefined);
}

export function toggleCollapsed(entry: string): void {
	void act.view(entry, () => ({ collapsed: !(flagsNow(entry) & COLLAPSED) }));
}

export function toggleMuted(entry: string): void {
	void act.mute(entry, () => !(flagsNow(entry) & MUTED));
}

// Entries are rendered unless the user asked for the source of one. "read_mode" of an entry is stored on the server,
// so that the other programs show the same.
export function isRead(entry: Entry): boolean {
	return entry.read_mode || !state.sources.has(entry.id);
}

export function toggleRead(entry: string): void {
	void act.view(entry, () => {
		const isOn = !!(flagsNow(entry) & READ_MODE);
		const shows = isOn || !state.sources.has(entry);
		const sources = new Set(state.sources);
		if (shows)
			sources.add(entry);
		else
			sources.delete(entry);
		set({ sources });
		return isOn === shows ? { read_mode: !shows } : null;
	});
}

export function copy(entry: string): void {
	void bodyOf(entry).then((body) => act.copyText(proseOf(body)));
}

export async function textToCopy(entry: string): Promise<string> {
	return proseOf(await bodyOf(entry));
}

/** Makes the selected text of the entry the prompt, or its whole text without thinking. */
export async function useAsPrompt(entry: string): Promise<void> {
	const row = document.querySelector(`[data-entry="${entry}"] .entry-body`), marked = getSelection();
	const isInside = marked?.anchorNode && marked.focusNode && row?.contains(marked.anchorNode) && row.contains(marked.focusNode);
	const text = (isInside && marked.toString().trim()) || proseOf(await bodyOf(entry));
	await act.op("prompt.update", { text }, { say: "Set the working prompt." });
}

/** The text of an entry without thinking. Where thinking is part of the text, the server's blocks give its ranges. */
export function proseOf(entry: Entry): string {
	const blocks = entry.blocks as Mark[] | undefined;
	if (typeof entry.content !== "string" || !blocks?.some((block) => block.t === "thinking"))
		return textOf(entry.content);
	const bytes = new TextEncoder().encode(entry.content);
	let from = 0, text = "";
	for (const block of blocks) {
		if (block.t !== "thinking" || !block.at)
			continue;
		text += new TextDecoder().decode(bytes.slice(from, block.at[0]));
		from = block.at[1];
	}
	return (text + new TextDecoder().decode(bytes.slice(from))).trim();
}

export async function copyLink(entry: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(linkTo(entry));
		act.say("Copied the link.", false);
	} catch (error) {
		act.sayProblem(error);
	}
}

export function again(entry: string, n: number): void {
	void act.run({ how: "again", at: entry, n });
}

export async function askAgain(entry: string): Promise<void> {
	const n = Number(await askLine("Again", "3", {
		text: "Number of replies, each in a separate take.", isNumber: true,
	}));
	if (n > 0)
		again(entry, Math.min(n, 100));
}

/** The entry whose versions are open. */
export const versions: { of: string | null } = { of: null };

export function showVersions(entry: string): void {
	versions.of = entry;
	openOverlay("versions");
}

/** Goes to the entries that a summary was made from, if their take still has its name. */
export async function toSource(body: Entry): Promise<void> {
	const take = typeof body.from_take === "string" ? await findTake(body.from_take) : undefined;
	if (!take || !state.disc)
		return act.say("That take was deleted or renamed.", false);
	await act.show(state.disc, take.id, body.first_id);
	if (body.first_id)
		set({ focus: body.first_id, anchor: null });
}
