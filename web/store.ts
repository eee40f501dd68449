// SPDX-License-Identifier: MIT
//
// Store: loads data from the server into the state, and keeps it current as rows of the history
// arrive (live.ts receives them, actions.ts causes them).
//
// An outline has the seq at which it was read. Newer rows that arrived in the meantime are applied
// to it again, so that no change is lost between request and response.
import { get, path, request, SHARED } from "./api";
import { lastTexts, linkedPlace, rememberPlace } from "./place";
import { filtered, lastOf, outlineOf, placeOf, refreshed, spliced, touched, withEntries } from "./outline";
import { isOfOne, NO_SETTINGS, readAccount } from "./rights";
import { set, state } from "./state";
import { takeTitle } from "./words";
import type { Outline } from "./outline";
import type {
	Change, Columns, Discussion, Entry, EntryWindow, Fork, Info, Settings, Take,
} from "./types";

const WINDOW = 60, MANY_STALE = 2000, REMEMBERED = 500, MOST_TAKES = 200;
let recent: Change[] = [];
let appliedSeq = 0;
const waiting: { seq: number; done: () => void }[] = [];

/** Query parameters that name the visible discussion and take. */
export function pinned(): { discussion: string; take: string } {
	return { discussion: state.disc ?? "", take: state.take ?? "" };
}

export function discPath(...more: (string | number)[]): string {
	return path("discussions", state.disc ?? "", ...more);
}

/** Cache of the positions that pass the role filter; null: all. */
let lastFilter: { outline: Outline; role: string | null; rows: number[] | null } | null = null;
export function shownRows(): number[] | null {
	const outline = state.outline ?? state.last, role = state.outline ? state.roleFilter : null;
	if (!outline)
		return null;
	if (lastFilter?.outline !== outline || lastFilter.role !== role)
		lastFilter = { outline, role, rows: filtered(outline, role) };
	return lastFilter.rows;
}

export function takeOf(id: string | null): Take | undefined {
	return state.takes.find((take) => take.id === id);
}

/** The displayed name of the open discussion's take with this name. */
export function takeNamed(name: string): string {
	const take = state.takes.find((each) => each.name === name);
	return take ? takeTitle(take) : name;
}

/** A text of the server with the displayed names of this discussion's takes. */
export function withTitles(text: string): string {
	return text.replace(/"([^"]+_take_\d+)"/g, (_, name) => `"${takeNamed(name)}"`);
}

export function discussionOf(id: string | null): Discussion | undefined {
	return state.discussions.find((discussion) => discussion.id === id);
}

// ---- opening ----

export function linkTo(entry: string): string {
	return `${location.origin}/#/d/${state.disc}/t/${state.take}/e/${entry}`;
}

let opening = 0;

/** The first takes, and `take` if it is not among them: there may be very many. */
function readTakes(disc: string, take?: string | null): Promise<Take[]> {
	return get<Take[]>(path("discussions", disc, "takes"), { count: MOST_TAKES, with: take });
}

/** Finds a take by name or id, even if it is not among the loaded ones. */
export async function findTake(wanted: string, disc = state.disc): Promise<Take | undefined> {
	return (await get<Take[]>(path("discussions", disc ?? "", "takes"), { count: 0, with: wanted }))[0];
}

/** Waits for `after` first: parsing the large response blocks rendering. */
async function readColumns(disc: string, take: string, after: Promise<unknown> | null): Promise<Columns> {
	await after;
	return get<Columns>(path("discussions", disc, "tree"), { columns: 1, preview: 0, take, bare: 1 });
}

const HIDDEN_TIMEOUT_MS = 200;

/** Resolves after the next rendering, or after a timeout in a hidden window. */
function afterRender(): Promise<void> {
	return new Promise((done) => {
		setTimeout(done, HIDDEN_TIMEOUT_MS);
		requestAnimationFrame(() => setTimeout(done));
	});
}

/** Reads the texts that are shown first; without a take, those of the active one. */
async function readLast(disc: string, take: string | undefined, mine: number): Promise<EntryWindow | null> {
	const window = await get<EntryWindow>(...lastTexts(disc, take)).catch(() => null);
	// reading the columns of a long take is slow: show the texts first
	if (window && window.from > 0 && mine === opening && state.outline === null) {
		set({ last: lastOf(window, disc, take ?? ""), bodies: new Map(window.entries.map((entry) => [entry.id, entry])) });
		await afterRender();
	}
	return window;
}

/** Opens a discussion and one of its takes (ids; by default the active take). */
export async function open(disc: string, take?: string, at?: string): Promise<void> {
	const mine = ++opening, was = state.focus;
	const isShown = (id: string | undefined) => state.disc === disc && state.take === id;
	let texts = at || isShown(take) ? null : readLast(disc, take, mine);
	// the take usually still exists: request its columns before the list of takes arrives
	const early = take ? readColumns(disc, take, texts).catch(() => null) : null;
	const [takes, about, settings] = await Promise.all([
		readTakes(disc, take),
		request<About>("GET", path("discussions", disc)),
		readSettings(disc),
	]);
	const found = takes.find((each) => each.id === take) ?? takes.find((each) => each.id === about.data.take.id) ?? takes[0];
	const isOther = state.disc !== disc || state.take !== found.id;
	if (texts && found.id !== take && (take || (await texts)?.take !== found.name))
		texts = isOther ? readLast(disc, found.id, mine) : null;
	const columns = (found.id === take ? await early : null) ?? await readColumns(disc, found.id, texts);
	const last = await texts;
	if (mine !== opening)
		return;
	// where the user has moved since, otherwise the requested entry
	const wanted = state.focus !== was ? state.focus : at;
	const isLeft = state.disc !== null && state.disc !== disc && discussionOf(state.disc) !== undefined;
	set({
		disc, take: found.id, takes, takeCount: about.data.takes, settings, discTag: about.tag,
		head: headOf(found, about.data, columns), ...timeOf(about.data),
		...(isOther ? { editing: null, anchor: null, isSelecting: false, focus: null, bodies: new Map(), tags: new Map() } : {}),
		...(state.disc !== disc ? { roleFilter: null, forks: new Map(), differ: new Set() } : {}),
	});
	setOutline(outlineOf(columns, found.id));
	set({ behind: headBeforeEnd() });
	if (last && last.seq >= columns.seq)
		keepBodies(last.entries, last.etags ?? {});
	if (wanted && placeOf(state.outline!, wanted) >= 0)
		set({ focus: wanted });
	rememberPlace(disc, found.id, isLeft);
	scheduleForks(isOther ? 0 : FORKS_MS);
}

function readSettings(disc: string): Promise<Settings> {
	return isOfOne() ? Promise.resolve(NO_SETTINGS) : get<Settings>(path("discussions", disc, "settings"));
}

/** GET /discussions/{d}. */
interface About {
	head: string | null;
	take: { id: string };
	takes: number;
	can_undo: boolean;
	can_redo: boolean;
}

function timeOf(about: About): { canUndo: boolean; canRedo: boolean } {
	return { canUndo: about.can_undo, canRedo: about.can_redo };
}

function headOf(take: Take, about: About,
		columns?: Columns): string | null {
	if (about.take.id === take.id)
		return about.head;
	const ids = columns?.id ?? state.outline?.id ?? [];
	return ids.length ? ids[ids.length - 1] : null;
}

/** Only updated when the head is read: added entries appear before that. */
function headBeforeEnd(): string | null {
	const at = state.outline ? placeOf(state.outline, state.head) : -1;
	return at >= 0 && at < state.outline!.id.length - 1 ? state.head : null;
}

/** Sets an outline that was read, and applies rows that arrived in the meantime. */
function setOutline(outline: Outline): void {
	const missed = recent.filter((change) => change.seq > outline.seq);
	appliedSeq = Math.max(appliedSeq, outline.seq);
	let now = outline;
	for (const change of missed)
		now = applied(now, change);
	dropBodies(now.stale);
	set({ outline: now, last: null });
	settle(outline.seq);
}

/** Reads everything again: at the start, after a reset or a long disconnection. */
export async function reload(): Promise<void> {
	recent = [];
	appliedSeq = settledSeq = 0;
	const wanted = linkedPlace(), account = readAccount();
	if (SHARED !== null)
		await account; // decides which requests are possible
	// the last place usually still exists: open it while the rest is being read
	const early = state.disc === null && wanted.disc
		? open(wanted.disc, wanted.take, wanted.entry).catch(() => undefined) : undefined;
	const informed = Promise.all([get<Info>("/info").then((info) => set({ info })), account]);
	informed.catch(() => undefined); // it may fail while the discussions are being read: awaited below
	const discussions = await Promise.all([get<Discussion[]>("/discussions"), early]).then((both) => both[0], async (error) => {
		await informed.catch(() => undefined);
		throw error;
	});
	const exists = discussions.some((each) => each.id === state.disc);
	if (early && exists && state.outline) {
		await informed;
		set({ discussions, version: state.version + 1 });
		return;
	}
	const disc = discussions.find((each) => each.id === (state.disc ?? wanted.disc)) ??
		discussions.find((each) => each.active) ?? discussions[0];
	set({ discussions, version: state.version + 1, bodies: new Map(), tags: new Map() });
	const take = state.take ?? (disc.id === wanted.disc ? wanted.take : undefined);
	await Promise.all([informed, open(disc.id, take, state.disc === null ? wanted.entry : undefined)]);
}

// ---- texts ----

const loadingRows = new Set<string>();
const RETRIES = 3;

/** Loads missing texts of rows from..to. Called while scrolling; cheap if there are none. */
export function loadRows(from: number, to: number): void {
	const outline = state.outline;
	if (!outline)
		return;
	let first = -1, last = -1;
	for (let at = Math.max(0, from); at < Math.min(to, outline.id.length); at++) {
		const id = outline.id[at];
		if (state.bodies.has(id) && !outline.stale.has(id))
			continue;
		if (loadingRows.has(id))
			continue;
		if (first < 0)
			first = at;
		last = at;
	}
	if (first < 0)
		return;
	const ids = outline.id.slice(first, last + 1);
	for (const id of ids)
		loadingRows.add(id);
	void loadWindow(outline.discussion, outline.take, first, last - first + 1, RETRIES)
		.catch(() => undefined)
		.finally(() => {
			for (const id of ids)
				loadingRows.delete(id);
		});
}

function readWindow(disc: string, take: string, from: number, count: number): Promise<EntryWindow> {
	return get<EntryWindow>(path("discussions", disc, "entries"),
		{ take, from, count: Math.max(count, 1), tags: 1, blocks: 1 });
}

async function loadWindow(disc: string, take: string, from: number, count: number,
		tries: number): Promise<void> {
	const window = await readWindow(disc, take, from, count);
	if (state.disc !== disc || state.take !== take)
		return;
	if (window.seq < appliedSeq && tries > 0)
		return loadWindow(disc, take, from, count, tries - 1); // older than the visible state
	keepBodies(window.entries, window.etags ?? {});
}

function keepBodies(entries: Entry[], etags: Record<string, string>): void {
	const bodies = new Map(state.bodies), tags = new Map(state.tags);
	const outline = state.outline;
	const stale = new Set(outline?.stale);
	for (const entry of entries) {
		bodies.set(entry.id, entry);
		if (etags[entry.id])
			tags.set(entry.id, etags[entry.id]);
	}
	if (outline && entries.some((entry) => stale.has(entry.id)))
		set({ outline: withEntries(outline, entries) });
	set({ bodies, tags });
}

function dropBodies(ids: ReadonlySet<string>): void {
	if (![...ids].some((id) => state.tags.has(id)))
		return;
	const tags = new Map(state.tags);
	for (const id of ids)
		tags.delete(id);
	set({ tags }); // the old text stays visible until the new one is loaded
}

/** Reads the current version of an entry and its tag. */
export async function readEntry(id: string): Promise<{ entry: Entry; tag: string | null }> {
	const answer = await request<Entry>("GET", discPath("entries", id),
		{ query: { take: state.take, blocks: 1 } });
	keepBodies([answer.data], answer.tag ? { [id]: answer.tag } : {});
	return { entry: answer.data, tag: answer.tag };
}

// ---- rows of the history ----

function applied(outline: Outline, change: Change): Outline {
	let now = outline;
	for (const splice of change.splices ?? [])
		if (splice.discussion === outline.discussion && splice.take === outline.take &&
		    splice.at !== undefined)
			now = spliced(now, splice);
	if (change.entries?.length)
		now = touched(now, change.entries);
	return { ...now, seq: change.seq };
}

/** A row arrived. */
export function take(change: Change): void {
	recent.push(change);
	if (recent.length > REMEMBERED)
		recent = recent.slice(-REMEMBERED / 2);
	const outline = state.outline;
	if (outline && change.seq > outline.seq) {
		const isRemade = change.whole || (change.splices ?? []).some((splice) =>
			splice.discussion === state.disc && (!splice.take || splice.take === state.take) &&
			splice.at === undefined);
		if (isRemade) {
			needsOpening = true;
		} else {
			const now = applied(outline, change);
			dropBodies(now.stale);
			set({ outline: now });
		}
	}
	appliedSeq = Math.max(appliedSeq, change.seq);
	set({ version: state.version + 1 });
	refreshSoon(change);
}

let needsOpening = false, needsSettings = false, needsForks = false;
let refreshTimer: number | undefined;
const REFRESH_MS = 25, RETRY_MS = 1000;

function refreshSoon(change: Change | null): void {
	needsSettings ||= !!change?.whole || !!change?.project || !!change?.fields?.length;
	needsForks ||= !!change?.whole || !!change?.splices?.length || !!change?.takes?.length;
	clearTimeout(refreshTimer);
	refreshTimer = window.setTimeout(refreshNow, REFRESH_MS);
}

let isRefreshing = false;

/** Runs one refresh at a time, so that responses cannot overtake each other. */
function refreshNow(): void {
	if (isRefreshing) {
		refreshTimer = window.setTimeout(refreshNow, REFRESH_MS);
		return;
	}
	isRefreshing = true;
	const needed: [boolean, boolean, boolean] = [needsOpening, needsSettings, needsForks];
	void refresh().catch(() => refreshAgain(...needed)).finally(() => { isRefreshing = false; });
}

/** A request failed. Without a connection everything is read again anyway when it is back. */
function refreshAgain(opens: boolean, settings: boolean, forks: boolean): void {
	needsOpening ||= opens;
	needsSettings ||= settings;
	needsForks ||= forks;
	clearTimeout(refreshTimer);
	if (state.connection === "live")
		refreshTimer = window.setTimeout(refreshNow, RETRY_MS);
}

/** Reloads small data that may have changed: lists, head, the discussion's tag. */
async function refresh(): Promise<void> {
	const opens = needsOpening, settings = needsSettings, forks = needsForks;
	needsOpening = needsSettings = needsForks = false;
	const seq = appliedSeq;
	const discussions = await get<Discussion[]>("/discussions");
	set({ discussions });
	if (!discussions.some((each) => each.id === state.disc)) {
		const next = discussions.find((each) => each.active) ?? discussions[0];
		await open(next.id);
	} else if (opens) {
		await open(state.disc!, state.take ?? undefined);
		// the change was too large to be described: every text may have changed
		set({ outline: touched(state.outline!, [...state.bodies.keys()]), tags: new Map() });
	} else {
		await refreshOpen(settings);
	}
	await refreshStale();
	if (forks)
		scheduleForks();
	settle(seq);
}

async function refreshOpen(withSettings: boolean): Promise<void> {
	const disc = state.disc!;
	const [takes, about, settings] = await Promise.all([
		readTakes(disc, state.take),
		request<About>("GET", path("discussions", disc)),
		withSettings ? readSettings(disc) : Promise.resolve(null),
	]);
	if (state.disc !== disc)
		return;
	const mine = takes.find((each) => each.id === state.take);
	if (!mine) {
		await open(disc);
		return;
	}
	set({ takes, takeCount: about.data.takes, discTag: about.tag, head: headOf(mine, about.data), ...timeOf(about.data), ...(settings ? { settings } : {}) });
	set({ behind: headBeforeEnd() });
}

/** Reloads the columns of rows that were changed or added, except where their texts are loaded anyway. */
async function refreshStale(): Promise<void> {
	const outline = state.outline;
	if (!outline || outline.stale.size === 0)
		return;
	const rows = [...outline.stale].map((id) => placeOf(outline, id)).filter((at) => at >= 0);
	if (rows.length === 0) {
		set({ outline: { ...outline, stale: new Set() } });
		return;
	}
	const from = rows.reduce((a, b) => Math.min(a, b)), to = rows.reduce((a, b) => Math.max(a, b));
	const disc = outline.discussion, takeId = outline.take;
	if (to - from < MANY_STALE) {
		// for a short range the texts are loaded, too; loadRows() loads others when they become visible
		const few = to - from < WINDOW;
		if (few)
			await loadWindow(disc, takeId, from, to - from + 1, RETRIES);
	}
	const columns = await get<Columns>(path("discussions", disc, "tree"), {
		columns: 1, preview: 0, take: takeId, bare: 1,
		...(to - from < MANY_STALE ? { from, count: to - from + 1 } : {}),
	});
	const now = state.outline;
	if (now && now.discussion === disc && now.take === takeId) {
		const gone = new Set(rows.map((at) => outline.id[at]));
		const bodies = new Map(state.bodies);
		for (const id of gone)
			if (!state.tags.has(id))
				bodies.delete(id); // outdated: loadRows() loads it again
		set({ outline: refreshed(now, columns), bodies });
	}
}

let settledSeq = 0;

function settle(upto: number): void {
	settledSeq = Math.max(settledSeq, upto);
	for (let i = waiting.length - 1; i >= 0; i--)
		if (waiting[i].seq <= upto)
			waiting.splice(i, 1)[0].done();
}

/** The last row that is visible or about to be; 0: nothing read yet. */
export function shownSeq(): number {
	return appliedSeq;
}

const EVENT_TIMEOUT_MS = 3000;

/** Waits until the page shows the effect of row `seq`. If no event arrives in time, reloads everything. */
export async function waitForSeq(seq: number): Promise<void> {
	if (seq <= settledSeq)
		return;
	if (state.connection !== "live")
		return reload();
	const hasArrived = await new Promise<boolean>((done) => {
		const timer = setTimeout(() => done(false), EVENT_TIMEOUT_MS);
		waiting.push({ seq, done: () => { clearTimeout(timer); done(true); } });
	});
	if (!hasArrived)
		await reload();
}

/** Reloads small data after a reconnection. */
export function refreshAll(): void {
	needsSettings = needsForks = true;
	refreshSoon(null);
}

// ---- forks ----

const FORKS_MS = 60;
let forkTimer: number | undefined;

/** The places where other takes diverge may have changed. */
function scheduleForks(wait_ms = FORKS_MS): void {
	clearTimeout(forkTimer);
	if (state.takeCount >= 2)
		forkTimer = window.setTimeout(() => void readForks().catch(() => undefined), wait_ms);
	else if (state.forks.size > 0 || state.differ.size > 0)
		set({ forks: new Map(), differ: new Set() });
}

async function readForks(): Promise<void> {
	const { disc, take } = state;
	const { forks, differ } = await get<{ forks: Fork[]; differ: string[] }>(path("discussions", disc!, "forks"), { take });
	if (state.disc === disc && state.take === take)
		set({ forks: new Map(forks.map((fork) => [fork.entry, fork])), differ: new Set(differ) });
}
