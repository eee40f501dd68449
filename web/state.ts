// SPDX-License-Identifier: MIT
//
// What the page knows, in one object that is replaced member by member. Components look at it
// with useStore(); what changes it calls set(). Nothing here talks to the server.
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { Discussion, Entry, Fork, Info, Run, Settings, Take } from "./types";
import type { Outline } from "./outline";

/** What another client did, or what became of something, in one quiet line. */
export interface Toast {
	text: string;
	/** What the button does; without one there is none. */
	action?: { label: string; run: () => void };
	/** What would mend something that this broke nearby, or lead back from it. */
	repair?: { label: string; run: () => void };
	isProblem?: boolean;
	/** The step that it is about (notice.ts). */
	seq?: number;
}

/** A change that was refused since somebody else was faster (412). */
export interface Conflict {
	op: string;
	fields: Record<string, unknown>;
	entry: string | null;
	/** What was to be written; null: the change is no text. */
	mine: string | null;
	theirs: string | null;
	canKeepBoth: boolean;
	decide: (what: "overwrite" | "both" | "discard") => void;
}

/** The one entry that is being edited, or the place where a new one is being written. */
export interface Editing {
	entry: string | null;
	/** For a new entry: before or after this one. */
	before?: string;
	after?: string;
	role?: string;
}

export interface State {
	connection: "connecting" | "live" | "lost";
	/** Set when the server sends what only a newer version understands, or cannot be asked. */
	trouble: string | null;
	info: Info | null;
	discussions: Discussion[];
	/** The discussion and take that this page shows: ids. Others' switches do not move them. */
	disc: string | null;
	take: string | null;
	/** The first of them and the open one. */
	takes: Take[];
	/** How many there are. */
	takeCount: number;
	/** The open take, complete but for its texts. */
	outline: Outline | null;
	/** Its end, until it is here for the first time. */
	last: Outline | null;
	/** Texts, by id: of those rows that were looked at. */
	bodies: ReadonlyMap<string, Entry>;
	/** Each entry's ETag, as it was when its text was read. */
	tags: ReadonlyMap<string, string>;
	/** The discussion's ETag. */
	discTag: string | null;
	head: string | null;
	/** The head, where it stands before the last entry: what is written goes on from there. */
	behind: string | null;
	/** Is there a step to take back, or to bring back? */
	canUndo: boolean;
	canRedo: boolean;
	settings: Settings | null;
	runs: ReadonlyMap<string, Run>;
	/** Rises with every change of the project: panes that show history look again. */
	version: number;
	toast: Toast | null;
	/** What somebody else did last. */
	news: string | null;
	conflict: Conflict | null;
	editing: Editing | null;
	/** The row that the keys are about, and the other end of a selected run. */
	focus: string | null;
	anchor: string | null;
	/** The next entry that is touched is the other end of the run. */
	isSelecting: boolean;
	/** Show only entries of this role, and the user's. */
	roleFilter: string | null;
	/** Entries whose source is shown, not their text as it is read. */
	sources: ReadonlySet<string>;
	/** Where the open take parts from others, by entry. */
	forks: ReadonlyMap<string, Fork>;
	/** Entries of it that other takes show differently. */
	differ: ReadonlySet<string>;
	/** The open part of the page at the right, over all, or drawn in from a side. */
	pane: string | null;
	overlay: string | null;
	drawer: "left" | "right" | null;
}

export const state: State = {
	connection: "connecting", trouble: null, info: null, discussions: [], disc: null, take: null,
	takes: [], takeCount: 0, outline: null, last: null, bodies: new Map(), tags: new Map(), discTag: null, head: null, behind: null,
	canUndo: false, canRedo: false,
	settings: null, runs: new Map(), version: 0, toast: null, news: null, conflict: null,
	editing: null, focus: null, anchor: null, isSelecting: false, roleFilter: null, sources: new Set(), forks: new Map(), differ: new Set(), pane: null, overlay: null,
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

/** Change some members. Who listens is told once, after what is running now. */
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

/** What select takes from the state; the component is drawn again when it is another thing. */
export function useStore<T>(select: (from: State) => T): T {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const seen = useRef<{ select: (from: State) => T; value: T }>();
	const value = select(state);
	seen.current = { select, value };
	// at once: what is drawn is what keys and buttons are about
	useLayoutEffect(() => {
		const look = () => {
			const last = seen.current!;
			if (!Object.is(last.select(state), last.value))
				redraw(0);
		};
		look(); // what changed while the rest was drawn
		return subscribe(look);
	}, []);
	return value;
}
