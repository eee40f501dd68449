// SPDX-License-Identifier: MIT
//
// Outline: all entries of all takes as a tree. A click shows an entry. Enter (or the button)
// continues from there: a question can be rephrased; after any other entry another one is added.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { Cut } from "./cut";
import { askLine } from "./dialog";
import { list } from "./entry_acts";
import { placeOf } from "./outline";
import { goTo } from "./pane_leave";
import { openTakeOf, useLoaded } from "./pane_data";
import { Rails } from "./pane_rails";
import { intoRows, Rows } from "./pane_rows";
import { useTips } from "./pane_tips";
import { headRow, keysOf, pathTo, indexInIdleTime, rowOfKey, shownFor, takeAt, takesOf, treeRows } from "./pane_tree";
import { addPane, isNarrow } from "./panes";
import { runsHere } from "./runs";
import { roleLabel } from "./speaker";
import { set, state, useStore } from "./state";
import { discPath, discussionOf } from "./store";
import { DIFFERS, MUTED } from "./types";
import { beginning, count } from "./words";
import type { Op } from "./actions";
import type { RowPlace } from "./pane_rows";
import type { Tips } from "./pane_tips";
import type { Filter, TreeRow } from "./pane_tree";
import type { Columns } from "./types";

const ROW_PX = 28, PREVIEW = 60, MANY_TAKES = 1000;
const MOST_HITS = 1000;
const PAUSE_MS = 120, LARGE = 20000, LARGE_PAUSE_MS = 1500, BUSY_MS = 250;

const FILTERS: [Filter, string][] = [
	["default", "Filter: default"], ["no-tools", "No tools"], ["user", "User only"], ["labelled", "Labelled only"], ["all", "All"],
];

// Folded rows by discussion, until the page is closed.
const foldedOf = new Map<string, ReadonlySet<string>>();

let asked = 0, lastKey = -Infinity;
addEventListener("keydown", () => { lastKey = performance.now(); }, true);

function isBusy(): boolean {
	return performance.now() - lastKey < LARGE_PAUSE_MS || runsHere(state.runs).length > 0;
}

/** A very large tree is only read again when the user is not typing and no reply arrives, as that takes a while. */
async function readTree(isLarge: boolean): Promise<Columns> {
	const mine = ++asked;
	while (isLarge && mine === asked && isBusy())
		await new Promise((done) => setTimeout(done, BUSY_MS));
	if (mine !== asked)
		return new Promise(() => undefined); // another caller is already reading it
	const columns = await get<Columns>(discPath("tree"),
		{ columns: 1, preview: PREVIEW, ...(state.takeCount > MANY_TAKES ? { bare: 1 } : {}) });
	// work on very many entries is done in slices, to keep the page responsive
	const pause = () => (columns.count > LARGE ? new Promise((done) => setTimeout(done)) : null);
	await pause();
	const keys = keysOf(columns);
	await pause();
	treeRows(columns, keys, "default", "", foldedOf.get(state.disc ?? "") ?? new Set(), null);
	await pause();
	return columns;
}

/** Matches in texts beyond the preview, found by the server. */
async function found(search: string): Promise<ReadonlySet<string>> {
	if (search.trim().length < 2)
		return new Set();
	const name = discussionOf(state.disc)?.name;
	const hits = await get<{ id: string }[]>("/search", { q: search.trim(), discussion: name, limit: MOST_HITS });
	return new Set(hits.map((hit) => hit.id));
}

interface RowProps {
	columns: Columns;
	row: TreeRow;
	place: RowPlace;
	isHead: boolean;
	differs: boolean;
	isOn: boolean;
	isMarked: boolean;
	/** The row that the buttons act on if none is marked. */
	isChosen: boolean;
	tips: Tips | undefined;
	onFold: () => void;
	onClick: (event: MouseEvent) => void;
}

function Row(props: RowProps) {
	const { columns, row, place } = props;
	const kind = columns.kinds[columns.kind[row.at]], role = columns.roles[columns.role[row.at]];
	const flags = columns.flags[row.at], label = columns.labels[row.at];
	const preview = beginning(columns.preview?.[row.at] ?? "", role);
	const isUser = role.toLowerCase() === "user";
	const isTitled = preview.startsWith("[") && (kind === "compaction" || kind === "custom_message");
	const says = isTitled ? "" : kind === "branch_summary" ? "summary of a branch" : roleLabel(role, state.settings?.roles ?? []);
	return (
		<div {...place} role="treeitem" aria-level={row.level} aria-setsize={row.family.size} aria-posinset={row.place}
			aria-expanded={row.canFold ? !row.isFolded : undefined} aria-selected={props.isMarked || props.isChosen}
			aria-current={props.isHead || undefined} data-entry={columns.id[row.at]} onClick={props.onClick}
			onMouseDown={(event) => { if (event.shiftKey) event.preventDefault(); }}
			title={`${role} ${columns.id[row.at]}${kind !== "message" ? ` (${kind})` : ""}`}
			class={"pane-row tree-row" + (row.canFold ? "" : " leaf") + (props.isOn ? "" : " off") + (props.isHead ? " head" : "") + (props.isMarked || props.isChosen ? " marked" : "")}>
			<Rails row={row} />
			{row.canFold && <span class="twist" aria-hidden="true"
				onClick={(event) => { event.stopPropagation(); props.onFold(); }}>{row.isFolded ? "▸" : "▾"}</span>}
			<span class={"who" + (isUser ? " user" : "") + (kind === "compaction" || kind === "branch_summary" ? " mark" : "")}>{says}</span>
			{label !== undefined && <span class="chip">{label}</span>}
			<span class={"words" + (flags & MUTED ? " muted" : "")}>{preview || (columns.size[row.at] ? "…" : "empty")}</span>
			{flags & MUTED ? <span class="chip">muted</span> : null}
			{props.differs ? <span class="chip" title="Its text differs between takes">differs</span> : null}
			{props.tips?.names.map((name) => <span class="tip"><Cut text={name} title={`The end of the take “${name}”`} /></span>)}
			{!!props.tips?.more && <span class="tip">+{props.tips.more.toLocaleString()}</span>}
			{props.isHead && <span class="here" title="Your position">← here</span>}
		</div>
	);
}

/** Shows an entry in place; switches the take only if necessary. */
async function showRow(columns: Columns, row: number): Promise<void> {
	const entry = columns.id[row], take = takeAt(columns, row, state.take);
	if (take && (take !== state.take || placeOf(state.outline!, entry) < 0))
		await act.show(state.disc!, take, entry);
	set({ focus: entry, anchor: null });
	list.show(entry, false);
}

async function marksMoved(entries: string[]): Promise<void> {
	const text = await askLine("Move after …", "", {
		text: "An entry of this take: its number, id or label. 0 moves to the beginning.", yes: "Move",
	});
	if (text === null || text.trim() === "")
		return;
	const wanted = text.trim(), ids = state.outline?.id ?? [];
	const isFirst = wanted === "0";
	const begin = isFirst ? ids.find((id) => !entries.includes(id)) : /^\d+$/.test(wanted) ? ids[Number(wanted) - 1] ?? wanted : wanted;
	if (!begin)
		return;
	const ops: Op[] = entries.map((entry, at) => ({
		op: "entry.move", entry,
		...(at > 0 ? { after: entries[at - 1] } : isFirst ? { before: begin } : { after: begin }),
	}));
	await act.batch(ops, { say: `Moved ${count(entries.length, "entry", "entries")}.` });
}

/** Rows that were marked in the meantime stay marked. */
function without(marks: ReadonlySet<string>, done: ReadonlySet<string>): ReadonlySet<string> {
	return new Set([...marks].filter((key) => !done.has(key)));
}

interface VerbsProps {
	columns: Columns;
	/** Indexes in the columns, in order; empty: the buttons are disabled. */
	rows: number[];
	onDone: () => void;
}

/** Actions on the marked rows, or on the chosen one. */
function Verbs(props: VerbsProps) {
	const { columns, rows } = props, take = state.take;
	const idOf = (row: number) => columns.id[row];
	const places = rows.map((row) => ({ entry: idOf(row), take: takeAt(columns, row, take) ?? take! }));
	const here = places.filter((each) => each.take === take).map((each) => each.entry);
	const away = places.filter((each) => each.take !== take);
	const isOff = rows.length === 0;
	const allMuted = !isOff && rows.every((row) => columns.flags[row] & MUTED);
	const one = rows.length === 1 ? rows[0] : null;
	const did = (work: Promise<unknown>) => void work.then(() => {
		props.onDone();
		if (isNarrow())
			set({ drawer: null }); // the drawer would hide its message
	});
	const many = count(rows.length, "entry", "entries");
	const remove = () => did(act.batch(places.map((each) => ({ op: "entry.delete", ...each })), { say: `Deleted ${many}.` }));
	const mute = () => did(act.batch(places.map((each) => ({ op: "entry.mute", ...each, muted: !allMuted })),
		{ say: `${allMuted ? "Unmuted" : "Muted"} ${many}.` }));
	const branch = async () => {
		const name = await askLine("Branch here", "", { text: "Name (optional)" });
		if (name !== null)
			await act.op("take.branch", { at: places[0].entry, take: places[0].take, ...(name.trim() ? { name: name.trim() } : {}) }, {}, openTakeOf);
	};
	const label = async () => {
		const now = columns.labels[one!] ?? "";
		const text = await askLine("Label", now, { text: "A name for this entry. Leave empty for none." });
		if (text !== null && text.trim() !== now)
			await act.op("label.set", { entry: places[0].entry, label: text.trim() || null });
	};
	const graft = () => {
		const sources = new Map<string, string[]>();
		for (const each of away)
			sources.set(each.take, [...(sources.get(each.take) ?? []), each.entry]);
		const last = state.outline?.id[state.outline.id.length - 1];
		if (!last)
			return Promise.resolve(act.say("This take is empty: write an entry first.", false));
		// each is inserted right after the same entry, so the last comes first
		return act.batch([...sources].reverse().map(([from, entries]) => ({ op: "take.graft", from, entries, after: last })),
			{ say: `Copied ${count(away.length, "entry", "entries")} into this take.` });
	};
	const go = () => void goTo(columns, one!).catch(act.sayProblem);
	return (
		<div class="verbs" role="toolbar" aria-label={isOff ? "Nothing selected" : `Actions for ${many}`}>
			{one !== null && <button type="button" class="narrow-only" data-verb="show" onClick={() => set({ drawer: null })}>Show</button>}
			{one !== null && <button type="button" data-verb="go" title="Enter" onClick={go}>Continue from here</button>}
			<button type="button" data-verb="delete" disabled={isOff} onClick={remove}>{rows.length > 1 ? `Delete ${rows.length.toLocaleString()}` : "Delete"}</button>
			<button type="button" data-verb="mute" disabled={isOff} onClick={mute}>{allMuted ? "Unmute" : "Mute"}</button>
			{one !== null && <button type="button" data-verb="branch" onClick={() => did(branch())}>Branch …</button>}
			{one !== null && <button type="button" data-verb="label" onClick={() => did(label())}>Label …</button>}
			{away.length > 0 && <button type="button" data-verb="graft" title="Copy to the end of the open take" onClick={() => did(graft())}>Copy here</button>}
			{!isOff && here.length === rows.length && <button type="button" data-verb="move" onClick={() => did(marksMoved(here))}>Move …</button>}
		</div>
	);
}

function Outline() {
	const disc = useStore((from) => from.disc), take = useStore((from) => from.take);
	const version = useStore((from) => from.version), head = useStore((from) => from.head);
	const differ = useStore((from) => from.differ);
	const [filter, setFilter] = useState<Filter>("default"), [search, setSearch] = useState("");
	const [focusKey, setFocusKey] = useState<string | null>(null);
	const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
	const [folded, setFolded] = useState<ReadonlySet<string>>(foldedOf.get(disc ?? "") ?? new Set());
	const [size, setSize] = useState(0);
	const { data: columns, problem } = useLoaded(() => readTree(size > LARGE), [disc, version], size > LARGE ? LARGE_PAUSE_MS : PAUSE_MS);
	const [of, setOf] = useState(disc);
	if (of !== disc) {
		setOf(disc);
		setFolded(foldedOf.get(disc ?? "") ?? new Set());
		setMarks(new Set());
		setFocusKey(null);
	}
	useEffect(() => setSize(columns?.count ?? 0), [columns]);
	useEffect(() => (columns ? indexInIdleTime(columns) : undefined), [columns]);
	const hits = useLoaded(() => found(search), [search, columns === null], PAUSE_MS);
	const keys = useMemo(() => (columns ? keysOf(columns) : []), [columns]);
	const rows = useMemo(() => (columns ? treeRows(columns, keys, filter, search, search ? new Set() : folded, hits.data) : []),
		[columns, keys, filter, search, folded, hits.data]);
	// the tree is loaded slightly later than the head: until then the old position is kept
	const headWas = useRef<{ columns: Columns | null; at: number }>({ columns: null, at: -1 });
	const headAt = useMemo(() => {
		const at = columns ? headRow(columns, take, head) : -1, was = headWas.current;
		return (headWas.current = { columns, at: at < 0 && head !== null && was.columns === columns ? was.at : at }).at;
	}, [columns, take, head]);
	const on = useMemo(() => (columns ? pathTo(columns, headAt) : null), [columns, headAt]);
	const headShown = useMemo(() => (columns ? shownFor(columns, rows, headAt, search) : -1), [columns, rows, headAt, search]);
	const tips = useTips(columns);
	const focus = useMemo(() => [rowOfKey(rows, focusKey), rowOfKey(rows, keys[headShown]), rows.length - 1].find((at) => at >= 0) ?? -1,
		[rows, focusKey, keys, headShown]);

	const fold = (row: TreeRow, isFolded = !row.isFolded) => {
		const next = new Set(folded);
		if (isFolded)
			next.add(row.key);
		else
			next.delete(row.key);
		foldedOf.set(disc!, next);
		setFolded(next);
	};
	const mark = (row: TreeRow) => {
		const next = new Set(marks);
		if (!next.delete(row.key))
			next.add(row.key);
		setMarks(next);
	};
	const markTo = (to: number) => {
		const next = new Set(marks);
		for (let at = Math.min(focus, to); at <= Math.max(focus, to); at++)
			next.add(rows[at].key);
		setMarks(next);
		setFocusKey(rows[to].key);
	};
	const onKey = (event: KeyboardEvent, at: number): boolean => {
		const row = rows[at];
		if (event.key === "Enter" && event.shiftKey)
			void showRow(columns!, row.at).catch(act.sayProblem);
		else if (event.key === "Enter")
			void goTo(columns!, row.at).catch(act.sayProblem);
		else if (event.key === " ")
			mark(row);
		else if (event.shiftKey && event.key === "ArrowDown")
			markTo(Math.min(at + 1, rows.length - 1));
		else if (event.shiftKey && event.key === "ArrowUp")
			markTo(Math.max(at - 1, 0));
		else if (event.key === "ArrowLeft" && row.canFold && !row.isFolded)
			fold(row, true);
		else if (event.key === "ArrowLeft")
			setFocusKey(rows[row.above]?.key ?? row.key);
		else if (event.key === "ArrowRight" && row.canFold && row.isFolded)
			fold(row, false);
		else if (event.key === "ArrowRight")
			setFocusKey(rows[Math.min(at + 1, rows.length - 1)].key);
		else
			return false;
		return true;
	};
	if (!columns)
		return <div class="pane-empty">{problem ? <p role="alert">{problem}</p> : <p class="quiet">Reading …</p>}</div>;
	const marked = rows.filter((row) => marks.has(row.key)).map((row) => row.at);
	// the initially focused row was not chosen by the user
	const isAlone = marked.length === 0 && rowOfKey(rows, focusKey) >= 0;
	const chosen = marked.length ? marked : isAlone ? [rows[focus].at] : [];
	const onEscape = (event: KeyboardEvent) => {
		if (event.key !== "Escape" || marks.size === 0)
			return;
		event.preventDefault();
		event.stopPropagation();
		setMarks(new Set());
	};
	return (
		<section class="pane-body outline" aria-label="Outline" onKeyDown={onEscape}>
			<div class="pane-bar">
				<input type="search" class="line" placeholder="Search" aria-label="Search the outline" value={search}
					onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={(event) => intoRows(event, "outline")} />
				<select aria-label="Filter entries" value={filter} onChange={(event) => setFilter(event.currentTarget.value as Filter)}>
					{FILTERS.map(([value, text]) => <option value={value}>{text}</option>)}
				</select>
			</div>
			{head === null && columns.count > 0 && <p class="pane-note"><span class="here">Your position</span> is before the first entry.</p>}
			{rows.length === 0 && <p class="quiet pane-note">{columns.count ? "No matches." : "There are no entries yet."}</p>}
			<Rows role="tree" label="Entries of all takes" count={rows.length} height={ROW_PX} idPrefix="outline" isMulti
				focus={focus} onFocus={(at) => setFocusKey(rows[at].key)} onKey={onKey}
				row={(at, place) => {
					const row = rows[at];
					return (
						<Row key={row.key} columns={columns} row={row} place={place} isHead={row.at === headShown} differs={!!(columns.flags[row.at] & DIFFERS) || differ.has(columns.id[row.at])} isOn={!!on?.[row.at]}
							isMarked={marks.has(row.key)} isChosen={isAlone && at === focus} tips={tips(row.at)} onFold={() => fold(row)}
							onClick={(event) => {
								if (event.shiftKey)
									return markTo(at);
								if (event.ctrlKey || event.metaKey)
									return mark(row);
								setFocusKey(row.key);
								setMarks(new Set());
								void showRow(columns, row.at).catch(act.sayProblem);
							}} />
					);
				}} />
			<footer class="pane-foot">
				<p class="quiet">
					{marked.length ? `${marked.length.toLocaleString()} marked` : count(rows.length, "entry", "entries")}
					{" · "}{count(takesOf(columns).length, "take")}
					<span class="keys-hint"> · Enter continues from there, Space selects</span>
				</p>
				{rows.length > 0 && <Verbs columns={columns} rows={chosen} onDone={() => setMarks((now) => without(now, marks))} />}
			</footer>
		</section>
	);
}

addPane({ id: "outline", title: "Outline", place: "side", view: Outline, order: 10 });
