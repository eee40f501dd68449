// SPDX-License-Identifier: MIT
//
// Heights: the height and position of each row of a long list, measured if it was rendered,
// estimated otherwise. Queried many times per second: prefix sums of the estimates are kept, with
// measured differences in a Fenwick tree, so that queries and updates take logarithmic time.
import { COLLAPSED, HIDDEN } from "./types";

const LINE_PX = 25, CHARS_PER_LINE = 84, HEAD_PX = 50, COLLAPSED_PX = 38;

/** By position. */
export interface Sizes {
	readonly flags: ArrayLike<number>;
	readonly size: ArrayLike<number>;
}

export class Heights<S extends Sizes> {
	private measured = new Map<string, number>();
	/** Prefix sums of the estimates. */
	private estimates = new Float64Array(1);
	/** Fenwick tree of the differences between measured and estimated heights. */
	private differences = new Float64Array(1);
	private shown: S | null = null;
	private rows: readonly number[] | null = null;
	private isStale = true;

	constructor(private placeOf: (shown: S, id: string) => number) {}

	/** rows: visible positions; null: all. */
	show(shown: S | null, rows: readonly number[] | null): void {
		if (this.shown === shown && this.rows === rows)
			return;
		this.shown = shown;
		this.rows = rows;
		this.isStale = true;
	}

	get count(): number {
		return this.rows ? this.rows.length : this.shown?.size.length ?? 0;
	}

	/** The position of a row. */
	at(row: number): number {
		return this.rows ? this.rows[row] : row;
	}

	rowOf(position: number): number {
		if (!this.rows || position < 0)
			return position;
		let low = 0, high = this.rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle] < position)
				low = middle + 1;
			else
				high = middle;
		}
		return this.rows[low] === position ? low : -1;
	}

	/** true: the height differs from the known or estimated one. */
	measure(id: string, height: number): boolean {
		const before = this.measured.get(id);
		if (before === height)
			return false;
		this.measured.set(id, height);
		if (!this.isStale)
			this.add(id, height, before);
		return true;
	}

	/** The viewport has another width. */
	forget(): void {
		this.measured.clear();
		this.isStale = true;
	}

	private guess(row: number): number {
		const { flags, size } = this.shown!, at = this.at(row);
		return flags[at] & HIDDEN ? 0 : flags[at] & COLLAPSED ? COLLAPSED_PX : HEAD_PX + Math.max(1, Math.ceil(size[at] / CHARS_PER_LINE)) * LINE_PX;
	}

	private add(id: string, height: number, before: number | undefined): void {
		const row = this.shown ? this.rowOf(this.placeOf(this.shown, id)) : -1;
		if (row < 0)
			return;
		const by = height - (before ?? this.guess(row));
		for (let at = row + 1; at < this.differences.length; at += at & -at)
			this.differences[at] += by;
	}

	private sum(): void {
		const count = this.count;
		this.isStale = false;
		this.estimates = new Float64Array(count + 1);
		this.differences = new Float64Array(count + 1);
		for (let row = 0; row < count; row++)
			this.estimates[row + 1] = this.estimates[row] + this.guess(row);
		for (const [id, height] of this.measured)
			this.add(id, height, undefined);
	}

	/** Start of a row in pixels; for row = count, the end of the list. */
	start(row: number): number {
		if (this.isStale)
			this.sum();
		const to = Math.min(Math.max(row, 0), this.count);
		let start = this.estimates[to];
		for (let at = to; at > 0; at -= at & -at)
			start += this.differences[at];
		return start;
	}

	/** The row at a vertical position. */
	rowAt(y: number): number {
		let low = 0, high = this.count - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.start(middle) <= y)
				low = middle;
			else
				high = middle - 1;
		}
		return Math.max(0, low);
	}
}
