// SPDX-License-Identifier: MIT
//
// Palette: one search field for everything: actions by the beginnings of their words; discussions,
// takes and labels by fuzzy matching; and texts of all discussions by their words. Ctrl+K, or /.
// Destructive actions are listed separately and never preselected: Enter runs one only if the user
// moved to it.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { Dialog } from "./dialog";
import { showEntry, textOf } from "./entry_acts";
import { focusKept } from "./focus";
import { areOn, commands, shown } from "./keys";
import { markWords } from "./found";
import { beginnings, fuzzy } from "./pane_fuzzy";
import { placeOf } from "./outline";
import { useLoaded } from "./pane_data";
import { paneVerbs } from "./pane_verbs";
import { addPane, openOverlay } from "./panes";
import { mayRun } from "./rights";
import { set, state, useStore } from "./state";
import { roleLabel } from "./speaker";
import { discussionOf, findTake, takeNamed, takeOf } from "./store";
import { namesOf } from "./tabs";
import { beginning, titleOf, when } from "./words";
import type { Discussion } from "./types";

interface Hit {
	discussion: string;
	take: string;
	id: string;
	role: string;
	at: number;
	ts?: string;
	snippet: string;
	marks?: [number, number][];
}

interface Choice {
	key: string;
	group: string;
	text: string;
	/** Synonyms for searching. */
	words?: string;
	/** Positions that matched. */
	at?: number[];
	hit?: Hit;
	hint?: string;
	/** Never preselected. */
	isRisky?: boolean;
	run: () => void;
}

const MOST_PER_GROUP = 30, RECENT = 6, HITS = 50, PAUSE_MS = 150, MEANING_PAUSE_MS = 500, SURE = 3, RISKY = "Destructive commands";
/** Times that are added to the words of a search. */
const TIMES: [string, string][] = [["Today", "after:today"], ["Last week", 'after:"last week" before:"this week"'], ["Last month", 'after:"last month" before:"this month"']];
/** Offered first while nothing is typed. */
const USUAL = ["new", "import", "export", "compare", "ask-several", "templates", "stats"];
const TAKES_AWAY = /^(Delete|Clear|Truncate|Purge|Reset)\b/;

/** A text with some positions highlighted. */
function Marked(props: { text: string; at: number[] }) {
	const marks = new Set(props.at);
	const pieces: { text: string; isMark: boolean }[] = [];
	[...Array(props.text.length).keys()].forEach((i) => {
		const isMark = marks.has(i), last = pieces[pieces.length - 1];
		if (last?.isMark === isMark)
			last.text += props.text[i];
		else
			pieces.push({ text: props.text[i], isMark });
	});
	return <>{pieces.map((piece) => (piece.isMark ? <mark>{piece.text}</mark> : piece.text))}</>;
}

/** A snippet without Markdown syntax. Matches are given as character positions, or marked by \u0001 and \u0002. */
export function Snippet(props: { hit: Hit }) {
	const { snippet, marks, role } = props.hit;
	const letters = [...(marks ? snippet.replace(/[\u0001\u0002]/g, "") : snippet)];
	for (const [start, size] of [...marks ?? []].reverse())
		letters.splice(start, size, "\u0001", ...letters.slice(start, start + size), "\u0002");
	const pieces = beginning(letters.join(""), role).split(/\u0001([^\u0002]*)\u0002/);
	return <>{pieces.map((piece, at) => { const words = piece.replace(/[\u0001\u0002]/g, ""); return at % 2 ? <mark>{words}</mark> : words; })}</>;
}

/** Position in the open take, from 1; 0: not in it, or with another text. A hit names one take, but the entry may
 * be in several. */
function placeHere(hit: Hit): number {
	if (hit.discussion !== discussionOf(state.disc)?.name || !state.outline)
		return 0;
	const at = placeOf(state.outline, hit.id), body = state.bodies.get(hit.id);
	const isOther = hit.take !== takeOf(state.take)?.name && body !== undefined &&
		!wordsOf(hit).every((word) => textOf(body.content).toLowerCase().includes(word));
	return isOther || at < 0 ? 0 : at + 1 + state.outline.before;
}

function titleIn(hit: Hit): string {
	return titleOf(state.discussions.find((each) => each.name === hit.discussion)) || hit.discussion;
}

/** Role and place in the discussion; the discussion is the heading of the group. */
function placeWords(hit: Hit): string {
	const here = placeHere(hit), isHere = hit.discussion === discussionOf(state.disc)?.name;
	const role = roleLabel(hit.role, state.settings?.roles ?? []), take = isHere ? takeNamed(hit.take) : hit.take !== hit.discussion && hit.take;
	return [`${role}${role && ", "}entry ${here || hit.at}`, !here && take && `take ${take}`, hit.ts && when(hit.ts)].filter(Boolean).join(" · ");
}

/** The words that matched, without duplicates. */
function wordsOf(hit: Hit): string[] {
	const letters = [...hit.snippet.replace(/[\u0001\u0002]/g, "")];
	const found = hit.marks ? hit.marks.map(([start, size]) => letters.slice(start, start + size).join(""))
		: [...hit.snippet.matchAll(/\u0001([^\u0002]*)\u0002/g)].map((match) => match[1]);
	return [...new Set(found.map((word) => word.toLowerCase()))].filter(Boolean);
}

async function goToHit(hit: Hit): Promise<void> {
	const disc = state.discussions.find((each) => each.name === hit.discussion || each.id === hit.discussion) as Discussion | undefined;
	if (!disc)
		return act.sayProblem(new Error(`The discussion “${hit.discussion}” no longer exists.`));
	const isKept = focusKept(), take = !hit.take || placeHere(hit) ? state.take : (await findTake(hit.take, disc.id))?.id;
	await act.show(disc.id, take ?? undefined, hit.id);
	set({ focus: hit.id, anchor: null, drawer: null });
	if (!hit.take)
		return act.say("That entry was deleted; the step is in the history.", false);
	setTimeout(() => {
		showEntry(hit.id, isKept());
		markWords(`.entries [data-entry="${CSS.escape(hit.id)}"]`, wordsOf(hit));
	}, 60);
}

function verbs(): Omit<Choice, "at">[] {
	const focus = state.focus;
	const single = commands.filter((command) => mayRun(command.id) && command.id !== "palette" && command.id !== "leave" && (!command.needsEntry || focus))
		.map((command) => ({
			key: `c ${command.id}`, group: "Do", text: command.title, hint: areOn() || command.keys[0].startsWith("Ctrl") ? shown(command.keys[0]) : undefined,
			run: () => command.run(),
		}));
	return [...single, ...paneVerbs().map((verb) => ({ key: `v ${verb.id}`, group: "Do", text: verb.text, words: verb.words, run: verb.run }))];
}

/** The most recently changed discussions except the open one. */
function recent(): Omit<Choice, "at">[] {
	const updated = new Map(state.discussions.map((each) => [`d ${each.id}`, each.updated ?? ""]));
	return places().filter((each) => updated.has(each.key) && each.key !== `d ${state.disc}`)
		.sort((a, b) => updated.get(b.key)!.localeCompare(updated.get(a.key)!));
}

function places(): Omit<Choice, "at">[] {
	return [
		...state.discussions.map((each) => ({
			key: `d ${each.id}`, group: "Discussions", text: titleOf(each), hint: each.entries.toLocaleString(),
			run: () => void act.switchDiscussion(each.id),
		})),
		...state.takes.filter((each) => state.takes.length > 1 && each.id !== state.take).map((each) => ({
			key: `t ${each.id}`, group: "Takes", text: namesOf(each), hint: each.entries.toLocaleString(),
			run: () => void act.switchTake(each.id),
		})),
	];
}

function labels(): Omit<Choice, "at">[] {
	const outline = state.outline;
	return [...outline?.labels ?? []].map(([id, name]) => ({
		key: `l ${id}`, group: "Labels", text: name, hint: `label of entry ${placeOf(outline!, id) + 1 + outline!.before}`,
		run: () => {
			set({ focus: id, anchor: null, drawer: null });
			showEntry(id);
		},
	}));
}

/** The rank of a command while nothing is typed. */
function usual(key: string): number {
	const at = USUAL.indexOf(key.slice(2));
	return key.startsWith("v ") && at >= 0 ? USUAL.length - at : 0;
}

/** Best first; limited per group. */
function sorted(all: (Choice & { score: number })[], most: number): Choice[] {
	const groups = new Map<string, (Choice & { score: number })[]>();
	for (const choice of all)
		groups.set(choice.group, [...(groups.get(choice.group) ?? []), choice]);
	return [...groups.values()].flatMap((group) => group.sort((a, b) => b.score - a.score).slice(0, most));
}

/** Certain matches, names, texts, and then possible matches. */
function found(query: string, hits: Hit[]): Choice[] {
	const words = query.trim(), most = words ? MOST_PER_GROUP : 100;
	const sure: (Choice & { score: number })[] = [], maybe: typeof sure = [], risky: typeof sure = [], named: typeof sure = [], like: typeof sure = [];
	let isRiskySure = false;
	for (const choice of verbs()) {
		const other = choice.words && words ? beginnings(query, `${choice.words} ${choice.text}`) : null;
		const match = beginnings(query, choice.text) ?? (other && { ...other, at: [], isWhole: false }), isRisky = TAKES_AWAY.test(choice.text);
		const isSure = match?.isWhole && (!isRisky || words.length >= SURE || !words);
		if (match)
			(isRisky ? risky : isSure ? sure : maybe).push({ ...choice, ...(isRisky ? { group: RISKY } : {}), at: match.at, score: words ? match.score : usual(choice.key), isRisky });
		isRiskySure ||= isRisky && !!isSure;
	}
	for (const choice of words ? [...places(), ...labels()] : recent()) {
		const match = fuzzy(query, choice.text);
		if (match)
			(match.isWhole || !words ? named : like).push({ ...choice, at: match.at, score: match.score });
	}
	return [
		...(words ? [] : sorted(named, RECENT)), ...sorted(sure, most), ...(words ? sorted(named, most) : []), ...sorted(isRiskySure ? risky : [], most),
		...hits.filter((hit, at) => hits.findIndex((each) => each.id === hit.id && each.discussion === hit.discussion) === at).map((hit): Choice => ({
			key: `h ${hit.discussion} ${hit.take} ${hit.id}`, group: `In “${titleIn(hit)}”`, text: hit.snippet, hit, run: () => void goToHit(hit).catch(act.sayProblem),
		})),
		...sorted(maybe, most).map((choice) => ({ ...choice, group: "More commands" })),
		...sorted(like, most).map((choice) => ({ ...choice, group: "Similar names" })),
		...sorted(isRiskySure ? [] : risky, most),
	];
}

/** The choice of this window, for the next time. */
let wasByMeaning = false;

function Palette() {
	const [query, setQuery] = useState(""), [picked, setPicked] = useState<string | null>(null);
	const list = useRef<HTMLDivElement>(null);
	const words = query.trim();
	const canMean = useStore((from) => from.info)?.features.includes("similar") ?? false, [byMeaning, setByMeaning] = useState(wasByMeaning);
	const isSimilar = canMean && byMeaning;
	const search = useLoaded(
		() => (words.length < 2 ? Promise.resolve([]) : get<Hit[]>("/search", { q: words, limit: HITS, ...(isSimilar ? { similar: true } : {}) })),
		[words, isSimilar], isSimilar ? MEANING_PAUSE_MS : PAUSE_MS);
	const discussions = useStore((from) => from.discussions), takes = useStore((from) => from.takes);
	const choices = useMemo(() => found(query, words.length < 2 ? [] : search.data ?? []), [query, search.data, discussions, takes]);
	// the choice that the user moved to is kept, whatever is found above it
	const gone = choices.findIndex((choice) => choice.key === picked);
	const at = gone >= 0 ? gone : choices.findIndex((choice) => !choice.isRisky);
	const setFocus = (to: number) => setPicked(choices[to].key);
	useLayoutEffect(() => {
		list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
	}, [at, choices]);
	const chosen = useRef<Choice>();
	// after the dialog has returned the focus, and before the next key
	useLayoutEffect(() => () => { if (chosen.current) queueMicrotask(chosen.current.run); }, []);
	const choose = (choice: Choice | undefined) => {
		if (!choice)
			return;
		chosen.current = choice;
		openOverlay(null);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const to = { ArrowDown: (at + 1) % choices.length, ArrowUp: (Math.max(at, 0) - 1 + choices.length) % choices.length,
			PageDown: Math.min(at + 8, choices.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
		if (event.key === "Enter" && !event.isComposing)
			choose(choices[at]);
		else if (to !== undefined && choices.length)
			setFocus(to);
		else
			return;
		event.preventDefault();
	};
	const groups = [...new Set(choices.map((choice) => choice.group))];
	return (
		<Dialog title="Search and commands" class="palette" onClose={() => openOverlay(null)}>
			<input class="line" id="palette" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autoFocus
				aria-activedescendant={at >= 0 ? `palette-${at}` : undefined} aria-label="Find a command, a discussion, a label or a text"
				placeholder="Command, name, label, or words from a text" value={query} spellcheck={false} autocomplete="off"
				onInput={(event) => { setQuery(event.currentTarget.value); setPicked(null); }} onKeyDown={onKeyDown} />
			{canMean && (
				<label class="check small" title="Also finds texts with a similar meaning; the words are sent to the embeddings model.">
					<input type="checkbox" checked={byMeaning} onChange={(event) => setByMeaning(wasByMeaning = event.currentTarget.checked)} /> By meaning
				</label>
			)}
			<div class="tags" role="group" aria-label="Time">
				{TIMES.map(([name, filter]) => (
					<button type="button" key={name} aria-pressed={query.includes(filter)} onClick={() => {
						const others = TIMES.reduce((text, [, each]) => text.replace(each, ""), query).trim();
						setQuery(query.includes(filter) ? others : `${others} ${filter}`.trim());
						setPicked(null);
						document.getElementById("palette")?.focus();
					}}>{name}</button>
				))}
			</div>
			{choices.length === 0 && <p class="quiet" role="status">{search.isLoading ? "Searching …" : "No match."}</p>}
			<div id="palette-list" class="palette-list" role="listbox" aria-label="Found" ref={list} tabIndex={-1}>
				{groups.map((group, n) => (
					<div role="group" aria-labelledby={`palette-group-${n}`} key={group}>
						<p class="palette-group" role="presentation" id={`palette-group-${n}`}>{group}</p>
						{choices.map((choice, i) => choice.group === group && (
							<div key={choice.key} id={`palette-${i}`} role="option" aria-selected={i === at} class={"palette-item" + (choice.isRisky ? " danger" : "")} onClick={() => choose(choice)}
								onPointerMove={(event) => { if (i !== at && (event.movementX || event.movementY)) setFocus(i); }}>
								{choice.hit ? (
									<span class="hit">
										<span class="quiet small">{placeWords(choice.hit)}</span>
										<span class="words"><Snippet hit={choice.hit} /></span>
									</span>
								) : <span class="words"><Marked text={choice.text} at={choice.at ?? []} /></span>}
								{choice.hint && <kbd>{choice.hint}</kbd>}
							</div>
						))}
					</div>
				))}
			</div>
			{words.length >= 2 && search.problem && <p class="quiet small" role="status">{search.problem}</p>}
			<p class="quiet small palette-hint">Words, "a phrase", -without, /expression/, role:AI, in:name, model:name, label:name, edited:yes, past:yes, after:7d, before:2026-11-20. <span class="keys-hint">{at < 0 && choices.length > 0 ? "Press ↓ to select a destructive command." : "Enter goes there."}</span></p>
		</Dialog>
	);
}

function SearchButton() {
	return (
		<button type="button" class="search-button" aria-label="Search and commands" aria-keyshortcuts="Control+K" title="Search and commands (Ctrl+K, /)" onClick={() => openOverlay("palette")}>
			<span aria-hidden="true">⌕</span><span class="wide-only"> Search <kbd aria-hidden="true" data-keys={`${shown("Ctrl+")}K`} /></span>
		</button>
	);
}

addPane({ id: "palette", title: "Search and commands", place: "overlay", view: Palette });
addPane({ id: "search-button", title: "Search", place: "top", view: SearchButton, order: 10 });
