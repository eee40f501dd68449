// SPDX-License-Identifier: MIT
//
// Editor: a text field that grows with its text, for an existing entry or a new one. The window
// keeps the draft by entry and tag until it is saved or discarded, so it survives a reload
// (drafts.ts). Ctrl+Enter saves, Esc cancels (and asks only if the text was changed), Tab leaves.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Advices } from "./advice";
import * as act from "./actions";
import { askYes } from "./dialog";
import { keepDraft, ownDraft } from "./drafts";
import { showEntry, textOf } from "./entry_acts";
import { shown } from "./keys";
import { LeftDrafts } from "./left";
import { placeOf } from "./outline";
import { useModel } from "./pane_data";
import { listedRole, roleClass, roleName } from "./speaker";
import { set, state, useStore } from "./state";
import type { Editing } from "./state";
import type { Entry } from "./types";

const growsByItself = CSS.supports("field-sizing", "content");

export function grow(field: HTMLTextAreaElement): void {
	if (growsByItself)
		return; // measuring would cause a layout of the page at every key
	field.style.height = "auto";
	field.style.height = `${field.scrollHeight + 2}px`;
}

/** Code and tables are not wrapped at the width of prose. */
const WIDE = /^(\||```|~~~|\t| {4})/m;

interface FieldProps {
	label: string;
	/** At least. */
	rows: number;
	original: string;
	draftKey: string;
	/** The key under which other drafts are offered. */
	leftKey: string;
	/** true: saved. */
	onSave: (text: string) => Promise<boolean>;
	onEnd: () => void;
	/** Further buttons; called with the text and the cursor position. */
	more?: { text: string; title?: string; isOff?: boolean; act: (text: string, at: number) => Promise<boolean>;
		/** Also bound to Ctrl+Shift+Enter. */
		isShift?: boolean }[];
	saveText: string;
	ops?: (text: string) => ({ op: string } & Record<string, unknown>)[];
	children?: preact.ComponentChildren;
}

function Field(props: FieldProps) {
	// the draft that was kept before this editor opened
	const kept = useRef(ownDraft(props.draftKey));
	const isKept = kept.current !== null && kept.current !== props.original;
	const [text, setText] = useState(kept.current ?? props.original);
	const [isBusy, setBusy] = useState(false);
	const field = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => grow(field.current!), [text]);
	useLayoutEffect(() => {
		const element = field.current!;
		element.focus({ preventScroll: true });
		element.setSelectionRange(element.value.length, element.value.length);
		// after the list has positioned its rows
		const frame = requestAnimationFrame(() => element.closest(".entry")?.scrollIntoView({ block: "nearest" }));
		return () => cancelAnimationFrame(frame);
	}, []);
	const type = (value: string) => {
		setText(value);
		keepDraft(props.draftKey, value === props.original ? null : value);
	};
	const finish = async (save: () => Promise<boolean>) => {
		if (isBusy) // the key was pressed twice
			return;
		setBusy(true);
		const isDone = await save();
		setBusy(false);
		if (isDone) {
			keepDraft(props.draftKey, null);
			props.onEnd();
		}
	};
	const cancel = async () => {
		if (text !== props.original &&
		    !(await askYes("Discard your changes?", "The text of the entry does not change.", "Discard", true, true)))
			return;
		keepDraft(props.draftKey, null);
		props.onEnd();
	};
	const cursor = () => [...text.slice(0, field.current?.selectionStart ?? 0)].length;
	const onKeyDown = (event: KeyboardEvent) => {
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			const other = event.shiftKey ? props.more?.find((each) => each.isShift && !each.isOff) : undefined;
			void finish(() => (other ? other.act(text, cursor()) : props.onSave(text)));
		} else if (event.key === "Escape") {
			event.preventDefault();
			event.stopPropagation();
			void cancel();
		}
	};
	return (
		<div class="editor">
			{isKept && <p class="quiet">Your unsaved text was restored.</p>}
			<LeftDrafts of={props.leftKey} own={props.draftKey} now={text} onUse={(left) => type(text === props.original ? left : `${text}\n${left}`)} />
			<textarea ref={field} class={WIDE.test(props.original) ? "wide" : ""} aria-label={props.label} value={text} rows={props.rows} spellcheck readOnly={isBusy}
				onInput={(event) => type(event.currentTarget.value)} onKeyDown={onKeyDown} />
			<div class="editor-bar">
				<button type="button" class="primary" disabled={isBusy} title="Ctrl+Enter"
					onClick={() => void finish(() => props.onSave(text))}>{props.saveText}</button>
				{props.more?.map((each) => (
					<button type="button" title={each.title} disabled={isBusy || each.isOff}
						onClick={() => void finish(() => each.act(text, cursor()))}>{each.text}</button>
				))}
				<button type="button" title="Esc" onClick={() => void cancel()}>Cancel</button>
				{props.children}
			</div>
			{props.ops && text !== props.original && <Advices ops={props.ops} text={text} />}
		</div>
	);
}

/** Moves the focus to the entry, unless the user has moved elsewhere or edits something else. */
function endAt(entry: string | null, mine: Editing | null): void {
	if (state.editing !== mine && state.editing !== null)
		return;
	const at = document.activeElement;
	const isHere = at === null || at === document.body || (at.closest(".entry") !== null && !at.matches("[role=menu] *"));
	set({ editing: null });
	if (entry)
		showEntry(entry, isHere);
}

/** Edits the text of an entry in place. */
export function EntryEditor(props: { entry: Entry }) {
	const { entry } = props;
	// the version when editing began, whatever arrives later
	const seen = useRef({ text: textOf(entry.content), tag: state.tags.get(entry.id) ?? null });
	const mine = useRef(state.editing);
	const isBlocks = typeof entry.content !== "string";
	const outline = useStore((from) => from.outline)!;
	const later = outline.id.length - placeOf(outline, entry.id) - 1;
	const canAsk = useModel() && roleClass(entry.role) === "is-user" && !isBlocks;
	return (
		<Field label={`Text of entry ${placeOf(outline, entry.id) + 1 + outline.before}`} original={seen.current.text} rows={1}
			leftKey={entry.id} draftKey={`${entry.id}.${seen.current.tag ?? ""}`} saveText="Save"
			ops={(text) => [{ op: "entry.edit", entry: entry.id, content: text, ...(isBlocks ? { keep_blocks: true } : {}) }]}
			onSave={(text) => text === seen.current.text
				? Promise.resolve(true) : act.edit(entry.id, text, seen.current.tag, isBlocks)}
			onEnd={() => endAt(entry.id, mine.current)}
			more={[
				...(canAsk ? [{
					text: "Save and ask again", act: (text: string) => act.editAndAsk(entry.id, text, seen.current, isBlocks, later === 0),
					title: later === 0 ? "Saves the text and requests a reply." : "A new take ends with your text and gets a reply. This take stays unchanged.",
				}] : []),
				{
					text: "Save as new take", act: (text) => act.editAsTake(entry.id, text),
					title: "A new take ends with your text. This take stays unchanged. Ctrl+Shift+Enter", isOff: isBlocks, isShift: true,
				},
				{
					text: "Split at the cursor", title: "Splits the entry in two at the cursor.",
					act: async (text, at) => {
						if (text !== seen.current.text && !(await act.edit(entry.id, text, seen.current.tag, isBlocks)))
							return false;
						await act.split(entry.id, at);
						return true;
					},
				},
			]}>
			{later > 0 && <span class="quiet">Later entries do not change</span>}
		</Field>
	);
}

/** A new entry between others. */
export function NewEntry(props: { before?: string; after?: string; role: string }) {
	const [role, setRole] = useState(props.role);
	const mine = useRef(state.editing);
	const key = `new.${props.before ?? ""}.${props.after ?? ""}`;
	const place = props.after ? { after: props.after } : { before: props.before };
	return (
		<article class="entry inserting" aria-label="A new entry">
			<RolePicker value={role} onChange={setRole} label="Role of the new entry" />
			<Field label="Text of the new entry" original="" rows={2} leftKey={key} draftKey={key}
				saveText="Insert" ops={(text) => [{ op: "entry.insert", ...place, role, content: text }]}
				onSave={async (text) => (await act.insert(place, role, text)) !== null}
				onEnd={() => endAt(state.focus, mine.current)}>
				<span class="quiet keys-hint">{shown("Ctrl+Enter")} inserts</span>
			</Field>
		</article>
	);
}

interface RolePickerProps {
	value: string;
	onChange: (role: string) => void;
	label: string;
	tabIndex?: number;
	/** Not about to be used: contains only the current value. */
	isAsleep?: boolean;
}

export function RolePicker(props: RolePickerProps) {
	const roles = useStore((from) => from.settings)?.roles ?? [];
	const value = listedRole(props.value, roles);
	const all = props.isAsleep ? [value] : roles.includes(value) || !value ? roles : [...roles, value];
	return (
		<select class="role-picker" aria-label={props.label} value={value} tabIndex={props.tabIndex}
			onChange={(event) => props.onChange(event.currentTarget.value)}>
			{all.map((role) => <option value={role}>{roleName(role)}</option>)}
		</select>
	);
}
