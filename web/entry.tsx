// SPDX-License-Identifier: MIT
//
// Entry: one row of the take: role, content (rendered, as source, or in an editor), and actions.
// The buttons appear on hover and focus.
import { Component } from "preact";
import { useState } from "preact/hooks";
import * as act from "./actions";
import * as ask from "./entry_acts";
import { Content } from "./content";
import { EntryEditor, RolePicker } from "./editor";
import { Failure } from "./failure";
import { hintOf } from "./keys";
import { Menu } from "./menu";
import { CopyButton } from "./copy";
import { ReplyFoot } from "./reply_foot";
import { eventOf } from "./tools";
import { placeOf } from "./outline";
import { compareWith } from "./pane_compare";
import { openOverlay } from "./panes";
import { roleClass, roleLabel } from "./speaker";
import { allowed, may } from "./rights";
import { set, state, useStore } from "./state";
import { takeNamed, takeOf } from "./store";
import { COLLAPSED, EDITED, MUTED } from "./types";
import { beginning, firstWords, isUnfinished, oneLine, takeTitle, when } from "./words";
import type { Outline } from "./outline";
import type { Outcome } from "./tools";
import type { Entry } from "./types";
import type { MenuItem } from "./menu";

const PREVIEW = 60, NAMED = 40, LAST = "This is the last entry";

export interface RowProps {
	id: string;
	/** Position in the take, from 0. */
	at: number;
	/** Position among the visible rows. */
	row: number;
	count: number;
	outline: Outline;
	body: Entry | undefined;
	isFocused: boolean;
	isTabStop: boolean;
	isSelected: boolean;
	isEditing: boolean;
	/** Results of its tool calls. */
	outcomes?: ReadonlyMap<string, Outcome>;
	/** True if the content is shown with the call in an earlier entry. */
	isWithCall: boolean;
	/** The day that begins with this entry; "": same as before. */
	day: string;
}

/** Renders only when its properties change: the list is rendered for each frame of a reply and while scrolling. */
export class EntryRow extends Component<RowProps> {
	shouldComponentUpdate(next: RowProps): boolean {
		return Object.keys(next).some((name) => next[name as keyof RowProps] !== this.props[name as keyof RowProps]);
	}
	render() {
		return <Row {...this.props as RowProps} />;
	}
}

function preview(body: Entry | undefined): string {
	return body ? beginning(oneLine(ask.proseOf(body), PREVIEW), body.role) : "";
}

function ForkPicker(props: { id: string; tabIndex: number }) {
	const fork = useStore((from) => from.forks).get(props.id);
	if (!fork)
		return null;
	const go = (take: string | null) => { if (take) void act.switchTake(take); };
	const titleFor = (take: string | null) => { const found = takeOf(take); return found && `“${takeTitle(found)}”`; };
	return (
		<span class="fork" role="group" aria-label={`Alternative ${fork.place + 1} of ${fork.count}`}>
			<button type="button" class="icon" aria-label="Previous alternative" title={titleFor(fork.previous)} disabled={!fork.previous}
				tabIndex={props.tabIndex} onClick={() => go(fork.previous)}>‹</button>
			<button type="button" class="icon text" title="Compare the takes" aria-label={`${fork.place + 1}/${fork.count}, compare`}
				tabIndex={props.tabIndex} onClick={() => compareWith(fork.next ?? fork.previous)}>{fork.place + 1}/{fork.count}</button>
			<button type="button" class="icon" aria-label="Next alternative" title={titleFor(fork.next)} disabled={!fork.next}
				tabIndex={props.tabIndex} onClick={() => go(fork.next)}>›</button>
		</span>
	);
}

function menuItems(id: string, at: number, outline: Outline, body: Entry | undefined): MenuItem[] {
	const isLast = at === outline.id.length - 1;
	const flags = outline.flags[at];
	const many = act.selected();
	return [
		{ text: "Edit", hint: hintOf("edit"), run: () => ask.startEdit(id) },
		{ text: "Copy the text", needs: "open", hint: hintOf("copy"), run: () => ask.copy(id) },
		{ text: "Again: another reply", hint: hintOf("again"), run: () => ask.again(id, 1) },
		{ text: "Branch here", hint: hintOf("branch"), run: () => void act.branch(id) },
		{ text: "Insert after", hint: hintOf("insert-after"), run: () => ask.startInsert({ after: id }) },
		{ text: flags & MUTED ? "Unmute" : "Mute", hint: hintOf("mute"), run: () => ask.toggleMuted(id) },
		{ text: "Select from here …", needs: "open", run: () => ask.select(id) },
		many.length > 1 && many.includes(id)
			? { text: `Delete ${many.length} entries`, hint: hintOf("delete"), run: () => void act.remove(many), isDanger: true, isFirstOfGroup: true }
			: { text: "Delete", hint: hintOf("delete"), run: () => void act.remove([id]), isDanger: true, isFirstOfGroup: true },
		{ text: body?.label ? "Change the label …" : "Label …", hint: hintOf("label"), needs: "comment", run: () => void ask.askLabel(id), heading: "Entry" },
		{ text: "Versions …", needs: "read", hint: hintOf("versions"), run: () => ask.showVersions(id) },
		{ text: "Change the role …", hint: hintOf("role"), run: () => void ask.askRole(id) },
		{ text: "Copy link", needs: "read", run: () => void ask.copyLink(id) },
		{ text: "Use as the prompt", run: () => void ask.useAsPrompt(id) },
		{ text: body && ask.isRead(body) ? "Show the source" : "Show rendered", hint: hintOf("read"), run: () => ask.toggleRead(id) },
		{ text: flags & COLLAPSED ? "Expand" : "Collapse", hint: hintOf("collapse"), run: () => ask.toggleCollapsed(id) },
		{ text: "Several replies …", run: () => void ask.askAgain(id), heading: "Replies and branches" },
		{ text: "Continue this reply", run: () => void act.run({ how: "continue", at: id }), isOff: body?.role.toLowerCase() === "user" && "Only a reply can be continued" },
		{ text: "Branch with a name …", run: () => void ask.askBranch(id) },
		{ text: "Continue from here", run: () => void act.op("head.move", { entry: id }), isOff: isLast && LAST },
		{ text: "Copy the path to a new discussion", run: () => void act.extract(id) },
		{ text: "Insert before", hint: hintOf("insert-before"), run: () => ask.startInsert({ before: id }), heading: "Position" },
		{ text: "Move up", hint: hintOf("up"), run: () => void act.moveBy(id, -1), isOff: at === 0 && "This is the first entry" },
		{ text: "Move down", hint: hintOf("down"), run: () => void act.moveBy(id, 1), isOff: isLast && LAST },
		{ text: "Move before …", run: () => void ask.askMoveBefore(id) },
		{ text: "Merge with the next", run: () => void act.merge(id), isOff: isLast && LAST },
	];
}

const USED = "button, a, select, input, textarea, summary, .grip, .menu-list";

/** Shift+click (or any click in selection mode) selects all entries up to this one. */
function onPress(event: MouseEvent, id: string): void {
	if (event.button !== 0 || (event.target as Element).closest(USED))
		return;
	const isFar = state.focus !== null && state.focus !== id || state.anchor !== null;
	if ((state.isSelecting && state.anchor !== null) || (event.shiftKey && isFar)) {
		event.preventDefault(); // otherwise the browser selects text
		getSelection()?.removeAllRanges();
		set({ anchor: state.anchor ?? state.focus ?? id, focus: id });
		(event.currentTarget as HTMLElement).focus({ preventScroll: true });
	} else if (state.anchor !== null) {
		set({ focus: id, anchor: null });
	}
}

let dragged: string | null = null;

function Row(props: RowProps) {
	const { id, at, outline, body, isEditing } = props;
	const [isPointed, setPointed] = useState(false);
	const [drop, setDrop] = useState<"before" | "after" | null>(null);
	const behind = useStore((from) => from.behind);
	const differs = useStore((from) => from.differ.has(id));
	const isExtended = useStore((from) => [...from.runs.values()].some((run) => run.how === "continue" && run.at === id));
	useStore((from) => from.sources.has(id)); // isRead() depends on it
	const flags = outline.flags[at], isCollapsed = !!(flags & COLLAPSED) && !isEditing;
	const role = outline.role[at] || body?.role || "";
	const label = outline.labels.get(id);
	const tab = props.isTabStop ? 0 : -1, number = at + 1 + outline.before;
	// part of the accessible names of its buttons
	const words = preview(body), named = `entry ${number}, ${roleLabel(role, state.settings?.roles ?? [])}${words && `: ${firstWords(words, NAMED)}`}`;
	const isNear = isPointed || props.isFocused || props.isTabStop; // other rows have no buttons
	const names = ["entry", roleClass(role)];
	if (flags & MUTED)
		names.push("muted");
	if (isCollapsed)
		names.push("collapsed");
	if (props.isSelected)
		names.push("selected");
	if (isExtended)
		names.push("extended");
	if (behind !== null && at > placeOf(outline, behind))
		names.push("beyond");
	// it is visible only when it is focused or selected
	if (props.isWithCall && !props.isFocused && !props.isSelected && !isEditing)
		names.push("with-call");
	const event = body ? eventOf(body) : "";
	if (event && !isEditing)
		names.push("is-event");
	if (drop)
		names.push("drop-" + drop);
	// acting on one of several selected entries does not clear the selection
	const onTouched = (event: Event) => {
		const isControl = (event.target as Element).closest(USED) !== null;
		if (state.focus !== id && !(isControl && props.isSelected))
			set({ focus: id, anchor: isControl && state.isSelecting ? state.anchor : null });
	};
	const onDragOver = (event: DragEvent) => {
		if (!dragged || dragged === id)
			return;
		event.preventDefault();
		const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
		setDrop(event.clientY < box.top + box.height / 2 ? "before" : "after");
	};
	const onDrop = (event: DragEvent) => {
		event.preventDefault();
		if (dragged && drop)
			void act.move(dragged, { [drop]: id });
		setDrop(null);
	};
	return (
		<article class={names.join(" ")} data-entry={id} tabIndex={tab} aria-posinset={props.row + 1 + outline.before}
			aria-setsize={props.count + outline.before} aria-label={`${number}, ${role}${flags & MUTED ? ", muted" : ""}${flags & EDITED ? ", edited" : ""}${label ? `, ${label}` : ""}`}
			aria-current={props.isFocused || undefined} onFocusIn={onTouched}
			onPointerDown={(event) => { if ((event.target as Element).closest(USED)) onTouched(event); }}
			onMouseDown={(event) => onPress(event, id)}
			onPointerEnter={(event) => { if (event.pointerType !== "touch") setPointed(true); }} onPointerLeave={() => setPointed(false)}
			onDragOver={onDragOver} onDragLeave={() => setDrop(null)} onDrop={onDrop}>
			{props.day && <p class="day"><span>{props.day}</span></p>}
			<header class="entry-head">
				<button type="button" class="icon fold" tabIndex={tab} aria-expanded={!isCollapsed}
					aria-label={`${isCollapsed ? "Expand" : "Collapse"} ${named}`} onClick={() => ask.toggleCollapsed(id)}>{isCollapsed ? "▸" : "▾"}</button>
				<RolePicker value={role} tabIndex={tab} isAsleep={!isNear || !may("edit")} label={`Role of ${named}`}
					onChange={(value) => void act.changeRole(id, value)} />
				{!!(flags & EDITED) && <button type="button" class="icon edited" tabIndex={tab} title="Versions (w)"
					aria-label={`Edited: versions of ${named}`} onClick={() => ask.showVersions(id)}>edited</button>}
				<ForkPicker id={id} tabIndex={tab} />
				{label && <span class="chip label">{label}</span>}
				{outline.kind[at] !== "message" && outline.kind[at] && !event && <span class="chip">{outline.kind[at].replace(/_/g, " ")}</span>}
				{typeof body?.from_take === "string" && <button type="button" class="link small" tabIndex={tab} title="Go to the first source entry"
					onClick={() => void ask.toSource(body)}>from “{oneLine(takeNamed(body.from_take), 40)}”</button>}
				{!!(flags & MUTED) && <span class="chip">muted</span>}
				{differs && <button type="button" class="icon" tabIndex={tab} title="Different text in another take: compare"
					aria-label={`${named} has different text in another take: compare`} onClick={() => openOverlay("compare")}>≠</button>}
				{behind === id && <span class="chip head" title="The next entry follows this one; the entries below remain in their take">continues here</span>}
				{event && <span class="event">{event}</span>}
				{isCollapsed && <span class="preview">{words}</span>}
				{isNear && <span class="acts">
					<CopyButton text={() => ask.textToCopy(id)} label={`Copy the text of ${named}`} title="Copy (y)" tabIndex={tab} />
					<button type="button" class="icon text" tabIndex={tab} title="Edit (e)" onClick={() => ask.startEdit(id)}>Edit</button>
					{roleClass(role) === "is-model"
						? <button type="button" class="icon text" tabIndex={tab} title="Another reply, in a new take (g)" onClick={() => ask.again(id, 1)}>Again</button>
						: <button type="button" class="icon text" tabIndex={tab} title="Insert before (i)" onClick={() => ask.startInsert({ before: id })}>Insert</button>}
					<button type="button" class="icon text" tabIndex={tab} title="Branch here (b)" onClick={() => void act.branch(id)}>Branch</button>
					<button type="button" class="icon text" tabIndex={tab} title="Delete (d)" onClick={() => void act.remove(props.isSelected ? act.selected() : [id])}>Delete</button>
					<span class="grip" draggable title="Drag to move" aria-hidden="true"
						onDragStart={(event) => { dragged = id; event.dataTransfer?.setData("text/plain", id); }}
						onDragEnd={() => { dragged = null; }}>⠿</span>
				</span>}
				{body?.ts && <span class="when" title={body.ts}>{when(body.ts)}</span>}
				{body && !event && <span class="touch-copy"><CopyButton text={() => ask.textToCopy(id)} label={`Copy the text of ${named}`} tabIndex={tab} /></span>}
				<span class="number" title={id}>{number}</span>
				<Menu label={`More for ${named}`} tabIndex={tab} items={() => allowed(menuItems(id, at, outline, body))}>⋯</Menu>
			</header>
			{isEditing && body && <EntryEditor key={id} entry={body} />}
			{!isEditing && !isCollapsed && !event && (
				<div class="entry-body" onDblClick={() => ask.startEdit(id)}>
					{body ? <Content entry={body} isSource={!ask.isRead(body)} outcomes={props.outcomes}
						onContinue={isUnfinished(body) ? () => void act.run({ how: "continue", at: id }) : undefined} /> : <div class="plain quiet">…</div>}
				</div>
			)}
			{body && !isEditing && !isCollapsed && <ReplyFoot entry={body} />}
			<Failure entry={id} />
		</article>
	);
}
