// SPDX-License-Identifier: MIT
//
// The entries of one take in an exported page. Only rows near the viewport are rendered; gaps stand
// for the rows above and below. The visible text does not move when the rows above are measured.
import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { Entry } from "./export_entry";
import { forkOf, headSpot, linkOf } from "./export_data";
import { Guard } from "./guard";
import { Heights } from "./heights";
import { isHidden } from "./outline";
import { hasCalls, isWithCall, outcomesAfter } from "./tools";
import { HIDDEN } from "./types";
import { dayBetween } from "./words";
import type { PageDiscussion, PageEntry, Spot } from "./export_data";
import type { Sizes } from "./heights";

const OVERSCAN_PX = 200, MOST_ROWS = 40, ABOVE_PX = 12, MOST_ROUNDS = 30;

interface Props {
	discussions: PageDiscussion[];
	spot: Spot;
	/** Incremented to scroll to the entry of the spot. */
	turn: number;
	/** Number of characters by position. */
	sizes: ArrayLike<number>;
	onGo: (spot: Spot) => void;
}

/** Hidden entries and results shown with their call are visible themselves only if selected in the outline. */
function isShown(discussions: PageDiscussion[], spot: Spot, at: number): boolean {
	const take = discussions[spot.disc].takes[spot.take], entry = take.entry(at);
	return !entry || !(isHidden(entry) || isWithCall(at, (each) => take.entry(each))) || (at === spot.at && at !== headSpot(discussions, spot.disc).at);
}

function timeOf(entry: PageEntry | undefined): string | undefined {
	return typeof entry?.ts === "string" ? entry.ts : undefined;
}

/** onGo: to an alternative; none on paper. */
export function entryAt(discussions: PageDiscussion[], spot: Spot, at: number, onGo?: (spot: Spot) => void) {
	const disc = discussions[spot.disc], take = disc.takes[spot.take], entry = take.entry(at)!;
	const head = headSpot(discussions, spot.disc);
	if (!isShown(discussions, spot, at))
		return null;
	return (
		<Guard key={at}>
			<Entry entry={entry} at={at} blocks={disc.blocksOf(take.numbers[at])} label={disc.labels[entry.id ?? ""]}
				link={linkOf(discussions, { ...spot, at })} isEdited={disc.edited.has(take.numbers[at])}
				fork={forkOf(disc, { ...spot, at })} missing={disc.missing.get(take.numbers[at]) ?? 0} onGo={onGo}
				outcomes={hasCalls(entry) ? outcomesAfter(at, (each) => take.entry(each)) : undefined}
				day={dayBetween(at === 0 ? null : timeOf(take.entry(at - 1)), timeOf(entry))}
				isHead={head.take === spot.take && head.at === at && at < take.count - 1} isMarked={at === spot.at} />
		</Guard>
	);
}

export function Entries(props: Props) {
	const { discussions, spot } = props;
	const box = useRef<HTMLDivElement>(null), rows = useRef<HTMLDivElement>(null);
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const wanted = useRef<number | null>(null), turn = useRef(-1), rounds = useRef(0);
	const { count, before } = discussions[spot.disc].takes[spot.take] ?? { count: 0, before: 0 };
	const heights = useMemo(() => {
		const made = new Heights<Sizes>((_, at) => Number(at));
		const take = discussions[spot.disc].takes[spot.take];
		made.show({
			flags: Uint8Array.from({ length: count }, (_, at) => (at >= before && isHidden(take.entry(at)!) ? HIDDEN : 0)),
			size: props.sizes,
		}, null);
		return made;
	}, [discussions, spot.disc, spot.take]);
	const seen = useRef({ heights, at: 0, offset: 0 });
	if (turn.current !== props.turn) {
		turn.current = props.turn;
		wanted.current = Math.max(0, spot.at);
		rounds.current = 0;
	}
	const height = box.current?.clientHeight || innerHeight;
	const isOther = seen.current.heights !== heights; // more entries were read: keep the scroll position
	const top = wanted.current !== null ? heights.start(wanted.current) - ABOVE_PX
		: isOther ? heights.start(seen.current.at) + seen.current.offset : box.current?.scrollTop ?? 0;
	const first = Math.max(before, heights.rowAt(Math.max(0, top - OVERSCAN_PX)));
	const last = Math.min(heights.rowAt(top + height + OVERSCAN_PX), first + MOST_ROWS, count - 1);

	useLayoutEffect(() => {
		const at = box.current!;
		const anchor = isOther ? seen.current.at : heights.rowAt(at.scrollTop);
		const offset = isOther ? seen.current.offset : at.scrollTop - heights.start(anchor);
		let isTaller = false;
		for (const child of rows.current!.children) {
			const element = child as HTMLElement;
			if (element.dataset.at)
				isTaller = heights.measure(element.dataset.at, element.offsetHeight) || isTaller;
		}
		for (let row = first; row <= last; row++)
			if (!isShown(discussions, spot, row))
				isTaller = heights.measure(String(row), 0) || isTaller;
		if (wanted.current !== null)
			at.scrollTop = Math.max(0, heights.start(wanted.current) - ABOVE_PX);
		else if (isOther || isTaller)
			at.scrollTop = heights.start(anchor) + offset;
		const now = heights.rowAt(at.scrollTop);
		seen.current = { heights, at: now, offset: at.scrollTop - heights.start(now) };
		if (isTaller && rounds.current++ < MOST_ROUNDS)
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
		drawn.push(entryAt(discussions, spot, at, props.onGo));
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
