// SPDX-License-Identifier: MIT
//
// Discussions: the list on the left and the actions on each discussion.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get, path } from "./api";
import { Cut } from "./cut";
import { DeletedList } from "./deleted";
import { askLine } from "./dialog";
import { CloseDrawer } from "./drawer";
import { focusComposerAfter } from "./focus";
import { Menu } from "./menu";
import { beginDiscussion, newDiscussion } from "./pane_verbs";
import { openOverlay } from "./panes";
import { allowed, may, mayManage } from "./rights";
import { Projects } from "./projects";
import { set, state, useStore } from "./state";
import { askDeleteDiscussion } from "./tabs";
import { openSample } from "./welcome";
import { count, shortDate, titleOf, whenFull } from "./words";
import type { MenuItem } from "./menu";
import type { Discussion, Take } from "./types";

const MOST = 300, MOST_TAGS = 24, MOST_UNFILTERED = 5;

async function rename(each: Discussion): Promise<void> {
	const name = await askLine("Rename the discussion", titleOf(each), { yes: "Rename" });
	if (!name?.trim() || name === titleOf(each))
		return;
	// takes named after the discussion are renamed with it
	const takes = await get<Take[]>(path("discussions", each.id, "takes")).catch(() => []);
	await act.renameDiscussion(each.id, name.trim(), takes.filter((take) => (take.base ?? take.name) === each.name)
		.map((take) => ({ take: take.id, name: name.trim() + take.name.slice(each.name.length) })));
}

function choose(disc: string): void {
	set({ drawer: null });
	void focusComposerAfter(act.switchDiscussion(disc));
}

/** Number of entries: of the open discussion in the visible take, of others in their active take. */
function sizeOf(each: Discussion, shownCount = each.entries): string {
	return [
		...(each.archived ? ["archived"] : []), shownCount ? count(shownCount, "entry", "entries") : "empty",
		...(each.takes > 1 ? [`${each.takes} takes`] : []), ...(each.track ? [each.track] : []), ...(each.tags ?? []).map((tag) => `#${tag}`),
	].join(" · ");
}

/** The time before the size, where both fit: today's changes are in the group "Today". */
function timeOf(each: Discussion): string {
	return each.updated && !(each.takes > 1) ? `${shortDate(each.updated)} · ` : "";
}

async function askTags(each: Discussion): Promise<void> {
	const all = [...new Set(state.discussions.flatMap((other) => other.tags ?? []))];
	const line = await askLine("Tags", (each.tags ?? []).join(", "), { text: "Separated by commas. work/db is nested in work.", suggestions: all, yes: "Save" });
	if (line === null)
		return;
	const tags = [...new Set(line.split(",").map((tag) => tag.trim()).filter(Boolean))];
	await act.setListed(each.id, "tags", tags.length ? tags : null, "Changed the tags.", each.tags?.length ? each.tags : null);
}

/** All tags including their parents. */
function allTags(all: Discussion[]): string[] {
	const tags = new Set<string>();
	for (const tag of all.flatMap((each) => each.tags ?? []))
		tag.split("/").forEach((_, at, parts) => tags.add(parts.slice(0, at + 1).join("/")));
	return [...tags].sort((a, b) => a.localeCompare(b));
}

/** Top-level tags, and the children and siblings of the chosen one. */
function shownTags(tags: string[], chosen: string): string[] {
	return tags.filter((tag) => {
		const above = tag.split("/").slice(0, -1).join("/");
		return above === "" || chosen === above || chosen.startsWith(`${above}/`);
	});
}

function hasTag(each: Discussion, tag: string): boolean {
	return (each.tags ?? []).some((own) => own === tag || own.startsWith(`${tag}/`));
}

const DAYS_MS = 24 * 60 * 60 * 1000;

/** An empty discussion is new. Not a property of the open one: opening a discussion must not move its row. */
function isNew(each: Discussion): boolean {
	return !each.updated && !each.entries;
}

/** The group heading of a discussion. */
function groupOf(each: Discussion, today: number): string {
	const days = each.updated ? (today - new Date(each.updated).getTime()) / DAYS_MS : isNew(each) ? 0 : Infinity;
	return each.pinned ? "Pinned" : days <= 0 ? "Today" : days <= 1 ? "Yesterday" : days <= 7 ? "Previous 7 days" : days <= 30 ? "Previous 30 days" : "Older";
}

/** The first MOST by group: pinned ones, then new ones, then the most recently changed. */
function inGroups(all: Discussion[]): [string, Discussion[]][] {
	const today = new Date().setHours(0, 0, 0, 0);
	const since = (each: Discussion) => each.updated ?? (isNew(each) ? "\uffff" : "");
	const sorted = [...all].reverse().sort((a, b) => Number(b.pinned ?? false) - Number(a.pinned ?? false) || (since(a) < since(b) ? 1 : since(a) > since(b) ? -1 : 0));
	const groups = new Map<string, Discussion[]>();
	for (const each of sorted.slice(0, MOST))
		groups.set(groupOf(each, today), [...(groups.get(groupOf(each, today)) ?? []), each]);
	return [...groups];
}

function itemsOf(each: Discussion, isOnly: boolean): MenuItem[] {
	return [
		{ text: "Rename …", run: () => void rename(each) },
		{ text: each.pinned ? "Unpin" : "Pin", run: () => void act.setListed(each.id, "pinned", each.pinned ? null : true, each.pinned ? "Unpinned." : "Pinned.", each.pinned ? true : null) },
		{ text: "Tags …", run: () => void askTags(each) },
		{ text: each.archived ? "Unarchive" : "Archive", run: () => void act.setListed(each.id, "archived", each.archived ? null : true, each.archived ? "Unarchived." : "Archived.", each.archived ? true : null) },
		{ text: "Export …", needs: "read", run: () => void act.switchDiscussion(each.id).then(() => openOverlay("export")) },
		{ text: "Delete …", run: () => void askDeleteDiscussion(each.id), isOff: isOnly && "This is the only discussion", isDanger: true },
	];
}

/** The discussion without a track that was open last. */
let left: string | null = null;

/** The discussion to toggle to: from the project's discussion to a track, or back to the discussion that was left. If
 * there are several, the most recently changed. */
function otherSide(all: Discussion[], open: string | null): Discussion | undefined {
	const toTrack = !all.find((each) => each.id === open)?.track;
	return all.find((each) => !toTrack && each.id === left && !each.track) ?? all.filter((each) => !!each.track === toTrack)
		.sort((a, b) => (b.updated ?? "").localeCompare(a.updated ?? ""))[0];
}

function toggleItems(all: Discussion[], open: string | null): MenuItem[] {
	const other = otherSide(all, open);
	return other && all.some((each) => each.track)
		? [{ text: other.track ? `To the track “${other.track}”` : "Back to the discussion without a track", run: () => choose(other.id) }]
		: [];
}

function Row(props: { each: Discussion; isOpen: boolean; size: string; isOnly: boolean }) {
	const { each, isOpen, size } = props;
	return (
		<li class={isOpen ? "open" : ""}>
			<button type="button" class="name" data-disc={each.id} aria-label={`${titleOf(each)}, ${timeOf(each)}${size}`} aria-current={isOpen ? "page" : undefined}
				onClick={() => choose(each.id)} onDblClick={() => { if (may("edit")) void rename(each); }}>
				{each.title ? <span class="title" dir="auto" title={each.title}>{each.title}</span> : <Cut text={titleOf(each)} />}{" "}
				<span class="count" title={[isOpen ? "Entries in this take" : "Entries in its active take", ...(each.updated ? [`changed ${whenFull(each.updated)}`] : []), ...(titleOf(each) !== each.name ? [`named ${each.name}`] : [])].join(", ")}>
					{timeOf(each)}{size}</span>
			</button>
			<Menu label={`More for ${titleOf(each)}`} items={() => allowed(itemsOf(each, props.isOnly))}><span aria-hidden="true">⋯</span></Menu>
		</li>
	);
}

export function Discussions() {
	const all = useStore((from) => from.discussions), open = useStore((from) => from.disc);
	const outline = useStore((from) => from.outline);
	const shownCount = outline && outline.discussion === open ? outline.id.length : undefined;
	const [filter, setFilter] = useState(""), [tag, setTag] = useState(""), [isArchive, setArchive] = useState(false), [isDeleted, setDeleted] = useState(false);
	const list = useRef<HTMLUListElement>(null), had = document.activeElement;
	// an element that moves within the list loses the focus
	useLayoutEffect(() => {
		if (had instanceof HTMLElement && document.activeElement !== had && list.current?.contains(had))
			had.focus({ preventScroll: true });
	});
	const track = all.find((each) => each.id === open)?.track;
	useEffect(() => { left = track || !open ? left : open; }, [open, track]);
	const archived = all.filter((each) => each.archived).length, tags = allTags(all);
	const ofTag = tags.includes(tag) ? tag : "", inArchive = isArchive && archived > 0;
	const wanted = filter.toLowerCase();
	const shown = all.filter((each) => (inArchive ? each.archived : !each.archived || each.id === open) && (!ofTag || hasTag(each, ofTag)) &&
		[each.name, each.title, each.track, ...(each.tags ?? [])].some((text) => text?.toLowerCase().includes(wanted)));
	const groups = inGroups(shown);
	return (
		<nav class="discussions" aria-label="Discussions">
			<Projects />
			<header>
				<h2>Discussions</h2>
				<span class="space" />
				<button type="button" class="icon text" aria-label="New discussion" title="New discussion" onClick={() => void beginDiscussion()}>+ New</button>
				<Menu label="Discussions" items={() => allowed([
					{ text: "New discussion with a name …", run: () => void newDiscussion() },
					...toggleItems(all, open),
					{ text: "Import files …", run: () => openOverlay("import") },
					{ text: "Statistics …", needs: "read", run: () => openOverlay("stats") },
					...(mayManage() ? [
						{ text: "Members …", isFirstOfGroup: true, run: () => openOverlay("members") },
						{ text: "Share …", run: () => openOverlay("share") },
					] : []),
					{ text: "Load the sample", run: () => void openSample() },
					{ text: "Reset the project …", run: () => openOverlay("reset"), isFirstOfGroup: true, isDanger: true },
				])}><span aria-hidden="true">⋯</span></Menu>
				<CloseDrawer />
			</header>
			{isDeleted && <DeletedList />}
			{!isDeleted && all.length > MOST_UNFILTERED && (
				<input class="line" type="search" placeholder="Filter discussions" aria-label="Filter discussions" value={filter}
					onInput={(event) => setFilter(event.currentTarget.value)} />
			)}
			{!isDeleted && tags.length > 0 && (
				<div class="tags" role="group" aria-label="Tags">
					{shownTags(tags, ofTag).slice(0, MOST_TAGS).map((each) => (
						<button type="button" key={each} aria-pressed={each === ofTag} onClick={() => setTag(each === ofTag ? "" : each)}>#<Cut text={each} /></button>
					))}
				</div>
			)}
			<ul ref={list} aria-label="Discussions" hidden={isDeleted}>
				{groups.flatMap(([heading, group]) => [
					(groups.length > 1 || heading === "Pinned") && <li key={`group ${heading}`} class="group"><h3>{heading}</h3></li>,
					...group.map((each) => (
						<Row key={each.id} each={each} isOpen={each.id === open} isOnly={all.length < 2} size={sizeOf(each, each.id === open ? shownCount : undefined)} />
					)),
				])}
			</ul>
			{!isDeleted && shown.length === 0 && all.length > 0 && <p class="quiet">No discussion matches.</p>}
			{!isDeleted && shown.length > MOST && <p class="quiet">{shown.length - MOST} more: type in the filter.</p>}
			<footer>
				{archived > 0 && (
					<button type="button" class="icon text" aria-pressed={inArchive && !isDeleted} onClick={() => { setArchive(isDeleted || !inArchive); setDeleted(false); }}>Archived ({archived})</button>
				)}
				{may("edit") && all.length > 0 && <button type="button" class="icon text" aria-pressed={isDeleted} onClick={() => setDeleted(!isDeleted)}>Deleted</button>}
			</footer>
		</nav>
	);
}
