// SPDX-License-Identifier: MIT
//
// The outline of an exported page: all entries of all takes as a tree, with filter and search.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Rails } from "./pane_rails";
import { intoRows, Rows } from "./pane_rows";
import { keysOf, pathTo, indexInIdleTime, rowOfKey, shownFor, treeRows } from "./pane_tree";
import { DIFFERS, EDITED, MUTED } from "./types";
import { beginning, oneLine } from "./words";
import type { PageTree } from "./export_data";
import type { RowPlace } from "./pane_rows";
import type { Filter, TreeRow } from "./pane_tree";

/** Kinds whose previews begin with a title. */
const TITLED = /^(compaction|custom_message)$/;
const ROW_PX = 28, MOST_TIPS = 2, PREVIEW = 80;

const FILTERS: [Filter, string][] = [
	["default", "Default"], ["no-tools", "No tools"], ["user", "User only"], ["labelled", "Labelled only"], ["all", "All"],
];

interface Props {
	tree: PageTree;
	/** Rows of the tree; -1: none. */
	head: number;
	at: number;
	/** words: the search terms. */
	onGo: (row: number, words: string[]) => void;
}

/** A text with the search terms highlighted. */
function Marked(props: { text: string; words: string[] }) {
	if (props.words.length === 0)
		return <>{props.text}</>;
	const wanted = props.words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
	return <>{props.text.split(new RegExp(`(${wanted})`, "i")).map((piece, at) => (at % 2 ? <mark>{piece}</mark> : piece))}</>;
}

export function Tree(props: Props) {
	const { columns } = props.tree;
	const [filter, setFilter] = useState<Filter>("default"), [search, setSearch] = useState("");
	const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
	const [focusKey, setFocusKey] = useState<string | null>(null);
	const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
	const keys = useMemo(() => keysOf(columns), [columns]);
	useEffect(() => indexInIdleTime(columns), [columns]);
	const rows = useMemo(() => treeRows(columns, keys, filter, search, search ? new Set() : folded, null),
		[columns, keys, filter, search, folded]);
	const on = useMemo(() => pathTo(columns, props.at), [columns, props.at]);
	const tips = useMemo(() => {
		const names = new Map<number, string[]>();
		for (const take of columns.takes)
			if (columns.tips[take.id] !== undefined)
				names.get(columns.tips[take.id])?.push(take.name) ?? names.set(columns.tips[take.id], [take.name]);
		return names;
	}, [columns]);
	const headShown = useMemo(() => shownFor(columns, rows, props.head, search), [columns, rows, props.head, search]);
	const atShown = useMemo(() => shownFor(columns, rows, props.at, search), [columns, rows, props.at, search]);
	const focus = useMemo(() => Math.max(0, rowOfKey(rows, focusKey ?? keys[atShown])), [rows, focusKey, atShown]);

	const fold = (row: TreeRow, isFolded: boolean) => {
		const next = new Set(folded);
		if (isFolded)
			next.add(row.key);
		else
			next.delete(row.key);
		setFolded(next);
	};
	const go = (row: TreeRow) => {
		setFocusKey(row.key);
		props.onGo(row.at, wanted);
	};
	const onKey = (event: KeyboardEvent, at: number): boolean => {
		const row = rows[at];
		if (event.key === "Enter" || event.key === " ")
			go(row);
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
	const draw = (at: number, place: RowPlace) => {
		const row = rows[at], flags = columns.flags[row.at], label = columns.labels[row.at];
		const role = columns.roles[columns.role[row.at]], kind = columns.kinds[columns.kind[row.at]];
		const words = beginning(oneLine(columns.preview?.[row.at] ?? "", PREVIEW), role), ends = tips.get(row.at) ?? [];
		return (
			<div {...place} key={row.key} role="treeitem" aria-level={row.level} aria-setsize={row.family.size} aria-posinset={row.place}
				aria-expanded={row.canFold ? !row.isFolded : undefined} aria-selected={row.at === atShown} onClick={() => go(row)}
				class={"pane-row tree-row" + (row.canFold ? "" : " leaf") + (on[row.at] ? "" : " off") + (row.at === headShown ? " head" : "") + (row.at === atShown ? " marked" : "")}>
				<Rails row={row} />
				{row.canFold && <span class="twist" aria-hidden="true" onClick={(event) => { event.stopPropagation(); fold(row, !row.isFolded); }}>
					{row.isFolded ? "▸" : "▾"}
				</span>}
				<span class={"who" + (role.toLowerCase() === "user" ? " user" : "")}>{kind === "message" ? role : words.startsWith("[") && TITLED.test(kind) ? "" : kind}</span>
				{label !== undefined && <span class="chip">{label}</span>}
				<span class={"words" + (flags & MUTED ? " muted" : "")}><Marked text={words || "empty"} words={wanted} /></span>
				{flags & EDITED ? <span class="chip edited" title="This text was changed after it was written">edited</span> : null}
				{flags & DIFFERS ? <span class="chip" title="Its text differs between takes">differs</span> : null}
				{ends.slice(0, MOST_TIPS).map((name) => <span class="tip" dir="auto" title={`End of the take “${name}”`}>{name}</span>)}
				{ends.length > MOST_TIPS && <span class="tip">+{ends.length - MOST_TIPS}</span>}
				{row.at === headShown && <span class="here">← end</span>}
			</div>
		);
	};
	return (
		<section class="pane-body outline" aria-label="Outline">
			<div class="pane-bar">
				<input type="search" class="line" placeholder="Search all entries" aria-label="Search: entries with all of these words" value={search}
					onInput={(event) => setSearch(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (intoRows(event, "outline") && event.key === "Enter" && rows.length > 0)
							go(rows[focus]);
					}} />
				<select aria-label="Filter entries" value={filter} onChange={(event) => setFilter(event.currentTarget.value as Filter)}>
					{FILTERS.map(([value, text]) => <option value={value}>{text}</option>)}
				</select>
			</div>
			{rows.length === 0 ? <p class="quiet pane-note grow">{columns.count ? "No matches." : "There are no entries yet."}</p> : (
				<Rows role="tree" label="Entries of all takes" count={rows.length} height={ROW_PX} idPrefix="outline"
					focus={focus} onFocus={(at) => setFocusKey(rows[at].key)} onKey={onKey} row={draw} />
			)}
			<div class="pane-foot quiet" role="status">
				{rows.length.toLocaleString()} of {columns.count.toLocaleString()} {columns.count === 1 ? "entry" : "entries"}
			</div>
		</section>
	);
}
