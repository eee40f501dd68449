// SPDX-License-Identifier: MIT
//
// Prompt templates: texts with variables, "Review {{file}}.", stored as settings of the project
// named template.NAME. A template is used by writing /NAME, or from a list; the values of its
// variables are asked for, and the text is put into the composer.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { Dialog } from "./dialog";
import { addPane, openOverlay } from "./panes";
import { state, useStore } from "./state";
import { oneLine } from "./words";

const KEY = "template.";
const NAME = /^[A-Za-z0-9_-]{1,40}$/, VARIABLE = /\{\{\s*([A-Za-z0-9_-]{1,40})\s*\}\}/g, BEGUN = /^\/([A-Za-z0-9_-]{0,40})(\s[^]*)?$/;

export interface Template {
	name: string;
	text: string;
}

export function templatesOf(values: Record<string, unknown> | undefined): Template[] {
	return Object.entries(values ?? {})
		.filter(([key, text]) => key.startsWith(KEY) && typeof text === "string")
		.map(([key, text]) => ({ name: key.slice(KEY.length), text: String(text) }))
		.sort((a, b) => a.name.localeCompare(b.name));
}

function variablesOf(text: string): string[] {
	return [...new Set([...text.matchAll(VARIABLE)].map((match) => match[1]))];
}

/** replaces with a function, because "$&" in a value must stay unchanged */
function filled(text: string, values: ReadonlyMap<string, string>): string {
	return text.replace(VARIABLE, (whole, name: string) => values.get(name) ?? whole);
}

/** Templates that a message "/NAME …" may refer to. */
function matchingTemplates(message: string, all: Template[]): Template[] {
	const begun = BEGUN.exec(message);
	return begun ? all.filter((each) => (begun[2] === undefined ? each.name.startsWith(begun[1]) : each.name === begun[1])) : [];
}

/** The template that is being used, and the text after its name. */
let used: { template: Template; more: string } | null = null;

function toField(text: string): void {
	const field = document.getElementById("composer") as HTMLTextAreaElement | null;
	if (!field)
		return;
	field.value = text;
	field.dispatchEvent(new Event("input", { bubbles: true }));
	queueMicrotask(() => {
		field.focus();
		field.setSelectionRange(text.length, text.length);
	});
}

export function useTemplate(template: Template, more = ""): void {
	if (variablesOf(template.text).length === 0) {
		openOverlay(null);
		return toField(template.text + (more && `\n\n${more}`));
	}
	used = { template, more };
	openOverlay("template");
}

const STATS = "/stats";

/** Does the message name a template, or the statistics? Then it is used, and the message is not sent. */
export function usesTemplate(message: string): boolean {
	const found = matchingTemplates(message, templatesOf(state.settings?.settings));
	const meant = found.find((each) => each.name === BEGUN.exec(message)?.[1]) ?? (found.length === 1 ? found[0] : undefined);
	if (!meant && message === STATS) {
		toField("");
		openOverlay("stats");
	}
	if (!meant)
		return message === STATS;
	useTemplate(meant, message.replace(/^\/\S*\s*/, ""));
	return true;
}

/** Suggestions while a "/" command is typed. */
export function TemplateChips(props: { text: string }) {
	const values = useStore((from) => from.settings)?.settings;
	const all = templatesOf(values), found = props.text.startsWith("/") ? matchingTemplates(props.text, all) : [];
	const isFirst = all.length === 0 && /^\/[A-Za-z0-9_-]*$/.test(props.text);
	if (found.length === 0 && !isFirst)
		return null;
	return (
		<ul class="chips" aria-label="Templates">
			{isFirst && <li><button type="button" class="chip-button" onClick={() => openOverlay("templates")}>No templates yet. New template …</button></li>}
			{found.map((each) => (
				<li key={each.name}><button type="button" class="chip-button" title={oneLine(each.text)} onClick={() => useTemplate(each, props.text.replace(/^\/\S*\s*/, ""))}>/{each.name}</button></li>
			))}
		</ul>
	);
}

function Variables() {
	const [{ template, more }] = useState(() => used!);
	const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
	const names = variablesOf(template.text);
	const done = () => {
		openOverlay(null);
		setTimeout(() => toField(filled(template.text, values) + (more && `\n\n${more}`)));
	};
	return (
		<Dialog title={`Template “${template.name}”`} onClose={() => openOverlay(null)}>
			<form onSubmit={(event) => { event.preventDefault(); done(); }}>
				{names.map((name, at) => (
					<div class="setting" key={name}>
						<label for={`variable-${at}`}>{name}</label>
						<textarea id={`variable-${at}`} rows={1} autoFocus={at === 0} value={values.get(name) ?? ""}
							onInput={(event) => setValues(new Map(values).set(name, event.currentTarget.value))}
							onKeyDown={(event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); event.currentTarget.form?.requestSubmit(); } }} />
					</div>
				))}
				<p class="plain template-preview" aria-label="The message">{filled(template.text, new Map([...values].filter(([, value]) => value !== "")))}</p>
				<footer>
					<button type="button" onClick={() => openOverlay(null)}>Cancel</button>
					<button type="submit" class="primary">Insert into the message</button>
				</footer>
			</form>
		</Dialog>
	);
}

function Editor(props: { of: Template | null; onEnd: () => void }) {
	const [name, setName] = useState(props.of?.name ?? ""), [text, setText] = useState(props.of?.text ?? "");
	const isWrong = name !== "" && !NAME.test(name);
	const form = useRef<HTMLFormElement>(null);
	// autofocus takes effect only when the dialog opens
	useLayoutEffect(() => form.current!.querySelector<HTMLElement>(props.of ? "textarea" : "input")!.focus(), []);
	const save = async () => {
		await act.op("setting.set", { key: KEY + name, value: text, of: "project" }, { say: `Saved the template “${name}”.` });
		props.onEnd();
	};
	return (
		<form ref={form} onSubmit={(event) => { event.preventDefault(); void save(); }}>
			<div class="setting">
				<label for="template-name">Name</label>
				<input id="template-name" class="line" readOnly={!!props.of} value={name} placeholder="review" spellcheck={false} autocomplete="off"
					aria-invalid={isWrong || undefined} aria-describedby="template-name-hint" onInput={(event) => setName(event.currentTarget.value)} />
				<p class="quiet small" id="template-name-hint">Letters, digits, - and _. Write /{name && !isWrong ? name : "NAME"} to use it.</p>
			</div>
			<div class="setting">
				<label for="template-text">Text</label>
				<textarea id="template-text" class="template-text" rows={6} value={text} placeholder="Review {{file}} as a {{reader}}."
					aria-describedby="template-text-hint" onInput={(event) => setText(event.currentTarget.value)} />
				<p class="quiet small" id="template-text-hint">A name in double braces is a variable; you are asked for its value: {variablesOf(text).join(", ") || "{{file}}"}</p>
			</div>
			<footer>
				<button type="button" onClick={props.onEnd}>Cancel</button>
				<button type="submit" class="primary" disabled={!name || isWrong || !text.trim()}>Save</button>
			</footer>
		</form>
	);
}

function Templates() {
	const all = templatesOf(useStore((from) => from.settings)?.settings);
	const [edited, setEdited] = useState<Template | null | undefined>(undefined);
	const remove = (name: string) => act.op("setting.set", { key: KEY + name, value: null, of: "project" }, { say: `Deleted the template “${name}”.` });
	return (
		<Dialog title={edited === undefined ? "Templates" : edited ? `Template “${edited.name}”` : "New template"} onClose={() => openOverlay(null)}>
			{edited !== undefined ? <Editor of={edited} onEnd={() => setEdited(undefined)} /> : (
				<>
					{all.length === 0 && <p class="quiet">No templates yet. A template is a reusable message with variables.</p>}
					<ul class="plain-list" aria-label="Templates">
						{all.map((each) => (
							<li key={each.name}>
								<span class="grow template-row"><strong>{each.name}</strong> <span class="quiet">{oneLine(each.text)}</span></span>
								<button type="button" aria-label={`Use the template ${each.name}`} onClick={() => useTemplate(each)}>Use</button>
								<button type="button" aria-label={`Edit the template ${each.name}`} onClick={() => setEdited(each)}>Edit</button>
								<button type="button" class="icon" aria-label={`Delete the template ${each.name}`} onClick={() => void remove(each.name)}>×</button>
							</li>
						))}
					</ul>
					<footer><button type="button" class={all.length === 0 ? "primary" : ""} autoFocus={all.length === 0} onClick={() => setEdited(null)}>New template …</button></footer>
				</>
			)}
		</Dialog>
	);
}

addPane({ id: "template", title: "Template", place: "overlay", view: Variables });
addPane({ id: "templates", title: "Templates", place: "overlay", view: Templates });
