// SPDX-License-Identifier: MIT
//
// Entries: the list of the open take. Only rows near the viewport are rendered; gaps stand for the
// rows above and below. The focused row is always rendered.
//
// The visible text does not move: the first visible row is the scroll anchor, and scrolling
// compensates when rows above it are measured, added or removed. At the end of the list the end is
// the anchor, so a streaming reply stays in view. Space at its end is replaced by the bars below the
// list (a selection, a notice), so that they neither move nor cover the text.
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { NewEntry } from "./editor";
import { hasKeys, list } from "./focus";
import { EntryRow } from "./entry";
import { Heights } from "./heights";
import { placeOf } from "./outline";
import { RunRows } from "./run_rows";
import { runsHere } from "./runs";
import { set, state, useStore } from "./state";
import { isTool } from "./speaker";
import { loadRows, shownRows } from "./store";
import { hasCalls, isWithCall, outcomesAfter } from "./tools";
import { dayBetween } from "./words";
import type { Outline } from "./outline";
import type { Outcome } from "./tools";
import type { Entry } from "./types";

const OVERSCAN_PX = 240, NEAR_END_PX = 60, LOAD_AROUND = 15, MOST_ROWS = 70;
/** Space at the end of the list: always, and for the bars (one line with a mouse or a finger). */
const END_PX = 12, BARS_PX = 44, TOUCHED_BARS_PX = 64;

/** Results of the tool calls in an entry, cached while the following entries are unchanged. */
const called = new WeakMap<Entry, { next: (Entry | undefined)[]; found: ReadonlyMap<string, Outcome> }>();

function outcomesOf(at: number, bodyAt: (at: number) => Entry | undefined): ReadonlyMap<string, Outcome> | undefined {
	const body = bodyAt(at);
	if (!body || !hasCalls(body))
		return undefined;
	const next: (Entry | undefined)[] = [];
	do
		next.push(bodyAt(at + next.length + 1));
	while (next[next.length - 1] && isTool(next[next.length - 1]!.role));
	const known = called.get(body);
	if (known && known.next.length === next.length && known.next.every((each, i) => each === next[i]))
		return known.found;
	const found = outcomesAfter(at, bodyAt);
	called.set(body, { next, found });
	return found;
}

interface Anchor {
	id: string;
	/** From the top of the viewport to the top of the row. */
	offset: number;
}

/** State of the list between renderings. */
class View {
	heights = new Heights(placeOf);
	anchor: Anchor | null = null;
	isAtEnd = true;
	place = "";
	box: HTMLElement | null = null;
	rows: HTMLElement | null = null;
	wanted: { id: string; focus: boolean } | null = null;
	/** The open editor, and whether its field must still be scrolled into view. */
	editing: unknown = null;
	isEditorWanted = false;
	expectedTop = -1;
	/** The row with the keyboard focus and its position, while it is visible. */
	seen: { id: string; at: number } | null = null;
	/** Last known position of the focused row. */
	focusAt = 0;
	/** The focused element before rendering: an element that is moved loses the focus. */
	focusedBefore: HTMLElement | null = null;
	/** Height reserved for the bars: that of the highest so far in this discussion. */
	reserved = 0;
	/** Height of the streaming replies below the rows. */
	below = 0;
	/** New text has arrived below the viewport; seenEnd: the end of the list when it was last visible. */
	isNew = false;
	seenEnd = "";

	/** First and last row to render, as far as heights are known. */
	range(): [number, number] {
		const { heights } = this;
		const height = this.box?.clientHeight || innerHeight;
		let top = this.box?.scrollTop ?? 0;
		if (this.isAtEnd)
			top = heights.start(heights.count) + this.below - height;
		else if (this.anchor) {
			const outline = state.outline ?? state.last;
			const row = outline ? heights.rowOf(placeOf(outline, this.anchor.id)) : -1;
			if (row >= 0)
				top = heights.start(row) - this.anchor.offset;
		}
		const first = heights.rowAt(Math.max(0, top - OVERSCAN_PX));
		const last = heights.rowAt(top + height + OVERSCAN_PX);
		return [first, Math.min(last, first + MOST_ROWS, heights.count - 1)];
	}

	/** Reads the scroll position. */
	read(): void {
		const box = this.box!;
		const top = box.getBoundingClientRect().top;
		const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
		const focused = document.activeElement?.closest(".entry")?.getBoundingClientRect().top ?? top - 9;
		// at the very end, the top of the focused row could leave the viewport
		this.isAtEnd = rest < NEAR_END_PX && !(focused > top - 2 && focused - rest < top - 2);
		for (const child of this.rows!.children) {
			const at = child.getBoundingClientRect(), id = (child as HTMLElement).dataset.entry;
			if (id && at.bottom > top && at.top < top + box.clientHeight) {
				this.anchor = { id, offset: at.top - top };
				return;
			}
		}
		// only a gap is visible: the user scrolled far
		const row = this.heights.rowAt(box.scrollTop);
		const id = (state.outline ?? state.last)?.id[this.heights.at(row)];
		this.anchor = id === undefined ? null : { id, offset: this.heights.start(row) - box.scrollTop };
	}

	/** Scrolls to the focused row if rows added or removed before it moved it out of view. */
	keepFocusInView(outline: Outline): void {
		const row = document.activeElement?.closest<HTMLElement>(".entry"), id = row?.dataset.entry;
		if (!row || !id || !this.rows!.contains(row)) {
			this.seen = null;
			return;
		}
		const at = placeOf(outline, id);
		if (this.seen?.id === id && this.seen.at !== at && !isInView(this, row))
			bringIntoView(this, row);
		this.seen = isInView(this, row) ? { id, at } : null;
	}

	/** Adapts the space at the end to the height of the bars. true: they are higher than before. */
	makeRoom(): boolean {
		const { box } = this, bars = document.getElementById("bars");
		if (!box || !bars)
			return false;
		box.style.paddingBottom = "100vh"; // otherwise measuring would scroll a list whose end is visible
		const height = bars.offsetHeight, reserved = Math.max(this.reserved, height, hasKeys() ? BARS_PX : TOUCHED_BARS_PX);
		box.style.paddingBottom = `${END_PX + reserved - height}px`;
		const isHigher = reserved > this.reserved;
		this.reserved = reserved;
		return isHigher;
	}

	/** Restores the position of the scroll anchor. true: the scroll position was changed from outside and its
	 * event has not arrived yet, so the list must be rendered again now. */
	restoreAnchor(): boolean {
		const box = this.box!, isScrolledOutside = this.expectedTop >= 0 && Math.abs(box.scrollTop - this.expectedTop) >= 1;
		if (isScrolledOutside)
			this.read();
		this.below = box.scrollHeight - this.rows!.offsetHeight;
		if (this.isAtEnd) {
			box.scrollTop = box.scrollHeight;
		} else if (this.anchor) {
			const row = this.rows!.querySelector<HTMLElement>(`[data-entry="${CSS.escape(this.anchor.id)}"]`);
			if (row) {
				const now = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
				if (Math.abs(now - this.anchor.offset) >= 1)
					box.scrollTop += now - this.anchor.offset;
			}
		}
		this.expectedTop = box.scrollTop;
		return isScrolledOutside;
	}
}

function Gap(props: { height: number }) {
	const element = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		element.current!.style.height = `${props.height}px`;
	});
	return <div class="gap" ref={element} aria-hidden="true" />;
}

export function Entries() {
	const outline = useStore((from) => from.outline ?? from.last);
	const isWhole = useStore((from) => from.outline !== null);
	const bodies = useStore((from) => from.bodies);
	const editing = useStore((from) => from.editing);
	const focus = useStore((from) => from.focus);
	const anchor = useStore((from) => from.anchor);
	const rows = useStore(shownRows);
	const runs = useStore((from) => from.runs);
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const view = useRef<View>();
	view.current ??= new View();
	const v = view.current;
	v.focusedBefore = v.rows?.contains(document.activeElement) ? document.activeElement as HTMLElement : null;

	const place = `${outline?.discussion} ${outline?.take}`;
	v.heights.show(outline, rows);
	if (v.editing !== editing) {
		v.editing = editing;
		v.isEditorWanted = editing !== null;
	}
	if (v.place !== place) {
		if (!v.place.startsWith(`${outline?.discussion} `))
			v.reserved = 0;
		v.place = place;
		v.expectedTop = -1;
		v.isAtEnd = true;
		v.anchor = null;
		if (state.focus && outline && placeOf(outline, state.focus) >= 0)
			v.wanted = { id: state.focus, focus: false };
	}
	if (v.wanted && outline) {
		// not rendered yet: start there
		const row = v.heights.rowOf(placeOf(outline, v.wanted.id));
		const isDrawn = v.rows?.querySelector(`[data-entry="${CSS.escape(v.wanted.id)}"]`);
		if (row >= 0 && !isDrawn) {
			v.isAtEnd = false;
			v.anchor = { id: v.wanted.id, offset: (v.box?.clientHeight ?? 600) / 3 };
		}
	}
	const [first, last] = outline && v.heights.count ? v.range() : [0, -1];
	// also the row that has the keyboard focus: removing it would cause a layout of a half-rendered list
	const kept = [state.focus, v.focusedBefore?.closest<HTMLElement>(".entry")?.dataset.entry, editing?.entry, editing?.after, editing?.before]
		.map((id) => (outline && id ? v.heights.rowOf(placeOf(outline, id)) : -1))
		.filter((row) => row >= 0 && (row < first || row > last));
	const drawn: number[] = [];
	for (let row = first; row <= last; row++)
		drawn.push(row);
	drawn.push(...new Set(kept));
	drawn.sort((a, b) => a - b);

	useLayoutEffect(() => {
		if (!v.rows || !v.box || !outline)
			return;
		if (v.focusedBefore?.isConnected && document.activeElement === document.body)
			v.focusedBefore.focus({ preventScroll: true });
		if (v.reserved === 0)
			v.makeRoom();
		const below = v.below;
		// or a reply has ended and the rows in its place are not rendered
		if (v.restoreAnchor() || (v.isAtEnd && v.below < below - OVERSCAN_PX / 2))
			redraw(0);
		const wanted = v.wanted;
		if (wanted && outline) {
			const element = v.rows.querySelector<HTMLElement>(`[data-entry="${CSS.escape(wanted.id)}"]`);
			if (element) {
				v.wanted = null;
				bringIntoView(v, element);
				if (wanted.focus)
					element.focus({ preventScroll: true });
			}
		}
		v.keepFocusInView(outline);
		const field = v.isEditorWanted ? v.rows.querySelector<HTMLElement>(".editor textarea") : null;
		if (field) {
			v.isEditorWanted = false;
			if (!isInView(v, field))
				bringIntoView(v, field.closest<HTMLElement>(".entry") ?? field);
		}
	});
	const focusAt = outline && focus !== null ? placeOf(outline, focus) : -1;
	useLayoutEffect(() => {
		if (focusAt >= 0)
			v.focusAt = focusAt;
		else if (outline && focus !== null && outline.id.length > 0)
			// the focused entry is gone (undone or deleted): focus the one now at its position
			set({ focus: outline.id[Math.min(v.focusAt, outline.id.length - 1)], anchor: null });
	});
	const stop = focusAt >= 0 ? v.heights.rowOf(focusAt) : -1;
	useEffect(() => {
		if (outline && v.heights.count) {
			const from = v.heights.at(first), to = v.heights.at(last);
			if (rows)
				for (let row = first; row <= last; row++)
					loadRows(v.heights.at(row), v.heights.at(row) + 1);
			else
				loadRows(from - LOAD_AROUND, to + 1 + LOAD_AROUND);
		}
	});
	useEffect(() => {
		list.show = (id, withFocus) => {
			v.wanted = { id, focus: withFocus };
			redraw(0);
		};
		list.toEnd = () => {
			if (!v.box) // an empty take has no list
				return;
			v.wanted = null;
			v.isAtEnd = true;
			v.isNew = false;
			v.expectedTop = v.box.scrollTop;
			redraw(0);
		};
		list.makeRoom = () => {
			if (v.makeRoom() && v.isAtEnd)
				redraw(0);
		};
		const sizes = new ResizeObserver(() => {
			let isOther = false;
			for (const child of v.rows!.children) {
				const id = (child as HTMLElement).dataset.entry;
				if (id)
					isOther = v.heights.measure(id, (child as HTMLElement).offsetHeight) || isOther;
			}
			if (isOther) {
				v.restoreAnchor();
				redraw(0);
			}
		});
		const rowsNow = v.rows!;
		const watch = new MutationObserver(() => {
			sizes.disconnect();
			for (const child of rowsNow.children)
				sizes.observe(child);
			sizes.observe(v.box!);
		});
		watch.observe(rowsNow, { childList: true });
		sizes.observe(v.box!);
		let width = v.box!.clientWidth;
		const resized = () => {
			if (v.box!.clientWidth !== width) {
				width = v.box!.clientWidth;
				v.heights.forget();
				redraw(0);
			}
		};
		addEventListener("resize", resized);
		return () => {
			list.makeRoom = () => undefined;
			sizes.disconnect();
			watch.disconnect();
			removeEventListener("resize", resized);
		};
	}, []);
	const onScroll = () => {
		const box = v.box;
		if (!box) // events may arrive after unmounting
			return;
		if (Math.abs(box.scrollTop - v.expectedTop) < 1)
			return; // caused by our own scrolling
		v.expectedTop = box.scrollTop;
		v.read();
		redraw(0);
	};

	// The browser scrolls to the focused element only after this event, and the list would undo that.
	const onFocusIn = (event: FocusEvent) => {
		const element = event.target as HTMLElement;
		if (v.box && !isInView(v, element) && !element.closest(".editor, .menu-list"))
			bringIntoView(v, element);
	};

	// Near the end, but not at it: stop following the end, so that the pressed element stays under the pointer.
	const onPointerDown = () => {
		const box = v.box!;
		if (v.isAtEnd && box.scrollHeight - box.scrollTop - box.clientHeight > 1) {
			v.read();
			v.isAtEnd = false;
		}
	};

	const here = runsHere(runs);
	// detects text that arrives at the end while the user reads elsewhere
	const endNow = `${place} ${outline?.id[outline.id.length - 1]} ${here.map((run) => `${run.run} ${run.text?.length ?? 0}`).join(" ")}`;
	if (v.isAtEnd || !v.seenEnd.startsWith(place + " "))
		v.isNew = false;
	else if (v.seenEnd !== endNow && here.length > 0)
		v.isNew = true;
	v.seenEnd = endNow;
	let end = 0;
	const parts = [], bodyAt = (at: number) => bodies.get(outline!.id[at]);
	for (const row of drawn) {
		const at = v.heights.at(row), id = outline!.id[at];
		if (row > end)
			parts.push(<Gap key={`gap ${row}`} height={v.heights.start(row) - v.heights.start(end)} />);
		if (editing?.before === id)
			parts.push(<NewEntry key="new" before={id} role={editing.role ?? "User"} />);
		parts.push(
			<EntryRow key={id} id={id} at={at} row={row} count={v.heights.count} outline={outline!}
				body={bodies.get(id)} isFocused={focus === id} isTabStop={row === (stop >= 0 ? stop : last)}
				isSelected={anchor !== null && isBetween(at, placeOf(outline!, anchor), placeOf(outline!, focus))}
				isEditing={editing?.entry === id} outcomes={outcomesOf(at, bodyAt)} isWithCall={isWithCall(at, bodyAt)}
				day={dayBetween(at === 0 ? null : bodyAt(at - 1)?.ts, bodyAt(at)?.ts)} />,
		);
		if (editing?.after === id)
			parts.push(<NewEntry key="new" after={id} role={editing.role ?? "User"} />);
		end = row + 1;
	}
	const rest = v.heights.start(v.heights.count) - v.heights.start(end);
	return (<>
		<div class="entries" ref={(element) => { v.box = element; }} onScroll={onScroll}>
			<div class="rows" role="feed" aria-label="Entries" aria-busy={!isWhole} inert={!isWhole}
				onFocusIn={onFocusIn} onPointerDownCapture={onPointerDown} ref={(element) => { v.rows = element; }}>
				{parts}
				{rest > 0 && <Gap key="rest" height={rest} />}
			</div>
			<RunRows runs={here} />
		</div>
		{v.isNew && <button type="button" class="new-below" onClick={() => list.toEnd()}
			onPointerDown={(event) => { if (event.button === 0) list.toEnd(); /* a line of news may move it before the pointer is up */ }}>New entries below <span aria-hidden="true">↓</span></button>}
	</>);
}

function isBetween(at: number, a: number, b: number): boolean {
	return at >= Math.min(a, b) && at <= Math.max(a, b);
}

function isInView(v: View, element: HTMLElement): boolean {
	const box = v.box!.getBoundingClientRect(), at = element.getBoundingClientRect();
	return at.bottom > box.top && at.top < box.bottom;
}

function bringIntoView(v: View, element: HTMLElement): void {
	const box = v.box!.getBoundingClientRect(), at = element.getBoundingClientRect();
	if (at.top < box.top + 8)
		v.box!.scrollTop -= box.top + 8 - at.top;
	else if (at.bottom > box.bottom - 8)
		v.box!.scrollTop += Math.min(at.bottom - box.bottom + 8, at.top - box.top - 8);
	v.expectedTop = v.box!.scrollTop;
	v.read();
	const rest = v.box!.scrollHeight - v.box!.scrollTop - v.box!.clientHeight;
	if (v.isAtEnd && element.getBoundingClientRect().top - rest < box.top)
		v.isAtEnd = false; // following the end would scroll it out of view
}
