// SPDX-License-Identifier: MIT
//
// Prompt: the working prompt, written together by user and model; the three system prompts; the
// next request, with the tokens of each entry; and the last request.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { keepDraft, ownDraft } from "./drafts";
import { showEntry } from "./entry_acts";
import { LeftDrafts } from "./left";
import { useLoaded, useEditedText } from "./pane_data";
import { Rows } from "./pane_rows";
import { readContext, RequestText, SentLast } from "./pane_sent";
import { Flag } from "./pane_settings";
import { addPane } from "./panes";
import { set, state, useStore } from "./state";
import { discPath } from "./store";
import { costWords, count } from "./words";
import type { Usage } from "./types";

const ROW_PX = 30, MOST_ROWS = 9, USAGE_PAUSE_MS = 1000;

interface TextFieldProps {
	label: string;
	hint?: string;
	saved: string;
	rows: number;
	id: string;
	/** The owner of the prompt, if that is not the project. */
	of?: string | null;
	onSave: (text: string) => Promise<unknown>;
	isDisabled?: boolean;
	children?: preact.ComponentChildren;
}

/** A text that is saved when its field loses the focus, or with a button or Ctrl+Enter; until then it is a draft.
 * Changes saved elsewhere appear unless the user is editing. */
export function TextField(props: TextFieldProps) {
	const key = `field.${props.id}${props.of ? `.${props.of}` : ""}`;
	const [text, setText, base] = useEditedText(props.saved, useRef(ownDraft(key)).current);
	useLayoutEffect(() => keepDraft(key, text === base ? null : text), [text, base]);
	const isDirty = text !== base;
	useLayoutEffect(() => {
		if (!isDirty)
			return;
		set({ unsaved: new Map(state.unsaved).set(props.id, { label: props.label, save: () => props.onSave(text) }) });
		return () => {
			const rest = new Map(state.unsaved);
			rest.delete(props.id);
			set({ unsaved: rest });
		};
	}, [text, base]);
	// not if the window lost the focus, nor for a button below
	const onBlur = (event: FocusEvent & { currentTarget: HTMLTextAreaElement }) => {
		const field = event.currentTarget;
		if (isDirty && document.activeElement !== field && !field.parentElement!.contains(event.relatedTarget as Node | null))
			void props.onSave(field.value);
	};
	const toField = () => document.getElementById(props.id)?.focus(); // the buttons disappear
	return (
		<div class="field">
			<label for={props.id}>{props.label}</label>
			<LeftDrafts of={key} own={key} now={text} onUse={(left) => setText(text === base ? left : `${text}\n${left}`)} />
			<textarea id={props.id} rows={props.rows} value={text} disabled={props.isDisabled} aria-describedby={props.hint ? `${props.id}-hint` : undefined}
				onInput={(event) => setText(event.currentTarget.value)} onBlur={onBlur}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
						event.preventDefault();
						// may be newer than the rendered value
						void props.onSave(event.currentTarget.value);
					}
				}} />
			{props.hint && <p class="quiet small" id={`${props.id}-hint`}>{props.hint}</p>}
			{(isDirty || props.children) && (
				<div class="verbs" onMouseDown={(event) => event.preventDefault() /* the field keeps the focus */}>
					{isDirty && <button type="button" class="primary" onClick={() => { toField(); void props.onSave(text); }}>Save</button>}
					{isDirty && <button type="button" onClick={() => { toField(); setText(base); }}>Discard changes</button>}
					{props.children}
				</div>
			)}
		</div>
	);
}

const MORE: [string, string, string][] = [
	["base_system_prompt", "Base", "Sent first."],
	["global_system_prompt", "Global", "Sent next, in every project."],
];

function WillBeSent() {
	const disc = useStore((from) => from.disc), take = useStore((from) => from.take);
	const version = useStore((from) => from.version), outline = useStore((from) => from.outline);
	const [focus, setFocus] = useState(0), [budget, setBudget] = useState("");
	const { data, problem } = useLoaded(
		() => readContext(Number(budget) > 0 ? Number(budget) : null),
		[disc, take, version, budget], 300);
	if (!data)
		return <p class="quiet">{problem || "Reading …"}</p>;
	const most = data.entries.reduce((sum, entry) => Math.max(sum, entry.tokens), 1);
	const left = data.entries.filter((entry) => entry.left_out).length;
	const silent = (outline?.id.length ?? 0) - data.entries.length;
	return (
		<>
			<p>
				{data.exact ? "" : "About "}<strong>{data.tokens.toLocaleString()}</strong> tokens will be sent{data.model ? ` to ${data.service ?? data.provider}/${data.model}.` : ". No model is set yet."}
				{left > 0 && ` ${count(left, "entry is", "entries are")} left out.`}
				{silent > 0 && ` ${count(silent, "entry is", "entries are")} muted or never sent.`}
			</p>
			{data.files.length > 0 && (
				<p>{count(data.files.length, "file is", "files are")} sent before the entries, with {data.exact ? "" : "about "}{data.file_tokens.toLocaleString()} tokens: {data.files.map((file) => file.name).join(", ")}.</p>
			)}
			{data.file_problems.map((each) => <p class="problem" key={`${each.item} ${each.path ?? ""} ${each.kind}`}>Cannot be sent: {each.message}.</p>)}
			{data.unsent.map((sentence) => <p class="problem" key={sentence}>{sentence}.</p>)}
			<label class="field inline">Budget in tokens
				<input class="line" type="number" min={1} value={budget} placeholder="none" onInput={(event) => setBudget(event.currentTarget.value)} />
			</label>
			<div class="context-rows" style={{ height: `${Math.min(Math.max(data.entries.length, 1), MOST_ROWS) * ROW_PX + 2}px` }}>
				<Rows role="list" label="Next request" count={data.entries.length} height={ROW_PX} idPrefix="context" focus={focus} onFocus={setFocus}
					onKey={(event, at) => {
						if (event.key !== "Enter")
							return false;
						set({ focus: data.entries[at].id });
						showEntry(data.entries[at].id, false);
						return true;
					}}
					row={(at, place) => {
						const entry = data.entries[at], role = outline?.role[entry.at - 1] ?? "";
						return (
							<div {...place} role="listitem" key={entry.id} class={"pane-row context-row" + (entry.left_out ? " off" : "")}
								aria-setsize={data.entries.length} aria-posinset={at + 1}
								onClick={() => { set({ focus: entry.id }); showEntry(entry.id, false); }}>
								<span class="number">{entry.at}</span>
								<span class={"who" + (role.toLowerCase() === "user" ? " user" : "")}>{role || entry.id}</span>
								<span class="space" />
								{entry.left_out && <span class="chip">left out</span>}
								<meter class="tokens" aria-label="Tokens" min={0} max={most} value={entry.tokens} />
								<span class="number tokens-count">{entry.tokens.toLocaleString()}</span>
							</div>
						);
					}} />
			</div>
			<RequestText body={data.body} />
		</>
	);
}

/** "12 replies, 3,400 tokens sent, 1,200 received, $0.12 (2 replies have no known price)" */
function usageWords(usage: Usage): string {
	const price = usage.without_price ?? 0;
	return [
		count(usage.replies, "reply", "replies"), `${count(usage.input_tokens, "token")} sent`, `${usage.output_tokens.toLocaleString()} received`,
		...(usage.cost !== undefined ? [costWords(usage.cost)] : usage.replies > 0 ? ["price unknown"] : []),
	].join(", ") + (usage.cost !== undefined && price > 0 ? ` (${count(price, "reply has", "replies have")} no known price)` : "");
}

function UsageSoFar() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const { data, problem } = useLoaded(() => get<{ usage: Usage; project_usage: Usage }>(discPath("usage")), [disc, version], USAGE_PAUSE_MS);
	if (!data)
		return <p class="quiet">{problem || "Reading …"}</p>;
	if (data.project_usage.replies === 0)
		return <p class="quiet">No token counts yet.</p>;
	return (
		<dl class="usage">
			<dt>This discussion</dt><dd>{usageWords(data.usage)}</dd>
			<dt>The project</dt><dd>{usageWords(data.project_usage)}</dd>
		</dl>
	);
}

function Prompt() {
	const settings = useStore((from) => from.settings);
	const disc = useStore((from) => from.disc);
	const prompt = settings?.prompt ?? { text: "", edited: false };
	const values = settings?.settings ?? {};
	const [hasMore] = useState(values.use_default_base_prompt === false || !!values.base_system_prompt || !!values.global_system_prompt);
	return (
		<section class="pane-body scrolls" aria-label="Prompt">
			<h2>Instructions</h2>
			<TextField id="project_system_prompt" label="Instructions before the entries" rows={4} saved={String(values.project_system_prompt ?? "")}
				hint="For every discussion in this project; for a single discussion, begin it with an entry with the role System. For example: Answer in one paragraph, and mention any doubts."
				onSave={(text) => act.setSetting("project_system_prompt", text || null)} />
			<details class="more-prompts" open={hasMore}>
				<summary>Other prompts, sent before the instructions</summary>
				<Flag name="use_default_base_prompt" label="If the prompts below are empty, explain the working prompt to the model" isOn />
				{MORE.map(([key, label, hint]) => (
					<TextField key={key} id={key} label={label} hint={hint} rows={3} saved={String(values[key] ?? "")}
						onSave={(text) => act.setSetting(key, text || null)} />
				))}
			</details>
			<h2>Working prompt {prompt.edited && <span class="chip accent">edited</span>}</h2>
			<TextField key={disc} of={disc} id="working-prompt" label="The text that you and the model write together" saved={prompt.text} rows={6}
				onSave={(text) => act.op("prompt.update", { text })}>
				<button type="button" disabled={!prompt.edited} title={prompt.edited ? "Adds a notice to the take" : "The model already knows this text"}
					onClick={() => void act.op("prompt.notify", {}, { say: "Added a notice for the model." })}>Notify the model</button>
			</TextField>
			<h2>Next request</h2>
			<WillBeSent />
			<h2>Last request</h2>
			<SentLast />
			<h2>Usage and cost</h2>
			<UsageSoFar />
		</section>
	);
}

addPane({ id: "prompt", title: "Prompt", place: "side", view: Prompt, order: 30 });
