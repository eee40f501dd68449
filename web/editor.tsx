// SPDX-License-Identifier: MIT
//
// Editor: one text field that grows with its text; for an entry that is there, or a new one.
// What was typed is kept by the window, by entry and tag, until it is saved or given up; so it is
// there again after the page was loaded anew (drafts.ts). Ctrl+Enter saves, Esc cancels (and asks only when
// something was typed), Tab leaves.
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
import { roleClass, roleLabel } from "./speaker";
import { set, state, useStore } from "./state";
import type { Editing } from "./state";
import type { Entry } from "./types";

const growsByItself = CSS.supports("field-sizing", "content");

export function grow(field: HTMLTextAreaElement): void {
	if (growsByItself)
		return; // to measure it would lay out the page with every key
	field.style.height = "auto";
	field.style.height = `${field.scrollHeight + 2}px`;
}

interface FieldProps {
	label: string;
	original: string;
	draftKey: string;
	/** Drafts of which key are offered. */
	leftKey: string;
	/** Handed the text; true: it is saved. */
	onSave: (text: string) => Promise<boolean>;
	onEnd: () => void;
	/** Further buttons; they are handed the text and where the cursor stands. */
	more?: { text: string; title?: string; isOff?: boolean; act: (text: string, at: number) => Promise<boolean>;
		/** Ctrl+Shift+Enter does it. */
		isShift?: boolean }[];
	saveText: string;
	ops?: (text: string) => ({ op: string } & Record<string, unknown>)[];
	children?: preact.ComponentChildren;
}

function Field(props: FieldProps) {
	// what was left here earlier, not what is being typed now
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
		// when the list has put its rows where they belong
		const frame = requestAnimationFrame(() => element.closest(".entry")?.scrollIntoView({ block: "nearest" }));
		return () => cancelAnimationFrame(frame);
	}, []);
	const type = (value: string) => {
		setText(value);
		keepDraft(props.draftKey, value === props.original ? null : value);
	};
	const finish = async (save: () => Promise<boolean>) => {
		if (isBusy) // a key that is pressed twice
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
			{isKept && <p class="quiet">Your unsaved text from before.</p>}
			<LeftDrafts of={props.leftKey} own={props.draftKey} now={text} onUse={(left) => type(text === props.original ? left : `${text}\n${left}`)} />
			<textarea ref={field} aria-label={props.label} value={text} rows={2} spellcheck readOnly={isBusy}
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

/** On to the entry; who is elsewhere by now, or writes something else, is left there. */
function endAt(entry: string | null, mine: Editing | null): void {
	if (state.editing !== mine && state.editing !== null)
		return;
	const at = document.activeElement;
	const isHere = at === null || at === document.body || (at.closest(".entry") !== null && !at.matches("[role=menu] *"));
	set({ editing: null });
	if (entry)
		showEntry(entry, isHere);
}

/** In the place of an entry's text. */
export function EntryEditor(props: { entry: Entry }) {
	const { entry } = props;
	// what was seen when the editing began, whatever arrives meanwhile
	const seen = useRef({ text: textOf(entry.content), tag: state.tags.get(entry.id) ?? null });
	const mine = useRef(state.editing);
	const isBlocks = typeof entry.content !== "string";
	const outline = useStore((from) => from.outline)!;
	const later = outline.id.length - placeOf(outline, entry.id) - 1;
	const canAsk = useModel() && roleClass(entry.role) === "is-user" && !isBlocks;
	return (
		<Field label={`Text of entry ${placeOf(outline, entry.id) + 1 + outline.before}`} original={seen.current.text}
			leftKey={entry.id} draftKey={`${entry.id}.${seen.current.tag ?? ""}`} saveText="Save"
			ops={(text) => [{ op: "entry.edit", entry: entry.id, content: text, ...(isBlocks ? { keep_blocks: true } : {}) }]}
			onSave={(text) => text === seen.current.text
				? Promise.resolve(true) : act.edit(entry.id, text, seen.current.tag, isBlocks)}
			onEnd={() => endAt(entry.id, mine.current)}
			more={[
				...(canAsk ? [{
					text: "Save and ask again", act: (text: string) => act.editAndAsk(entry.id, text, seen.current, isBlocks, later === 0),
					title: later === 0 ? "Saves the text and gets a reply to it." : "A new take ends with your text and gets a reply. This take stays unchanged.",
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

/** A new entry, between others. */
export function NewEntry(props: { before?: string; after?: string; role: string }) {
	const [role, setRole] = useState(props.role);
	const mine = useRef(state.editing);
	const key = `new.${props.before ?? ""}.${props.after ?? ""}`;
	const place = props.after ? { after: props.after } : { before: props.before };
	return (
		<article class="entry inserting" aria-label="A new entry">
			<RolePicker value={role} onChange={setRole} label="Role of the new entry" />
			<Field label="Text of the new entry" original="" leftKey={key} draftKey={key}
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
	/** It is not about to be used: only its value is in it. */
	isAsleep?: boolean;
}

export function RolePicker(props: RolePickerProps) {
	const roles = useStore((from) => from.settings)?.roles ?? [];
	const value = roleLabel(props.value, roles);
	const all = props.isAsleep ? [value] : roles.includes(value) || !value ? roles : [...roles, value];
	return (
		<select class="role-picker" aria-label={props.label} value={value} tabIndex={props.tabIndex}
			onChange={(event) => props.onChange(event.currentTarget.value)}>
			{all.map((role) => <option value={role}>{role}</option>)}
		</select>
	);
}
