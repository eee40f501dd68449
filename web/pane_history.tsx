// SPDX-License-Identifier: MIT
//
// History: every step of the discussion, newest first, as a tree: what was undone and left by
// another way is still there. Selecting a step shows the state right after it without going there.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get, path } from "./api";
import { textOf } from "./entry_acts";
import { lanesOf } from "./pane_lanes";
import { count, oneLine, useLoaded, when, whenFull, withoutSigns } from "./pane_data";
import { Rows } from "./pane_rows";
import { addPane } from "./panes";
import { state, useStore } from "./state";
import { discPath, discussionOf, placeOf, takeOf } from "./store";
import type { LaneRow } from "./pane_lanes";
import type { Entry, EntryWindow, Step, StepEffects, Take } from "./types";

const ROW_PX = 44, PAGE = 200, LANE_PX = 12, MOST_LANES = 6, PAST_ROW_PX = 44, PAST_PAGE = 500;

interface Page {
	steps: Step[];
	next: number | null;
	seq: number;
}

function readPage(before?: number | null, limit = PAGE): Promise<Page> {
	return get<Page>(discPath("history"), { before, limit });
}

/** As many steps as people have scrolled to, read again when something happens. */
function useSteps() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const [more, setMore] = useState<{ disc: string | null; steps: Step[]; next: number | null }>({ disc, steps: [], next: null });
	const busy = useRef(false);
	const wanted = Math.min(Math.max(PAGE, more.disc === disc ? more.steps.length : 0), 1000);
	const first = useLoaded(() => readPage(null, wanted), [disc, version], 80);
	useEffect(() => {
		if (first.data)
			setMore((old) => {
				// what lies further back than the steps that were read: its marks may have changed, its order has not
				const low = first.data!.steps[first.data!.steps.length - 1]?.seq ?? 0;
				const rest = old.disc === disc && first.data!.next ? old.steps.filter((step) => step.seq < low) : [];
				return { disc, steps: [...first.data!.steps, ...rest], next: rest.length ? old.next : first.data!.next };
			});
	}, [first.data]);
	const readMore = () => {
		if (busy.current || more.next === null || more.disc !== disc)
			return;
		busy.current = true;
		readPage(more.next).then((page) => setMore((old) => ({ disc, steps: [...old.steps, ...page.steps], next: page.next })))
			.catch(act.sayProblem).finally(() => { busy.current = false; });
	};
	return { steps: more.disc === disc ? more.steps : [], hasMore: more.next !== null, readMore, problem: first.problem, isLoading: first.isLoading };
}

function Lanes(props: { row: LaneRow; count: number }) {
	const { row } = props;
	const x = (lane: number) => Math.min(lane, MOST_LANES) * LANE_PX + 8;
	const mine = x(row.lane), middle = ROW_PX / 2;
	return (
		<svg class="lanes" width={Math.min(props.count, MOST_LANES + 1) * LANE_PX + 6} height={ROW_PX} aria-hidden="true">
			{row.from.map((lane) => <path d={`M${x(lane)} 0V${ROW_PX}`} />)}
			{row.joins.map((lane) => <path d={`M${x(lane)} 0C${x(lane)} ${middle} ${mine} 4 ${mine} ${middle}`} />)}
			{row.comes && <path d={`M${mine} 0V${middle}`} />}
			{row.goesOn && <path d={`M${mine} ${middle}V${ROW_PX}`} />}
			<circle cx={mine} cy={middle} r={row.step.current ? 5 : 3.5} class={row.step.current ? "current" : row.isOn || !row.step.undone ? "on" : ""} />
		</svg>
	);
}

/** A step in words, with the first ones of the entry that it is about. */
function What(props: { step: Step }) {
	const { step } = props, about = oneLine(withoutSigns(step.about ?? ""), 60);
	return <>{step.did ?? step.what}{about && <span class="about"> “{about}”</span>}</>;
}

function by(step: Step): string {
	return step.by === "http:web" ? "web page" : step.by.replace(/^http:/, "");
}

/** An entry's side of a step. */
type Side = Pick<Entry, "id" | "role" | "content">;

/** What there was after a step, and what the step did to it. */
interface PastState extends EntryWindow {
	takeId: string | null;
	/** Entries that it brought in, and those that it changed. */
	added: Set<string>;
	changed: Set<string>;
	gone: Side[];
}

/** The take that the step changed, as it was then; else the open one, and when that was not there yet, the one that was active. */
async function readPast(step: Step): Promise<PastState> {
	const disc = state.disc!, query = { at_op: step.seq };
	const wanted = step.take?.id ?? state.take;
	const [takes, did] = await Promise.all([
		get<Take[]>(path("discussions", disc, "takes"), query),
		get<StepEffects>(path("history", step.seq)),
	]);
	const take = takes.some((each) => each.id === wanted) ? wanted : null;
	const past = await get<EntryWindow>(path("discussions", disc, "entries"), { ...query, take, count: PAST_PAGE });
	const added = new Set<string>(), gone = new Map<string, Side>(), changed = new Set<string>();
	for (const effect of did.effects) {
		if (effect.effect !== "splice" || effect.discussion !== disc || effect.take !== take)
			continue;
		for (const side of effect.before as Side[])
			gone.set(side.id, side);
		for (const side of effect.after as Side[])
			added.add(side.id);
	}
	for (const id of gone.keys())
		if (added.delete(id))
			changed.add(id);
	changed.forEach((id) => gone.delete(id));
	return { ...past, takeId: take, added, changed, gone: [...gone.values()] };
}

/** What an entry looks like in a line. */
function lineOf(entry: Side): string {
	return oneLine(withoutSigns(textOf(entry.content).slice(0, 500))) || "empty";
}

function Who(props: { role: string }) {
	return <span class={"who" + (props.role.toLowerCase() === "user" ? " user" : "")}>{props.role}</span>;
}

const MOST_GONE = 3;

/** What the step took out. */
function Gone(props: { entries: Side[] }) {
	const { entries } = props;
	if (entries.length === 0)
		return null;
	return (
		<ul class="past-gone" aria-label="Taken out by this step">
			{entries.slice(0, MOST_GONE).map((entry) => <li key={entry.id}><Who role={entry.role} /> <span class="chip">taken out</span> <del>{lineOf(entry)}</del></li>)}
			{entries.length > MOST_GONE && <li class="quiet">and {count(entries.length - MOST_GONE, "more entry", "more entries")}</li>}
		</ul>
	);
}

function Past(props: { step: Step; onClose: () => void }) {
	const { step } = props;
	useStore((from) => from.version);
	const outline = useStore((from) => from.outline);
	const [focus, setFocus] = useState(0);
	const { data, problem } = useLoaded(() => readPast(step), [step.seq, state.take]);
	const entries = data?.entries ?? [];
	const takeName = step.take?.name ?? takeOf(state.take)?.name;
	useEffect(() => {
		if (data)
			setFocus(Math.max(0, data.entries.findIndex((entry) => data.added.has(entry.id) || data.changed.has(entry.id))));
	}, [data]);
	return (
		<section class="past" aria-label={`State after step ${step.seq}`}>
			<header class="pane-bar">
				<h2>After step {step.seq}</h2>
				<span class="quiet">{data && `${data.take}, ${count(data.count, "entry", "entries")}`}</span>
				<span class="space" />
				<button type="button" class="icon" aria-label="Close the preview" onClick={props.onClose}>×</button>
			</header>
			{problem && <p class="pane-note">{discussionOf(state.disc)?.name ?? "The discussion"} was not there yet, or that state is gone: {problem}</p>}
			{data && entries.length === 0 && <p class="quiet pane-note">Empty, then.</p>}
			{data && takeName !== data.take && <p class="quiet pane-note">The take "{takeName}" was not there yet; this is "{data.take}".</p>}
			{data && <Gone entries={data.gone} />}
			{entries.length > 0 && (
				<Rows role="list" label="Entries of that state" count={entries.length} height={PAST_ROW_PX} idPrefix="past" focus={focus} onFocus={setFocus}
					row={(at, place) => {
						const entry = entries[at];
						const isGone = data!.takeId === state.take && (!outline || placeOf(outline, entry.id) < 0);
						const mark = data!.added.has(entry.id) ? "new" : data!.changed.has(entry.id) ? "changed" : "";
						return (
							<div {...place} role="listitem" key={entry.id} class={"pane-row past-row" + (mark && " marked")} data-entry={entry.id} aria-setsize={data!.count} aria-posinset={at + 1}>
								<span class="row-head"><Who role={entry.role} />
									{mark && <span class="chip accent">{mark}</span>}{isGone && <span class="chip">not here now</span>}</span>
								<span class="words">{lineOf(entry)}</span>
							</div>
						);
					}} />
			)}
			{data && data.next !== null && <p class="quiet pane-note">The first {PAST_PAGE} of them.</p>}
			<footer class="verbs">
				<button type="button" class="primary" disabled={step.current} onClick={() => void act.jump(step.seq)}>Jump here</button>
				<button type="button" disabled={step.undone} title={step.undone ? "It is undone already" : "A new step takes back what this one did, and nothing else"}
					onClick={() => void act.revert(step.seq)}>Revert only this</button>
			</footer>
		</section>
	);
}

function History() {
	const { steps, hasMore, readMore, problem, isLoading } = useSteps();
	const [chosen, setChosen] = useState<number | null>(null), [focusSeq, setFocusSeq] = useState<number | null>(null);
	const rows = useMemo(() => lanesOf(steps), [steps]);
	const lanes = useMemo(() => rows.reduce((most, row) => Math.max(most, row.lane + 1), 1), [rows]);
	const currentRow = Math.max(0, steps.findIndex((step) => step.current));
	const found = steps.findIndex((step) => step.seq === focusSeq);
	const focus = found >= 0 ? found : currentRow;
	const step = steps.find((each) => each.seq === chosen);
	const choose = (at: number) => {
		setFocusSeq(steps[at].seq);
		setChosen(steps[at].seq);
	};
	const undone = steps.filter((each) => each.undone).length;
	if (steps.length === 0)
		return <div class="pane-empty">{problem ? <p role="alert">{problem}</p> : <p class="quiet">{isLoading ? "Reading …" : "Nothing has happened yet."}</p>}</div>;
	return (
		<section class="pane-body history" aria-label="History">
			<Rows role="listbox" label="Steps, newest first" count={rows.length} height={ROW_PX} idPrefix="history" focus={focus}
				onFocus={(at) => { setFocusSeq(steps[at].seq); if (chosen !== null) setChosen(steps[at].seq); }}
				onEnd={readMore}
				onKey={(event, at) => {
					if (event.key === "Enter" || event.key === " ")
						choose(at);
					else if (event.key === "Escape" && chosen !== null)
						setChosen(null);
					else
						return false;
					return true;
				}}
				row={(at, place) => {
					const row = rows[at], each = row.step;
					return (
						<div {...place} role="option" key={each.seq} aria-selected={each.seq === chosen} aria-current={each.current || undefined}
							aria-setsize={hasMore ? -1 : rows.length} aria-posinset={at + 1} data-step={each.seq}
							class={"pane-row step" + (each.current ? " current" : "") + (each.undone ? " off" : "") + (each.seq === chosen ? " chosen" : "")}
							onClick={() => choose(at)}>
							<Lanes row={row} count={lanes} />
							<span class="step-text">
								<span class="step-what"><span class="words" title={each.what}><What step={each} /></span>{each.current && <span class="here">← now</span>}</span>
								<span class="quiet small">
									<span class="number">{each.seq}</span> · {by(each)} · <time dateTime={each.at} title={whenFull(each.at)}>{when(each.at)}</time>
									{each.take && ` · take ${each.take.name}`}{each.scope === "project" && " · project"}{each.undone && " · undone"}
								</span>
							</span>
						</div>
					);
				}} />
			{step ? <Past step={step} onClose={() => setChosen(null)} /> : (
				<footer class="pane-foot"><p class="quiet">
					{count(steps.length, "step")}{hasMore && " and more"}{undone > 0 && ` · ${undone} undone`}
					<span class="keys-hint"> · Enter shows the state after a step</span>
				</p></footer>
			)}
		</section>
	);
}

addPane({ id: "history", title: "History", place: "side", view: History, order: 20 });
