// SPDX-License-Identifier: MIT
//
// The state of the page, in one object whose members are replaced. Components read it with
// useStore(); changes are made with set(). Nothing here talks to the server.
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { Discussion, Entry, Fork, Account, Info, Run, Settings, Take } from "./types";
import type { Outline } from "./outline";

/** A one-line message: what another client did, or the result of an action. */
export interface Toast {
	text: string;
	/** The button; none if omitted. */
	action?: { label: string; run: () => void };
	/** A button that repairs a side effect of the change, or returns to the previous state. */
	repair?: { label: string; run: () => void };
	isProblem?: boolean;
	/** The step that it is about (notice.ts). */
	seq?: number;
}

/** A change that was rejected because another one came first (412). */
export interface Conflict {
	op: string;
	fields: Record<string, unknown>;
	entry: string | null;
	/** The new text; null: not a change of text. */
	mine: string | null;
	theirs: string | null;
	canKeepBoth: boolean;
	decide: (what: "overwrite" | "both" | "discard") => void;
}

/** The entry that is being edited, or the position of a new one. */
export interface Editing {
	entry: string | null;
	/** For a new entry: the neighbour before or after which it is inserted. */
	before?: string;
	after?: string;
	role?: string;
}

export interface Unsaved {
	label: string;
	save: () => unknown;
}

export interface State {
	connection: "connecting" | "live" | "lost";
	/** An error of the connection: the server is newer than the page, or cannot be reached. */
	trouble: string | null;
	info: Info | null;
	/** The account of this page; null: not known yet. */
	account: Account | null;
	discussions: Discussion[];
	/** Ids of the discussion and take that this page shows. Switches by other clients do not change them. */
	disc: string | null;
	take: string | null;
	/** The first takes, and the open one. */
	takes: Take[];
	/** Total number of takes. */
	takeCount: number;
	/** The open take without its texts. */
	outline: Outline | null;
	/** The end of the open take, until `outline` is loaded for the first time. */
	last: Outline | null;
	/** Loaded entries by id: only those that were visible. */
	bodies: ReadonlyMap<string, Entry>;
	/** ETag of each entry when its text was read. */
	tags: ReadonlyMap<string, string>;
	/** ETag of the discussion. */
	discTag: string | null;
	head: string | null;
	/** The head, if it is not the last entry: new entries are added after it. */
	behind: string | null;
	/** Is there a step to undo or redo? */
	canUndo: boolean;
	canRedo: boolean;
	settings: Settings | null;
	runs: ReadonlyMap<string, Run>;
	/** Incremented at every change of the project: panes that show history reload. */
	version: number;
	toast: Toast | null;
	/** The last change by another client. */
	news: string | null;
	conflict: Conflict | null;
	editing: Editing | null;
	/** Prompts with text that is not saved, and so not sent, by the id of the field. */
	unsaved: ReadonlyMap<string, Unsaved>;
	/** The row that keys act on, and the other end of a selection. */
	focus: string | null;
	anchor: string | null;
	/** The next touched entry is the other end of the selection. */
	isSelecting: boolean;
	/** Show only entries of this role and of the user. */
	roleFilter: string | null;
	/** Entries that are shown as source. */
	sources: ReadonlySet<string>;
	/** By entry: where other takes diverge from the open one. */
	forks: ReadonlyMap<string, Fork>;
	/** Entries of the open take that differ in other takes. */
	differ: ReadonlySet<string>;
	/** The open side pane, overlay and drawer. */
	pane: string | null;
	overlay: string | null;
	drawer: "left" | "right" | null;
}

export const state: State = {
	connection: "connecting", trouble: null, info: null, account: null, discussions: [], disc: null, take: null,
	takes: [], takeCount: 0, outline: null, last: null, bodies: new Map(), tags: new Map(), discTag: null, head: null, behind: null,
	canUndo: false, canRedo: false,
	settings: null, runs: new Map(), version: 0, toast: null, news: null, conflict: null,
	editing: null, unsaved: new Map(), focus: null, anchor: null, isSelecting: false, roleFilter: null, sources: new Set(), forks: new Map(), differ: new Set(), pane: null, overlay: null,
	drawer: null,
};

type Listener = () => void;
const listeners = new Set<Listener>();
let isTelling = false;

function tell(): void {
	isTelling = false;
	for (const listener of [...listeners])
		listener();
}

/** Changes some members. Listeners are called once, after the current task. */
export function set(change: Partial<State>): void {
	Object.assign(state, change);
	if (isTelling)
		return;
	isTelling = true;
	queueMicrotask(tell);
}

export function subscribe(listener: Listener): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** Selects a value from the state; the component renders again when it changes. */
export function useStore<T>(select: (from: State) => T): T {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const seen = useRef<{ select: (from: State) => T; value: T }>();
	const value = select(state);
	seen.current = { select, value };
	// synchronously: keys and buttons act on the rendered state
	useLayoutEffect(() => {
		const look = () => {
			const last = seen.current!;
			if (!Object.is(last.select(state), last.value))
				redraw(0);
		};
		look(); // for changes during the first rendering
		return subscribe(look);
	}, []);
	return value;
}
