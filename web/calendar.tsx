// SPDX-License-Identifier: MIT
//
// Calendar: the days of a year, with a stronger colour for more entries, as the calendar of `retake stats`. Weeks
// are columns, on a phone rows. The arrow keys move in the directions that are seen; Enter chooses.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { usePhone } from "./panes";
import { dateWords } from "./words";

const DAY_MS = 86400000, WEEK = 7, LEVELS = 4;
const MONTH: Intl.DateTimeFormatOptions = { month: "short" };
const WEEKDAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

export interface CalendarProps {
	year: number;
	/** Entries of a day, "2026-11-27". */
	entries: ReadonlyMap<string, number>;
	/** A day and its counts. */
	words: (day: string) => string;
	chosen: string;
	onChoose: (day: string) => void;
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The weeks of the year, each from Monday; a day of another year is null. */
function weeksOf(year: number): (string | null)[][] {
	const first = Date.UTC(year, 0, 1), end = Date.UTC(year + 1, 0, 1);
	const weeks: (string | null)[][] = [];
	for (let monday = first - ((new Date(first).getUTCDay() + 6) % WEEK) * DAY_MS; monday < end; monday += WEEK * DAY_MS)
		weeks.push(WEEKDAYS.map((_, at) => monday + at * DAY_MS).map((time) => (time >= first && time < end ? dayOf(time) : null)));
	return weeks;
}

/** The short name of the month that begins in the week; "": none does. */
function monthOf(week: (string | null)[]): string {
	const first = week.find((day) => day?.endsWith("-01"));
	return first ? dateWords(first, MONTH) : "";
}

export function Calendar(props: CalendarProps) {
	const { year, entries } = props;
	const weeks = weeksOf(year), days = weeks.flat().filter((day) => day !== null);
	const most = Math.max(1, ...days.map((day) => entries.get(day) ?? 0));
	const last = days.filter((day) => entries.has(day)).pop() ?? days[0];
	const [at, setAt] = useState(props.chosen), [shown, setShown] = useState("");
	const current = days.includes(at) ? at : last;
	const isPhone = usePhone(), grid = useRef<HTMLDivElement>(null), isMoved = useRef(false);
	useLayoutEffect(() => {
		if (isMoved.current)
			grid.current!.querySelector<HTMLElement>(`[data-day="${current}"]`)?.focus();
		isMoved.current = false;
	}, [current]);
	useLayoutEffect(() => {
		const cell = grid.current!.querySelector<HTMLElement>(`[data-day="${current}"]`)!;
		grid.current!.scrollTop = cell.offsetTop - grid.current!.clientHeight / 2;
	}, []);
	const onKeyDown = (event: KeyboardEvent) => {
		const along = isPhone ? 1 : WEEK, across = isPhone ? WEEK : 1;
		const by = { ArrowRight: along, ArrowLeft: -along, ArrowDown: across, ArrowUp: -across, Home: -days.length, End: days.length }[event.key];
		if (event.key === "Enter" || event.key === " ")
			props.onChoose(current);
		else if (by !== undefined)
			setAt(days[Math.min(Math.max(days.indexOf(current) + by, 0), days.length - 1)]);
		else
			return;
		isMoved.current = by !== undefined;
		event.preventDefault();
	};
	return (
		<>
			<div class="calendar" role="grid" aria-label={`Entries per day in ${year}`} ref={grid} onKeyDown={onKeyDown} onPointerLeave={() => setShown("")}>
				<div role="row">
					<span role="columnheader"><span class="for-readers">Week from</span></span>
					{WEEKDAYS.map((each) => <span role="columnheader" key={each}>{each}</span>)}
				</div>
				{weeks.map((week) => {
					const first = week.find((day) => day !== null)!;
					return (
						<div role="row" key={first}>
							<span role="rowheader"><span aria-hidden="true">{monthOf(week)}</span><span class="for-readers">{dateWords(first)}</span></span>
							{week.map((day, n) => (day === null ? <span role="gridcell" key={n} /> : (
								<span role="gridcell" key={n} data-day={day} data-level={Math.ceil((entries.get(day) ?? 0) * LEVELS / most)} aria-label={props.words(day)}
									aria-selected={day === props.chosen} tabIndex={day === current ? 0 : -1} onFocus={() => { setAt(day); setShown(day); }}
									onPointerEnter={() => setShown(day)} onClick={() => props.onChoose(day)} />
							)))}
						</div>
					);
				})}
			</div>
			<p class="quiet small calendar-day" aria-hidden="true">{shown ? props.words(shown) : "Each square is a day; the more entries, the stronger the colour. Select a day to count only its entries."}</p>
		</>
	);
}
