// SPDX-License-Identifier: MIT
//
// The tree of all takes as visible rows: filtered, searched, folded by the user, indented at forks
// only. Columns are in depth-first order, parents before children, so that each pass is a loop
// without recursion.
import { HIDDEN } from "./types";
import type { Columns } from "./types";

export type Filter = "default" | "no-tools" | "user" | "labelled" | "all";

/** The vertical lines left of a row, innermost first; shared by all rows of a chain. */
export interface Rail {
	up: Rail | null;
	/** Another branch follows below. */
	more: boolean;
	depth: number;
}

export interface TreeRow {
	/** Index in the columns. */
	at: number;
	/** For rendering and folding: the id, and which of its occurrences in the tree. */
	key: string;
	rail: Rail | null;
	/** The first row of a branch: it has a connector. */
	begins: boolean;
	/** The nearest foldable row above; -1: none. */
	above: number;
	level: number;
	canFold: boolean;
	isFolded: boolean;
	/** Position among its siblings, from 1. */
	place: number;
	/** Shared by all siblings. */
	family: { size: number };
}

export function isUserMessage(columns: Columns, at: number): boolean {
	const kind = columns.kinds[columns.kind[at]];
	return kind === "custom_message" ||
		((kind === "message" || !kind) && columns.roles[columns.role[at]].toLowerCase() === "user");
}

function isTool(columns: Columns, at: number): boolean {
	return /tool|bash|function/i.test(columns.roles[columns.role[at]]) || /tool|bash/i.test(columns.kinds[columns.kind[at]]);
}

/** Records that are not part of the conversation. Labels and the state of extensions are always hidden (HIDDEN). */
const RECORDS = /^(session_info|model_change|thinking_level_change|context_edit)$/;

/** Evaluates the filter once for each combination of kind and role: there are few. */
function passes(columns: Columns, filter: Filter): Uint8Array {
	const roles = columns.roles.length, table = new Uint8Array(columns.kinds.length * roles);
	const first = new Map<number, number>();
	for (let at = 0; at < columns.count; at++) {
		const pair = columns.kind[at] * roles + columns.role[at];
		if (first.has(pair))
			continue;
		first.set(pair, at);
		let shows = true;
		if (filter === "no-tools")
			shows = !isTool(columns, at) && !RECORDS.test(columns.kinds[columns.kind[at]]);
		else if (filter === "user")
			shows = isUserMessage(columns, at);
		table[pair] = shows ? 1 : 0;
	}
	return table;
}

const texts = new WeakMap<Columns, string[]>();

/** The searchable text of each row, computed once, here up to this row. */
function textsOf(columns: Columns, to = columns.count): string[] {
	let list = texts.get(columns);
	if (!list)
		texts.set(columns, list = []);
	for (let at = list.length; at < to; at++)
		list.push(`${columns.roles[columns.role[at]]} ${columns.preview?.[at] ?? ""} ${columns.labels[at] ?? ""} ${columns.id[at]}`.toLowerCase());
	return list;
}

const PIECE = 500, PIECES_MS = 8;

/** Computes that in idle time, in slices. Returns a function that cancels it. */
export function indexInIdleTime(columns: Columns): () => void {
	let isOff = false;
	const later = (next: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(next) : setTimeout(next));
	const next = () => {
		const end = performance.now() + PIECES_MS;
		let done = isOff ? columns.count : textsOf(columns, 0).length;
		while (done < columns.count && performance.now() < end)
			done = textsOf(columns, Math.min(done + PIECE, columns.count)).length;
		if (done < columns.count)
			later(next);
	};
	later(next);
	return () => { isOff = true; };
}

/** Which rows pass the filter and the search; hits: ids whose texts match beyond the preview. */
function filterRows(columns: Columns, filter: Filter, search: string, hits: ReadonlySet<string> | null): Uint8Array {
	const kept = new Uint8Array(columns.count);
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	const table = passes(columns, filter), roles = columns.roles.length;
	const list = words.length ? textsOf(columns) : [];
	for (let at = 0; at < columns.count; at++) {
		let shows = filter === "labelled" ? columns.labels[at] !== undefined
			: table[columns.kind[at] * roles + columns.role[at]] === 1;
		shows &&= filter === "all" || !(columns.flags[at] & HIDDEN);
		if (shows && words.length)
			shows = words.every((word) => list[at].includes(word)) || !!hits?.has(columns.id[at]);
		kept[at] = shows ? 1 : 0;
	}
	return kept;
}

const keys = new WeakMap<Columns, string[]>();

/** Keys of rows that are stable when entries are added or removed. */
export function keysOf(columns: Columns): string[] {
	let list = keys.get(columns);
	if (!list) {
		const seen = new Map<string, number>();
		list = columns.id.map((id) => {
			const times = seen.get(id) ?? 0;
			seen.set(id, times + 1);
			return times ? `${id}/${times}` : id;
		});
		keys.set(columns, list);
	}
	return list;
}

/** The row with this key; -1: none. */
export function rowOfKey(rows: TreeRow[], key: string | null | undefined): number {
	return key ? rows.findIndex((row) => row.key === key) : -1;
}

/** The last request and its result. */
const made = new WeakMap<Columns, { asked: unknown[]; rows: TreeRow[] }>();

/** The visible rows; the last result is cached. */
export function treeRows(columns: Columns, keys: string[], filter: Filter, search: string,
		folded: ReadonlySet<string>, hits: ReadonlySet<string> | null): TreeRow[] {
	const asked = [filter, search, folded.size ? folded : null, hits?.size ? hits : null];
	const last = made.get(columns);
	if (last?.asked.every((each, at) => each === asked[at]))
		return last.rows;
	const rows = makeRows(columns, keys, filter, search, folded, hits);
	made.set(columns, { asked, rows });
	return rows;
}

function makeRows(columns: Columns, keys: string[], filter: Filter, search: string,
		folded: ReadonlySet<string>, hits: ReadonlySet<string> | null): TreeRow[] {
	const n = columns.count, kept = filterRows(columns, filter, search, hits);
	const parent = new Int32Array(n), children = new Int32Array(n + 1), lastChild = new Int32Array(n + 1);
	for (let at = 0; at < n; at++) {
		const up = columns.parent[at];
		parent[at] = up < 0 ? -1 : kept[up] ? up : parent[up];
		if (!kept[at])
			continue;
		const slot = parent[at] + 1; // 0: the roots
		children[slot]++;
		lastChild[slot] = at;
	}
	const rowOf = new Int32Array(n).fill(-1), hidden = new Uint8Array(n);
	const rows: TreeRow[] = [], families = new Map<number, { size: number }>();
	for (let at = 0; at < n; at++) {
		if (!kept[at])
			continue;
		const up = parent[at];
		const above = up >= 0 ? rows[rowOf[up]] : undefined;
		if (up >= 0 && (hidden[up] || above!.isFolded)) {
			hidden[at] = 1;
			continue;
		}
		const begins = children[up + 1] > 1;
		const outer = above?.rail ?? null;
		const rail = begins ? { up: outer, more: lastChild[up + 1] !== at, depth: (outer?.depth ?? 0) + 1 } : outer;
		const canFold = children[at + 1] > 1 || (begins && children[at + 1] > 0);
		const holder = above ? (above.canFold ? rowOf[up] : above.above) : -1;
		let family = families.get(holder);
		if (!family)
			families.set(holder, family = { size: 0 });
		rowOf[at] = rows.length;
		rows.push({
			at, key: keys[at], rail, begins, above: holder, canFold,
			level: holder < 0 ? 1 : rows[holder].level + 1,
			isFolded: canFold && folded.has(keys[at]),
			place: ++family.size, family,
		});
	}
	return rows;
}

/** The visible row of the columns that stands for this one: itself, or its nearest visible ancestor, but only
 * itself in search results; -1: none. */
export function shownFor(columns: Columns, rows: TreeRow[], at: number, search: string): number {
	const shown = new Set(rows.map((row) => row.at));
	while (at >= 0 && !shown.has(at))
		at = search.trim() ? -1 : columns.parent[at];
	return at;
}

/** Are there only always-hidden entries between the head and this row? */
export function isSamePoint(columns: Columns, head: number, at: number): boolean {
	while (head > at && columns.flags[head] & HIDDEN)
		head = columns.parent[head];
	return head === at;
}

/** The set of rows on the path from the root to a tip. */
export function pathTo(columns: Columns, tip: number): Uint8Array {
	const path = new Uint8Array(columns.count);
	for (let at = tip; at >= 0; at = columns.parent[at])
		path[at] = 1;
	return path;
}

/** The row of the head of the open take; -1: before the first entry. */
export function headRow(columns: Columns, take: string | null, head: string | null): number {
	let at = columns.tips[take ?? ""] ?? -1;
	while (at >= 0 && columns.id[at] !== head)
		at = columns.parent[at];
	return at;
}

/** Number of entries on the path to `from` that are not on the path to `to`. */
export function entriesLeft(columns: Columns, from: number, to: number): number {
	const stays = pathTo(columns, to);
	let left = 0;
	for (let at = from; at >= 0 && !stays[at]; at = columns.parent[at])
		left++;
	return left;
}

const ends = new WeakMap<Columns, Int32Array>();

/** For each row the end (exclusive) of its subtree. */
function endsOf(columns: Columns): Int32Array {
	let end = ends.get(columns);
	if (end)
		return end;
	end = new Int32Array(columns.count);
	for (let at = columns.count - 1; at >= 0; at--) {
		end[at] = Math.max(end[at], at + 1);
		const up = columns.parent[at];
		if (up >= 0)
			end[up] = Math.max(end[up], end[at]);
	}
	ends.set(columns, end);
	return end;
}

const ids = new WeakMap<Columns, string[]>();

/** The ids of all takes, in order; `takes` is empty if there are very many. */
export function takesOf(columns: Columns): string[] {
	let list = ids.get(columns);
	if (!list)
		ids.set(columns, list = Object.keys(columns.tips));
	return list;
}

/** A take that contains a row; preferably `wanted`. */
export function takeAt(columns: Columns, row: number, wanted: string | null): string | null {
	const end = endsOf(columns)[row];
	const goes = (take: string) => {
		const tip = columns.tips[take];
		return tip !== undefined && tip >= row && tip < end;
	};
	if (wanted && goes(wanted))
		return wanted;
	return takesOf(columns).find(goes) ?? null;
}
