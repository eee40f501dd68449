// SPDX-License-Identifier: MIT
//
// Fuzzy: do the letters of a query stand in a text, in their order, and how well. Beginnings of
// words and letters side by side count for more.

export interface Match {
	score: number;
	/** Places of the letters that matched. */
	at: number[];
}

const BEGINS = 8, FOLLOWS = 5, EXACT = 20;

export function fuzzy(query: string, text: string): Match | null {
	const wanted = query.toLowerCase().replace(/\s+/g, ""), where = text.toLowerCase();
	if (wanted === "")
		return { score: 0, at: [] };
	const whole = where.indexOf(query.toLowerCase().trim());
	if (whole >= 0) {
		const begins = whole === 0 || /[^\p{L}\p{N}]/u.test(where[whole - 1]);
		return {
			score: EXACT + wanted.length * FOLLOWS + (begins ? BEGINS * 2 : 0) - whole / 50,
			at: Array.from({ length: query.trim().length }, (_, i) => whole + i),
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
