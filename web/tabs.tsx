// SPDX-License-Identifier: MIT
//
// Tabs: the takes of the discussion, grouped by the take they were branched from; those beyond the
// first few are in a menu. Beside them the actions on the whole take.
import { useLayoutEffect, useRef } from "preact/hooks";
import * as act from "./actions";
import { Cut } from "./cut";
import { askLine, askYes } from "./dialog";
import { hintOf } from "./keys";
import { Menu } from "./menu";
import { allowed, may } from "./rights";
import { set, state, useStore } from "./state";
import { roleName } from "./speaker";
import { discussionOf, findTake } from "./store";
import { truncate } from "./pane_verbs";
import { openOverlay } from "./panes";
import { count, takeTitle, titleOf, whenFull } from "./words";
import type { MenuItem } from "./menu";
import type { Take } from "./types";

const ONLY_TAKE = "There is only one take";
const MOST_TABS = 8, MOST_LISTED = 20, MOST_SUGGESTED = 50;

/** The take whose reply this take has an alternative for. */
function originOf(takes: Take[], take: Take): Take {
	const of = takes.find((each) => each.id === take.another_reply);
	return of && of !== take ? originOf(takes, of) : take;
}

/** Alternative replies to a question share a tab: that of the open one, or of the first. Arrows at the reply lead
 * to the others. */
function withoutReplies(takes: Take[], open: string | null): Take[] {
	const mine = takes.find((take) => take.id === open), origin = mine && originOf(takes, mine);
	return takes.map((take) => (take === origin ? mine! : take))
		.filter((take, at, all) => (take === mine ? all.indexOf(take) === at : !take.another_reply));
}

/** The replies that share a tab with this one. */
function repliesOf(takes: Take[], take: Take): Take[] {
	const origin = originOf(takes, take);
	return takes.filter((each) => originOf(takes, each) === origin);
}

/** "reply 2/3": the position that the arrows at the reply show; of a tab that is not open, the number of replies. */
function Replies(props: { take: Take; isOpen: boolean }) {
	const all = useStore((from) => from.takes), forks = useStore((from) => from.forks), outline = useStore((from) => from.outline);
	const replies = repliesOf(all, props.take), fork = props.isOpen && outline ? forks.get(outline.id[outline.id.length - 1]) : undefined;
	if (replies.length < 2)
		return null;
	const at = fork?.place ?? replies.indexOf(props.take), most = fork?.count ?? replies.length;
	return <span class="replies" title="The arrows at the reply lead to the others">{props.isOpen ? `reply ${at + 1}/${most}` : count(replies.length, "reply", "replies")}</span>;
}

/** The text of a take in a list where its name can be typed: the text of its tab, and its name if that differs. */
export function namesOf(take: Take): string {
	const called = takeTitle(take);
	return called === take.name ? take.name : `${called} (${take.name})`;
}

/** The takes with tabs: the first few, and always the open one. */
function visible(takes: Take[], open: string | null): Take[] {
	const tabs = withoutReplies(takes, open), first = tabs.slice(0, MOST_TABS);
	const mine = takes.find((take) => take.id === open);
	return mine && !first.includes(mine) ? [...first.slice(0, -1), mine] : first;
}

/** Groups takes by base. */
function grouped(takes: Take[]): Take[][] {
	const groups = new Map<string, Take[]>();
	for (const take of takes) {
		const base = take.base ?? take.name;
		groups.set(base, [...(groups.get(base) ?? []), take]);
	}
	return [...groups.values()];
}

function onTabKey(event: KeyboardEvent): void {
	const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")];
	const now = tabs.indexOf(document.activeElement as HTMLElement);
	const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
	if (next === undefined || now < 0)
		return;
	event.preventDefault();
	const tab = tabs[(next + tabs.length) % tabs.length];
	tab.focus();
	tab.click();
}

function Tab(props: { take: Take; isOpen: boolean; isFirst: boolean; isOnly: boolean }) {
	const { take, isOpen } = props;
	const tab = useRef<HTMLButtonElement>(null);
	useLayoutEffect(() => {
		if (isOpen)
			tab.current!.scrollIntoView({ block: "nearest", inline: "nearest" });
	}, [isOpen]);
	const entries = count(take.entries, "entry", "entries"), called = takeTitle(take);
	const about = [take.name, entries, ...(take.preview ? [take.preview] : [])].join(", ");
	// a name is shown only if there are several takes, or if the user chose it
	const isNameless = props.isOnly && (take.name === "main" || take.name === discussionOf(state.disc)?.name);
	return (
		<button type="button" role="tab" ref={tab} class={"tab" + (props.isFirst ? " first" : "")} aria-selected={isOpen} tabIndex={isOpen ? 0 : -1}
			aria-controls="take" aria-label={`${called}, ${entries}${take.active && !isOpen ? ", the active take in other programs" : ""}`} title={about} data-take={take.id}
			onClick={() => void act.switchTake(take.id)} onDblClick={() => { if (may("edit")) void rename(take); }}>
			{isNameless ? entries : <><span class="name"><Cut text={called} title={about} /></span> <span class="count">{take.entries.toLocaleString()}</span></>}{" "}
			<Replies take={take} isOpen={isOpen} />
			{take.active && !isOpen && <span class="dot" title="The active take in other programs" />}
		</button>
	);
}

export async function rename(take: Take): Promise<void> {
	const name = await askLine("Rename the take", takeTitle(take), { yes: "Rename" });
	if (name && name !== take.name && name !== takeTitle(take))
		await act.renameTake(take.id, name);
}

export async function promote(take: Take): Promise<void> {
	const name = await askLine("Make it a discussion", takeTitle(take), { text: "Name of the new discussion. The take is moved out of this one." });
	if (name)
		await act.promote(take.id, name);
}

export async function newTake(): Promise<void> {
	const ids = state.outline?.id ?? [];
	if (ids.length === 0)
		return act.say("A take starts at an entry: write one first.", false);
	const name = await askLine("New take", "", { text: "Starts with all entries of this take. Name (optional)", yes: "Create" });
	if (name !== null)
		await act.branch(ids[ids.length - 1], name.trim() || undefined);
}

/** Chooses among very many takes by name. */
async function pickTake(takes: Take[]): Promise<void> {
	const name = await askLine("Another take", "", { suggestions: takes.slice(0, MOST_SUGGESTED).map((take) => take.name) });
	const found = name ? await findTake(name) : undefined;
	if (found)
		await act.switchTake(found.id);
	else if (name)
		act.say(`There is no take “${name}”.`, false);
}

async function compress(): Promise<void> {
	const words = await askLine("Compress", "", { text: "The model writes a summary that replaces the entries of this take. What should it focus on? (optional)" });
	if (words !== null)
		await act.run({ how: "compress", ...(words ? { instructions: words } : {}) });
}

/** Adds what another take concluded as an entry of this one. */
async function mergeTake(takes: Take[], mine: Take): Promise<void> {
	const others = takes.filter((take) => take !== mine);
	const name = others.length === 1 ? others[0].name : await askLine("Merge a take", takes.length === state.takeCount ? others[0].name : "", {
		text: "The model summarises the conclusions of the other take after the point where the two diverge. The summary becomes an entry here. Which take?",
		...(takes.length === state.takeCount ? { choices: others.map((take): [string, string] => [take.name, namesOf(take)]) }
			: { suggestions: others.slice(0, MOST_SUGGESTED).map((take) => take.name) }),
	});
	const found = name ? others.find((take) => take.name === name) ?? await findTake(name) : undefined;
	if (found)
		await act.run({ how: "merge", from_take: found.id });
	else if (name)
		act.say(`There is no take “${name}”.`, false);
}

/** When it was last changed, and the git commit at that time. */
function changeOf(take: Take): string {
	return [
		...(take.last_updated ? [`Changed ${whenFull(take.last_updated)}`] : []),
		...(take.git_commit ? [`git ${take.git_commit.slice(0, 10)}`] : []),
	].join(", ");
}

function takeItems(takes: Take[], mine: Take): MenuItem[] {
	const shown = visible(takes, mine.id), rest = withoutReplies(takes, mine.id).filter((take) => !shown.includes(take));
	return [
		{ text: "New take …", run: () => void newTake() },
		{ text: "Rename …", run: () => void rename(mine) },
		{ text: "Compare takes …", needs: "read", run: () => openOverlay("compare"), isOff: takes.length < 2 && ONLY_TAKE },
		{ text: "Merge a take …", run: () => void mergeTake(takes, mine), isOff: takes.length < 2 && ONLY_TAKE },
		{ text: "Make it a discussion …", run: () => void promote(mine), isOff: takes.length < 2 && ONLY_TAKE },
		{ text: "Collapse all", run: () => void act.collapseAll(true), isFirstOfGroup: true },
		{ text: "Expand all", run: () => void act.collapseAll(false) },
		{ text: "Delete the take", run: () => void act.deleteTake(mine.id), isOff: takes.length < 2 && ONLY_TAKE, isDanger: true, isFirstOfGroup: true },
		{ text: "Add an entry", hint: hintOf("compose"), run: () => void act.append(state.settings?.roles[0] ?? "User", ""), heading: "Entries" },
		{ text: "Roles …", run: () => openOverlay("roles") },
		{ text: "Truncate …", run: () => void truncate() },
		{ text: "Compress …", run: () => void compress() },
		{ text: "Clear", run: () => void act.clear(), isDanger: true },
		...(changeOf(mine) ? [{ text: changeOf(mine), run: () => undefined, isOff: true, isFirstOfGroup: true }] : []),
		...(rest.length > MOST_LISTED ? [{ text: "Another take …", needs: "open" as const, run: () => void pickTake(rest), heading: "Other takes" }] : []),
		...rest.slice(0, MOST_LISTED).map((take, at) => ({
			text: `${takeTitle(take)} (${take.entries.toLocaleString()})`, needs: "open" as const, run: () => void act.switchTake(take.id), heading: at === 0 && rest.length <= MOST_LISTED ? "Other takes" : undefined,
		})),
	];
}

/** isCrowded: on a phone the names of the takes need the room. */
function RoleFilter(props: { isCrowded: boolean }) {
	const outline = useStore((from) => from.outline);
	const roleFilter = useStore((from) => from.roleFilter);
	const roles = useStore((from) => from.settings)?.roles ?? [];
	const here = outline && outline.id.length < 5000 ? [...new Set(outline.role)] : roles;
	const all = [...new Set([...here, ...(roleFilter ? [roleFilter] : [])])].filter((role) => role && role.toLowerCase() !== "user");
	return (
		<select class={"role-filter" + (props.isCrowded && !roleFilter ? " wide-only" : "")} aria-label="Show one role and User" value={roleFilter ?? ""}
			onChange={(event) => set({ roleFilter: event.currentTarget.value || null })}>
			<option value="">All roles</option>
			{all.map((role) => <option value={role}>{roleName(role)} and User</option>)}
		</select>
	);
}

export function TakeBar() {
	const takes = useStore((from) => from.takes), open = useStore((from) => from.take);
	const total = useStore((from) => from.takeCount);
	const mine = takes.find((take) => take.id === open);
	if (!mine)
		return <div class="take-bar" />;
	const shown = visible(takes, open), all = total - (takes.length - withoutReplies(takes, open).length);
	return (
		<div class="take-bar">
			<div class="tabs" role="tablist" aria-label="Takes" onKeyDown={onTabKey}>
				{grouped(shown).map((group) => group.map((take, at) => (
					<Tab key={take.id} take={take} isOpen={take.id === open} isOnly={shown.length === 1} isFirst={at === 0} />
				)))}
			</div>
			<button type="button" class="icon" aria-label="New take" title="New take" onClick={() => void newTake()}>+</button>
			{all > shown.length && <span class="quiet more-takes">{(all - shown.length).toLocaleString()} more</span>}
			<span class="space" />
			{total > 1 && <button type="button" class="icon text wide-only" title="Compare takes side by side" onClick={() => openOverlay("compare")}>Compare</button>}
			<RoleFilter isCrowded={total > 1} />
			<Menu label="The take" items={() => allowed(takeItems(state.takes, mine))}><span aria-hidden="true">⋯</span></Menu>
		</div>
	);
}

export async function askDeleteDiscussion(disc: string): Promise<void> {
	const name = titleOf(discussionOf(disc)) || disc;
	if (await askYes("Delete the discussion?", `“${name}” with all its takes. Undo restores it.`, "Delete", true))
		await act.deleteDiscussion(disc);
}
