// SPDX-License-Identifier: MIT
//
// Actions: every change that the page can make. Actions run one at a time: each starts only after
// the page shows the result of the previous one, so it applies to the state the user saw, and sends
// If-Match to prove it. A failure is reported as a readable message; 412 is a conflict that the
// user resolves (conflict.tsx).
import { get, path, post, Problem, request } from "./api";
import { toClipboard } from "./copy";
import { doneSentence, requestEnded, requestStarted, importedHere } from "./news";
import { notify } from "./notice";
import { focusKept, showEntry } from "./focus";
import { modelProblem } from "./model_problem";
import { placeOf } from "./outline";
import { ownRuns, startedHere, startRun, stopRun, stopToEnd } from "./runs";
import { discPath, discussionOf, findTake, open, pinned, waitForSeq, readEntry, reload, shownSeq, takeNamed, takeOf } from "./store";
import { set, state } from "./state";
import { may } from "./rights";
import {
	takeElsewhere, fullWords, isStepOfRun, isCounted, MAX_TRIES, movedSteps, movedWords, nearSteps, nextStep, readSnapshot, runStepCount, stepSeqs,
} from "./undo";
import { oneLine, takeTitle } from "./words";
import type { Ask } from "./api";
import type { RunWish } from "./runs";
import type { HistorySnapshot, Direction } from "./undo";
import type { Advice, Content, Discussion, Result, Run, Step } from "./types";

export type Fields = Record<string, unknown>;
export type Op = { op: string } & Fields;

export interface Manner {
	/** Tag of the version that the user saw; omitted: no check. */
	ifMatch?: string | null;
	/** The discussion must still be unchanged when this action's turn comes. */
	asSeen?: boolean;
	/** Throw 412 to the caller instead of asking the user. */
	throwsStale?: boolean;
	/** Reports a failure other than a conflict instead of a message at the bottom. */
	onProblem?: (error: Error) => void;
	/** Message on success; "": none; omitted: the default of the operation. */
	say?: string;
	/** Side effects that the server predicted for this change. */
	advice?: Advice[];
	/** For conflicts: the entry and the new text. */
	entry?: string;
	text?: string;
}

let last: Promise<unknown> = Promise.resolve(), pending = 0;

/** Runs actions one after the other. */
function inTurn<T>(act: () => Promise<T>): Promise<T> {
	pending++;
	const mine = last.then(act, act);
	last = mine.catch(() => undefined).finally(() => { pending--; });
	return mine;
}

/** Is a change not yet visible? Then the next key may refer to an outdated state. */
export function isBusy(): boolean {
	return pending > 0;
}

/** Waits until all changes so far are visible. */
export async function idle(): Promise<void> {
	await last;
}

/** The part of an error message that is meant for command-line users. */
const COMMAND = /; (see|run|[^;:]* first|first [^;:]*): retake [^;]*$/;

export function sayProblem(error: unknown): void {
	if (error instanceof Problem && error.body.quiet)
		return;
	set({ toast: { text: (error as Error).message.replace(COMMAND, ""), isProblem: true } });
}

const undoAction = { label: "Undo", run: () => void undo() };

/** seq: the step that the message is about. Its Undo button disappears with the next step (notice.ts). */
export function say(text: string, isUndoable = true, seq?: number): void {
	if (text)
		notify({ text, action: isUndoable ? undoAction : undefined }, seq);
	else
		set({ toast: null });
}

/** Like `retake save`: nothing to do. */
export function save(): void {
	say("Everything is already saved: each change is on disk before it is reported.", false);
}

/** The user switched to another take or discussion, but the server was not told, because that step would have
 * discarded redo. */
let isSwitchPending = false;
const SWITCH_EXEMPT = new Set(["undo", "redo", "jump", "entry.view", "take.switch", "discussion.switch"]);

/** Called before a step: makes the visible discussion and take the active ones. Until then redo is kept. */
async function sendPendingSwitch(): Promise<void> {
	isSwitchPending = false;
	const disc = state.disc, take = state.take;
	if (disc && !discussionOf(disc)?.active)
		await change("POST", path("ops", "discussion.switch"), { query: pinned(), body: { discussion: disc } },
			{ say: "" }, "discussion.switch", {});
	if (take && state.take === take && takeOf(take)?.active === false)
		await change("POST", path("ops", "take.switch"), { query: pinned(), body: { take } }, { say: "" }, "take.switch", {});
}

function isStale(error: unknown): boolean {
	return error instanceof Problem && error.status === 412;
}

/** Sends a change and waits until it is visible. Returns the server's result, or null if it failed and the failure
 * was reported. */
async function change(method: string, where: string, ask: Ask, manner: Manner,
		name: string, fields: Fields): Promise<Result | null> {
	if (isSwitchPending && !SWITCH_EXEMPT.has(name))
		await sendPendingSwitch();
	requestStarted();
	let seq: number | undefined;
	try {
		const tag = manner.asSeen ? state.discTag : manner.ifMatch;
		const answer = await request<Result>(method, where, { ...ask, ifMatch: tag ?? undefined });
		seq = answer.data.unchanged ? undefined : answer.data.seq;
		await waitForSeq(answer.data.seq);
		reportResult(name, answer.data, manner);
		return answer.data;
	} catch (error) {
		if (!isStale(error)) {
			(manner.onProblem ?? sayProblem)(error as Error);
			return null;
		}
		if (manner.throwsStale)
			throw error;
		const { decision, tag } = await askAboutConflict(manner, name, fields);
		if (decision === "overwrite")
			return await change(method, where, ask, { ...manner, asSeen: false, ifMatch: tag }, name, fields);
		if (decision === "both")
			return await changeAsTake(manner.entry!, manner.text!, false);
		// discarded: for an edited text this counts as done
		return manner.text === undefined ? null : { seq: 0, unchanged: true };
	} finally {
		requestEnded(seq);
	}
}

function reportResult(name: string, result: Result, manner: Manner): void {
	const notes = [...(result.notes ?? []), ...(result.note ? [result.note] : [])].join(" ");
	if (result.unchanged) {
		if (manner.say !== "")
			say("Nothing to change.", false);
		return;
	}
	set({ news: null });
	const text = manner.say ?? doneSentence(name);
	const advice = manner.advice ?? [];
	if (text || notes)
		say([text, notes, ...advice.map(adviceText)].filter(Boolean).join(" "), true, result.seq);
	const repairs = advice.map((each) => each.repair).filter((each) => each !== undefined) as Op[];
	const isMerge = repairs.length > 0 && repairs.every((each) => each.op === "entry.merge");
	if (state.toast && repairs.length)
		set({ toast: { ...state.toast, repair: { label: isMerge ? "Merge them" : "Repair", run: () => void applyRepairs(repairs, isMerge) } } });
	if (text || notes)
		return;
	if (name !== "entry.view")
		set({ toast: null });
}

const PLAIN_WORD = /^[a-z]+[,.:;!?]?(\s|$)/;

/** Turns a message into a sentence. A first word that is a URL or an identifier is not capitalised. */
export function sentence(text: string): string {
	const capitalised = PLAIN_WORD.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
	return /[.!?]$/.test(capitalised) ? capitalised : capitalised + ".";
}

/** A prediction of the server, with ids replaced by the entry numbers that the user sees. */
export function adviceText(advice: Advice): string {
	const words = advice.text.split(" ").map((word, at, all) => {
		const isName = /^(entry|entries|and)$/.test(all[at - 1] ?? "") && (word === advice.entry || word === advice.other);
		const place = isName && state.outline ? placeOf(state.outline, word) : -1;
		return place < 0 ? word : String(place + 1);
	});
	return sentence(words.join(" "));
}

async function applyRepairs(repairs: Op[], isMerge: boolean): Promise<void> {
	await batch(repairs, { say: isMerge ? "Merged the entries." : "Repaired." });
}

/** Predicted side effects of operations; empty if the request fails. */
async function predict(ops: Op[]): Promise<Advice[]> {
	try {
		return (await advise(ops)).advice;
	} catch {
		return [];
	}
}

function textOf(content: Content): string {
	if (typeof content === "string")
		return content;
	return content.filter((block) => block.type === "text").map((block) => block.text ?? "").join("\n");
}

type Decision = "overwrite" | "both" | "discard";

/** After 412: fetches the current version and asks the user how to resolve the conflict. */
async function askAboutConflict(manner: Manner, name: string,
		fields: Fields): Promise<{ decision: Decision; tag: string | null }> {
	const entry = manner.entry ?? null, mine = manner.text ?? null;
	let theirs: string | null = null, tag: string | null = null;
	if (entry) {
		try {
			const now = await readEntry(entry);
			theirs = textOf(now.entry.content);
			tag = now.tag;
		} catch {
			theirs = null; // deleted
		}
	}
	const decision = await new Promise<Decision>((decide) => set({
		conflict: {
			op: name, fields, entry, mine, theirs, decide,
			canKeepBoth: entry !== null && mine !== null && theirs !== null,
		},
	}));
	set({ conflict: null });
	return { decision, tag };
}

type Then = (done: Result | null) => Promise<void>;

/** Runs any operation in the open discussion and take. then: follow-up work before the next action. */
export function op(name: string, fields: Fields = {}, manner: Manner = {}, then?: Then): Promise<Result | null> {
	return inTurn(async () => {
		const done = await change("POST", path("ops", name), { query: pinned(), body: fields }, manner, name, fields);
		await then?.(done);
		return done;
	});
}

/** Runs several operations as one step. */
export function batch(ops: Op[], manner: Manner = {}, then?: Then): Promise<Result | null> {
	return inTurn(async () => {
		const done = await change("POST", discPath("batch"),
			{ query: { take: state.take }, body: { ops } }, manner, "batch", { ops });
		await then?.(done);
		return done;
	});
}

/** Runs an operation on one entry, provided that it is unchanged since the user saw it. */
function entryOp(name: string, entry: string, fields: Fields = {}, manner: Manner = {}): Promise<Result | null> {
	return inTurn(() => change("POST", path("ops", name), { query: pinned(), body: { entry, ...fields } },
		{ entry, ifMatch: state.tags.get(entry), ...manner }, name, { entry, ...fields }));
}

/** Opens the take that an operation created; result.take is its name. */
async function follow(result: Result | null): Promise<void> {
	if (!result?.take)
		return;
	const named = await findTake(result.take);
	if (named && named.id !== state.take)
		await open(state.disc!, named.id, state.focus ?? undefined);
}

/** For each discussion that was created and opened here: where the user came from, to return there on undo. */
const openedFrom = new Map<string, { disc: string; take?: string }>();

async function followDiscussion(result: Result | null): Promise<void> {
	if (!result?.discussion)
		return;
	const from = { disc: state.disc!, take: state.take ?? undefined };
	const all = await get<Discussion[]>("/discussions");
	const named = all.find((each) => each.name === result.discussion || each.id === result.discussion);
	if (!named)
		return;
	if (named.id !== from.disc)
		openedFrom.set(named.id, from);
	await open(named.id);
}

// ---- entries ----

/** Saves an edited text. tag: the entry's version when editing began. */
export async function edit(entry: string, text: string, tag: string | null, isBlocks: boolean): Promise<boolean> {
	const fields = { content: text, ...(isBlocks ? { keep_blocks: true } : {}) };
	const advice = await predict([{ op: "entry.edit", entry, ...fields }]);
	const done = await entryOp("entry.edit", entry, fields, { ifMatch: tag, text, advice });
	return done !== null;
}

/** Edits a question of the user, saves it (in a new take if other entries follow) and asks it again. */
export async function editAndAsk(entry: string, text: string, seen: { text: string; tag: string | null }, isBlocks: boolean, isLast: boolean): Promise<boolean> {
	const isSaved = text === seen.text;
	let at: string | undefined = entry;
	if (!isSaved && isLast && !(await edit(entry, text, seen.tag, isBlocks)))
		return false;
	if (!isSaved && !isLast) {
		const done = await inTurn(() => changeAsTake(entry, text, false));
		if (!done)
			return false;
		at = done.entry ?? state.outline?.id[state.outline.id.length - 1];
	}
	void run({ how: "again", at }, undefined, isSaved ? 1 : 2);
	return true;
}

export async function editAsTake(entry: string, text: string, keepAfter = false): Promise<boolean> {
	return (await inTurn(() => changeAsTake(entry, text, keepAfter))) !== null;
}

async function changeAsTake(entry: string, text: string, keepAfter: boolean): Promise<Result | null> {
	const done = await change("PATCH", discPath("entries", entry),
		{ query: { take: state.take }, body: { content: text, mode: "take", keep_after: keepAfter } },
		{ say: "Saved as a new take." }, "entry.edit", {});
	await follow(done);
	return done;
}

/** Adds a file to those that are sent with each request. */
export async function sendFile(name: string): Promise<void> {
	const lists = await get<Record<string, unknown[]>>(discPath("files")).catch(() => null);
	const items = lists?.context_files ?? [];
	if (lists && !items.includes(name) && !lists.files?.includes(name))
		await op("files.set", { which: "context_files", items: [...items, name] }, { say: `“${name}” is now sent with each request.` });
}

/** Appends an entry at the head. If the text was a draft, the draft is cleared in the same step. */
export async function append(role: string, content: Content, wasDraft = false): Promise<Result | null> {
	const was = state.focus;
	const done = wasDraft
		? firstOf(await batch([{ op: "entry.append", role, content }, { op: "setting.set", key: "draft", value: null }],
			{ say: doneSentence("entry.append") }, (all) => follow(firstOf(all))))
		: await op("entry.append", { role, content }, {}, follow);
	focusNew(done, was);
	return done;
}

/** Focuses the new entry, unless the user has moved to another one since. */
function focusNew(done: Result | null, was: string | null): void {
	if (done?.entry && state.focus === was && !document.activeElement?.matches("article.entry"))
		set({ focus: done.entry });
}

function firstOf(result: Result | null): Result | null {
	return result?.results?.[0] ?? result;
}

export async function insert(place: { before?: string; after?: string }, role: string,
		content: Content): Promise<Result | null> {
	const was = state.focus;
	const done = await op("entry.insert", { ...place, role, content });
	focusNew(done, was);
	return done;
}

/** The rows from anchor to focus, in order; one row if nothing is selected. */
export function selected(): string[] {
	const outline = state.outline;
	const to = outline ? placeOf(outline, state.focus) : -1;
	if (!outline || to < 0)
		return [];
	const from = state.anchor === null ? to : placeOf(outline, state.anchor);
	return from < 0 ? [outline.id[to]] : outline.id.slice(Math.min(from, to), Math.max(from, to) + 1);
}

export async function remove(ids: string[]): Promise<void> {
	if (ids.length === 0)
		return;
	const outline = state.outline!;
	const at = placeOf(outline, ids[ids.length - 1]);
	const next = outline.id[at + 1] ?? outline.id[placeOf(outline, ids[0]) - 1] ?? null;
	const say = ids.length === 1 ? "Deleted an entry." : `Deleted ${ids.length} entries.`;
	// move the focus first: the next key may come before the answer
	const hadFocus = document.activeElement?.closest(".entry") !== null, isKept = focusKept();
	set({ focus: next, anchor: null });
	const run = { from: ids[0], to: ids[ids.length - 1] };
	const advice = await predict([{ op: "entry.delete", ...run }]);
	const done = ids.length === 1
		? await entryOp("entry.delete", ids[0], {}, { say, advice })
		: await op("entry.delete", run, { say, advice, asSeen: true });
	if (!done)
		set({ focus: ids[0] });
	else if (next && state.focus === next && hadFocus && isKept())
		showEntry(next);
}

export async function changeRole(entry: string, role: string): Promise<void> {
	await entryOp("entry.role", entry, { role });
}

/** is: computes the new state when the action runs, so that pressing twice toggles twice. */
export async function mute(entry: string, is: () => boolean): Promise<void> {
	await inTurn(() => {
		const muted = is();
		return change("POST", path("ops", "entry.mute"), { query: pinned(), body: { entry, muted } },
			{ entry, ifMatch: state.tags.get(entry), say: muted ? "Muted: it is not sent to the model." : "Unmuted." }, "entry.mute", { entry, muted });
	});
}

/** Like mute(), for display state that is stored on the server without a step; null: no change. */
export async function view(entry: string, is: () => Fields | null): Promise<void> {
	await inTurn(async () => {
		const fields = is();
		if (fields)
			await change("POST", path("ops", "entry.view"), { query: pinned(), body: { entry, ...fields } }, { say: "" }, "entry.view", fields);
	});
}

export async function collapseAll(collapsed: boolean): Promise<void> {
	await op("entry.view", { all: true, collapsed }, { say: "" });
}

export async function move(entry: string, place: { before?: string; after?: string }): Promise<void> {
	set({ focus: entry });
	await op("entry.move", { entry, ...place });
}

export async function moveBy(entry: string, by: 1 | -1): Promise<void> {
	set({ focus: entry });
	await inTurn(async () => {
		const at = state.outline ? placeOf(state.outline, entry) : -1;
		const other = at < 0 ? undefined : state.outline!.id[at + by];
		const fields = { entry, ...(by < 0 ? { before: other } : { after: other }) };
		if (other)
			await change("POST", path("ops", "entry.move"), { query: pinned(), body: fields }, {}, "entry.move", fields);
	});
}

export async function split(entry: string, at: number): Promise<void> {
	await entryOp("entry.split", entry, { at });
}

export async function merge(entry: string): Promise<void> {
	await entryOp("entry.merge", entry);
}

export async function label(entry: string, text: string): Promise<void> {
	await op("label.set", { entry, label: text || null });
}

export async function copyText(text: string): Promise<void> {
	if (await toClipboard(text))
		say("Copied.", false);
	else
		sayProblem(new Error("The browser does not allow this page to write to the clipboard."));
}

// ---- takes ----

/** Focuses the composer afterwards. */
export async function branch(at: string, name?: string): Promise<void> {
	const isKept = focusKept(), left = takeOf(state.take);
	const say = left && { say: `Started a new take here. The tab “${takeTitle(left)}” has the previous one, unchanged.` };
	const done = await op("take.branch", { at, ...(name ? { name } : {}) }, say ?? {}, follow);
	if (done && isKept())
		document.getElementById("composer")?.focus();
}

/** Opens a take. If it does not contain the focused entry, focuses the entry at the same position. */
async function openNear(take: string): Promise<void> {
	const at = state.outline ? placeOf(state.outline, state.focus) : -1;
	await open(state.disc!, take, state.focus ?? undefined);
	const ids = state.outline?.id ?? [];
	if (at < 0 || state.focus !== null || ids.length === 0)
		return;
	const near = ids[Math.min(at, ids.length - 1)];
	set({ focus: near });
	showEntry(near, false);
}

/** Opens a take and makes it the active one on the server. While redo is possible, the switch is only sent with
 * the next step, because it would discard redo. */
export async function switchTake(take: string): Promise<void> {
	await inTurn(() => switchNow(take));
}

async function switchNow(take: string): Promise<void> {
	if (take !== state.take)
		await openNear(take);
	isSwitchPending = state.canRedo;
	if (!takeOf(take)?.active && !isSwitchPending)
		await change("POST", path("ops", "take.switch"), { query: pinned(), body: { take } },
			{ say: "" }, "take.switch", { take });
}

export async function stepTake(by: 1 | -1): Promise<void> {
	await inTurn(async () => {
		const at = state.takes.findIndex((each) => each.id === state.take);
		const next = state.takes[at + by];
		if (next)
			await switchNow(next.id);
	});
}

/** Opens a place after all pending actions; otherwise one of them could navigate away again. */
export async function show(disc: string, take?: string, at?: string): Promise<void> {
	await inTurn(async () => {
		if (disc !== state.disc && !state.toast?.isProblem)
			set({ toast: null }); // its button belongs to the other discussion
		await open(disc, take, at);
	});
}

export async function renameTake(take: string, name: string): Promise<void> {
	await op("take.rename", { take, name });
}

export async function deleteTake(take: string): Promise<void> {
	const gone = takeOf(take);
	await op("take.delete", { take }, { say: `Deleted the take “${gone ? takeTitle(gone) : take}”.` });
}

/** Deletes the other one of two compared takes. */
export async function keepTake(take: string, other: string): Promise<void> {
	const kept = takeOf(take), gone = takeOf(other), nameOf = (of: typeof kept, id: string) => (of ? takeTitle(of) : id);
	await switchTake(take);
	await op("take.delete", { take: other }, { say: `Kept “${nameOf(kept, take)}” and deleted the take “${nameOf(gone, other)}”.` });
}

export async function promote(take: string, name: string): Promise<void> {
	await op("take.promote", { take, name }, {}, followDiscussion);
}

export async function clear(): Promise<void> {
	await op("take.clear", {}, { asSeen: true });
}

export async function truncate(pairs: number): Promise<void> {
	await op("take.truncate", { pairs }, { asSeen: true });
}

// ---- discussions ----

export async function newDiscussion(name: string): Promise<void> {
	await op("discussion.new", { name }, {}, followDiscussion);
}

/** Creates a discussion with contents, as one step. */
export async function make(name: string, ops: Op[]): Promise<void> {
	await inTurn(async () => {
		const done = await change("POST", "/batch", { body: { ops } }, { say: `Created the discussion “${name}”.` }, "batch", { ops });
		if (done)
			await followDiscussion({ ...done, discussion: name });
	});
}

export async function switchDiscussion(disc: string): Promise<void> {
	await inTurn(async () => {
		if (disc === state.disc)
			return;
		set({ toast: null }); // its Undo belongs to the other discussion
		const couldRedo = state.canRedo;
		await open(disc);
		isSwitchPending = couldRedo || state.canRedo;
		if (!isSwitchPending)
			await change("POST", path("ops", "discussion.switch"), { query: pinned(), body: { discussion: disc } },
				{ say: "" }, "discussion.switch", { discussion: disc });
	});
}

/** Renames a discussion and some of its takes, as one step. */
export async function renameDiscussion(disc: string, name: string, takes: { take: string; name: string }[]): Promise<void> {
	const ops = [{ op: "discussion.rename", discussion: disc, name }, ...takes.map((each) => ({ op: "take.rename", ...each }))];
	await inTurn(() => change("POST", path("discussions", disc, "batch"), { body: { ops } }, { say: doneSentence("discussion.rename") }, "batch", { ops }));
}

/** Sets a property that is used in the list of discussions; null: the default. */
export async function setListed(disc: string, key: "pinned" | "archived" | "tags", value: true | string[] | null, say: string, was: true | string[] | null = null): Promise<void> {
	const isHere = disc === state.disc; // undo applies to the open discussion
	const done = await inTurn(() => change("POST", path("ops", "setting.set"), { query: { discussion: disc }, body: { key, value } },
		{ say: isHere ? say : "" }, "setting.set", { key, value }));
	if (done && !isHere)
		notify({ text: say, action: { label: "Undo", run: () => void setListed(disc, key, was, "Undone.", value) } });
}

export async function deleteDiscussion(disc: string): Promise<void> {
	await op("discussion.delete", { discussion: disc });
}

/** Reverts the step that deleted a discussion, and opens it. */
export async function restoreDiscussion(disc: string, title: string, step: number): Promise<void> {
	await op("revert", { seq: step }, { say: `Restored “${title}”.` }, async (done) => {
		if (done && !done.unchanged)
			await open(disc);
	});
}

export async function extract(entry: string): Promise<void> {
	await op("discussion.extract", { entry }, {}, followDiscussion);
}

// ---- project ----

export async function addRole(role: string): Promise<void> {
	await op("role.add", { role });
}

export async function removeRole(role: string): Promise<void> {
	await op("role.remove", { role });
}

export async function setSetting(key: string, value: unknown, quiet = false): Promise<void> {
	const isOwn = (state.settings?.own as string[] | undefined)?.includes(key);
	await op("setting.set", { key, value, ...(isOwn && { of: "discussion" }) }, { say: quiet ? "" : settingMessage(key, value) });
}

const LONGEST_VALUE = 60;

/** "Model: openai/gpt-5."; long values are not repeated. */
function settingMessage(key: string, value: unknown): string {
	const name = key.charAt(0).toUpperCase() + key.slice(1).replace(/_/g, " ");
	if (value === null)
		return `Reset ${name} to the default.`;
	const text = value === true ? "on" : value === false ? "off" : String(value);
	return typeof value === "object" || text.length > LONGEST_VALUE || text.includes("\n") ? `${name}: saved.` : `${name}: ${text}`;
}

/** Resolves when the last draft is stored. */
let pendingDraft: Promise<void> = Promise.resolve();

/** Stores an unsent draft with its discussion when the user leaves it. */
export function leaveDraft(disc: string, take: string | null, text: string): Promise<void> {
	if (!may("edit"))
		return Promise.resolve(); // only this browser keeps it
	return pendingDraft = writeDraft(disc, take, text);
}

async function writeDraft(disc: string, take: string | null, text: string): Promise<void> {
	requestStarted();
	let seq: number | undefined;
	try {
		seq = (await post<Result>(path("ops", "setting.set"), { key: "draft", value: text || null },
			{ query: { discussion: disc, take } })).seq;
	} catch {
		// the browser still has a copy
	} finally {
		requestEnded(seq);
	}
}

// ---- history ----

/** Description of the next step to undo or redo: "edited an entry"; "": not in the loaded history. */
export async function nextStepWords(direction: Direction): Promise<string> {
	const next = nextStep(await nearSteps(), direction);
	return next ? fullWords(next) : "";
}

interface Moved {
	done: Result;
	steps: Step[];
}

/** Sends one undo or redo, provided that the history is unchanged. Returns the affected steps; null: it failed and
 * the failure was reported. */
async function undoOrRedoOnce(direction: Direction, count: number, seen: HistorySnapshot): Promise<Moved | null> {
	const fields = { keep_draft: true, ...(count > 1 ? { count } : {}) };
	const done = await change("POST", path("ops", direction), { query: pinned(), body: fields },
		{ say: "", ifMatch: seen.tag, throwsStale: true }, direction, fields);
	if (!done || done.unchanged)
		return null;
	return { done, steps: await movedSteps(done.move_seq ?? done.seq, seen.steps).catch(() => []) };
}

/** Opens what undo or redo affected: a restored discussion, or the take of the step. If the visible discussion
 * disappeared, returns to where it was created. */
async function showMoved(steps: Step[], known: Set<string>, shown: string | null): Promise<void> {
	const exists = (disc?: string | null) => state.discussions.some((each) => each.id === disc);
	const from = shown && !exists(shown) ? openedFrom.get(shown) : undefined;
	if (from && exists(from.disc))
		return open(from.disc, from.take);
	const made = state.discussions.find((each) => !known.has(each.id));
	if (made)
		return open(made.id);
	const take = await takeElsewhere(steps.find(isCounted));
	if (take)
		await openNear(take);
}

/** What to do with a given history. */
interface Plan {
	/** Number of steps, as the user counts them. */
	count: number;
	/** Message afterwards; "": list the steps. */
	words: string;
}

/** Undo while a reply of this page is arriving stops the reply and undoes it with its question. Changes that
 * others made in the meantime are kept. null: no reply is arriving. */
async function planStop(): Promise<((seen: HistorySnapshot) => Promise<Plan>) | null> {
	const begun = startedHere();
	if (!begun)
		return null;
	// this order matters: if the step of the question exists, the run knows it
	const newest = nextStep(await nearSteps(), "undo");
	const run = begun.question ? begun : await get<Run>(path("runs", begun.run)).catch(() => begun);
	const asked = await runStepCount(run, newest);
	if (asked === null)
		return null;
	const end = await stopToEnd(run.run);
	if (!end)
		return async () => ({ count: 0, words: "The reply could not be stopped. Nothing was undone." });
	return async (seen) => {
		const since = seen.steps.filter((each) => !each.undone && isCounted(each) && each.seq > (newest?.seq ?? 0));
		const own = await Promise.all(since.map((each) => isStepOfRun({ ...end, question: end.question ?? run.question }, each)));
		if (own.includes(false))
			return { count: 0, words: "Stopped. There were other changes in the meantime, so nothing was undone." };
		return { count: since.length + asked, words: asked ? "Stopped, and the question was undone." : "Stopped, and the reply was undone." };
	};
}

/** Reports that another change came first, after that change is visible; otherwise its rows would replace the
 * message. upto: the last step that was visible before. */
async function reportOtherChange(direction: Direction, seen: HistorySnapshot | null, upto: number): Promise<void> {
	const next = seen && direction === "undo" ? nextStep(seen.steps, direction) : undefined;
	const words = next && next.seq > upto && await fullWords(next);
	if (seen)
		await waitForSeq(seen.seq);
	notify({ text: `Another change was made first${words ? ` (${words})` : ""}, so nothing was ${direction === "undo" ? "undone" : "redone"}.` });
}

/** Undoes or redoes the planned steps. Retries when other steps are added in between, but never affects steps of
 * others. shown: the last step that was visible at the request. null: it failed and the failure was reported. */
async function undoOrRedoPlanned(direction: Direction, plan: (seen: HistorySnapshot) => Promise<Plan>, shown: number): Promise<(Moved & Plan) | null> {
	let planned: string | null = null, seen: HistorySnapshot | null = null, upto = shown;
	for (let i = 0; i < MAX_TRIES; i++) {
		seen = await readSnapshot();
		if (!seen)
			break;
		upto ||= seen.seq;
		const { count, words } = await plan(seen), now = stepSeqs(seen.steps, direction, count);
		if (count === 0) {
			notify({ text: words });
			return null;
		}
		const hasForeign = planned === null ? now.some((seq) => seq > upto) : now.join() !== planned;
		if (hasForeign)
			break;
		planned = now.join();
		try {
			const moved = await undoOrRedoOnce(direction, count, seen);
			return moved && { ...moved, count, words };
		} catch (error) {
			if (!isStale(error))
				throw error;
		}
	}
	await reportOtherChange(direction, seen, upto);
	return null;
}

async function undoOrRedo(direction: Direction, wanted: number): Promise<void> {
	const isUndo = direction === "undo";
	await inTurn(async () => {
		await pendingDraft;
		const stopped = isUndo ? await planStop() : null, known = new Set(state.discussions.map((each) => each.id)), shown = state.disc;
		// the text of a stopped reply may not be visible yet
		const moved = stopped ? await undoOrRedoPlanned(direction, stopped, 0) : await undoOrRedoPlanned(direction, async () => ({ count: wanted, words: "" }), shownSeq());
		if (!moved)
			return;
		const { count, steps } = moved, words = await movedWords(steps, count);
		await showMoved(steps, known, shown).catch(() => undefined);
		notify({
			text: moved.words || (isUndo ? "Undone" : "Redone") + (words ? `: ${words}.` : count > 1 ? `: ${count} steps.` : "."),
			action: isUndo ? { label: "Redo", run: () => void redo(count) } : undoAction,
		}, moved.done.seq);
	}).catch(sayProblem);
}

export function undo(count = 1): Promise<void> {
	return undoOrRedo("undo", count);
}

export function redo(count = 1): Promise<void> {
	return undoOrRedo("redo", count);
}

/** Jumps to the state after a step. Undo would undo that step and not the jump, so the way back is another jump to
 * the previous row. */
export async function jump(to: number, where: { shown?: string; back?: string } = {}): Promise<void> {
	const seen = state.take;
	const done = await op("jump", { to }, { say: "" });
	if (!done || done.unchanged)
		return;
	// opens the take that was visible in that state; on the way back, the take that was open before
	const take = where.back ?? where.shown;
	if (take && state.take !== take && state.takes.some((each) => each.id === take))
		await show(state.disc!, take);
	if (where.back) {
		notify({ text: "Returned to the previous state." }, done.seq);
		return;
	}
	notify({
		text: [`This is the state after step ${to}.`, done.note].filter(Boolean).join(" "),
		action: { label: "Return to the previous state", run: () => void jump(done.seq - 1, { back: seen ?? undefined }) },
	}, done.seq);
}

/** Opens the take that the step changed, at the entry that it removed or changed; otherwise the result would not be visible. */
export async function revert(step: Step, entry?: string): Promise<void> {
	const others = step.take && state.takeCount > 1 ? " Other takes are unchanged." : "";
	await op("revert", { seq: step.seq }, { say: `Reverted that step.${others}` }, async (done) => {
		const take = done && !done.unchanged && await takeElsewhere(step).catch(() => null);
		if (entry && state.outline && placeOf(state.outline, entry) >= 0)
			showEntry(entry, false);
		if (!take)
			return;
		const was = state.take, left = takeOf(was), name = left && takeTitle(left);
		await openNear(take);
		notify({ text: `Reverted that step in the take “${takeNamed(step.take!.name)}”, which is open now.${others}`, action: undoAction,
			...(was && name && was !== state.take && { repair: { label: `Back to “${oneLine(name, 24)}”`, run: () => void switchTake(was) } }) }, done.seq);
	});
}

// ---- files, runs ----

/** fallback: the name of a discussion that has none in the file. */
export async function importFile(file: Blob, name?: string, fallback?: string): Promise<{ entries: number } | null> {
	const after = shownSeq();
	requestStarted();
	try {
		const done = await post<Result & { entries: number; discussions: number }>("/import", undefined,
			{ raw: file, query: { name, fallback } });
		importedHere(after, done.seq);
		await reload();
		await followDiscussion(done);
		say(done.entries ? `Imported ${done.entries} entries.` : "Nothing to import: all entries already exist.", !!done.entries, done.seq);
		return done;
	} catch (error) {
		sayProblem(error);
		return null;
	} finally {
		requestEnded(undefined);
	}
}

/** Starts a model in the open take. null: it could not start, which was reported with a retry button (retry: what
 * the button does). steps: number of steps that form one action with the reply. */
export async function run(wish: RunWish, retry: () => void = () => void run(wish), steps = 1, restore?: () => void): Promise<Run | null> {
	set({ toast: null });
	try {
		return await inTurn(async () => {
			if (isSwitchPending)
				await sendPendingSwitch();
			return startRun(wish, steps, restore && { restore, retry });
		});
	} catch (error) {
		if (wish.how === "continue" && error instanceof Problem && error.body.run !== undefined) {
			notify({ text: "This reply is already being continued. It is shown below the entry; Esc stops it." });
			return null;
		}
		set({ toast: modelProblem((error as Error).message, error instanceof Problem ? error.code : "", { label: "Try again", run: retry }) });
		return null;
	}
}

/** Stops all replies in the open take; false: there were none. */
export function stopReplies(): boolean {
	const here = ownRuns(state.runs);
	for (const each of here)
		void stopRun(each.run).catch(sayProblem);
	return here.length > 0;
}

/** Predicts the side effects of operations. */
export async function advise(ops: Op[]) {
	return post<{ advice: Advice[]; resent_tokens: number }>(discPath("advice"),
		{ ops }, { query: { take: state.take } });
}
