// SPDX-License-Identifier: MIT
//
// Tips: the names of the takes that end at a row of the tree. If there are very many takes, the
// tree does not include their names: they are requested for the visible rows.
import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { takesOf } from "./pane_tree";
import { findTake, takeOf } from "./store";
import { takeTitle } from "./words";
import type { Columns } from "./types";

const PAUSE_MS = 80, MOST = 3;

export interface Tips {
	names: string[];
	/** Number of further tips. */
	more: number;
}

/** Returns a function that gives the tips of a row. */
export function useTips(columns: Columns | null): (row: number) => Tips | undefined {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const names = useMemo(() => new Map(columns?.takes.map((take) => [take.id, takeTitle(takeOf(take.id) ?? take)])), [columns]);
	const ends = useMemo(() => {
		const takes = new Map<number, string[]>(), all = columns ? takesOf(columns) : [];
		for (const take of all.length > 1 ? all : [] /* where a lone one ends is seen without a name */) {
			const tip = columns!.tips[take];
			if (tip >= 0)
				takes.get(tip)?.push(take) ?? takes.set(tip, [take]);
		}
		return takes;
	}, [columns]);
	const wanted = useRef(new Set<string>()), timer = useRef<number>();
	useEffect(() => () => {
		clearTimeout(timer.current);
		timer.current = undefined;
	}, [names]);
	const ask = async () => {
		timer.current = undefined;
		const takes = [...wanted.current];
		wanted.current.clear();
		for (const take of takes)
			names.set(take, ""); // do not request it twice
		const found = await Promise.all(takes.map((take) => findTake(take).catch(() => undefined)));
		for (const take of found)
			if (take)
				names.set(take.id, takeTitle(take));
		redraw(0);
	};
	const nameOf = (take: string) => {
		const known = takeOf(take), name = known ? takeTitle(known) : names.get(take);
		if (name === undefined) {
			wanted.current.add(take);
			timer.current ??= window.setTimeout(ask, PAUSE_MS);
		}
		return name;
	};
	return (row) => {
		const takes = ends.get(row);
		return takes && {
			names: takes.slice(0, MOST).map((take) => nameOf(take) ?? "").filter(Boolean),
			more: Math.max(0, takes.length - MOST),
		};
	};
}
