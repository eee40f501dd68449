// SPDX-License-Identifier: MIT
//
// The tree of all takes as rows on a screen: what a filter and a search let through, folded where
// people folded it, indented at forks only. Rows of the columns come depth first, a parent always
// before what follows it, so each of these is one pass without recursion.
import { HIDDEN } from "./types";
import type { Columns } from "./types";

export type Filter = "default" | "no-tools" | "user" | "labelled" | "all";

/** The lines at the left of a row, from the inside out; shared by all rows of a chain. */
export interface Rail {
	up: Rail | null;
	/** Another branch follows below. */
	more: boolean;
	depth: number;
}

export interface TreeRow {
	/** Its row of the columns. */
	at: number;
	/** For people and folding: the id, and which of its places in the tree. */
	key: string;
	rail: Rail | null;
	/** The first of a branch: it has a connector. */
	begins: boolean;
	/** The nearest row above that can be folded; -1: none. */
	above: number;
	level: number;
	canFold: boolean;
	isFolded: boolean;
	/** Its place among those of the same level below the same row, from 1. */
	place: number;
	/** The object is shared by all of them. */
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

/** Records that are no part of the conversation; labels and states of programs are hidden everywhere (HIDDEN). */
const RECORDS = /^(session_info|model_change|thinking_level_change|context_edit)$/;

/** What a filter makes of each kind together with each role: there are few of them. */
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

/** What a search looks through, for each row; made once, here up to this row. */
function textsOf(columns: Columns, to = columns.count): string[] {
	let list = texts.get(columns);
	if (!list)
		texts.set(columns, list = []);
	for (let at = list.length; at < to; at++)
		list.push(`${columns.roles[columns.role[at]]} ${columns.preview?.[at] ?? ""} ${columns.labels[at] ?? ""} ${columns.id[at]}`.toLowerCase());
	return list;
}

const PIECE = 500, PIECES_MS = 8;

/** Make that ready while nothing else is done, a piece at a time; what it gives ends it. */
export function readyToSearch(columns: Columns): () => void {
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

/** Which rows a filter and the words of a search let through; hits: ids whose texts match further on. */
function keep(columns: Columns, filter: Filter, search: string, hits: ReadonlySet<string> | null): Uint8Array {
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

/** Names of rows that stay the same while entries come and go. */
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

/** Where a row of this key is; -1: nowhere. */
export function rowOfKey(rows: TreeRow[], key: string | null | undefined): number {
	return key ? rows.findIndex((row) => row.key === key) : -1;
}

/** What was asked last, and what came of it. */
const made = new WeakMap<Columns, { asked: unknown[]; rows: TreeRow[] }>();

/** The rows; those that were asked for last are there already. */
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
	const n = columns.count, kept = keep(columns, filter, search, hits);
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

/** The row of the columns that stands for this one: itself, or the nearest above it that is shown, unless
 *  rows are what was searched for; -1: none. */
export function shownFor(columns: Columns, rows: TreeRow[], at: number, search: string): number {
	const shown = new Set(rows.map((row) => row.at));
	while (at >= 0 && !shown.has(at))
		at = search.trim() ? -1 : columns.parent[at];
	return at;
}

/** Is there nothing between them but what the tree hides unless all is asked for? */
export function isSamePoint(columns: Columns, head: number, at: number): boolean {
	while (head > at && columns.flags[head] & HIDDEN)
		head = columns.parent[head];
	return head === at;
}

/** Rows of the columns from the root to a tip, as a set. */
export function pathTo(columns: Columns, tip: number): Uint8Array {
	const path = new Uint8Array(columns.count);
	for (let at = tip; at >= 0; at = columns.parent[at])
		path[at] = 1;
	return path;
}

/** Where the head of the open take is; -1: before the first entry. */
export function headRow(columns: Columns, take: string | null, head: string | null): number {
	let at = columns.tips[take ?? ""] ?? -1;
	while (at >= 0 && columns.id[at] !== head)
		at = columns.parent[at];
	return at;
}

/** Entries of the path to `from` that are not on the path to `to`: what is left when one goes. */
export function leftBehind(columns: Columns, from: number, to: number): number {
	const stays = pathTo(columns, to);
	let left = 0;
	for (let at = from; at >= 0 && !stays[at]; at = columns.parent[at])
		left++;
	return left;
}

const ends = new WeakMap<Columns, Int32Array>();

/** For each row the row behind the last one below it. */
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

/** The ids of all takes, in their order; `takes` has nothing where they are very many. */
export function takesOf(columns: Columns): string[] {
	let list = ids.get(columns);
	if (!list)
		ids.set(columns, list = Object.keys(columns.tips));
	return list;
}

/** A take that goes through a row: the wanted one if it does. */
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
