// SPDX-License-Identifier: MIT
//
// History: every step of the discussion, newest first, as a tree that includes undone branches.
// Selecting a step previews the state after it without changing the current one.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get, path } from "./api";
import { textOf } from "./entry_acts";
import { placeOf } from "./outline";
import { lanesOf } from "./pane_lanes";
import { useLoaded } from "./pane_data";
import { Rows } from "./pane_rows";
import { addPane } from "./panes";
import { state, useStore } from "./state";
import { discPath, discussionOf, takeNamed, takeOf, withTitles } from "./store";
import { isDraft, isSwitch } from "./undo";
import { Difference } from "./versions";
import { beginning, count, oneLine, titleOf, when, whenFull, withoutSigns } from "./words";
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

/** The steps down to the scroll position, reloaded after each change. */
function useSteps() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const [more, setMore] = useState<{ disc: string | null; steps: Step[]; next: number | null }>({ disc, steps: [], next: null });
	const busy = useRef(false);
	const wanted = Math.min(Math.max(PAGE, more.disc === disc ? more.steps.length : 0), 1000);
	const first = useLoaded(() => disc === null ? Promise.resolve<Page>({ steps: [], next: null, seq: 0 }) : readPage(null, wanted), [disc, version], 80);
	useEffect(() => {
		if (first.data)
			setMore((old) => {
				// for steps older than these: their flags may have changed, but not their order
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
			{row.continuesAbove && <path d={`M${mine} 0V${middle}`} />}
			{row.continuesBelow && <path d={`M${mine} ${middle}V${ROW_PX}`} />}
			<circle cx={mine} cy={middle} r={row.step.current ? 5 : 3.5} class={row.step.current ? "current" : row.isOnPath || !row.step.undone ? "on" : ""} />
		</svg>
	);
}

/** A step in words, with the first words of the entry concerned. */
function StepText(props: { step: Step }) {
	const { step } = props, about = oneLine(beginning(step.about ?? "", ""), 60);
	return <>{isDraft(step) ? "saved a draft" : withTitles(step.did ?? step.what)}{about && <span class="about"> “{about}”</span>}</>;
}

/** The same without a limit. */
function stepTitle(step: Step): string {
	const about = oneLine(beginning(step.about ?? "", ""), 400);
	return withTitles(step.did ?? step.what) + (about && ` “${about}”`);
}

/** The author, unless it was a page like this one. */
function by(step: Step): string {
	return /^(http:)?web$/.test(step.by) ? "" : step.by.replace(/^http:/, "");
}

/** Time, take and author, in order of importance: the line is truncated at the end. */
function Circumstances(props: { step: Step }) {
	const { step } = props;
	const more = [step.take && `take ${takeNamed(step.take.name)}`, step.scope === "project" && "project", by(step)].filter(Boolean);
	return (
		<span class="quiet small circumstances">
			<span class="number">{step.seq}</span> · {step.undone && "undone · "}<time dateTime={step.at} title={whenFull(step.at)}>{when(step.at)}</time>
			{more.map((each) => ` · ${each}`)}
		</span>
	);
}

/** One side (before or after) of a changed entry. */
type Side = Pick<Entry, "id" | "role" | "content">;

/** The state after a step, and what the step changed. */
interface PastState extends EntryWindow {
	takeId: string | null;
	/** Added and changed entries. */
	added: Set<string>;
	/** Each with its previous version. */
	changed: Map<string, Side>;
	gone: Side[];
}

/** Reads the take that the step changed as it was then; otherwise the open one, or if it did not exist yet, the
 * one active then. */
async function readPast(step: Step): Promise<PastState> {
	const disc = state.disc!, query = { at_op: step.seq };
	const wanted = step.take?.id ?? state.take;
	const [takes, did] = await Promise.all([
		get<Take[]>(path("discussions", disc, "takes"), query),
		get<StepEffects>(path("history", step.seq)),
	]);
	const take = takes.some((each) => each.id === wanted) ? wanted : null;
	const past = await get<EntryWindow>(path("discussions", disc, "entries"), { ...query, take, count: PAST_PAGE });
	const added = new Set<string>(), gone = new Map<string, Side>(), changed = new Map<string, Side>();
	for (const effect of did.effects) {
		if (effect.effect !== "splice" || effect.discussion !== disc || effect.take !== take)
			continue;
		for (const side of effect.before as Side[])
			gone.set(side.id, side);
		for (const side of effect.after as Side[])
			added.add(side.id);
	}
	for (const [id, side] of gone)
		if (added.delete(id))
			changed.set(id, side);
	changed.forEach((_, id) => gone.delete(id));
	return { ...past, takeId: take, added, changed, gone: [...gone.values()] };
}

/** An entry in one line. */
function lineOf(entry: Side): string {
	return oneLine(withoutSigns(textOf(entry.content).slice(0, 500))) || "empty";
}

function Who(props: { role: string }) {
	return <span class={"who" + (props.role.toLowerCase() === "user" ? " user" : "")}>{props.role}</span>;
}

const MOST_GONE = 3;

/** Entries that the step removed. */
function RemovedEntries(props: { entries: Side[] }) {
	const { entries } = props;
	if (entries.length === 0)
		return null;
	return (
		<ul class="past-gone" aria-label="Removed by this step">
			{entries.slice(0, MOST_GONE).map((entry) => <li key={entry.id}><Who role={entry.role} /> <span class="chip">removed</span> <del>{lineOf(entry)}</del></li>)}
			{entries.length > MOST_GONE && <li class="quiet">and {count(entries.length - MOST_GONE, "more entry", "more entries")}</li>}
		</ul>
	);
}

/** One entry as it was then, with the step's changes marked. */
function FullEntry(props: { entry: Side; before: Side | undefined; onClose: () => void }) {
	const { entry, before } = props, text = textOf(entry.content);
	const back = useRef<HTMLButtonElement>(null);
	useLayoutEffect(() => back.current?.focus(), []);
	return (
		<section class="past past-whole" aria-label="The whole text at that time" onKeyDown={(event) => {
			if (event.key !== "Escape")
				return;
			event.stopPropagation();
			props.onClose();
		}}>
			<header class="pane-bar">
				<h2 class="words"><Who role={entry.role} />{before && " with the changes of the step"}</h2>
				<span class="space" />
				<button type="button" ref={back} onClick={props.onClose}>Back</button>
			</header>
			<div class="past-text" tabIndex={0} role="group" aria-label="Text">
				{before && textOf(before.content) !== text ? <Difference before={textOf(before.content)} after={text} /> : <div class="plain">{text || "empty"}</div>}
			</div>
		</section>
	);
}

function Past(props: { step: Step; onClose: () => void }) {
	const { step } = props;
	useStore((from) => from.version);
	const outline = useStore((from) => from.outline);
	const { data, problem } = useLoaded(() => readPast(step), [step.seq, state.take]);
	const entries = data?.entries ?? [];
	// the cursor in this state, and the entry that is shown in full
	const [gone, setGone] = useState<{ in: PastState | null; at: number; whole: string | null; isBack?: boolean }>({ in: null, at: 0, whole: null });
	const first = entries.findIndex((entry) => data!.added.has(entry.id) || data!.changed.has(entry.id));
	const focus = gone.in === data ? gone.at : Math.max(0, first), whole = gone.in === data ? gone.whole : null;
	const setFocus = (at: number) => setGone({ in: data, at, whole: null });
	const read = (at: number) => setGone({ in: data, at, whole: entries[at].id });
	useLayoutEffect(() => {
		if (gone.isBack)
			document.getElementById(`past-${gone.at}`)?.focus();
	}, [gone]);
	const wanted = takeNamed(step.take?.name ?? takeOf(state.take)?.name ?? "");
	const concerned = data && [...data.gone, ...data.changed.values()][0]?.id;
	const opened = entries.find((each) => each.id === whole);
	if (data && opened)
		return <FullEntry entry={opened} before={data.changed.get(opened.id)}
			onClose={() => setGone({ in: data, at: entries.indexOf(opened), whole: null, isBack: true })} />;
	return (
		<section class="past" aria-label={`State after step ${step.seq}`}>
			<header class="pane-bar">
				<h2 class="words">After step {step.seq} <span class="quiet small">{data && `${takeNamed(data.take)}, ${count(data.count, "entry", "entries")}`}</span></h2>
				<span class="space" />
				<button type="button" class="icon" aria-label="Close the preview" onClick={props.onClose}>×</button>
			</header>
			{!isDraft(step) && <p class="pane-note quiet small">{stepTitle(step)}</p>}
			{problem && <p class="pane-note">{titleOf(discussionOf(state.disc)) || "The discussion"} did not exist yet, or that state is no longer available: {problem}</p>}
			{data && entries.length === 0 && <p class="quiet pane-note">The take was empty.</p>}
			{data && data.takeId === null && <p class="quiet pane-note">The take “{wanted}” did not exist yet; this is “{takeNamed(data.take)}”.</p>}
			{data && <RemovedEntries entries={data.gone} />}
			{entries.length > 0 && (
				<Rows role="list" label="Entries of that state" count={entries.length} height={PAST_ROW_PX} idPrefix="past" focus={focus} onFocus={setFocus}
					onKey={(event, at) => {
						if (event.key !== "Enter" && event.key !== " ")
							return false;
						read(at);
						return true;
					}}
					row={(at, place) => {
						const entry = entries[at];
						const isGone = data!.takeId === state.take && (!outline || placeOf(outline, entry.id) < 0);
						const mark = data!.added.has(entry.id) ? "new" : data!.changed.has(entry.id) ? "changed" : "";
						return (
							<div {...place} role="listitem" key={entry.id} class={"pane-row past-row" + (mark && " marked")} data-entry={entry.id} aria-setsize={data!.count} aria-posinset={at + 1}
								title="Show the whole text" onClick={() => read(at)}>
								<span class="row-head"><Who role={entry.role} />
									{mark && <span class="chip accent">{mark}</span>}{isGone && <span class="chip">no longer in the take</span>}</span>
								<span class="words">{lineOf(entry)}</span>
							</div>
						);
					}} />
			)}
			{data && data.next !== null && <p class="quiet pane-note">The first {PAST_PAGE} of them.</p>}
			<footer class="verbs">
				<p class="quiet small" id="past-verbs">Jumping undoes the later steps; they stay in the history. Reverting keeps them.</p>
				<button type="button" disabled={step.current} aria-describedby="past-verbs" onClick={() => void act.jump(step.seq, { shown: data?.takeId ?? undefined })}>Jump here</button>
				<button type="button" disabled={step.undone} title={step.undone ? "Already undone" : "Reverts only this step, as a new step"} aria-describedby="past-verbs"
					onClick={() => void act.revert(step, concerned || undefined)}>Revert only this</button>
			</footer>
		</section>
	);
}

/** The project and the discussion each have a current step; only one is marked. If the discussion has later steps
 * it is the discussion's, otherwise the newer of the two. */
function withOneNow(all: Step[]): Step[] {
	const ours = all.find((each) => each.scope !== "project" && each.current);
	const newest = all.find((each) => each.scope !== "project"), first = all.find((each) => each.current);
	const now = ours && newest !== ours ? ours : first;
	return all.map((each) => (each.current && each !== now ? { ...each, current: false } : each));
}

/** Drafts belong to the step before them, and switches change nothing: both would only clutter the list. */
const isQuiet = (step: Step) => isDraft(step) || isSwitch(step);

/** The steps without quiet ones: their children are attached to the steps before them, and the current step is the
 * last remaining one. */
function withoutQuiet(marked: Step[]): Step[] {
	const all = withOneNow(marked);
	const quiet = new Map(all.filter(isQuiet).map((each) => [each.seq, each]));
	if (quiet.size === 0)
		return all;
	const before = (seq: number) => {
		for (let step = quiet.get(seq); step; step = quiet.get(seq))
			seq = step.parent;
		return seq;
	};
	const current = all.find((each) => each.current), now = current && before(current.seq);
	return all.filter((each) => !quiet.has(each.seq))
		.map((each) => ({ ...each, parent: before(each.parent), current: each.seq === now }));
}

function History() {
	const { steps: all, hasMore, readMore, problem, isLoading } = useSteps();
	const [withQuiet, setWithQuiet] = useState(false);
	const drafts = useMemo(() => all.filter(isDraft).length, [all]), switches = useMemo(() => all.filter(isSwitch).length, [all]);
	const steps = useMemo(() => (withQuiet ? withOneNow(all) : withoutQuiet(all)), [all, withQuiet]);
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
	if (all.length === 0)
		return <div class="pane-empty">{problem ? <p role="alert">{problem}</p> : <p class="quiet">{isLoading ? "Reading …" : "No steps yet."}</p>}</div>;
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
								<span class="step-what"><span class="words" title={stepTitle(each)}><StepText step={each} /></span>{each.current && <span class="here">← now</span>}</span>
								<Circumstances step={each} />
							</span>
						</div>
					);
				}} />
			{step ? <Past step={step} onClose={() => setChosen(null)} /> : (
				<footer class="pane-foot"><p class="quiet">
					{count(steps.length, "step")}{hasMore && " or more"}{undone > 0 && ` · ${undone} undone`}
					<span class="keys-hint"> · Enter shows the state after a step</span>
				</p>
				{drafts + switches > 0 && (
					<label class="check"><input type="checkbox" checked={withQuiet} onChange={(event) => setWithQuiet(event.currentTarget.checked)} />
						Show {[drafts > 0 && count(drafts, "saved draft"), switches > 0 && count(switches, "switch", "switches")].filter(Boolean).join(" and ")}</label>
				)}
				</footer>
			)}
		</section>
	);
}

addPane({ id: "history", title: "History", place: "side", view: History, order: 20 });
