// SPDX-License-Identifier: MIT
//
// What an exported page shows: the canonical form of a project and the blocks of its texts, both
// in elements of the page (src/formats/html_impl.h), and the tree that the takes are together.
import type { Block, Columns, Content } from "./types";
import { DIFFERS, MUTED } from "./types";

export interface PageEntry {
	id?: string;
	role: string;
	kind?: string;
	content: Content;
	ts?: string;
	muted?: boolean;
	purged?: boolean;
	[member: string]: unknown;
}

export interface PageTake {
	name: string;
	entries: PageEntry[];
	/** For each entry its node, which has the blocks. */
	nodes: number[];
}

export interface PageDiscussion {
	name: string;
	takes: PageTake[];
	active: number;
	head: string | null;
	labels: Record<string, string>;
	/** What was taken out before the page was written. */
	redacted: { entries: number; places: number; kinds: Record<string, number> } | null;
	/** By node. */
	blocks: unknown[];
}

/** A tree of all takes; rows have a depth, which is their place in the takes they are in. */
export interface PageTree {
	columns: Columns;
	depth: Int32Array;
	/** By take and place: the row. */
	rows: Int32Array[];
}

function read(id: string): any {
	return JSON.parse(document.getElementById(id)?.textContent || "null");
}

export function readPage(): { discussions: PageDiscussion[]; active: number } {
	const data = read("retake-data"), blocks = read("retake-blocks");
	const discussions = data.discussions.map((each: any, at: number): PageDiscussion => {
		const has = blocks?.discussions?.[at];
		const takes = each.takes.map((take: any, t: number) => ({ ...take, nodes: has?.takes[t] ?? [] }));
		return {
			name: each.name, takes, head: each.head ?? null, redacted: each.redacted?.kinds ? each.redacted : null,
			active: Math.max(0, takes.findIndex((take: PageTake) => take.name === each.active)),
			// a name of a label can be anything that an object already has
			labels: Object.assign(Object.create(null), each.labels), blocks: has?.nodes ?? [],
		};
	});
	return { discussions, active: Math.max(0, discussions.findIndex((each: PageDiscussion) => each.name === data.active)) };
}

/** All that an entry says, for searching and for a line of the outline. */
export function wordsOf(entry: PageEntry): string {
	const { content } = entry;
	if (typeof content === "string")
		return content;
	return content.map((block: Block) => block?.text ?? block?.thinking ?? block?.name ?? "").join(" ");
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

/** Entries of the same id behind the same one are one row, whatever takes they are in. */
function treeOf(disc: PageDiscussion): PageTree {
	const made: { entry: PageEntry; node: number; up: number; differs: boolean; depth: number }[] = [];
	const children: number[][] = [], roots: number[] = [];
	// most entries are followed by one: only what has more brothers than a few is looked up by name
	const known = new Map<string, number>(), few = 4;
	const nameOf = (entry: PageEntry, node: number, take: string, depth: number) =>
		(entry.id ? `i${entry.id}` : node < 0 ? `t${take} ${depth}` : `n${node}`);
	const names: string[] = [];
	const find = (up: number, name: string): number | undefined => {
		const brothers = up < 0 ? roots : children[up];
		return brothers.length <= few ? brothers.find((at) => names[at] === name) : known.get(`${up} ${name}`);
	};
	const add = (up: number, name: string, at: number): void => {
		const brothers = up < 0 ? roots : children[up];
		brothers.push(at);
		if (brothers.length === few + 1)
			for (const brother of brothers)
				known.set(`${up} ${names[brother]}`, brother);
		else if (brothers.length > few)
			known.set(`${up} ${name}`, at);
	};
	const places = disc.takes.map((take) => {
		let up = -1;
		return take.entries.map((entry, depth) => {
			const node = take.nodes[depth] ?? -1;
			const name = nameOf(entry, node, take.name, depth);
			let at = find(up, name);
			if (at === undefined) {
				at = made.length;
				made.push({ entry, node, up, differs: false, depth });
				names.push(name);
				children.push([]);
				add(up, name, at);
			} else if (made[at].node !== node) {
				made[at].differs = true;
			}
			return (up = at);
		});
	});
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
		takes: disc.takes.map((take, at) => ({ id: String(at), name: take.name, active: at === disc.active, entries: take.entries.length })),
		id: [], parent: [], role: [], kind: [], flags: [], size: [], preview: [], labels: {}, head: -1, tips: {},
	};
	order.forEach((at, row) => {
		const { entry, up, differs } = made[at], words = wordsOf(entry), id = entry.id ?? "";
		depth[row] = made[at].depth;
		columns.id.push(id);
		columns.parent.push(up < 0 ? -1 : rowOf[up]);
		columns.role.push(roles.at(entry.role ?? ""));
		columns.kind.push(kinds.at(entry.kind ?? "message"));
		columns.flags.push((entry.muted ? MUTED : 0) | (differs ? DIFFERS : 0));
		columns.size.push(words.length);
		columns.preview!.push(words);
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

/** The tree of a discussion, made when it is first asked for. */
export function treeFor(disc: PageDiscussion): PageTree {
	let tree = trees.get(disc);
	if (!tree)
		trees.set(disc, tree = treeOf(disc));
	return tree;
}

/** Where people are: a discussion, a take, a place in it (-1: before the first). */
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

function findHead(discussions: PageDiscussion[], disc: number): Spot {
	const { active, takes, head } = discussions[disc];
	const entries = takes[active]?.entries ?? [];
	let at = entries.length - 1;
	while (at >= 0 && entries[at].id !== head)
		at--;
	return { disc, take: active, at: head === null ? -1 : at < 0 ? entries.length - 1 : at };
}

/** "#d=main&t=main_take_1&e=8f3a" */
export function linkOf(discussions: PageDiscussion[], spot: Spot): string {
	const disc = discussions[spot.disc], take = disc.takes[spot.take];
	const query = new URLSearchParams({ d: disc.name, t: take?.name ?? "" });
	const entry = take?.entries[spot.at];
	if (entry)
		query.set("e", entry.id || `#${spot.at + 1}`);
	return `#${query}`;
}

/** What a link says, as far as it is here. */
export function spotOf(discussions: PageDiscussion[], active: number, hash: string): Spot {
	const query = new URLSearchParams(hash.replace(/^#/, ""));
	const d = query.get("d"), t = query.get("t"), e = query.get("e");
	const found = discussions.findIndex((each) => each.name === d);
	const spot = headSpot(discussions, found < 0 ? active : found);
	const { takes } = discussions[spot.disc];
	const take = takes.findIndex((each) => each.name === t);
	if (take >= 0 && take !== spot.take) {
		spot.take = take;
		spot.at = takes[take].entries.length - 1;
	}
	if (e === null)
		return spot;
	const place = (entries: PageEntry[]) => (/^#\d+$/.test(e)
		? Math.min(Number(e.slice(1)), entries.length) - 1 : entries.findIndex((entry) => entry.id === e));
	const at = place(takes[spot.take]?.entries ?? []);
	if (at >= 0)
		return { ...spot, at };
	const other = takes.findIndex((each) => place(each.entries) >= 0);
	return other < 0 ? spot : { ...spot, take: other, at: place(takes[other].entries) };
}
