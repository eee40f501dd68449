// SPDX-License-Identifier: MIT
//
// Statistics: entries, tokens and cost by day, model, program, discussion and project, with a
// calendar. The counts are those of `retake stats`.
import { useMemo, useState } from "preact/hooks";
import { get } from "./api";
import { Calendar } from "./calendar";
import { Dialog } from "./dialog";
import { useLoaded } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { state, useStore } from "./state";
import { costWords, count, dateWords } from "./words";
import type { Usage } from "./types";

const PAUSE_MS = 1000, PAGE = 100;
const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", year: "numeric" };

type By = "day" | "model" | "program" | "discussion" | "project";

interface Counts {
	entries: number;
	usage: Usage;
}

/** The member that `by` names: the name of the row; null: without one. */
type Row = Counts & Partial<Record<By, string | null>>;

interface Stats extends Counts {
	by: By;
	rows: Row[];
	/** The total of all replies, including those undone or deleted since. */
	received: Usage;
}

/** Heading, and the name of the row that has none. */
const KINDS: [By, string, string][] = [
	["day", "Day", "without a date"], ["model", "Model", "without a model"], ["program", "Program", "other files"],
	["discussion", "Discussion", "without a name"], ["project", "Project", "without a name"],
];

function costOf(usage: Usage): string {
	return usage.cost === undefined ? "" : costWords(usage.cost) + (usage.without_price ? " +" : "");
}

/** "1,200 tokens sent, 35 received, $0.0150" */
function usageWords(usage: Usage): string {
	return [`${count(usage.input_tokens, "token")} sent, ${usage.output_tokens.toLocaleString()} received`, costOf(usage)].filter(Boolean).join(", ");
}

/** "Friday, 27 November 2026: 3 entries, 1,200 tokens sent, 35 received, $0.0150" */
function dayWords(day: string, row: Row | undefined): string {
	const usage = row?.usage;
	return `${dateWords(day)}: ${[
		row ? count(row.entries, "entry", "entries") : "no entries",
		usage?.replies && usageWords(usage),
	].filter(Boolean).join(", ")}`;
}

/** The first and last day of a period: "" (everything), a year or a day. */
function spanOf(period: string): { since?: string; until?: string } {
	return period.length === 4 ? { since: `${period}-01-01`, until: `${period}-12-31` } : period ? { since: period, until: period } : {};
}

interface ChoiceProps {
	id: string;
	text: string;
	value: string;
	/** Value and text. */
	options: [string, string][];
	isOff?: boolean;
	onChange: (value: string) => void;
}

function Choice(props: ChoiceProps) {
	return (
		<span class="stats-choice">
			<label for={props.id}>{props.text}</label>
			<select id={props.id} value={props.value} disabled={props.isOff} onChange={(event) => props.onChange(event.currentTarget.value)}>
				{props.options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
			</select>
		</span>
	);
}

function Cells(props: { of: Counts }) {
	const { entries, usage } = props.of;
	return (
		<>
			<td>{entries.toLocaleString()}</td>
			<td class="wide-only">{usage.replies.toLocaleString()}</td>
			<td>{usage.input_tokens.toLocaleString()}</td>
			<td>{usage.output_tokens.toLocaleString()}</td>
			<td>{costOf(usage)}</td>
		</>
	);
}

function Table(props: { stats: Stats }) {
	const { stats } = props;
	const [shown, setShown] = useState(PAGE);
	const [, heading, none] = KINDS.find(([by]) => by === stats.by)!;
	const rows = stats.by === "day" ? [...stats.rows].reverse() : stats.rows;
	const partly = stats.usage.cost !== undefined && stats.usage.without_price;
	return (
		<>
			<div class="stats-table" role="region" aria-label={`Counts by ${heading.toLowerCase()}`} tabIndex={0}>
				<table>
					<thead><tr>
						<th scope="col">{heading}</th><th scope="col">Entries</th><th scope="col" class="wide-only">Replies</th>
						<th scope="col">Tokens sent</th><th scope="col">Received</th><th scope="col">Cost</th>
					</tr></thead>
					<tbody>
						{rows.slice(0, shown).map((row) => {
							const name = row[stats.by];
							return <tr key={name}><th scope="row" class={name ? "" : "quiet"}>{!name ? none : stats.by === "day" ? dateWords(name, DAY) : name}</th><Cells of={row} /></tr>;
						})}
					</tbody>
					<tfoot><tr><th scope="row">Total</th><Cells of={stats} /></tr></tfoot>
				</table>
			</div>
			{rows.length > shown && <button type="button" onClick={() => setShown(shown + PAGE)}>Show more ({(rows.length - shown).toLocaleString()} left)</button>}
			{partly && <p class="quiet small">+ {count(stats.usage.without_price!, "reply has", "replies have")} no known price.</p>}
			{stats.received.replies > stats.usage.replies && <p class="quiet small">Including undone and deleted replies: {usageWords(stats.received)}</p>}
		</>
	);
}

function Statistics() {
	const version = useStore((from) => from.version), canProject = !!useStore((from) => from.info)?.features.includes("projects");
	const [by, setBy] = useState<By>("day"), [isHere, setHere] = useState(false), [period, setPeriod] = useState("");
	const discussion = isHere && by !== "project" ? state.disc : null;
	const days = useLoaded(() => get<Stats>("/stats", { by: "day", discussion }), [discussion, version], PAUSE_MS);
	const table = useLoaded(() => get<Stats>("/stats", { by, discussion, ...spanOf(period) }), [by, discussion, period, version], by === days.data?.by ? 0 : PAUSE_MS);
	const byDay = useMemo(() => new Map(days.data?.rows.filter((row) => row.day).map((row) => [row.day!, row])), [days.data]);
	const entries = useMemo(() => new Map([...byDay].map(([day, row]) => [day, row.entries])), [byDay]);
	const years = [...new Set([...byDay.keys()].map((day) => day.slice(0, 4)))].reverse();
	const year = Number(period.slice(0, 4) || years[0] || new Date().getFullYear());
	const problem = days.problem || table.problem;
	return (
		<Dialog title="Statistics" class="wide stats" onClose={() => openOverlay(null)}>
			<div class="stats-bar">
				<Choice id="stats-of" text="Count" value={isHere ? "here" : ""} isOff={by === "project"} onChange={(value) => setHere(value !== "")}
					options={[["", "the project"], ["here", "this discussion"]]} />
				<Choice id="stats-period" text="Period" value={period} onChange={setPeriod}
					options={[["", "all time"], ...years.map((each): [string, string] => [each, each]), ...(period.length > 4 ? [[period, dateWords(period, DAY)] as [string, string]] : [])]} />
				<Choice id="stats-by" text="By" value={by} onChange={(value) => setBy(value as By)}
					options={KINDS.filter(([each]) => each !== "project" || canProject).map(([each, text]) => [each, text.toLowerCase()])} />
			</div>
			{problem ? <p class="note problem" role="alert">{problem}</p> : !table.data && <p class="quiet" role="status">Counting …</p>}
			{days.data && <Calendar key={year} year={year} entries={entries} words={(day) => dayWords(day, byDay.get(day))} chosen={period}
				onChoose={(day) => setPeriod(day === period ? String(year) : day)} />}
			{table.data && (table.data.entries === 0 && table.data.received.replies === 0 ? <p class="quiet" role="status">{period ? "No entries in this period." : "No entries yet."}</p> : <Table key={`${by} ${period}`} stats={table.data} />)}
		</Dialog>
	);
}

addPane({ id: "stats", title: "Statistics", place: "overlay", view: Statistics });
