// SPDX-License-Identifier: MIT
//
// Compare: two takes side by side from where they diverge. Common entries are paired, with
// differences marked or formatted; any other entry can be copied to the other take.
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import * as act from "./actions";
import { get, post } from "./api";
import { Content } from "./content";
import { Dialog } from "./dialog";
import { textOf } from "./entry_acts";
import { NoticeLine } from "./notice_line";
import { alignTakes } from "./pane_align";
import { useLoaded } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { may } from "./rights";
import { set, state, useStore } from "./state";
import { discPath, takeOf } from "./store";
import { Difference } from "./versions";
import { namesOf } from "./tabs";
import { count, firstWords, oneLine, takeTitle, withoutSigns } from "./words";
import type { Pair, TakesDiff } from "./pane_align";
import type { Entry } from "./types";

/** The take to compare the open one with; null: the first other one. */
let wanted: string | null = null;

/** A message about these takes, shown after the comparison has opened. */
let remark: (() => void) | null = null;

export function compareWith(take: string | null, say: (() => void) | null = null): void {
	wanted = take;
	remark = say;
	openOverlay("compare");
}

const PAGE = 200, MOST_LISTED = 60, MAX_FORMATTED = 1000;

/** Remembered until the page is closed. */
let wasFormatted = false;

/** Entries of a take with rendered blocks, by id. */
async function readFormatted(take: string, side: (Entry | null)[]): Promise<Map<string, Entry>> {
	const ids = side.flatMap((each) => each?.id ?? []).slice(0, MAX_FORMATTED);
	const { entries } = await post<{ entries: Entry[] }>(discPath("entries", "read"), { ids }, { query: { take, blocks: 1 } });
	return new Map(entries.map((each) => [each.id, each]));
}

interface SideProps {
	entry: Entry | null;
	/** The paired entry. */
	other: Entry | null;
	/** The entry with rendered blocks, if it is shown formatted. */
	formatted?: Entry;
	/** Both are versions of the same entry. */
	isLike: boolean;
	isLeft: boolean;
	/** The entry's take, and the one to which it can be copied. */
	name: string;
	into: string;
	onGraft: () => void;
}

function Side(props: SideProps) {
	const { entry, other, isLeft } = props;
	if (!entry)
		return <div class="side-entry none" />;
	const text = textOf(entry.content), othersText = other ? textOf(other.content) : "";
	// without Markdown syntax, unless only the syntax differs
	const isSigns = text !== othersText && withoutSigns(text) === withoutSigns(othersText);
	const read = (of: string) => (isSigns ? of : withoutSigns(of));
	return (
		<article class="side-entry" aria-label={`${entry.role} ${entry.id}`} data-entry={entry.id}>
			<header>
				<span class={"who" + (entry.role.toLowerCase() === "user" ? " user" : "")}>{entry.role}</span>
				{typeof entry.model === "string" && <span class="quiet small words">{entry.model}</span>}
				{entry.muted && <span class="chip">muted</span>}
				<span class="side-name quiet small">{props.name}</span>
				<span class="space" />
				{other?.id !== entry.id && (
					<button type="button" title={`Into ${props.into}`} onClick={props.onGraft}>
						{!isLeft && <span aria-hidden="true">← </span>}Copy over{isLeft && <span aria-hidden="true"> →</span>}
					</button>
				)}
			</header>
			{props.formatted ? <div class="entry-body"><Content entry={props.formatted} isSource={false} /></div> : other && props.isLike && othersText !== text
				? <div class={isLeft ? "shows-out" : "shows-in"}><Difference before={read(isLeft ? text : othersText)} after={read(isLeft ? othersText : text)} /></div>
				: <div class="plain">{read(text)}</div>}
		</article>
	);
}

function Compare() {
	const takes = useStore((from) => from.takes), version = useStore((from) => from.version);
	const [a, setA] = useState(state.take ?? ""), [b, setB] = useState(wanted ?? takes.find((take) => take.id !== state.take)?.id ?? "");
	useLayoutEffect(() => {
		wanted = null;
		set({ toast: null }); // earlier messages are not about the comparison
		remark?.();
		remark = null;
	}, []);
	const [shown, setShown] = useState(PAGE);
	const { data, problem } = useLoaded(() => get<TakesDiff>(discPath("takes", a, "diff", b)), [a, b, version], 60);
	const pairs = useMemo(() => (data ? alignTakes(data) : []), [data]);
	const [isAllFormatted, setIsLaid] = useState(wasFormatted);
	useLayoutEffect(() => { wasFormatted = isAllFormatted; }, [isAllFormatted]);
	// an entry without marked differences is formatted
	const isFormatted = (pair: Pair) => isAllFormatted || !pair.isLike;
	const formatted = useLoaded(async () => (pairs.slice(0, shown).some(isFormatted) ? Promise.all([
		readFormatted(a, pairs.slice(0, shown).map((pair) => pair.a)), readFormatted(b, pairs.slice(0, shown).map((pair) => pair.b))]) : null), [isAllFormatted, pairs, shown]);
	const formattedOf = (side: 0 | 1, pair: Pair, entry: Entry | null) => (entry && isFormatted(pair) ? formatted.data?.[side].get(entry.id) : undefined);
	const nameOf = (id: string) => takeOf(id)?.name ?? id;
	// both have the common entries, so those of the open take can be shown
	const isOpen = a === state.take || b === state.take, before = state.bodies.get((isOpen && data && state.outline?.id[data.common - 1]) || "");
	const graft = (at: number, isLeft: boolean) => {
		const from = isLeft ? a : b, into = isLeft ? b : a;
		const entry = (isLeft ? pairs[at].a : pairs[at].b)!;
		// after the nearest entry above that the other take has
		let near = at - 1;
		while (near >= 0 && !(isLeft ? pairs[near].b : pairs[near].a))
			near--;
		const beside = pairs[at][isLeft ? "b" : "a"];
		const behind = beside ?? (near >= 0 ? (isLeft ? pairs[near].b : pairs[near].a) : null);
		const others = isLeft ? data!.b : data!.a, first = others[0];
		const place = behind ? { after: behind.id } : data!.common > 0 ? { after: `:${data!.common}` } : first ? { before: first.id } : {};
		const end = others[others.length - 1], isEnd = !end || end.id === behind?.id;
		const where = isEnd ? `the end of ${nameOf(into)}`
			: behind ? `${nameOf(into)}, after “${oneLine(textOf(behind.content), 40)}”` : `${nameOf(into)}, where they diverge`;
		void act.op("take.graft", { take: into, from, entries: [entry.id], ...place }, { say: `Copied to ${where}.` });
	};
	const picker = (label: string, value: string, other: string, choose: (id: string) => void) => (
		<div class="compare-head">
			<select aria-label={label} autoFocus={value === a} value={value} onChange={(event) => { choose(event.currentTarget.value); setShown(PAGE); }}>
				{takes.filter((take, at) => at < MOST_LISTED || take.id === value).map((take) => (
					<option value={take.id}>{takes.some((other) => other !== take && takeTitle(other) === takeTitle(take)) ? namesOf(take) : takeTitle(take)} ({take.entries.toLocaleString()})</option>
				))}
				{!takeOf(value) && <option value={value}>{nameOf(value)}</option>}
			</select>
			{may("edit") && value !== other && takeOf(value) && takeOf(other) && (
				<button type="button" aria-label={`Keep only this one: ${nameOf(value)}`} title="Continue with this take and delete the other one. Undo restores it."
					onClick={() => { openOverlay(null); void act.keepTake(value, other); }}>Keep only this one</button>
			)}
			{value !== state.take && value !== "" && (
				<button type="button" aria-label={`Open the take ${nameOf(value)}`} title="Close the comparison and continue with this take"
					onClick={() => { openOverlay(null); void act.switchTake(value); }}>Open the take</button>
			)}
		</div>
	);
	return (
		<Dialog title="Compare takes" class="wide compare" onClose={() => openOverlay(null)}>
			<div class="compare-heads">{picker("The take on the left", a, b, setA)}{picker("The take on the right", b, a, setB)}</div>
			{takes.length < 2 && <p class="quiet">There is only one take. Branch to create another.</p>}
			{problem && <p class="note problem" role="alert">{problem}</p>}
			{data && (
				<p class="quiet">
					{data.common > 0 ? `Both begin with the same ${data.common === 1 ? "entry" : count(data.common, "entry", "entries")}${before ? `, up to ${before.role}: “${firstWords(withoutSigns(textOf(before.content)), 80)}”` : ""}` : "They diverge at the beginning"}
					{data.changed.length > 0 && `, of which ${data.changed.length} ${data.changed.length === 1 ? "differs" : "differ"}`}.
					{pairs.length === 0 && " There are no other differences."}
				</p>
			)}
			{pairs.some((pair) => pair.isLike) && (
				<label class="check"><input type="checkbox" checked={isAllFormatted} onChange={(event) => setIsLaid(event.currentTarget.checked)} />
					Show rendered, without marking differences</label>
			)}
			{formatted.problem && <p class="note problem" role="alert">{formatted.problem}</p>}
			<div class="compare-rows">
				{pairs.slice(0, shown).map((pair, at) => (
					<div class="compare-row" key={`${pair.a?.id} ${pair.b?.id}`}>
						<Side entry={pair.a} other={pair.b} formatted={formattedOf(0, pair, pair.a)} isLike={pair.isLike} isLeft name={nameOf(a)} into={nameOf(b)} onGraft={() => graft(at, true)} />
						<Side entry={pair.b} other={pair.a} formatted={formattedOf(1, pair, pair.b)} isLike={pair.isLike} isLeft={false} name={nameOf(b)} into={nameOf(a)} onGraft={() => graft(at, false)} />
					</div>
				))}
			</div>
			<div class="compare-notice"><NoticeLine /></div>
			{pairs.length > shown && <button type="button" onClick={() => setShown(shown + PAGE)}>Show more ({(pairs.length - shown).toLocaleString()} left)</button>}
		</Dialog>
	);
}

addPane({ id: "compare", title: "Compare takes", place: "overlay", view: Compare });
