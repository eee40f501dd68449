// SPDX-License-Identifier: MIT
//
// Align: pairs the entries of two takes for a side-by-side view.
import { textOf } from "./entry_acts";
import type { Entry } from "./types";

/** GET …/takes/{a}/diff/{b} */
export interface TakesDiff {
	/** Number of entries in the common prefix. */
	common: number;
	/** Entries of the prefix that differ in text, role or flags. */
	changed: { a: Entry; b: Entry }[];
	a: Entry[];
	b: Entry[];
}

export interface Pair {
	a: Entry | null;
	b: Entry | null;
	/** The same entry, or two versions of one text. */
	isLike: boolean;
}

const MOST_WORDS = 400, LIKE = 0.5;

function wordsOf(text: string): Set<string> {
	return new Set((text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MOST_WORDS));
}

/** Do two texts have most of their words in common? */
export function areTextsLike(a: string, b: string): boolean {
	const one = wordsOf(a), other = wordsOf(b);
	let both = 0;
	for (const word of one)
		if (other.has(word))
			both++;
	return both >= LIKE * Math.max(one.size, other.size, 1);
}

function areLike(a: Entry, b: Entry): boolean {
	return a.role === b.role && areTextsLike(textOf(a.content), textOf(b.content));
}

export function alignTakes(diff: TakesDiff): Pair[] {
	const pairs: Pair[] = diff.changed.map(({ a, b }) => ({ a, b, isLike: true }));
	const places = new Map(diff.b.map((entry, at) => [entry.id, at]));
	let i = 0, j = 0;
	const upTo = (endA: number, endB: number) => {
		while (i < endA || j < endB) {
			const a = i < endA ? diff.a[i++] : null, b = j < endB ? diff.b[j++] : null;
			pairs.push({ a, b, isLike: a !== null && b !== null && areLike(a, b) });
		}
	};
	for (let at = 0; at < diff.a.length; at++) {
		const place = places.get(diff.a[at].id);
		if (place === undefined || place < j)
			continue;
		upTo(at, place);
		pairs.push({ a: diff.a[i++], b: diff.b[j++], isLike: true });
	}
	upTo(diff.a.length, diff.b.length);
	return pairs;
}
