// SPDX-License-Identifier: MIT
//
// Symbols: definitions in the files of the discussion. "@name" in an entry is a button that shows
// the definition; in the composer, names are completed, and the paths of files, which are added to
// the context files.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { sendFile } from "./actions";
import { get } from "./api";
import { Code } from "./code";
import { Dialog } from "./dialog";
import { mentions } from "./markdown";
import { useLoaded } from "./pane_data";
import { goToField } from "./pane_verbs";
import { set, state, useStore } from "./state";
import { discPath } from "./store";

interface Symbol {
	name: string;
	kind: string;
	scope?: string;
	signature?: string;
	path: string;
	lines: [number, number];
	text?: string;
}

const LETTER = "[\\p{L}\\p{N}_$]";
const MENTION = new RegExp(`(?<!${LETTER})@(${LETTER}+)`, "gu");
const BEGUN = new RegExp(`(?<!${LETTER})@([^\\s@]*)$`, "u"), NAME = new RegExp(`^${LETTER}*$`, "u");
const MOST = 8, MOST_SYMBOLS = 5, TYPING_PAUSE_MS = 120;

// ---- in an entry ----

/** The existing names, read once for each state of the project; empty on failure. */
let known: { of: string; names: Promise<Set<string>> } | null = null;
function knownNames(): Promise<Set<string>> {
	const of = `${state.disc} ${state.version}`;
	if (known?.of !== of)
		known = { of, names: get<Symbol[]>(discPath("symbols")).then((all) => new Set(all.map((each) => each.name)), () => new Set()) };
	return known.names;
}

let shownName: string | null = null;
function show(name: string | null): void {
	shownName = name;
	set({});
}

function Mention(props: { name: string }) {
	const { name } = props;
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const [isKnown, setKnown] = useState(false);
	useEffect(() => {
		let isOld = false;
		void knownNames().then((names) => { if (!isOld) setKnown(names.has(name)); });
		return () => { isOld = true; };
	}, [disc, version, name]);
	return isKnown
		? <button type="button" class="link symbol" title={`Show the definition of ${name}`} onClick={() => show(name)}>@{name}</button>
		: <>@{name}</>;
}

mentions.show = (text) => {
	const found = [...text.matchAll(MENTION)];
	let at = 0;
	return found.length === 0 ? text : [...found.flatMap((each) => {
		const before = text.slice(at, each.index);
		at = each.index + each[0].length;
		return [before, <Mention name={each[1]} />];
	}), text.slice(at)];
};

function Definition(props: { name: string }) {
	const { name } = props;
	const { data, problem } = useLoaded(() => get<Symbol[]>(discPath("symbols", name)), [name]);
	return (
		<Dialog title={`Definition of ${name}`} class="wide" onClose={() => show(null)}>
			{problem && <p class="problem">{problem}</p>}
			{data?.map((each) => (
				<>
					<p><span class="path">{each.path}:{each.lines[0]}-{each.lines[1]}</span> <span class="quiet">{each.kind}{each.scope && ` in ${each.scope}`}</span></p>
					<Code text={each.text ?? ""} />
				</>
			))}
		</Dialog>
	);
}

/** The definition that is open, in a dialog. */
export function Definitions() {
	const name = useStore(() => shownName);
	return name === null ? null : <Definition key={name} name={name} />;
}

// ---- in the composer ----

export interface Completion {
	/** The list of names; null: no completion. */
	list: preact.ComponentChildren;
	/** The chosen option, for aria-activedescendant. */
	active: string | undefined;
	/** Does the list handle this key? */
	takesKey: (event: KeyboardEvent) => boolean;
	/** Called after each change of the text or the caret. */
	look: () => void;
}

interface Item {
	text: string;
	note: string;
	isFile: boolean;
}

async function readSymbols(begun: string): Promise<Item[]> {
	const found = NAME.test(begun) ? await get<Symbol[]>(discPath("symbols"), { prefix: begun }).catch(() => []) : [];
	return found.filter((each, at) => at === 0 || found[at - 1].name !== each.name)
		.map((each) => ({ text: each.name, note: `${each.kind}, ${each.path}:${each.lines[0]}`, isFile: false }));
}

async function readFiles(begun: string): Promise<Item[]> {
	const { names } = await get<{ names: string[] }>("/files", { search: begun, count: MOST }).catch(() => ({ names: [] }));
	return names.map((text) => ({ text, note: "file", isFile: true }));
}

/** Completes the "@name" or "@path" before the caret of a field. */
export function useCompletion(field: RefObject<HTMLTextAreaElement>, setText: (text: string) => void): Completion {
	const [begun, setBegun] = useState<string | null>(null);
	const [at, setAt] = useState(0);
	const caret = useRef<number | null>(null);
	const isShared = useStore((from) => from.info)?.features.includes("files") ?? false;
	const { data } = useLoaded(async () => {
		if (begun === null || !isShared)
			return [];
		const [symbols, files] = await Promise.all([readSymbols(begun), readFiles(begun)]);
		return [...symbols.slice(0, Math.max(MOST_SYMBOLS, MOST - files.length)), ...files].slice(0, MOST);
	}, [begun, isShared], TYPING_PAUSE_MS);
	// those of an earlier text, until the new ones have arrived
	const items = begun === null ? [] : (data ?? []).filter((each) => each.isFile
		? each.text.toLowerCase().includes(begun.toLowerCase()) : each.text.startsWith(begun) && each.text !== begun);
	const chosen = Math.min(at, items.length - 1);
	useLayoutEffect(() => { // before the next key
		if (caret.current !== null)
			field.current?.setSelectionRange(caret.current, caret.current);
		caret.current = null;
	});
	const look = () => {
		const own = field.current!;
		const found = own.selectionStart === own.selectionEnd ? BEGUN.exec(own.value.slice(0, own.selectionStart)) : null;
		if ((found?.[1] ?? null) !== begun)
			setAt(0);
		setBegun(found ? found[1] : null);
	};
	const take = (item: Item) => {
		const own = field.current!, end = own.selectionStart;
		// the path of a file is text, without the sign
		const start = end - begun!.length - (item.isFile ? 1 : 0), rest = own.value.slice(end);
		caret.current = start + item.text.length + 1;
		setText(own.value.slice(0, start) + item.text + (rest.startsWith(" ") ? "" : " ") + rest);
		setBegun(null);
		own.focus();
		if (item.isFile)
			void sendFile(item.text);
	};
	const takesKey = (event: KeyboardEvent) => {
		const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey && !event.isComposing;
		if (items.length === 0 || !isPlain)
			return false;
		switch (event.key) {
		case "ArrowDown": setAt((chosen + 1) % items.length); break;
		case "ArrowUp": setAt((chosen + items.length - 1) % items.length); break;
		case "Tab":
		case "Enter": take(items[chosen]); break;
		case "Escape": setBegun(null); break;
		default: return false;
		}
		event.preventDefault();
		return true;
	};
	// only "@" was typed, and there is nothing to complete
	const hint = begun === "" && data?.length === 0 && isShared && (
		<p class="completion quiet small">
			@ completes file names, and definitions in the files sent with each request.{" "}
			<button type="button" class="link" onClick={() => goToField("settings", "file-lists")}>Choose files</button>
		</p>
	);
	const list = items.length === 0 ? hint : (
		<ul id="completion" class="completion" role="listbox" aria-label="Files and definitions">
			{items.map((each, index) => (
				<li id={`completion-${index}`} key={`${each.note} ${each.text}`} role="option" aria-selected={index === chosen}
					onMouseDown={(event) => { event.preventDefault(); take(each); }}>
					<span>{each.isFile ? "" : "@"}{each.text}</span> <span class="quiet small">{each.note}</span>
				</li>
			))}
		</ul>
	);
	return { list, active: items.length > 0 ? `completion-${chosen}` : undefined, takesKey, look };
}
