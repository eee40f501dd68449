// SPDX-License-Identifier: MIT
//
// Outline: all entries of one take without their texts, as columns. Outlines are immutable: a
// splice returns a new one. Positions count from 0.
import { COLLAPSED, EDITED, HIDDEN, MUTED, READ_MODE } from "./types";
import type { Columns, Entry, EntryWindow, Splice } from "./types";

export interface Outline {
	/** The row of the history that it reflects. */
	seq: number;
	discussion: string;
	take: string;
	/** Number of entries of the take before the first one here; only lastOf() returns more than 0. */
	before: number;
	id: readonly string[];
	role: readonly string[];
	kind: readonly string[];
	flags: readonly number[];
	size: readonly number[];
	labels: ReadonlyMap<string, string>;
	/** Ids of rows whose columns must be read again. */
	stale: ReadonlySet<string>;
}

export function outlineOf(columns: Columns, take: string): Outline {
	const labels = new Map<string, string>();
	for (const [row, label] of Object.entries(columns.labels))
		labels.set(columns.id[Number(row) - columns.from], label);
	return {
		seq: columns.seq,
		discussion: columns.discussion,
		take,
		before: 0,
		id: columns.id,
		role: columns.role.map((at) => columns.roles[at]),
		kind: columns.kind.map((at) => columns.kinds[at]),
		flags: columns.flags,
		size: columns.size,
		labels,
		stale: new Set(),
	};
}

/** An outline of the end of a take, for display until the whole outline has been read. */
export function lastOf(window: EntryWindow, discussion: string, take: string): Outline {
	const { entries } = window;
	return {
		seq: window.seq, discussion, take, before: window.from,
		id: entries.map((entry) => entry.id),
		role: entries.map((entry) => entry.role),
		kind: entries.map((entry) => entry.kind),
		flags: entries.map(flagsOf),
		size: entries.map((entry) => entry.content.length),
		labels: new Map(entries.filter((entry) => entry.label).map((entry) => [entry.id, entry.label!])),
		stale: new Set(),
	};
}

const places = new WeakMap<readonly string[], Map<string, number>>();

/** The position of an entry; -1: not in this take. */
export function placeOf(outline: Outline, id: string | null): number {
	if (id === null)
		return -1;
	let map = places.get(outline.id);
	if (!map) {
		map = new Map(outline.id.map((each, at) => [each, at]));
		places.set(outline.id, map);
	}
	const at = map.get(id) ?? -1;
	return outline.id[at] === id ? at : -1; // the map may belong to a longer list
}

/** Reuses the map of positions if one list is a prefix of the other. */
function sharePlaces(from: readonly string[], to: readonly string[]): void {
	const map = places.get(from);
	for (let at = from.length; map && at < to.length; at++) {
		if ((map.get(to[at]) ?? at) !== at)
			return;
		map.set(to[at], at);
	}
	if (map)
		places.set(to, map);
}

function cut<T>(list: readonly T[], at: number, remove: number, insert: T[]): T[] {
	return list.slice(0, at).concat(insert, list.slice(at + remove));
}

/** Removes and inserts entries. The known data of moved entries is kept. */
export function spliced(outline: Outline, splice: Splice): Outline {
	const at = splice.at ?? 0, remove = splice.remove ?? 0, insert = splice.insert ?? [];
	const known = insert.map((id) => placeOf(outline, id));
	const stale = new Set(outline.stale);
	for (const id of insert)
		stale.add(id);
	const id = cut(outline.id, at, remove, insert);
	if (at + remove === outline.id.length && (remove === 0 || insert.length === 0))
		sharePlaces(outline.id, id);
	const column = <T>(list: readonly T[], otherwise: T) =>
		cut(list, at, remove, known.map((place) => (place < 0 ? otherwise : list[place])));
	return {
		...outline,
		id,
		role: column(outline.role, ""),
		kind: column(outline.kind, "message"),
		flags: column(outline.flags, 0),
		size: column(outline.size, 80),
		stale,
	};
}

export function touched(outline: Outline, ids: string[]): Outline {
	const here = ids.filter((id) => placeOf(outline, id) >= 0);
	return here.length ? { ...outline, stale: new Set([...outline.stale, ...here]) } : outline;
}

/** Applies columns that were read again. Rows that have another id in the meantime stay stale. */
export function refreshed(outline: Outline, columns: Columns): Outline {
	const role = outline.role.slice(), kind = outline.kind.slice();
	const flags = outline.flags.slice(), size = outline.size.slice();
	const stale = new Set(outline.stale), labels = new Map(outline.labels);
	columns.id.forEach((id, i) => {
		const at = columns.from + i;
		if (outline.id[at] !== id)
			return;
		role[at] = columns.roles[columns.role[i]];
		kind[at] = columns.kinds[columns.kind[i]];
		flags[at] = columns.flags[i];
		size[at] = columns.size[i];
		stale.delete(id);
		labels.delete(id);
	});
	for (const [row, label] of Object.entries(columns.labels))
		labels.set(columns.id[Number(row) - columns.from], label);
	return { ...outline, role, kind, flags, size, stale, labels };
}

/** The flags that are known from an entry itself, without the columns. */
const FLAGS_OF_ENTRY = MUTED | COLLAPSED | READ_MODE | EDITED | HIDDEN;

/** Refreshes stale rows whose entries have been read. */
export function withEntries(outline: Outline, entries: Entry[]): Outline {
	const role = outline.role.slice(), kind = outline.kind.slice();
	const flags = outline.flags.slice(), size = outline.size.slice();
	const stale = new Set(outline.stale), labels = new Map(outline.labels);
	for (const entry of entries) {
		const at = placeOf(outline, entry.id);
		if (at < 0 || !stale.delete(entry.id))
			continue;
		role[at] = entry.role;
		kind[at] = entry.kind;
		flags[at] = (flags[at] & ~FLAGS_OF_ENTRY) | flagsOf(entry);
		size[at] = typeof entry.content === "string" ? entry.content.length : size[at];
		if (entry.label)
			labels.set(entry.id, entry.label);
		else
			labels.delete(entry.id);
	}
	return { ...outline, role, kind, flags, size, stale, labels };
}

export function flagsOf(entry: Entry): number {
	return (entry.muted ? MUTED : 0) | (entry.collapsed ? COLLAPSED : 0) |
		(entry.read_mode ? READ_MODE : 0) | (entry.edited === true ? EDITED : 0) | (isHidden(entry) ? HIDDEN : 0);
}

/** Is the entry hidden: state of an extension, the record of a label, or a message with "display":false? As
 * rt_content_is_hidden. */
export function isHidden(entry: { kind?: string; display?: unknown; pi?: unknown }): boolean {
	const pi = entry.pi as { display?: unknown; message?: { role?: unknown; display?: unknown } } | null | undefined;
	if (entry.kind === "custom" || entry.kind === "label")
		return true;
	if (entry.kind === "custom_message")
		return entry.display === false || pi?.display === false;
	return pi?.message?.role === "custom" && pi.message.display === false;
}

/** Positions that are not hidden and pass the filter: a role and the user; null: all. */
export function filtered(outline: Outline, role: string | null): number[] | null {
	if (role === null && !outline.flags.some((flags) => flags & HIDDEN))
		return null;
	const found: number[] = [];
	outline.role.forEach((each, at) => {
		if (!(outline.flags[at] & HIDDEN) && (role === null || each === role || each.toLowerCase() === "user"))
			found.push(at);
	});
	return found;
}
