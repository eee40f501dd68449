// SPDX-License-Identifier: MIT
//
// JSON types of the API (docs/api.md). Members that are optional there are optional here; unknown
// members are ignored.
import type { RenderedText } from "./streaming";

/** One block of a content that is an array. */
export interface Block {
	type: string;
	text?: string;
	thinking?: string;
	id?: string;
	name?: string;
	[member: string]: unknown;
}

export type Content = string | Block[];

export interface Entry {
	id: string;
	role: string;
	kind: string;
	content: Content;
	ts?: string;
	muted: boolean;
	collapsed: boolean;
	read_mode: boolean;
	label?: string;
	/** True if the text was changed after the entry was created. */
	edited?: boolean;
	purged?: boolean;
	partial?: boolean;
	thinking_segments?: unknown[];
	usage?: Record<string, unknown>;
	model?: string;
	/** For a summary of another take: its name, and the first summarised entry. */
	from_take?: string;
	first_id?: string;
	/** The body as a block tree, if the server sends one (web/markdown.tsx). */
	blocks?: unknown;
	[member: string]: unknown;
}

export interface Take {
	id: string;
	name: string;
	active: boolean;
	entries: number;
	base?: string;
	/** At the last update. */
	git_commit?: string;
	last_updated?: string;
	/** Shown instead of a generated name: the words in which it differs. */
	title?: string;
	/** The first words in which it differs from others. */
	preview?: string;
	/** It only contains another reply to the same question: arrows at the reply lead to it. */
	another_reply?: string;
}

/** A place where takes diverge: one of several entries with the same parent. */
export interface Fork {
	entry: string;
	/** Position among these entries, from 0. */
	place: number;
	count: number;
	/** Takes with the neighbouring entries; null at the ends. */
	previous: string | null;
	next: string | null;
}

export interface Discussion {
	/** false: deleted. */
	present?: boolean;
	id: string;
	name: string;
	active: boolean;
	entries: number;
	takes: number;
	updated: string | null;
	/** The track that it is bound to. */
	track?: string;
	/** Shown instead of a generated name. */
	title?: string;
	pinned?: boolean;
	archived?: boolean;
	/** "work/db" is a child of "work". */
	tags?: string[];
}

/** Bits of Columns.flags. */
export const MUTED = 1, COLLAPSED = 2, READ_MODE = 4, MORE_THAN_TEXT = 8, DIFFERS = 16, EDITED = 32, HIDDEN = 64;

/** GET …/tree?columns=1: rows of a tree or of one take, as columns. */
export interface Columns {
	seq: number;
	discussion: string;
	count: number;
	from: number;
	roles: string[];
	kinds: string[];
	takes: Take[];
	id: string[];
	parent: number[];
	role: number[];
	kind: number[];
	flags: number[];
	size: number[];
	preview?: string[];
	labels: Record<string, string>;
	head: number;
	tips: Record<string, number>;
}

/** GET …/entries: a range of a take. */
export interface EntryWindow {
	discussion: string;
	take: string;
	head: string | null;
	count: number;
	entries: Entry[];
	from: number;
	next: number | null;
	seq: number;
	etags?: Record<string, string>;
}

export interface Splice {
	discussion: string;
	take?: string;
	at?: number;
	remove?: number;
	insert?: string[];
	from_discussion?: string;
	from_take?: string;
	count?: number;
	present?: boolean;
}

/** A row of the history, as in events and GET /history. */
export interface Change {
	seq: number;
	kind: "step" | "move" | "view" | "note";
	op: string;
	by: string;
	at: string;
	discussion?: string;
	discussions?: string[];
	project?: boolean;
	splices?: Splice[];
	entries?: string[];
	takes?: string[];
	fields?: string[];
	whole?: boolean;
}

/** Result of a change. */
export interface Result {
	seq: number;
	unchanged?: boolean;
	steps?: number;
	/** Undo and redo: the row of the moves, if seq is that of drafts restored after it. */
	move_seq?: number;
	count?: number;
	entry?: string;
	take?: string;
	discussion?: string;
	editor?: string;
	note?: string;
	notes?: string[];
	results?: Result[];
	op?: { seq: number; op: string; by: string };
}

/** RFC 9457. */
export interface ProblemBody {
	type?: string;
	title?: string;
	status?: number;
	code?: string;
	detail?: string;
	index?: number;
	/** A hook cancelled it without a reason: nothing is shown. */
	quiet?: boolean;
	hint?: string;
	/** The run that is already working on the same entry. */
	run?: string;
}

/** A model run: src/server/run.h. */
export interface Run {
	run: string;
	state: "running" | "done" | "stopped" | "failed";
	how: string;
	discussion: string;
	take?: string;
	model?: string;
	/** If several models were asked at once: the id of the first run. */
	group?: string;
	question?: string;
	text?: string;
	/** The rendered text, as far as available (web/streaming.ts). */
	rendered?: RenderedText;
	thinking?: string;
	notice?: string;
	/** A message about its end, such as that it updated the working prompt. */
	note?: string;
	reply?: number;
	entry?: string;
	seq?: number;
	partial?: boolean;
	problem?: { code?: string; detail?: string; quiet?: boolean };
	replies?: { entry?: string; take?: string }[];
	[member: string]: unknown;
}

export interface Format {
	name: string;
	extension: string;
	about: string;
	reads: boolean;
	writes: boolean;
}

/** GET /account. */
export interface Account {
	accounts: boolean;
	kind: "machine" | "user" | "token" | "link";
	user?: string;
	/** The discussion that a share link is limited to. */
	discussion?: string;
	rights: string[];
	/** The limits that apply to the account. */
	quotas?: Quota[];
}

/** Limits of a user, a team, a project, or of each user without a limit of the same kind; by kind: bytes, entries … */
export interface Quota {
	user?: string;
	team?: string;
	project?: string;
	each_user?: boolean;
	limits: Record<string, number>;
	use?: Record<string, number>;
}

export interface Info {
	version: string;
	project: string;
	seq: number;
	epoch: string;
	/** The default model. */
	model?: string;
	default_project?: string;
	/** The path of the configuration file, for an administrator. */
	config_file?: string;
	features: string[];
	formats: Format[];
	operations: string[];
}

export interface Settings {
	discussion: string;
	roles: string[];
	prompt: { text: string; edited: boolean };
	settings: Record<string, unknown>;
	[member: string]: unknown;
}

export interface Step {
	seq: number;
	parent: number;
	op: string;
	what: string;
	/** The same without ids. */
	did?: string;
	/** The first words of the entry concerned. */
	about?: string;
	/** The take that it changed. */
	take?: { id: string; name: string };
	/** The setting, if it changed nothing else. */
	setting?: string;
	by: string;
	at: string;
	scope?: string;
	current: boolean;
	undone: boolean;
}

/** GET /history/{seq}: the effects of a step. */
export interface StepEffects {
	seq: number;
	effects: { effect: string; discussion?: string; take?: string; at?: number; before?: unknown; after?: unknown }[];
	/** For undo, redo and jump: the steps that were passed. */
	moves?: { step: number; direction: 1 | -1 }[];
}

export interface Revision {
	seq: number;
	body: number;
	at?: string;
	by?: string;
	content?: Content;
	purged?: boolean;
	current: boolean;
}

export interface Advice {
	id: string;
	entry: string;
	other?: string;
	text: string;
	repair?: Record<string, unknown>;
}

/** A file that is sent before the entries. */
export interface SentFile {
	list: string;
	/** As listed; for an object, its path. */
	item: string;
	name: string;
	size: number;
	tokens: number;
	mime?: string;
	view?: "outline" | "none";
}

/** A file that cannot be sent. */
export interface FileProblem {
	list: string;
	item: string;
	path?: string;
	kind: string;
	message: string;
}

/** GET …/context */
export interface Context {
	provider: string;
	/** The configured name of the provider. */
	service?: string;
	model: string | null;
	tokens: number;
	exact: boolean;
	left_out: number;
	budget?: number;
	entries: { id: string; at: number; tokens: number; left_out: boolean }[];
	files: SentFile[];
	file_tokens: number;
	file_problems: FileProblem[];
	/** Blocks that the request cannot contain, one sentence each. */
	unsent: string[];
	body: unknown;
}

/** GET …/usage: of replies whose usage is known. */
export interface Usage {
	replies: number;
	input_tokens: number;
	output_tokens: number;
	/** If the prices are known. */
	cost?: number;
	without_price?: number;
}

/** GET …/sent */
export interface Sent {
	at: string;
	seq: number;
	take: string;
	provider: string;
	service?: string;
	model: string;
	/** It was reconstructed exactly. */
	exact: boolean;
	/** The same request would be sent now, to the same model. */
	same: boolean;
	entries: { change: "new" | "edited" | "gone"; id: string; role: string }[];
	moved: boolean;
	settings: string[];
	prompt: boolean;
	files: { change: "new" | "edited" | "gone"; name: string }[];
	body: unknown;
}
