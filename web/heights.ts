// SPDX-License-Identifier: MIT
//
// Heights: how tall each row of a long list is, measured where it was seen and guessed where
// not, and where each begins. Asked for many times a second, so the sums are kept.
import type { Outline } from "./outline";
import { COLLAPSED } from "./types";

const LINE_PX = 25, CHARS_PER_LINE = 84, HEAD_PX = 50, COLLAPSED_PX = 38;

export class Heights {
	private measured = new Map<string, number>();
	private starts = new Float64Array(1);
	private outline: Outline | null = null;
	private rows: readonly number[] | null = null;
	private isStale = true;

	/** Rows: positions of the outline that are shown; null: all. */
	show(outline: Outline | null, rows: readonly number[] | null): void {
		if (this.outline === outline && this.rows === rows)
			return;
		this.outline = outline;
		this.rows = rows;
		this.isStale = true;
	}

	get count(): number {
		return this.rows ? this.rows.length : this.outline?.id.length ?? 0;
	}

	/** The outline's position of a row. */
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

	/** true: it is another height than what was known or guessed. */
	measure(id: string, height: number): boolean {
		if (this.measured.get(id) === height)
			return false;
		this.measured.set(id, height);
		this.isStale = true;
		return true;
	}

	/** The window has another width. */
	forget(): void {
		this.measured.clear();
		this.isStale = true;
	}

	private guess(outline: Outline, at: number): number {
		if (outline.flags[at] & COLLAPSED)
			return COLLAPSED_PX;
		const lines = Math.ceil(outline.size[at] / CHARS_PER_LINE);
		return HEAD_PX + Math.max(1, lines) * LINE_PX;
	}

	private sum(): void {
		const outline = this.outline, count = this.count;
		this.isStale = false;
		this.starts = new Float64Array(count + 1);
		if (!outline)
			return;
		let sum = 0;
		for (let row = 0; row < count; row++) {
			const at = this.at(row);
			sum += this.measured.get(outline.id[at]) ?? this.guess(outline, at);
			this.starts[row + 1] = sum;
		}
	}

	/** Where a row begins, in pixels; of count: where the list ends. */
	start(row: number): number {
		if (this.isStale)
			this.sum();
		return this.starts[Math.min(Math.max(row, 0), this.count)];
	}

	/** The row at a height. */
	rowAt(y: number): number {
		if (this.isStale)
			this.sum();
		let low = 0, high = this.count - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.starts[middle] <= y)
				low = middle;
			else
				high = middle - 1;
		}
		return Math.max(0, low);
	}
}
