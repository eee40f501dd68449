// SPDX-License-Identifier: MIT
//
// The entries of one take in an exported page, of which only those near the window are elements
// (an empty box stands for those above and below). What a person looks at does not move when
// rows above turn out to be taller than guessed.
import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { Entry } from "./export_entry";
import { headSpot, linkOf } from "./export_data";
import { Guard } from "./guard";
import { Heights } from "./heights";
import type { PageDiscussion, Spot } from "./export_data";
import type { Outline } from "./outline";

const OVERSCAN_PX = 300, MOST_ROWS = 40, ABOVE_PX = 12, MOST_ROUNDS = 30;

interface Props {
	discussions: PageDiscussion[];
	spot: Spot;
	/** Another number: bring the entry of the spot into view. */
	turn: number;
	sizeOf: (at: number) => number;
}

export function entryAt(discussions: PageDiscussion[], spot: Spot, at: number) {
	const disc = discussions[spot.disc], take = disc.takes[spot.take], entry = take.entry(at)!;
	const head = headSpot(discussions, spot.disc);
	return (
		<Guard key={at}>
			<Entry entry={entry} at={at} blocks={disc.blocksOf(take.numbers[at])} label={disc.labels[entry.id ?? ""]}
				link={linkOf(discussions, { ...spot, at })} isHead={head.take === spot.take && head.at === at} isMarked={at === spot.at} />
		</Guard>
	);
}

export function Entries(props: Props) {
	const { discussions, spot } = props;
	const box = useRef<HTMLDivElement>(null), rows = useRef<HTMLDivElement>(null);
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const wanted = useRef<number | null>(null), turn = useRef(-1), rounds = useRef(0);
	const count = discussions[spot.disc].takes[spot.take]?.count ?? 0;
	const heights = useMemo(() => {
		const made = new Heights(), places = Array.from({ length: count }, (_, at) => at);
		made.show({
			seq: 0, discussion: "", take: "", before: 0, id: places.map(String), role: [], kind: [], flags: places.map(() => 0),
			size: places.map(props.sizeOf), labels: new Map(), stale: new Set(),
		} as Outline, null);
		return made;
	}, [discussions, spot.disc, spot.take]);
	if (turn.current !== props.turn) {
		turn.current = props.turn;
		wanted.current = Math.max(0, spot.at);
		rounds.current = 0;
	}
	const height = box.current?.clientHeight || innerHeight;
	const top = wanted.current !== null ? heights.start(wanted.current) - ABOVE_PX : box.current?.scrollTop ?? 0;
	const first = heights.rowAt(Math.max(0, top - OVERSCAN_PX));
	const last = Math.min(heights.rowAt(top + height + OVERSCAN_PX), first + MOST_ROWS, count - 1);

	useLayoutEffect(() => {
		const at = box.current!;
		const anchor = heights.rowAt(at.scrollTop), offset = at.scrollTop - heights.start(anchor);
		let isOther = false;
		for (const child of rows.current!.children) {
			const element = child as HTMLElement;
			if (element.dataset.at)
				isOther = heights.measure(element.dataset.at, element.offsetHeight) || isOther;
		}
		if (wanted.current !== null)
			at.scrollTop = Math.max(0, heights.start(wanted.current) - ABOVE_PX);
		else if (isOther)
			at.scrollTop = heights.start(anchor) + offset;
		if (isOther && rounds.current++ < MOST_ROUNDS)
			redraw(0);
		else
			wanted.current = null;
	});
	useLayoutEffect(() => {
		let width = box.current!.clientWidth;
		const watcher = new ResizeObserver(() => {
			if (box.current!.clientWidth !== width) {
				width = box.current!.clientWidth;
				heights.forget();
			}
			rounds.current = 0;
			redraw(0);
		});
		watcher.observe(box.current!);
		watcher.observe(rows.current!);
		return () => watcher.disconnect();
	}, [heights]);
	const onScroll = () => {
		rounds.current = 0;
		redraw(0);
	};

	const drawn = [];
	for (let at = first; at <= last; at++)
		drawn.push(entryAt(discussions, spot, at));
	return (
		<div class="entries" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Entries of this take">
			<div class="rows" ref={rows}>
				{count === 0 && <p class="quiet pane-note">There are no entries yet.</p>}
				<div aria-hidden="true" style={{ height: `${heights.start(first)}px` }} />
				{drawn}
				<div aria-hidden="true" style={{ height: `${heights.start(count) - heights.start(last + 1)}px` }} />
			</div>
		</div>
	);
}
