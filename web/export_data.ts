// SPDX-License-Identifier: MIT
//
// Data of an exported page: a project and the rendered blocks of its texts, both stored in elements
// of the page (src/formats/html_impl.h), and the tree of its takes. There may be very many takes
// that share most entries: each is expanded when it is opened.
import type { Block, Columns, Content } from "./types";
import { isHidden } from "./outline";
import { takeAt } from "./pane_tree";
import { firstWords, isGeneratedName, withoutSigns } from "./words";
import { DIFFERS, EDITED, HIDDEN, MUTED } from "./types";

export interface PageEntry {
	id?: string;
	role: string;
	kind?: string;
	content: Content;
	ts?: string;
	muted?: boolean;
	purged?: boolean;
	partial?: unknown;
	stop_reason?: unknown;
	[member: string]: unknown;
}

/** An entry, or [FIRST,COUNT] of entries that are stored elsewhere. */
type StoredEntry = PageEntry | [number, number];

export class PageTake {
	readonly name: string;
	readonly count: number;
	private stored: StoredEntry[];
	private pool: PageEntry[];
	private from: number;
	private expanded: Int32Array | null = null;

	/** Number of entries at the beginning that have not been read yet. */
	readonly before: number;

	/** Appends the take's own entries to the pool. */
	constructor(name: string, stored: StoredEntry[], pool: PageEntry[], before = 0) {
		this.name = name;
		this.stored = stored;
		this.pool = pool;
		this.before = before;
		this.from = pool.length;
		let count = before;
		for (const each of stored) {
			if (Array.isArray(each)) {
				count += each[1];
			} else {
				pool.push(each);
				count++;
			}
		}
		this.count = count;
	}

	/** For each entry its number in the pool; -1: not read yet. */
	get numbers(): Int32Array {
		if (this.expanded)
			return this.expanded;
		const numbers = this.expanded = new Int32Array(this.count).fill(-1, 0, this.before);
		let at = this.before, own = this.from;
		for (const each of this.stored)
			if (Array.isArray(each))
				for (let i = 0; i < each[1]; i++)
					numbers[at++] = each[0] + i;
			else
				numbers[at++] = own++;
		return numbers;
	}

	entry(at: number): PageEntry | undefined {
		return at < 0 || at >= this.count ? undefined : this.pool[this.numbers[at]];
	}

	/** Position of the entry with this id; -1: none. Searches from the end, where most lookups succeed. */
	find(id: string | null): number {
		let at = this.count - 1;
		while (at >= this.before && this.entry(at)!.id !== id)
			at--;
		return at < this.before ? -1 : at;
	}
}

export interface PageDiscussion {
	name: string;
	/** The displayed name: a title instead of a generated name. */
	title: string;
	takes: PageTake[];
	active: number;
	head: string | null;
	labels: Record<string, string>;
	/** What was redacted before the export. */
	redacted: { entries: number; places: number; kinds: [string, number][] } | null;
	/** All entries by number, without duplicates. */
	pool: PageEntry[];
	/** Numbers of entries whose content was edited after they were created. */
	edited: ReadonlySet<number>;
	/** By number of an entry: alternatives to it that the page does not contain. */
	missing: ReadonlyMap<number, number>;
	/** The rendered Markdown of the entry with this number. */
	blocksOf: (number: number) => unknown;
}

/** A tree of all takes; the depth of a row is its position in its takes. */
export interface PageTree {
	columns: Columns;
	depth: Int32Array;
	/** Row by take and position. */
	rows: Int32Array[];
}

function read(id: string): any {
	return JSON.parse(document.getElementById(id)?.textContent || "null");
}

/** Must match src/formats/html_impl.h. */
const CHUNK = 8192;

const isCount = (count: unknown): count is number => Number.isSafeInteger(count) && (count as number) >= 0;

/** The redaction summary; null if it is not valid. The page's data is untrusted. */
function redactedOf(said: any): PageDiscussion["redacted"] {
	if (!said || !isCount(said.entries) || !isCount(said.places) || typeof said.kinds !== "object")
		return null;
	const kinds = Object.entries(said.kinds ?? {}).filter((each): each is [string, number] => isCount(each[1]));
	return { entries: said.entries, places: said.places, kinds };
}

function blocksOf(disc: number): (number: number) => unknown {
	const chunks: unknown[][] = [];
	return (number) => {
		const at = Math.floor(number / CHUNK);
		chunks[at] ??= read(`retake-blocks-${disc}-${at}`) ?? [];
		return chunks[at][number % CHUNK];
	};
}

export interface PageData {
	discussions: PageDiscussion[];
	active: number;
	/** "begun": the rest is being read; "whole": complete; "cut": incomplete, and no more will come. */
	read: "begun" | "whole" | "cut";
}

export function readPage(): PageData {
	return pageOf(read("retake-data"), blocksOf, read("retake-edited"), 0, read("retake-alternatives"));
}

/** Reads what precedes the rest: the end of the take that is shown first. */
export function readFirst(): PageData | null {
	const first = read("retake-first");
	return first && { ...pageOf(first.data, () => (number) => first.blocks[number], first.edited, first.before), read: "begun" };
}

/** The page's data is untrusted: where it has no title, the name is shown. */
function orName(name: string, title: () => string): string {
	try {
		return title();
	} catch {
		return name;
	}
}

const TITLE_MAX = 60, TITLE_LOOKS = 8;

/** As the list of discussions shows it: the title that was set, or the first words of the first question. */
function discussionTitle(each: any, take: PageTake | undefined): string {
	if (typeof each.name !== "string" || !isGeneratedName(each.name) || !take)
		return each.name;
	const set = each.settings?.title;
	if (typeof set === "string" && set.trim())
		return set.trim();
	for (let at = take.before; take.before === 0 && at < Math.min(take.count, TITLE_LOOKS); at++) {
		const entry = take.entry(at);
		if (entry && /^user$/i.test(entry.role) && (entry.kind ?? "message") === "message")
			return firstWords(withoutSigns(textToCopy(entry)), TITLE_MAX) || each.name;
	}
	return each.name;
}

/** Takes are compared only as far as this takes no noticeable time. */
const MOST_COMPARED = 2e6, TAKE_TITLE_MAX = 32;
const takeTitles = new WeakMap<PageDiscussion, string[]>();

/** Number of entries at the beginning that both have. */
function commonOf(a: Int32Array, b: Int32Array): number {
	let at = 0;
	while (at < a.length && at < b.length && a[at] === b[at])
		at++;
	return at;
}

/** The words in which a take differs from the one that it shares most entries with, as in its tab in Retake. */
function takeTitle(takes: PageTake[], at: number): string {
	const take = takes[at], earlier = at > 0 ? takes.slice(0, at) : takes.slice(1, 2);
	let common = -1, other: PageTake | null = null;
	for (const each of earlier) {
		const shared = commonOf(take.numbers, each.numbers);
		if (shared > common)
			[common, other] = [shared, each];
	}
	const textAt = (of: PageTake | null) => {
		const entry = of?.entry(common);
		return entry ? withoutSigns(textToCopy(entry)).replace(/\s+/g, " ").trim() : "";
	};
	const own = textAt(take), theirs = textAt(other);
	let same = 0;
	while (same < own.length && own[same] === theirs[same])
		same++;
	const from = same === own.length ? 0 : own.lastIndexOf(" ", same - 1) + 1;
	return own ? (from > 0 ? "…" : "") + firstWords(own.slice(from), TAKE_TITLE_MAX) : take.name;
}

/** The displayed names of the takes; their names in a very large discussion, and while it is being read. */
export function titlesOf(disc: PageDiscussion): string[] {
	const { takes } = disc, found = takeTitles.get(disc);
	if (found)
		return found;
	const isSmall = takes.length * takes.length * Math.max(...takes.map((take) => take.count), 1) <= MOST_COMPARED && takes.every((take) => take.before === 0);
	const titles = takes.map((take, at) => (isSmall && takes.length > 1 && /_take_\d+$/.test(take.name) ? orName(take.name, () => takeTitle(takes, at)) : take.name));
	takeTitles.set(disc, titles);
	return titles;
}

/** Pairs of numbers; others are skipped. The page's data is untrusted. */
function pairsOf(list: any): ReadonlyMap<number, number> {
	return new Map((Array.isArray(list) ? list : []).filter((each) => Array.isArray(each) && each.length === 2 && each.every(isCount)));
}

function pageOf(data: any, blocksIn: (disc: number) => (number: number) => unknown, edited: any, before = 0, missing: any = null): PageData {
	const discussions = data.discussions.map((each: any, at: number): PageDiscussion => {
		const pool: PageEntry[] = [];
		const takes = each.takes.map((take: any) => new PageTake(take.name, take.entries, pool, before));
		const active = Math.max(0, takes.findIndex((take: PageTake) => take.name === each.active));
		return {
			name: each.name, title: orName(each.name, () => discussionTitle(each, takes[active])), takes, pool, blocksOf: blocksIn(at), edited: new Set(Array.isArray(edited?.[at]) ? edited[at] : []), missing: pairsOf(missing?.[at]), head: each.head ?? null, redacted: redactedOf(each.redacted),
			active,
			// a label's name may be that of an inherited property
			labels: Object.assign(Object.create(null), each.labels),
		};
	});
	return { discussions, active: Math.max(0, discussions.findIndex((each: PageDiscussion) => each.name === data.active)), read: "whole" };
}

/** The whole text of an entry, for searching and for the outline. */
export function wordsOf(entry: PageEntry): string {
	const { content } = entry;
	if (typeof content === "string")
		return content;
	return content.map((block: Block) => block?.text ?? block?.thinking ?? block?.name ?? "").join(" ");
}

/** The text of an entry, without thinking and tool calls. */
export function textToCopy(entry: PageEntry): string {
	const { content } = entry;
	return typeof content === "string" ? content
		: content.map((block: Block) => (typeof block?.text === "string" && !/^(thinking|reasoning)$/.test(block.type) ? block.text : "")).filter(Boolean).join("\n");
}

/** Prefix in the outline: the size of a compaction, or the custom type of an extension's message. */
export function titleOf(entry: PageEntry): string {
	const tokens = Number(field(entry, "tokens_before", "tokensBefore") ?? NaN);
	if (entry.kind === "compaction" && !Number.isNaN(tokens))
		return `[compaction: ${tokens < 1000 ? tokens : `${Math.round(tokens / 1000)}k`} tokens]`;
	const name = customTypeOf(entry);
	return name ? `[${name}]` : "";
}

/** The custom type of an extension's message. */
export function customTypeOf(entry: PageEntry): string {
	const name = entry.kind === "custom_message" ? field(entry, "custom_type", "customType") : null;
	return typeof name === "string" ? name : "";
}

/** A field under our name or under pi's, for entries from pi sessions. */
function field(entry: PageEntry, ours: string, theirs: string): unknown {
	const pi = entry.pi as Record<string, unknown> | undefined;
	return entry[ours] ?? entry[theirs] ?? pi?.[theirs];
}

class Names {
	list: string[] = [];
	private places = new Map<string, number>();

	at(name: string): number {
		let at = this.places.get(name);
		if (at === undefined) {
			this.places.set(name, at = this.list.length);
			this.list.push(name);
		}
		return at;
	}
}

/** Sorts siblings by time, because takes are ordered by number. Unchanged if one has no time. */
function oldestFirst(siblings: number[], entryOf: (at: number) => PageEntry): void {
	const times = new Map(siblings.map((at) => {
		const { ts } = entryOf(at);
		return [at, typeof ts === "number" ? ts * 1000 : Date.parse(String(ts))];
	}));
	if (siblings.every((at) => !Number.isNaN(times.get(at))))
		siblings.sort((a, b) => times.get(a)! - times.get(b)!);
}

/** Entries with the same id and the same parent are one row in all takes. */
function treeOf(disc: PageDiscussion): PageTree {
	const made: { entry: PageEntry; node: number; up: number; differs: boolean; depth: number }[] = [];
	const madeOf = new Int32Array(disc.pool.length).fill(-1); // the last one, by number
	const children: number[][] = [], roots: number[] = [];
	// most entries have one child: only those with more siblings than this are looked up by name
	const known = new Map<string, number>(), few = 4;
	const nameOf = (entry: PageEntry, node: number) => (entry.id ? `i${entry.id}` : `n${node}`);
	const names: string[] = [];
	const find = (up: number, name: string): number | undefined => {
		const siblings = up < 0 ? roots : children[up];
		return siblings.length <= few ? siblings.find((at) => names[at] === name) : known.get(`${up} ${name}`);
	};
	const add = (up: number, name: string, at: number): void => {
		const siblings = up < 0 ? roots : children[up];
		siblings.push(at);
		if (siblings.length === few + 1)
			for (const brother of siblings)
				known.set(`${up} ${names[brother]}`, brother);
		else if (siblings.length > few)
			known.set(`${up} ${name}`, at);
	};
	const places = disc.takes.map((take) => {
		let up = -1;
		return take.numbers.map((node, depth) => {
			const last = madeOf[node];
			if (last >= 0 && made[last].up === up)
				return (up = last);
			const entry = disc.pool[node], name = nameOf(entry, node);
			let at = find(up, name);
			if (at === undefined) {
				at = made.length;
				made.push({ entry, node, up, differs: false, depth });
				names.push(name);
				children.push([]);
				add(up, name, at);
				madeOf[node] = at;
			} else if (made[at].node !== node) {
				made[at].differs = true;
			}
			return (up = at);
		});
	});
	for (const siblings of [roots, ...children])
		if (siblings.length > 1)
			oldestFirst(siblings, (at) => made[at].entry);
	const order: number[] = [], stack = roots.reverse();
	while (stack.length) {
		const at = stack.pop()!;
		order.push(at);
		for (let i = children[at].length - 1; i >= 0; i--)
			stack.push(children[at][i]);
	}
	const rowOf = new Int32Array(made.length), depth = new Int32Array(made.length);
	order.forEach((at, row) => { rowOf[at] = row; });
	const roles = new Names(), kinds = new Names();
	const columns: Columns = {
		seq: 0, discussion: disc.name, count: order.length, from: 0, roles: roles.list, kinds: kinds.list,
		takes: disc.takes.map((take, at) => ({ id: String(at), name: titlesOf(disc)[at], active: at === disc.active, entries: take.count })),
		id: [], parent: [], role: [], kind: [], flags: [], size: [], preview: [], labels: {}, head: -1, tips: {},
	};
	order.forEach((at, row) => {
		const { entry, node, up, differs } = made[at], words = wordsOf(entry), id = entry.id ?? "";
		depth[row] = made[at].depth;
		columns.id.push(id);
		columns.parent.push(up < 0 ? -1 : rowOf[up]);
		columns.role.push(roles.at(entry.role ?? ""));
		columns.kind.push(kinds.at(entry.kind ?? "message"));
		columns.flags.push((entry.muted ? MUTED : 0) | (differs ? DIFFERS : 0) | (isHidden(entry) ? HIDDEN : 0) |
			(disc.edited.has(node) ? EDITED : 0));
		columns.size.push(words.length);
		columns.preview!.push(`${titleOf(entry)} ${words}`.trim());
		if (disc.labels[id] !== undefined)
			columns.labels[row] = disc.labels[id];
	});
	const rows = places.map((take) => Int32Array.from(take, (at) => rowOf[at]));
	rows.forEach((take, at) => {
		if (take.length)
			columns.tips[at] = take[take.length - 1];
	});
	return { columns, depth, rows };
}

const trees = new WeakMap<PageDiscussion, PageTree>();

/** The tree of a discussion, built on first use. */
export function treeFor(disc: PageDiscussion): PageTree {
	let tree = trees.get(disc);
	if (!tree)
		trees.set(disc, tree = treeOf(disc));
	return tree;
}

/** The entries that follow the same one as an entry of a take: its place among them, and those beside it. */
export interface Fork {
	place: number;
	count: number;
	previous: Spot | null;
	next: Spot | null;
}

const siblings = new WeakMap<PageTree, Map<number, number[]>>();

/** null: there are no alternatives, or the tree of a very large page has not been built yet. */
export function forkOf(disc: PageDiscussion, spot: Spot): Fork | null {
	const tree = trees.get(disc), row = tree?.rows[spot.take]?.[spot.at];
	if (!tree || row === undefined || disc.takes.length < 2)
		return null;
	let known = siblings.get(tree);
	if (!known) {
		known = new Map();
		const { parent } = tree.columns;
		for (let each = 0; each < parent.length; each++)
			known.get(parent[each])?.push(each) ?? known.set(parent[each], [each]);
		siblings.set(tree, known);
	}
	const all = known.get(tree.columns.parent[row]) ?? [row], place = all.indexOf(row);
	const spotOf = (other: number | undefined) => (other === undefined ? null
		: { ...spot, take: Number(takeAt(tree.columns, other, String(spot.take)) ?? spot.take) });
	return all.length < 2 ? null : { place, count: all.length, previous: spotOf(all[place - 1]), next: spotOf(all[place + 1]) };
}

/** A place: a discussion, a take, a position in it (-1: before the first entry). */
export interface Spot {
	disc: number;
	take: number;
	at: number;
}

const heads = new WeakMap<PageDiscussion, Spot>();

export function headSpot(discussions: PageDiscussion[], disc: number): Spot {
	let spot = heads.get(discussions[disc]);
	if (!spot)
		heads.set(discussions[disc], spot = findHead(discussions, disc));
	return { ...spot };
}

/** A very large page reads and shows the end first (html_impl.h). */
const opensAtEnd = () => document.getElementById("retake-first") !== null;

/** Where reading starts: at the first entry of the active take. */
export function startSpot(discussions: PageDiscussion[], disc: number): Spot {
	const spot = headSpot(discussions, disc);
	return opensAtEnd() ? spot : { ...spot, at: Math.min(0, (discussions[disc].takes[spot.take]?.count ?? 0) - 1) };
}

function findHead(discussions: PageDiscussion[], disc: number): Spot {
	const { active, takes, head } = discussions[disc];
	const take = takes[active], at = take?.find(head) ?? -1;
	return { disc, take: active, at: head === null || !take ? -1 : at < 0 ? take.count - 1 : at };
}

/** "#d=main&t=main_take_1&e=8f3a" */
export function linkOf(discussions: PageDiscussion[], spot: Spot): string {
	const disc = discussions[spot.disc], take = disc.takes[spot.take];
	const query = new URLSearchParams({ d: disc.name, t: take?.name ?? "" });
	const entry = take?.entry(spot.at);
	if (entry)
		query.set("e", entry.id || `#${spot.at + 1}`);
	return `#${query}`;
}

/** The target of a link, or the nearest existing place, with a message about parts that are missing or not loaded
 * yet. */
export function resolveLink(page: PageData, hash: string): { spot: Spot; missing: string } {
	const to = linked(page.discussions, page.active, hash), { spot } = to;
	if (page.read === "whole" || (!to.missing && spot.at >= (page.discussions[spot.disc].takes[spot.take]?.before ?? 0)))
		return to;
	const missing = page.read === "begun" ? "The target of the link is still being loaded and will be shown when it is available. This is the end of the page."
		: "The target of the link could not be read. This is the end of the page.";
	return { spot: headSpot(page.discussions, page.active), missing };
}

function linked(discussions: PageDiscussion[], active: number, hash: string): { spot: Spot; missing: string } {
	const query = new URLSearchParams(hash.replace(/^#/, ""));
	const d = query.get("d"), t = query.get("t"), e = query.get("e");
	const found = discussions.findIndex((each) => each.name === d);
	const spot = startSpot(discussions, found < 0 ? active : found);
	const { takes } = discussions[spot.disc];
	const take = takes.findIndex((each) => each.name === t);
	if (take >= 0 && take !== spot.take) {
		spot.take = take;
		spot.at = opensAtEnd() ? takes[take].count - 1 : Math.min(0, takes[take].count - 1);
	}
	const gone = d !== null && found < 0 ? `the discussion “${d}”` : t !== null && take < 0 ? `the take “${t}”` : "";
	const missing = gone && `The link leads to ${gone}, which is not on this page. This is the nearest place.`;
	if (e === null)
		return { spot, missing };
	const place = (of: PageTake | undefined) => (!of ? -1 : /^#\d+$/.test(e)
		? Math.min(Number(e.slice(1)), of.count) - 1 : of.find(e));
	const at = place(takes[spot.take]);
	if (at >= 0)
		return { spot: { ...spot, at }, missing };
	const other = takes.findIndex((each) => place(each) >= 0);
	if (other < 0)
		return { spot, missing: missing || "The link leads to an entry that is not on this page. This is its take." };
	return { spot: { ...spot, take: other, at: place(takes[other]) },
		missing: missing || `The linked entry is no longer in that take. This is “${titlesOf(discussions[spot.disc])[other]}”, which contains it.` };
}
