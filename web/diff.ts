// SPDX-License-Identifier: MIT
//
// Diff: differences between two texts (by words) or two lists. Myers' algorithm with a limit;
// beyond it, only the common prefix and suffix are recognised.

export interface Piece {
	kind: "same" | "out" | "in";
	text: string;
}

/** A run of items of the same kind. */
export interface Run {
	kind: Piece["kind"];
	texts: string[];
}

const MOST_STEPS = 1500;

function words(text: string): string[] {
	return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/** The shortest edit path through the middle, as [x, y] corners; null: too many edits. */
function shortest(a: string[], b: string[]): Piece[] | null {
	const most = Math.min(a.length + b.length, MOST_STEPS);
	const far = new Map<number, number>([[1, 0]]);
	const trace: Map<number, number>[] = [];
	for (let d = 0; d <= most; d++) {
		trace.push(new Map(far));
		for (let k = -d; k <= d; k += 2) {
			const down = k === -d || (k !== d && (far.get(k - 1) ?? -1) < (far.get(k + 1) ?? -1));
			let x = down ? far.get(k + 1) ?? 0 : (far.get(k - 1) ?? 0) + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k])
				x++;
			far.set(k, x);
			if (x >= a.length && x - k >= b.length)
				return back(a, b, trace);
		}
	}
	return null;
}

function back(a: string[], b: string[], trace: Map<number, number>[]): Piece[] {
	const pieces: Piece[] = [];
	let x = a.length, y = b.length;
	for (let d = trace.length - 1; d >= 0; d--) {
		const far = trace[d], k = x - y;
		const down = k === -d || (k !== d && (far.get(k - 1) ?? -1) < (far.get(k + 1) ?? -1));
		const fromK = down ? k + 1 : k - 1;
		const fromX = d === 0 ? 0 : far.get(fromK) ?? 0, fromY = d === 0 ? 0 : fromX - fromK;
		while (x > fromX && y > fromY && x > 0 && y > 0) {
			pieces.push({ kind: "same", text: a[--x] });
			y--;
		}
		if (d === 0)
			break;
		if (down)
			pieces.push({ kind: "in", text: b[--y] });
		else
			pieces.push({ kind: "out", text: a[--x] });
	}
	return pieces.reverse();
}

function joined(pieces: Piece[]): Run[] {
	const result: Run[] = [];
	for (const piece of pieces) {
		const last = result[result.length - 1];
		if (last?.kind === piece.kind)
			last.texts.push(piece.text);
		else
			result.push({ kind: piece.kind, texts: [piece.text] });
	}
	return result;
}

/** Differences between two lists: runs of items that are in both, or only in one. */
export function changes(a: string[], b: string[]): Run[] {
	let head = 0, tail = 0;
	while (head < a.length && head < b.length && a[head] === b[head])
		head++;
	while (tail < a.length - head && tail < b.length - head &&
	       a[a.length - 1 - tail] === b[b.length - 1 - tail])
		tail++;
	const midA = a.slice(head, a.length - tail), midB = b.slice(head, b.length - tail);
	const middle = shortest(midA, midB);
	const runs: Run[] = [
		{ kind: "same", texts: a.slice(0, head) },
		...(middle ? joined(middle) : [{ kind: "out" as const, texts: midA }, { kind: "in" as const, texts: midB }]),
		{ kind: "same", texts: a.slice(a.length - tail) },
	];
	return runs.filter((run) => run.texts.length > 0);
}

export function diff(before: string, after: string): Piece[] {
	return changes(words(before), words(after)).map((run) => ({ kind: run.kind, text: run.texts.join("") }));
}
