// SPDX-License-Identifier: MIT
//
// Composer: what is written at the end of the take: added as an entry of any role, or asked of
// the model. The draft is kept in the browser while it is typed, and as a setting of the
// discussion when it is left unfinished, so that it is there in another window, too.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { focusTake } from "./focus";
import { grow, RolePicker } from "./editor";
import { doesEnterSend, shown } from "./keys";
import { nextRole } from "./entry_acts";
import { openModel } from "./model";
import { useModel } from "./pane_data";
import { runsHere, stopRun } from "./runs";
import { state, useStore } from "./state";
import { placeOf } from "./store";
import type { Settings } from "./types";

const TALLEST_PX = 320;

/** Kept by discussion: what was typed here and not sent. */
function useDraft(disc: string | null, settings: Settings | null): [string, (text: string) => void] {
	const [text, setText] = useState("");
	const kept = useRef("");
	const key = `retake.compose.${disc}`;
	const saved = String(settings?.settings.draft ?? "");
	useEffect(() => {
		kept.current = localStorage.getItem(key) ?? saved;
		setText(kept.current);
	}, [disc]);
	const type = (value: string) => {
		setText(value);
		localStorage.setItem(key, value); // empty, too: it goes before what the server has
	};
	return [text, type];
}

export function Composer() {
	const disc = useStore((from) => from.disc);
	return <Writer key={disc ?? ""} disc={disc} />;
}

/** Of one discussion: when another is opened, what was typed here is left behind. */
function Writer(props: { disc: string | null }) {
	const { disc } = props;
	const settings = useStore((from) => from.settings);
	const outline = useStore((from) => from.outline), runs = useStore((from) => from.runs);
	const [text, setText] = useDraft(disc, settings);
	const behind = useStore((from) => from.behind), sends = useStore(doesEnterSend);
	const [picked, setPicked] = useState<string | null>(null);
	const field = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => {
		grow(field.current!);
		const height = Math.min(field.current!.scrollHeight + 2, TALLEST_PX);
		field.current!.style.height = `${height}px`;
	}, [text]);
	const model = useModel();
	const saved = String(settings?.settings.draft ?? "");
	const running = runsHere(runs).filter((run) => run.how !== "elsewhere");
	const lastRole = outline?.role[outline.role.length - 1];
	const role = picked ?? nextRole(lastRole?.toLowerCase() === "user" && !model ? "user" : undefined);
	const isEmpty = text.trim() === "";
	const behindAt = outline ? placeOf(outline, behind) : -1;
	const hasKeys = !matchMedia("(hover: none)").matches;
	const sendKey = sends ? "Enter" : shown("Ctrl+Enter");
	const add = async () => {
		const said = text;
		setText("");
		setPicked(null);
		if (!(await act.append(role, said, saved !== "")))
			setText(said);
	};
	const ask = async () => {
		const said = text;
		setText("");
		if (saved !== "")
			await act.setSetting("draft", null, true);
		const run = await act.run({ how: "ask", ...(isEmpty ? {} : { text: said, role }) });
		if (!run)
			setText(said);
		setPicked(null);
	};
	// a draft is worth a step only when it is another one than the server has
	const draft = useRef({ text, saved, take: state.take });
	draft.current = { text, saved, take: state.take };
	const leave = (from: string | null) => {
		const now = draft.current;
		if (from && now.text !== now.saved)
			void act.leaveDraft(from, now.take, now.text);
	};
	useEffect(() => () => leave(disc), []);
	useEffect(() => {
		const hide = () => { if (document.visibilityState === "hidden") leave(disc); };
		document.addEventListener("visibilitychange", hide);
		return () => document.removeEventListener("visibilitychange", hide);
	}, [disc]);
	const toEnd = () => act.op("head.move", { entry: outline!.id[outline!.id.length - 1] }, { say: "What you write comes at the end again." });
	const onKeyDown = (event: KeyboardEvent) => {
		const isCtrl = event.ctrlKey || event.metaKey;
		if (event.key === "Enter" && !event.isComposing && (isCtrl || (sends && !event.shiftKey && !isEmpty))) {
			event.preventDefault();
			if ((isCtrl && event.shiftKey) || !model) {
				if (!isEmpty || isCtrl)
					void add();
			} else if (running.length === 0) {
				void ask();
			}
		} else if (event.key === "Escape") {
			event.preventDefault();
			focusTake();
		}
	};
	return (
		<form class="composer" onSubmit={(event) => event.preventDefault()} aria-label="Write">
			{behindAt >= 0 && (
				<p class="behind">
					<span role="status">What you write continues after entry {behindAt + 1}, in a take of its own.</span>{" "}
					<button type="button" class="link" onClick={() => void toEnd()}>Back to the end</button>
				</p>
			)}
			<textarea id="composer" ref={field} rows={1} value={text} aria-label="Text of the next entry"
				placeholder={`${model ? "Ask, or add an entry …" : "Write an entry …"}${hasKeys ? ` (${sendKey} sends)` : ""}`}
				onInput={(event) => setText(event.currentTarget.value)} onKeyDown={onKeyDown} />
			<div class="composer-bar">
				<RolePicker value={role} onChange={setPicked} label="Role of the next entry" />
				<button type="button" class="icon text model" onClick={() => openModel()} title="Choose the model">
					{model || "no model"}
				</button>
				<span class="space" />
				{running.map((run) => (
					<button type="button" class="stop" key={run.run} onClick={() => void stopRun(run.run).catch(act.sayProblem)}>Stop</button>
				))}
				<button type="button" id="add" class={model ? "" : "primary"} disabled={isEmpty}
					title={model ? `As it is, without a reply (${shown("Ctrl+Shift+Enter")})` : sendKey} onClick={() => void add()}>Add</button>
				{model && (
					<button type="button" id="ask" class="primary" onClick={() => void ask()} disabled={running.length > 0}
						title={sendKey}>{isEmpty ? "Get a reply" : "Ask"}</button>
				)}
			</div>
			{!model && (
				<p class="quiet hint">
					Without a model, what you write is added as it is. To be answered,{" "}
					<button type="button" class="link" onClick={() => openModel()}>choose a model</button>.
				</p>
			)}
		</form>
	);
}
