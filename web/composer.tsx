// SPDX-License-Identifier: MIT
//
// Composer: the field at the end of the take. Its text is added as an entry of any role, or sent to
// the model. The window keeps the draft while it is typed (drafts.ts); the server stores it as a
// setting of the discussion at each pause and when the user leaves, so that other programs and
// browsers have it, too.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { AttachButton, AttachedList, hasFiles, useAttachments } from "./attachments";
import { keepDraft, keepLeft, keptLeft, ownDraft } from "./drafts";
import { focusComposer, focusTake, hasKeys as areKeys, showEnd } from "./focus";
import { grow, RolePicker } from "./editor";
import { doesEnterSend, shown } from "./keys";
import { nextRole } from "./entry_acts";
import { LeftDrafts } from "./left";
import { openModel } from "./model";
import { placeOf } from "./outline";
import { useModel } from "./pane_data";
import { FilesButton } from "./pane_files";
import { ownRuns, stopRun } from "./runs";
import { setAsker } from "./several";
import { roleClass, roleName } from "./speaker";
import { state, useStore } from "./state";
import { TemplateChips, usesTemplate } from "./templates";
import { useCompletion } from "./symbols";
import type { Block } from "./types";
import { isUnfinished } from "./words";

/** All captions of the button: it is as wide as the widest. */
const ASKS = ["Ask", "Get a reply", "Continue"];

/** Long enough not to write at every key, short enough that drafts typed in one go are one step (2 s). */
const TYPING_PAUSE_MS = 1000;

/** The content to send: a string, or blocks if there are files. */
function contentOf(text: string, blocks: Block[]): string | Block[] {
	return blocks.length === 0 ? text : [...(text.trim() ? [{ type: "text", text }] : []), ...blocks];
}

const keyOf = (disc: string | null) => `compose.${disc}`;

function joined(first: string, then: string): string {
	return first.trim() && then.trim() ? `${first}\n${then}` : first.trim() ? first : then;
}

/** Unsent text, by discussion. */
function useDraft(disc: string | null): [string, (text: string | ((now: string) => string)) => void] {
	const [of, setOf] = useState(disc);
	const [text, setText] = useState(() => (disc && ownDraft(keyOf(disc))) ?? "");
	const last = useRef(text);
	const type = (value: string | ((now: string) => string)) => {
		last.current = typeof value === "string" ? value : value(last.current);
		setText(last.current);
		if (disc)
			keepDraft(keyOf(disc), last.current || null);
	};
	if (of !== disc) {
		// the discussion is known now: the text typed so far belongs to it
		setOf(disc);
		type((typed) => joined(ownDraft(keyOf(disc)) ?? "", typed));
	}
	return [text, type];
}

export function Composer() {
	const disc = useStore((from) => from.disc);
	const writer = useRef({ disc, turn: 0 });
	if (writer.current.disc !== disc)
		writer.current = { disc, turn: writer.current.turn + (writer.current.disc === null ? 0 : 1) };
	return <Writer key={writer.current.turn} isFirst={writer.current.turn === 0} disc={disc} />;
}

/** Reports prompts that are typed, but not saved: the next request does not contain them. */
function UnsavedPrompts() {
	const unsaved = [...useStore((from) => from.unsaved).values()];
	if (unsaved.length === 0)
		return null;
	return (
		<p class="behind">
			<span role="status">Not saved, so not sent: {unsaved.map((each) => `“${each.label}”`).join(", ")}.</span>{" "}
			<button type="button" class="link" onClick={() => unsaved.forEach((each) => void each.save())}>Save</button>
		</p>
	);
}

/** The composer of one discussion (the first is not known at the start). Opening another discussion resets it. The
 * first is focused when the page opens, except on touch devices, where that would open the keyboard. */
function Writer(props: { disc: string | null; isFirst: boolean }) {
	const { disc } = props;
	const settings = useStore((from) => from.settings);
	const outline = useStore((from) => from.outline), runs = useStore((from) => from.runs);
	const [text, setText] = useDraft(disc);
	const bodies = useStore((from) => from.bodies);
	const behind = useStore((from) => from.behind), sends = useStore(doesEnterSend);
	const [picked, setPicked] = useState<string | null>(null);
	const field = useRef<HTMLTextAreaElement>(null);
	const completion = useCompletion(field, setText);
	const attached = useAttachments(), [isOver, setOver] = useState(false);
	const hasKeys = areKeys();
	useLayoutEffect(() => grow(field.current!), [text]);
	useLayoutEffect(() => {
		if (props.isFirst && hasKeys && (document.activeElement === null || document.activeElement === document.body))
			field.current!.focus({ preventScroll: true });
	}, []);
	const model = useModel();
	// the stored draft may belong to another window: it is neither used nor overwritten
	const saved = String(settings?.settings.draft ?? ""), isOurs = saved !== "" && saved === keptLeft(disc);
	const running = ownRuns(runs);
	// undo applies to the page until something is typed that the field itself can undo
	const [isUntouched, setUntouched] = useState(text === "");
	const lastRole = outline?.role[outline.role.length - 1];
	const role = picked ?? nextRole(undefined); // the user, with or without a model: like "retake add"
	const reply = nextRole("user"), isReply = !model && roleClass(lastRole ?? "") === "is-user" && role !== reply;
	const isEmpty = text.trim() === "" && attached.list.length === 0;
	const behindAt = outline ? placeOf(outline, behind) : -1;
	const lastBody = bodies.get(outline?.id[outline.id.length - 1] ?? "");
	// a reply that was stopped or cut off is continued: another reply after it would answer nothing
	const isContinuing = isEmpty && behindAt < 0 && !!lastBody && isUnfinished(lastBody);
	// another reply after a complete one is rarely intended
	const isAnswered = isEmpty && !isContinuing && behindAt < 0 && roleClass(lastRole ?? "") === "is-model";
	const isAnsweredOrCut = isAnswered || isContinuing;
	const isNothing = isEmpty && outline?.id.length === 0;
	const askText = isContinuing ? "Continue" : isEmpty ? "Get a reply" : "Ask";
	const sendKey = sends ? "Enter" : shown("Ctrl+Enter");
	const clear = () => {
		setText("");
		attached.clear();
		setUntouched(true);
		setPicked(null);
		if (hasKeys)
			focusComposer(); // also after a click on a button
		if (behindAt < 0)
			showEnd();
	};
	const add = async () => {
		if (usesTemplate(text.trim()))
			return;
		const sentText = text, { blocks } = attached;
		clear();
		if (!(await act.append(role, contentOf(sentText, blocks), isOurs))) {
			setText((now) => joined(sentText, now)); // with the text typed since
			attached.restore(blocks);
		} else if (behindAt >= 0)
			showEnd(); // of the new take
	};
	const askNow = useRef<(models?: string[]) => void>(() => undefined); // the text may have changed by then
	const ask = async (models?: string[]) => {
		if (usesTemplate(text.trim()))
			return;
		const sentText = text, { blocks } = attached;
		clear();
		if (isOurs && isEmpty)
			await act.setSetting("draft", null, true);
		const restore = () => {
			setText((now) => joined(sentText, now)); // with the text typed since
			attached.restore(blocks);
		};
		const run = await act.run(models && isAnsweredOrCut ? { how: "again", at: outline!.id[outline!.id.length - 1], models } : isContinuing ? { how: "continue", at: lastBody!.id } : {
			...(models && { models }), how: "ask", ...(isEmpty ? {} : { ...(blocks.length ? { content: contentOf(sentText, blocks) } : { text: sentText }), role, clear_draft: isOurs }) }, () => askNow.current(models), 1, restore);
		if (!run)
			restore();
		else if (behindAt >= 0)
			showEnd();
	};
	askNow.current = (models) => void ask(models);
	// a draft is only worth a step if it differs from the stored one
	const draft = useRef({ disc, text, saved, isOurs, take: state.take });
	draft.current = { disc, text, saved, isOurs, take: state.take };
	useLayoutEffect(() => {
		setAsker({ ask: (models) => askNow.current(models), text: () => draft.current.text, type: setText, attach: attached.add });
		return () => setAsker(null);
	}, []);
	const leave = (from: string | null) => {
		const now = draft.current;
		if (!from || now.text === now.saved || (now.saved !== "" && !now.isOurs))
			return;
		keepLeft(from, now.text);
		void act.leaveDraft(from, now.take, now.text);
	};
	// the text that this window stored last. The field follows changes of the stored draft as long as nothing
	// else is typed
	const follows = useRef<string | null>(isOurs ? saved : null);
	useEffect(() => {
		if (follows.current === null || text !== follows.current || saved === follows.current || !settings)
			follows.current = isOurs ? saved : follows.current;
		else {
			follows.current = saved;
			keepLeft(disc, saved);
			setText(saved);
		}
	}, [saved, disc]);
	useLayoutEffect(() => () => leave(draft.current.disc), []);
	// a pause in typing: stores the text as the setting "draft", where programs can read it
	useEffect(() => {
		if (text === "" && !isOurs)
			return;
		const pause = setTimeout(() => leave(disc), TYPING_PAUSE_MS);
		return () => clearTimeout(pause);
	}, [text, disc]);
	useEffect(() => {
		const hide = () => { if (document.visibilityState === "hidden") leave(disc); };
		document.addEventListener("visibilitychange", hide);
		return () => document.removeEventListener("visibilitychange", hide);
	}, [disc]);
	const toEnd = () => act.op("head.move", { entry: outline!.id[outline!.id.length - 1] }, { say: "The next entry is added at the end again." });
	const onKeyDown = (event: KeyboardEvent) => {
		if (completion.takesKey(event))
			return;
		if (!disc && event.key === "Enter" && (event.ctrlKey || event.metaKey || sends))
			return event.preventDefault(); // no discussion to send to yet
		const isCtrl = event.ctrlKey || event.metaKey;
		if (event.key === "Enter" && attached.isPending && (isCtrl || (sends && !event.shiftKey)))
			return event.preventDefault();
		if (event.key === "Enter" && !event.isComposing && (isCtrl || (sends && !event.shiftKey))) {
			event.preventDefault();
			if (isEmpty && !isCtrl)
				return;
			if ((isCtrl && event.shiftKey) || !model) {
				if (!isEmpty || isCtrl)
					void add();
			} else if (running.length === 0 && !isNothing) {
				void ask();
			}
		} else if (event.key === "Escape") {
			event.preventDefault();
			if (!act.stopReplies())
				focusTake();
		}
	};
	return (
		<form class={"composer" + (isOver ? " over" : "")} onSubmit={(event) => event.preventDefault()} aria-label="Write"
			onDragOver={(event) => { if (hasFiles(event)) { event.preventDefault(); setOver(true); } }} onDragLeave={() => setOver(false)}
			onDrop={(event) => { if (hasFiles(event) && disc) { event.preventDefault(); setOver(false); attached.add([...event.dataTransfer!.files]); } }}
			onPaste={(event) => { if (hasFiles(event) && disc) { event.preventDefault(); attached.add([...event.clipboardData!.files]); } }}>
			{behindAt >= 0 && (
				<p class="behind">
					<span role="status">The next entry follows entry {behindAt + 1}, in a new take.</span>{" "}
					<button type="button" class="link" onClick={() => void toEnd()}>Back to the end</button>
				</p>
			)}
			<LeftDrafts of={keyOf(disc)} own={keyOf(disc)} now={text} more={isOurs ? "" : saved}
				onUse={(left, isMore) => {
					setText((now) => joined(now, left));
					if (isMore)
						keepLeft(disc, left);
				}} onDropMore={() => void act.setSetting("draft", null, true)} />
			<UnsavedPrompts />
			<AttachedList of={attached} />
			{completion.list}
			<TemplateChips text={text} />
			<textarea id="composer" aria-autocomplete="list" aria-controls={completion.active && "completion"} aria-activedescendant={completion.active} ref={field} rows={1} value={text} aria-label="Text of the next entry"
				placeholder={`${model ? "Ask, or add an entry …" : `Write an entry by ${roleName(role)} …`}${hasKeys ? ` (${sendKey} sends)` : ""}`}
				data-untouched={isUntouched && isEmpty ? "1" : undefined}
				onInput={(event) => { setUntouched(false); setText(event.currentTarget.value); completion.look(); }}
				onKeyUp={(event) => { if (/^(Arrow(Left|Right)|Home|End)$/.test(event.key)) completion.look(); }} onClick={completion.look} onKeyDown={onKeyDown} />
			<div class="composer-bar">
				<AttachButton of={attached} />
				<FilesButton />
				<RolePicker value={role} onChange={setPicked} label="Role of the next entry" />
				<button type="button" class="icon text model" onClick={() => openModel()} title="Choose the model">
					{model ? <><span class="wide-only">{model.slice(0, model.indexOf("/") + 1)}</span>{model.slice(model.indexOf("/") + 1)}</> : "no model"}
				</button>
				<span class="space" />
				{running.map((run) => (
					<button type="button" class="stop" title="Stop (Esc)" key={run.run} onClick={() => void stopRun(run.run).catch(act.sayProblem)}>Stop</button>
				))}
				<button type="button" id="add" class={model ? "" : "primary"} disabled={isEmpty || !disc || attached.isPending}
					title={model ? `Add without a reply (${shown("Ctrl+Shift+Enter")})` : sendKey} onClick={() => void add()}>{model ? "Add" : `Add as ${roleName(role)}`}</button>
				{model && (
					<button type="button" id="ask" class={isAnswered ? "" : "primary"} onClick={() => void ask()} disabled={running.length > 0 || attached.isPending || isNothing}
						title={isNothing ? "There is no entry to answer yet: write one first" : isContinuing ? `Continue the incomplete reply (${sendKey})` : sendKey}>
						{ASKS.map((each) => <span key={each} class={each === askText ? "" : "unseen"} aria-hidden={each !== askText || undefined}>{each}</span>)}
					</button>
				)}
			</div>
			{!model && (
				<p class="quiet hint">
					No model is set, so there is no reply.{" "}
					<button type="button" class="link" onClick={() => openModel()}>Choose a model</button>
					{isReply && <>{" "}or <button type="button" class="link" onClick={() => { setPicked(reply); focusComposer(); }}>write the reply yourself</button></>}
				</p>
			)}
		</form>
	);
}
