// SPDX-License-Identifier: MIT
//
// Palette: one field to find everything with: what can be done, discussions and takes by a few
// letters of their names, and texts of all discussions by their words. Ctrl+K, or /.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { Dialog } from "./dialog";
import { showEntry } from "./entry_acts";
import { areOn, commands, shown } from "./keys";
import { markWords } from "./found";
import { fuzzy } from "./pane_fuzzy";
import { useLoaded } from "./pane_data";
import { paneVerbs } from "./pane_verbs";
import { addPane, openOverlay } from "./panes";
import { set, state } from "./state";
import { discussionOf, findTake, open, takeOf } from "./store";
import type { Discussion } from "./types";

interface Hit {
	discussion: string;
	take: string;
	id: string;
	role: string;
	at: number;
	snippet: string;
	marks?: [number, number][];
}

interface Choice {
	key: string;
	group: string;
	text: string;
	/** Places in the text that matched. */
	at?: number[];
	hit?: Hit;
	hint?: string;
	run: () => void;
}

const MOST_PER_GROUP = 30, HITS = 50, PAUSE_MS = 150;

/** A text with some of its places marked. */
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

/** A snippet; what matched is named by places in characters, or between \u0001 and \u0002. */
export function Snippet(props: { hit: Hit }) {
	const { snippet, marks } = props.hit;
	if (!marks)
		return <>{snippet.split(/\u0001([^\u0002]*)\u0002/).map((piece, at) => (at % 2 ? <mark>{piece}</mark> : piece))}</>;
	const letters = [...snippet.replace(/[\u0001\u0002]/g, "")];
	const pieces: preact.ComponentChild[] = [];
	let done = 0;
	for (const [start, size] of marks) {
		pieces.push(letters.slice(done, start).join(""), <mark>{letters.slice(start, start + size).join("")}</mark>);
		done = start + size;
	}
	return <>{pieces}{letters.slice(done).join("")}</>;
}

/** Who says it, and where, as far as that is not here. */
function placeWords(hit: Hit): string {
	const isHere = hit.discussion === discussionOf(state.disc)?.name;
	const isOpen = isHere && hit.take === takeOf(state.take)?.name;
	return [`${hit.role}, entry ${hit.at}`, !isOpen && `take ${hit.take}`, !isHere && `discussion ${hit.discussion}`].filter(Boolean).join(" · ");
}

/** What matched, each once. */
function wordsOf(hit: Hit): string[] {
	const letters = [...hit.snippet.replace(/[\u0001\u0002]/g, "")];
	const found = hit.marks ? hit.marks.map(([start, size]) => letters.slice(start, start + size).join(""))
		: [...hit.snippet.matchAll(/\u0001([^\u0002]*)\u0002/g)].map((match) => match[1]);
	return [...new Set(found.map((word) => word.toLowerCase()))].filter(Boolean);
}

async function goToHit(hit: Hit): Promise<void> {
	const disc = state.discussions.find((each) => each.name === hit.discussion || each.id === hit.discussion) as Discussion | undefined;
	if (!disc)
		return act.sayProblem(new Error(`The discussion "${hit.discussion}" is gone.`));
	const take = await findTake(hit.take, disc.id);
	await open(disc.id, take?.id, hit.id);
	set({ focus: hit.id, anchor: null, drawer: null });
	setTimeout(() => {
		showEntry(hit.id);
		markWords(hit.id, wordsOf(hit));
	}, 60);
}

function verbs(): Omit<Choice, "at">[] {
	const focus = state.focus;
	const single = commands.filter((command) => command.id !== "palette" && command.id !== "leave" && (!command.needsEntry || focus))
		.map((command) => ({
			key: `c ${command.id}`, group: "Do", text: command.title, hint: areOn() || command.keys[0].startsWith("Ctrl") ? shown(command.keys[0]) : undefined,
			run: () => command.run(),
		}));
	return [...single, ...paneVerbs().map((verb) => ({ key: `v ${verb.id}`, group: "Do", text: verb.text, run: verb.run }))];
}

function places(): Omit<Choice, "at">[] {
	return [
		...state.discussions.map((each) => ({
			key: `d ${each.id}`, group: "Discussions", text: each.name, hint: each.entries.toLocaleString(),
			run: () => void act.switchDiscussion(each.id),
		})),
		...state.takes.filter((each) => state.takes.length > 1 && each.id !== state.take).map((each) => ({
			key: `t ${each.id}`, group: "Takes", text: each.name, hint: each.entries.toLocaleString(),
			run: () => void act.switchTake(each.id),
		})),
	];
}

function found(query: string): Choice[] {
	const groups = new Map<string, (Choice & { score: number })[]>();
	for (const choice of [...verbs(), ...places()]) {
		const match = fuzzy(query, choice.text);
		if (match)
			groups.set(choice.group, [...(groups.get(choice.group) ?? []), { ...choice, at: match.at, score: match.score }]);
	}
	return [...groups.values()].flatMap((group) => group.sort((a, b) => b.score - a.score).slice(0, query ? MOST_PER_GROUP : 100));
}

function Palette() {
	const [query, setQuery] = useState(""), [focus, setFocus] = useState(0);
	const list = useRef<HTMLDivElement>(null);
	const words = query.trim();
	const search = useLoaded(
		() => (words.length < 2 ? Promise.resolve([]) : get<Hit[]>("/search", { q: words, limit: HITS })), [words], PAUSE_MS);
	const choices = useMemo(() => {
		const hits = words.length < 2 ? [] : search.data ?? [];
		return [...found(query), ...hits.map((hit): Choice => ({
			key: `h ${hit.discussion} ${hit.take} ${hit.id}`, group: "In the texts", text: hit.snippet, hit, run: () => void goToHit(hit).catch(act.sayProblem),
		}))];
	}, [query, search.data]);
	const at = Math.min(focus, choices.length - 1);
	useEffect(() => {
		list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
	}, [at, choices]);
	const choose = (choice: Choice | undefined) => {
		if (!choice)
			return;
		openOverlay(null);
		setTimeout(choice.run); // when the dialog has given the focus back
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const to = { ArrowDown: (at + 1) % choices.length, ArrowUp: (at - 1 + choices.length) % choices.length,
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
		<Dialog title="Find and do" class="palette" onClose={() => openOverlay(null)}>
			<input class="line" id="palette" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autoFocus
				aria-activedescendant={at >= 0 ? `palette-${at}` : undefined} aria-label="Find a command, a discussion or a text"
				placeholder="A command, a discussion, or words of a text" value={query} spellcheck={false} autocomplete="off"
				onInput={(event) => { setQuery(event.currentTarget.value); setFocus(0); }} onKeyDown={onKeyDown} />
			{choices.length === 0 && <p class="quiet" role="status">{search.isLoading ? "Searching …" : "Nothing is called so, and no text holds it."}</p>}
			<div id="palette-list" class="palette-list" role="listbox" aria-label="Found" ref={list} tabIndex={-1}>
				{groups.map((group) => (
					<div role="group" aria-labelledby={`palette-group-${group}`} key={group}>
						<p class="palette-group" role="presentation" id={`palette-group-${group}`}>{group}</p>
						{choices.map((choice, i) => choice.group === group && (
							<div key={choice.key} id={`palette-${i}`} role="option" aria-selected={i === at} class="palette-item" onClick={() => choose(choice)}
								onPointerMove={() => { if (i !== at) setFocus(i); }}>
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
			<p class="quiet small palette-hint">Words, "a phrase", -without, role:AI. Enter goes there.</p>
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

addPane({ id: "palette", title: "Find and do", place: "overlay", view: Palette });
addPane({ id: "search-button", title: "Search", place: "top", view: SearchButton, order: 10 });
