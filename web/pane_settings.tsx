// SPDX-License-Identifier: MIT
//
// Settings: the model and its parameters, files, presets; those that are rarely used under "Advanced": roles, notices,
// compaction, undo, tracks. Each is saved when its field loses the focus, as a separate step.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { askLine } from "./dialog";
import { DoubtLine, doubtOf, ModelChoice, useProviders } from "./model";
import { useLoaded, useEditedText } from "./pane_data";
import { FileLists } from "./pane_files";
import { addPane } from "./panes";
import { roleName } from "./speaker";
import { useStore } from "./state";
import { discPath } from "./store";
import type { Doubt } from "./model";

type Values = Record<string, unknown>;

interface LineProps {
	label: string;
	value: string;
	onSave: (text: string) => void;
	hint?: string;
	placeholder?: string;
	suggestions?: string[];
	number?: { min: number; max?: number; step: number };
}

/** A boolean setting; isOn: its default. Shows the chosen value until it is saved. */
export function Flag(props: { name: string; label: string; isOn?: boolean }) {
	const value = useStore((from) => from.settings)?.settings[props.name], isOn = !!props.isOn;
	const saved = typeof value === "boolean" ? value : isOn;
	const [chosen, setChosen] = useState<boolean | null>(null);
	const choose = (is: boolean) => {
		setChosen(is);
		void act.setSetting(props.name, is === isOn ? null : is).finally(() => setChosen((now) => (now === is ? null : now)));
	};
	return (
		<label class="check">
			<input type="checkbox" checked={chosen ?? saved} onChange={(event) => choose(event.currentTarget.checked)} />
			{props.label}
		</label>
	);
}

/** A one-line field that is saved with Enter or on blur; Esc resets it. */
export function Line(props: LineProps) {
	const [text, setText] = useEditedText(props.value);
	const id = "set-" + props.label.toLowerCase().replace(/[^a-z]+/g, "-");
	const save = (typed: string) => {
		if (typed.trim() === props.value)
			return;
		const value = Number(typed), { min = -Infinity, max = Infinity } = props.number ?? {};
		if (props.number && typed.trim() !== "" && (value < min || value > max))
			act.sayProblem(new Error(`${props.label} must be ${max === Infinity ? `at least ${min}` : `between ${min} and ${max}`}; nothing was changed.`));
		else
			props.onSave(typed.trim());
	};
	return (
		<div class="setting">
			<label for={id}>{props.label}</label>
			<input id={id} class="line" value={text} placeholder={props.placeholder} list={props.suggestions && `${id}-list`}
				type={props.number ? "number" : "text"} {...props.number} aria-describedby={props.hint ? `${id}-hint` : undefined}
				onInput={(event) => setText(event.currentTarget.value)} onBlur={(event) => save(event.currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === "Enter")
						save(event.currentTarget.value);
					else if (event.key === "Escape")
						setText(props.value);
				}} />
			{props.suggestions && <datalist id={`${id}-list`}>{props.suggestions.map((each) => <option value={each} />)}</datalist>}
			{props.hint && <p class="quiet small" id={`${id}-hint`}>{props.hint}</p>}
		</div>
	);
}

interface NumberProps {
	name: string;
	label: string;
	values: Values;
	min: number;
	max?: number;
	step: number;
	hint?: string;
}

export function NumberSetting(props: NumberProps) {
	const value = props.values[props.name];
	return (
		<Line label={props.label} hint={props.hint} placeholder="default" value={value === undefined || value === null ? "" : String(value)}
			number={{ min: props.min, max: props.max, step: props.step }}
			onSave={(text) => void act.setSetting(props.name, text === "" ? null : Number(text))} />
	);
}

function Model(props: { values: Values }) {
	const own = String(props.values.model ?? ""), usual = useStore((from) => from.info)?.model ?? "";
	const providers = useProviders();
	const [known, setKnown] = useState<string[]>([]), [doubt, setDoubt] = useState<Doubt | null>(null);
	const save = (text: string) => {
		const found = text ? doubtOf(text, providers) : null;
		setDoubt(found);
		if (!found)
			void act.setSetting("model", text || null);
	};
	return (
		<>
			<Line label="Model" value={own} placeholder={usual || "PROVIDER/NAME"} suggestions={known}
				hint={usual ? `Default: ${usual}.` : "builtin/echo needs no key and repeats the question."} onSave={save} />
			<DoubtLine doubt={doubt} onMeant={save} />
			<ModelChoice now={own || usual} providers={providers} onChoose={save} onKnown={setKnown} />
		</>
	);
}

const SPEAKERS = ["user", "assistant", "system"];

/** How a role without an explicit setting is sent. */
function defaultMeaning(role: string): string {
	const name = role.toLowerCase();
	return name === "user" ? "user" : name === "system" ? "system" : /^(ai|assistant|model)$/.test(name) ? "assistant" : "named";
}

function Roles(props: { roles: string[]; values: Values }) {
	const [name, setName] = useState("");
	const map = (props.values.role_map ?? {}) as Record<string, string>;
	const add = async () => {
		if (name.trim() && await act.op("role.add", { role: name.trim() }))
			// unless the next name was entered in the meantime
			setName((now) => (now === name ? "" : now));
	};
	const speakAs = (role: string, speaker: string) => {
		const next = { ...map };
		if (speaker)
			next[role] = speaker;
		else
			delete next[role];
		void act.setSetting("role_map", Object.keys(next).length ? next : null);
	};
	const all = [...props.roles, ...Object.keys(map).filter((role) => !props.roles.includes(role))];
	return (
		<>
			<p class="quiet small">The roles of entries. Models know only user, assistant and system: choose how each role is sent.</p>
			<ul class="plain-list" aria-label="Roles">
				{all.map((role) => (
					<li key={role}>
						<span class="grow" title={role}>{roleName(role)}</span>
						<select aria-label={`${roleName(role)} is sent as`} value={map[role] ?? ""} onChange={(event) => speakAs(role, event.currentTarget.value)}>
							<option value="">as {defaultMeaning(role)}</option>
							{SPEAKERS.map((speaker) => <option value={speaker}>as {speaker}</option>)}
						</select>
						{props.roles.includes(role) && (
							<button type="button" class="icon" aria-label={`Remove the role ${roleName(role)}`} onClick={() => void act.removeRole(role)}>×</button>
						)}
					</li>
				))}
			</ul>
			<form class="adder" onSubmit={(event) => { event.preventDefault(); void add(); }}>
				<input class="line" aria-label="Name of a new role" placeholder="New role" value={name} onInput={(event) => setName(event.currentTarget.value)} />
				<button type="submit" disabled={!name.trim()}>Add</button>
			</form>
		</>
	);
}

function Presets() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const { data } = useLoaded(() => get<Record<string, unknown>>(discPath("presets")), [disc, version], 60);
	const names = Array.isArray(data) ? (data as { name: string }[]).map((each) => each.name) : Object.keys(data ?? {});
	const save = async () => {
		const name = await askLine("Save a preset", "", { text: "Saves the file lists, the prompts, the model and its parameters under a name.", suggestions: names, yes: "Save" });
		if (name?.trim())
			await act.op("preset.save", { name: name.trim() }, { say: `Saved “${name.trim()}”.` });
	};
	return (
		<>
			<ul class="plain-list" aria-label="Presets">
				{names.map((name) => (
					<li key={name}>
						<span class="grow">{name}</span>
						<button type="button" aria-label={`Load the preset ${name}`} onClick={() => void act.op("preset.load", { name }, { say: `Loaded “${name}”.` })}>Load</button>
						<button type="button" class="icon" aria-label={`Delete the preset ${name}`} onClick={() => void act.op("preset.delete", { name }, { say: `Deleted the preset “${name}”.` })}>×</button>
					</li>
				))}
			</ul>
			{data && names.length === 0 && <p class="quiet small">None yet.</p>}
			<div class="verbs"><button type="button" onClick={() => void save()}>Save a preset …</button></div>
		</>
	);
}

const ADVANCED = ["top_p", "role_map", "edit_notices", "prompt_updates", "symbols_sent", "compact_auto", "compact_reserve_tokens", "compact_keep_tokens", "undo_capacity"];

/** Remembered until the page is closed. */
let isAdvancedOpen = false;

/** Rarely used settings. The heading counts those that are set, so that none has an effect unseen. */
function Advanced(props: { values: Values; roles: string[]; track: string }) {
	const { values, track } = props;
	const changed = ADVANCED.filter((name) => values[name] !== undefined && values[name] !== null).length + (track ? 1 : 0);
	const flag = (name: string, label: string) => <Flag name={name} label={label} />;
	return (
		<details class="advanced" open={isAdvancedOpen} onToggle={(event) => { isAdvancedOpen = event.currentTarget.open; }}>
			<summary>Advanced{changed > 0 && <span class="quiet"> · {changed} changed</span>}</summary>
			<NumberSetting name="top_p" label="Top p" values={values} min={0} max={1} step={0.05} />
			<h2>Roles</h2>
			<Roles roles={props.roles} values={values} />
			<h2>Notices</h2>
			<div class="setting">
				<label for="set-notices">Edits reported to the model</label>
				<select id="set-notices" aria-describedby="set-notices-hint" value={String(values.edit_notices ?? "prompt")}
					onChange={(event) => void act.setSetting("edit_notices", event.currentTarget.value === "prompt" ? null : event.currentTarget.value)}>
					<option value="prompt">to the working prompt</option>
					<option value="all">to the working prompt and to replies</option>
					<option value="none">none</option>
				</select>
				<p class="quiet small" id="set-notices-hint">The next request can contain a notice about text that you changed.</p>
			</div>
			<div class="setting">
				<label for="set-updates">Replies that change the working prompt</label>
				<select id="set-updates" aria-describedby="set-updates-hint" value={String(values.prompt_updates ?? "off")}
					onChange={(event) => void act.setSetting("prompt_updates", event.currentTarget.value === "off" ? null : event.currentTarget.value)}>
					<option value="off">off</option>
					<option value="block">in a “prompt” code block</option>
					<option value="json">as JSON</option>
				</select>
				<p class="quiet small" id="set-updates-hint">The model is told how to write the new prompt, and its reply sets it.</p>
			</div>
			{flag("symbols_sent", "Send the definitions of @symbols mentioned in a question")}
			<h2>Compaction</h2>
			{flag("compact_auto", "Compact automatically when a take no longer fits into the model's context")}
			<div class="setting-row">
				<NumberSetting name="compact_reserve_tokens" label="Tokens reserved for the reply" values={values} min={0} step={256} />
				<NumberSetting name="compact_keep_tokens" label="Tokens to keep" values={values} min={0} step={256} />
			</div>
			<h2>Undo</h2>
			<NumberSetting name="undo_capacity" label="Maximum number of undo steps" values={values} min={0} step={1} hint="Leave empty for no limit. The history always keeps everything." />
			<h2>Track</h2>
			<Line label="Track of this discussion" placeholder="none" value={track}
				onSave={(text) => void act.op("track.set", { track: text || null }, { say: text ? `Set the track “${text}”.` : "Removed the track." })} />
		</details>
	);
}

function Settings() {
	const settings = useStore((from) => from.settings), values = settings?.settings ?? {};
	return (
		<section class="pane-body scrolls settings" aria-label="Settings">
			<h2>Model</h2>
			<Model values={values} />
			<div class="setting-row">
				<NumberSetting name="temperature" label="Temperature" values={values} min={0} max={2} step={0.05} />
				<NumberSetting name="max_tokens" label="Max tokens" values={values} min={1} step={1} />
			</div>
			<FileLists />
			<h2 id="presets" tabIndex={-1}>Presets</h2>
			<Presets />
			<Advanced values={values} roles={settings?.roles ?? []} track={String(settings?.track ?? "")} />
		</section>
	);
}

addPane({ id: "settings", title: "Settings", place: "side", view: Settings, order: 40 });
