// SPDX-License-Identifier: MIT
//
// Rows: a virtual list or tree of rows of equal height; only visible rows and the focused one are
// rendered. One row is in the tab order; arrows, Home, End and Page keys move.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface RowPlace {
	id: string;
	class: string;
	tabIndex: number;
	style: { top: string };
	"data-row": number;
	onFocus: () => void;
}

export interface RowsProps {
	role: "tree" | "listbox" | "list";
	label: string;
	count: number;
	/** The row in the tab order; -1: the first. */
	focus: number;
	onFocus: (row: number) => void;
	/** Handles further keys; true: handled. */
	onKey?: (event: KeyboardEvent, row: number) => boolean;
	row: (row: number, place: RowPlace) => JSX.Element;
	/** Row height in pixels. */
	height: number;
	idPrefix: string;
	isMulti?: boolean;
	/** Called when the end becomes visible. */
	onEnd?: () => void;
}

const SPARE = 2;

/** Moves the focus from a field above into the rows; true: the key was handled. */
export function intoRows(event: KeyboardEvent, idPrefix: string): boolean {
	if (event.isComposing || (event.key !== "ArrowDown" && event.key !== "Enter"))
		return false;
	event.preventDefault();
	document.querySelector<HTMLElement>(`[id^="${idPrefix}-"][tabindex="0"]`)?.focus();
	return true;
}

export function Rows(props: RowsProps) {
	const { count, height, idPrefix } = props;
	const box = useRef<HTMLDivElement>(null);
	const [view, setView] = useState({ top: 0, height: 600 });
	const wantsFocus = useRef(false);
	const focus = Math.min(Math.max(props.focus, 0), count - 1);
	const look = () => {
		const at = box.current;
		if (!at) // events may arrive after unmounting
			return;
		setView({ top: at.scrollTop, height: at.clientHeight });
	};
	// keeps a visible row visible when something below the list opens
	const latest = useRef({ focus, height: 0 });
	latest.current.focus = focus;
	useLayoutEffect(() => {
		look();
		latest.current.height = box.current!.clientHeight;
		const watcher = new ResizeObserver(() => {
			const at = box.current!, top = latest.current.focus * height;
			if (top >= at.scrollTop && top + height <= at.scrollTop + latest.current.height)
				show(latest.current.focus);
			latest.current.height = at.clientHeight;
			look();
		});
		watcher.observe(box.current!);
		return () => watcher.disconnect();
	}, []);
	const first = Math.max(0, Math.floor(view.top / height) - SPARE);
	const last = Math.min(count, Math.ceil((view.top + view.height) / height) + SPARE);
	useEffect(() => {
		if (last >= count)
			props.onEnd?.();
	}, [last, count]);
	useLayoutEffect(() => {
		show(focus);
	}, [focus, count === 0]);
	useLayoutEffect(() => {
		if (!wantsFocus.current)
			return;
		wantsFocus.current = false;
		const now = document.activeElement;
		// otherwise a key has moved the focus elsewhere
		if (now === null || now === document.body || box.current!.contains(now))
			document.getElementById(`${idPrefix}-${focus}`)?.focus({ preventScroll: true });
	});
	function show(row: number): void {
		const at = box.current!, top = row * height;
		if (row < 0)
			return;
		if (top < at.scrollTop)
			at.scrollTop = top;
		else if (top + height > at.scrollTop + at.clientHeight && at.clientHeight > height)
			at.scrollTop = top + height - at.clientHeight;
	}
	const move = (to: number) => {
		wantsFocus.current = true;
		const next = Math.min(Math.max(to, 0), count - 1);
		if (next === focus)
			document.getElementById(`${idPrefix}-${focus}`)?.focus();
		else
			props.onFocus(next);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		if (count === 0 || event.altKey || event.ctrlKey || event.metaKey)
			return;
		const page = Math.max(1, Math.floor(view.height / height) - 1);
		const to = { ArrowDown: focus + 1, ArrowUp: focus - 1, Home: 0, End: count - 1,
			PageDown: focus + page, PageUp: focus - page }[event.key];
		if (props.onKey?.(event, focus)) {
			wantsFocus.current = true;
		} else if (to !== undefined && !event.shiftKey) {
			move(to);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	};
	const rows: number[] = [];
	if (focus >= 0 && focus < first)
		rows.push(focus);
	for (let row = first; row < last; row++)
		rows.push(row);
	if (focus >= last && focus < count)
		rows.push(focus);
	return (
		<div ref={box} class="pane-rows" onScroll={look}>
			<div class="pane-rows-all" style={{ height: `${count * height}px` }} role={props.role} aria-label={props.label}
				aria-multiselectable={props.isMulti || undefined} onKeyDown={onKeyDown}>
				{rows.map((row) => props.row(row, {
					id: `${idPrefix}-${row}`, class: "pane-row", tabIndex: row === focus ? 0 : -1,
					style: { top: `${row * height}px` }, "data-row": row,
					onFocus: () => { if (row !== focus) props.onFocus(row); },
				}))}
			</div>
		</div>
	);
}
