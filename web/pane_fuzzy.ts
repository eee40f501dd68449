// SPDX-License-Identifier: MIT
//
// Fuzzy: does a text contain the letters of a query in order, and how well does it match?
// Beginnings of words and adjacent letters score higher. Actions match by the beginnings of their
// words only, so that none is run because of an accidental match.

export interface Match {
	score: number;
	/** Positions of the letters that matched. */
	at: number[];
	/** They are adjacent. */
	isWhole?: boolean;
}

const BEGINS = 8, FOLLOWS = 5, EXACT = 20;

function run(from: number, size: number): number[] {
	return Array.from({ length: size }, (_, i) => from + i);
}

/** Does each word of the query begin a word of the name, or does the query consist of the first letters of its
 * words? isWhole: it is a prefix of the name. */
export function beginnings(query: string, name: string): Match | null {
	const wanted = query.toLowerCase().trim(), where = name.toLowerCase();
	if (wanted === "" || where.startsWith(wanted))
		return { score: EXACT + wanted.length - where.length / 50, at: run(0, wanted.length), isWhole: true };
	const words = [...where.matchAll(/[\p{L}\p{N}]+/gu)], typed = wanted.match(/[\p{L}\p{N}]+/gu) ?? [];
	const begun = typed.map((part) => words.findIndex((word) => word[0].startsWith(part)));
	if (typed.length > 0 && !begun.includes(-1))
		return { score: BEGINS - where.length / 50, at: begun.flatMap((at, i) => run(words[at].index, typed[i].length)) };
	if (wanted.length > 1 && words.map((word) => word[0][0]).join("").startsWith(wanted))
		return { score: FOLLOWS - where.length / 50, at: words.slice(0, wanted.length).map((word) => word.index) };
	return null;
}

export function fuzzy(query: string, text: string): Match | null {
	const wanted = query.toLowerCase().replace(/\s+/g, ""), where = text.toLowerCase();
	if (wanted === "")
		return { score: 0, at: [] };
	const whole = where.indexOf(query.toLowerCase().trim());
	if (whole >= 0) {
		const begins = whole === 0 || /[^\p{L}\p{N}]/u.test(where[whole - 1]);
		return {
			score: EXACT + wanted.length * FOLLOWS + (begins ? BEGINS * 2 : 0) - whole / 50,
			at: run(whole, query.trim().length), isWhole: true,
		};
	}
	const at: number[] = [];
	let from = 0, score = 0;
	for (const letter of wanted) {
		const found = where.indexOf(letter, from);
		if (found < 0)
			return null;
		const begins = found === 0 || /[^\p{L}\p{N}]/u.test(where[found - 1]);
		const follows = at.length > 0 && at[at.length - 1] === found - 1;
		score += (begins ? BEGINS : 0) + (follows ? FOLLOWS : 0) + 1 - (found - from) / 10;
		at.push(found);
		from = found + 1;
	}
	return score > wanted.length * 2 ? { score, at } : null;
}
