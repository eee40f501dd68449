// SPDX-License-Identifier: MIT
//
// Model picker: the models of all configured servers in one searchable list, for this discussion or
// as the project's default, or several that answer the same question at once. Beside it the
// parameters of requests: effort, temperature, length.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { get, Problem } from "./api";
import { Dialog } from "./dialog";
import { DoubtLine, doubtOf, openModel, useProviders } from "./model";
import { meantModel } from "./model_problem";
import { useModel } from "./pane_data";
import { ModelSetup, OTHER, setupOf } from "./model_setup";
import { NumberSetting } from "./pane_settings";
import { addPane, openOverlay } from "./panes";
import { askModels, questionText, typeQuestion } from "./several";
import { useStore } from "./state";
import type { Doubt, Provider } from "./model";

/** Limits: per group, of recently used ones, of models asked at once. */
const MOST = 30, MOST_RECENT = 5, MOST_ASKED = 16;
const RECENT = "retake.models";

/** The models that need no server. builtin/play is not listed: it reads a file of the server. */
const ABOUT: Record<string, string> = {
	"builtin/echo": "repeats the question", "builtin/text": "the same, without images",
	"builtin/summary": "extracts sentences",
};

interface Listed {
	models: string[];
	/** Why the models cannot be listed, and what to do; "": they are listed. */
	problem: string;
	isLoading: boolean;
}

interface Group {
	name: string;
	models: string[];
	note: string;
	/** The provider must be set up before its models are known. */
	isUnset?: boolean;
}

function recentModels(): string[] {
	try {
		const kept: unknown = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
		return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
	} catch {
		return [];
	}
}

function remember(models: string[]): void {
	const all = [...models, ...recentModels().filter((each) => !models.includes(each))];
	localStorage.setItem(RECENT, JSON.stringify(all.slice(0, MOST_RECENT)));
}

function problemOf(error: unknown, provider: Provider): string {
	const code = error instanceof Problem ? error.code : "", detail = act.sentence((error as Error).message);
	const fix = code === "credentials" ? "Check its key." : provider.url ? "Is that server running?" : "";
	return `${detail} ${fix}`.trim();
}

/** The model lists of all configured providers, each as soon as it arrives. */
function useLists(providers: Provider[]): ReadonlyMap<string, Listed> {
	const [lists, setLists] = useState<ReadonlyMap<string, Listed>>(new Map());
	useEffect(() => {
		let isOld = false;
		const put = (name: string, listed: Listed) => {
			if (!isOld)
				setLists((old) => new Map(old).set(name, listed));
		};
		for (const each of providers) {
			const problem = setupOf(each) && `${each.provider} ${setupOf(each)}.`;
			put(each.provider, { models: [], problem, isLoading: !problem });
			if (!problem)
				get<{ model: string }[]>("/models", { provider: each.provider }).then(
					(all) => put(each.provider, { models: all.map((one) => one.model), problem: "", isLoading: false }),
					(error) => put(each.provider, { models: [], problem: problemOf(error, each), isLoading: false }));
		}
		return () => { isOld = true; };
	}, [providers]);
	return lists;
}

/** Does the name contain every word of the query? */
function matches(name: string, words: string[]): boolean {
	const lower = name.toLowerCase();
	return words.every((word) => lower.includes(word));
}

/** Recently used first, then by provider, with the built-in models last; then those without models, which are hidden if there is a query. eachOnce: recently
 * used ones are not listed again by provider. */
function groupsOf(query: string, now: string, providers: Provider[], lists: ReadonlyMap<string, Listed>, eachOnce: boolean): Group[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const recent = [...new Set([now, ...recentModels()])].filter((name) => name && matches(name, words)).slice(0, MOST_RECENT);
	const groups: Group[] = recent.length ? [{ name: "Recent", models: recent, note: "" }] : [];
	const loading: Group[] = [], failed: Group[] = [];
	const builtin = (each: Provider) => Number(each.provider === "builtin");
	for (const each of [...providers].sort((a, b) => builtin(a) - builtin(b))) {
		const { provider } = each, listed = lists.get(provider);
		const found = (listed?.models ?? []).filter((name) => matches(name, words) && !(eachOnce && recent.includes(name)));
		const rest = found.length - MOST;
		if (found.length > 0)
			groups.push({ name: provider, models: found.slice(0, MOST), note: rest > 0 ? `${rest.toLocaleString()} more. Type part of the name.` : "" });
		else if (listed?.isLoading)
			loading.push({ name: provider, models: [], note: "Loading the list …" });
		else if (listed?.problem && matches(provider, words))
			failed.push({ name: provider, models: [], note: setupOf(each) || "no list of models", isUnset: true });
	}
	const toTry = groups.find((group) => group.name === "builtin");
	if (toTry)
		toTry.note ||= "No model server needed. play:FILE plays scripted replies; it can only be chosen on the command line or in the configuration file.";
	return [...groups.filter((group) => group !== toTry), ...loading, ...(toTry ? [toTry] : []), ...failed];
}

function Effort(props: { value: unknown }) {
	return (
		<div class="setting">
			<label for="picker-effort">Effort</label>
			<select id="picker-effort" value={String(props.value ?? "")} onChange={(event) => void act.setSetting("reasoning_effort", event.currentTarget.value || null)}>
				<option value="">default</option>
				{["none", "minimal", "low", "medium", "high"].map((each) => <option value={each}>{each}</option>)}
			</select>
		</div>
	);
}

type Scope = "discussion" | "project";

/** False: it was refused, and onProblem was told why. */
async function choose(name: string, scope: Scope, isOwn: boolean, onProblem: (error: Error) => void): Promise<boolean> {
	const done = scope === "project" && isOwn ? await act.batch([
		{ op: "setting.set", key: "model", value: name, of: "project" },
		{ op: "setting.set", key: "model", value: null, of: "discussion" },
	], { say: `Model of the project: ${name}`, onProblem }) : await act.op("setting.set", { key: "model", value: name, of: scope }, { say: `Model of this ${scope}: ${name}`, onProblem });
	if (done)
		remember([name]);
	return done !== null;
}

function ModelPicker(props: { isSeveral: boolean }) {
	const settings = useStore((from) => from.settings), usual = useStore((from) => from.info)?.model ?? "";
	const values = settings?.settings ?? {}, own = String(values.model ?? ""), now = useModel();
	const isOwn = (settings?.own as string[] | undefined)?.includes("model") ?? false;
	const [query, setQuery] = useState(""), [picked, setPicked] = useState<string | null>(null), [doubt, setDoubt] = useState<Doubt | null>(null);
	const [isSeveral, setSeveral] = useState(props.isSeveral), [asked, setAsked] = useState<string[]>([]);
	const [setup, setSetup] = useState<string | null>(null);
	const [scope, setScope] = useState<Scope>(own ? "discussion" : "project"), [question, setQuestion] = useState(questionText);
	const list = useRef<HTMLDivElement>(null), field = useRef<HTMLInputElement>(null);
	const providers = useProviders(), lists = useLists(providers);
	const groups = useMemo(() => groupsOf(query, now, providers, lists, isSeveral), [query, now, providers, lists, isSeveral]);
	// the same model may be in two groups
	const rows: { key: string; model: string; setup?: string }[] = groups.flatMap((group) => group.isUnset ? [{ key: `setup ${group.name}`, model: "", setup: group.name }]
		: group.models.map((model) => ({ key: `${group.name} ${model}`, model })));
	// a model that is not listed; without a provider, that of its likely maker
	const words = query.trim(), unlisted = words !== "" && (words.includes("/") || !rows.some((row) => row.model)) ? doubtOf(words, providers) : null;
	const typed = unlisted ? unlisted.meant ?? "" : words, maker = providers.find((each) => typed.startsWith(`${each.provider}/`));
	const isKnownMissing = unlisted !== null && (!maker || setupOf(maker) !== "" || (lists.get(maker.provider)?.models.length ?? 0) > 0);
	const isNew = typed !== "" && !isKnownMissing && !rows.some((row) => row.model === typed) && (typed.includes("/") || !rows.some((row) => row.model));
	if (isNew)
		rows.push({ key: "typed", model: typed });
	if (words === "" && providers.length > 0)
		rows.push({ key: "setup", model: "", setup: OTHER });
	const found = rows.findIndex((row) => row.key === picked), at = found >= 0 ? found : rows.length > 0 ? 0 : -1;
	// the list opens at its beginning
	useEffect(() => { if (picked !== null || query) list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }); }, [at, groups]);
	const take = (name: string) => {
		const wrong = name === own ? null : doubtOf(name, providers);
		setDoubt(wrong);
		if (wrong)
			return;
		if (isSeveral) {
			setAsked((old) => (old.includes(name) ? old.filter((each) => each !== name) : old.length < MOST_ASKED ? [...old, name] : old));
			if (name === typed || name === words)
				setQuery("");
			return;
		}
		void choose(name, scope, isOwn, (error) => setDoubt({ text: act.sentence(error.message), meant: meantModel(error.message) })).then((isDone) => {
			if (isDone)
				openOverlay(null);
			else
				field.current?.focus();
		});
	};
	const onRow = (row: { model: string; setup?: string }) => (row.setup === undefined ? take(row.model) : setSetup(row.setup));
	const ask = () => {
		remember(asked);
		openOverlay(null);
		queueMicrotask(() => askModels(asked));
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const to = { ArrowDown: (at + 1) % rows.length, ArrowUp: (Math.max(at, 0) - 1 + rows.length) % rows.length,
			PageDown: Math.min(at + 8, rows.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isSeveral && asked.length > 0)
			ask();
		else if (event.key === "Enter" && !event.isComposing && at >= 0)
			onRow(rows[at]);
		else if (to !== undefined && rows.length)
			setPicked(rows[to].key);
		else
			return;
		event.preventDefault();
	};
	const option = (key: string, model: string, text: string, about = ABOUT[model]) => {
		const i = rows.findIndex((row) => row.key === key), isSetup = rows[i].setup !== undefined, isOn = !isSetup && (isSeveral ? asked.includes(model) : model === now);
		return (
			<div key={key} id={`picker-${i}`} role="option" aria-selected={i === at} aria-checked={isOn} class="palette-item" onClick={() => { setPicked(key); onRow(rows[i]); }}>
				<span class="words name">{text}</span>{" "}
				{about && <span class="words about">{about}</span>}{" "}
				<span class="picked" aria-hidden="true">{isSetup ? "›" : isSeveral ? (isOn ? "☑" : "☐") : isOn ? "✓" : ""}</span>
			</div>
		);
	};
	if (setup !== null)
		return (
			<Dialog title={setup === OTHER ? "Add a provider" : `Set up ${setup}`} class="picker" onClose={() => openOverlay(null)}>
				<ModelSetup provider={providers.find((each) => each.provider === setup) ?? null} problem={lists.get(setup)?.problem ?? ""} onBack={() => setSetup(null)} />
			</Dialog>
		);
	return (
		<Dialog title={isSeveral ? "Ask several models" : "Model"} class="palette picker" onClose={() => openOverlay(null)}>
			<input ref={field} class="line" role="combobox" aria-expanded="true" aria-controls="picker-list" aria-autocomplete="list" autoFocus aria-activedescendant={at >= 0 ? `picker-${at}` : undefined}
				aria-label="Find a model" placeholder={now ? `Find a model (current: ${now})` : "Find a model, or write PROVIDER/NAME"} value={query} spellcheck={false} autocomplete="off"
				aria-invalid={doubt !== null || undefined} aria-describedby={doubt ? "model-problem" : undefined} onInput={(event) => { setQuery(event.currentTarget.value); setPicked(null); setDoubt(null); }} onKeyDown={onKeyDown} />
			<DoubtLine doubt={doubt} onMeant={take} />
			<div id="picker-list" class="palette-list" role="listbox" aria-label="Models" aria-multiselectable={isSeveral || undefined} ref={list} tabIndex={-1}>
				{groups.filter((group) => !group.isUnset).map((group, n) => (
					<div role="group" aria-labelledby={`picker-group-${n}`} key={group.name}>
						<p class="palette-group" role="presentation" id={`picker-group-${n}`}>{group.name}</p>
						{group.models.map((model) => option(`${group.name} ${model}`, model, group.name === "Recent" ? model : model.slice(group.name.length + 1)))}
						{group.note && <p class="picker-note small" role="presentation">{group.note}</p>}
					</div>
				))}
				{isNew && option("typed", typed, `Use ${typed}`)}
				{rows.some((row) => row.setup !== undefined) && (
					<div role="group" aria-labelledby="picker-group-unset">
						<p class="palette-group" role="presentation" id="picker-group-unset">not available</p>
						{groups.filter((group) => group.isUnset).map((group) => option(`setup ${group.name}`, "", group.name, group.note))}
						{words === "" && option("setup", "", "Add a provider …")}
					</div>
				)}
			</div>
			{!rows.some((row) => row.model) && words !== "" && <p class="quiet" role="status">{unlisted?.meant ? `No match: ${maker && setupOf(maker) ? `${maker.provider} ${setupOf(maker)}.` : `no listed model has this name.`}` : unlisted?.text ?? "No match."}</p>}
			<div class="setting-row">
				<Effort value={values.reasoning_effort} />
				<NumberSetting name="temperature" label="Temperature" values={values} min={0} max={2} step={0.05} />
				<NumberSetting name="max_tokens" label="Max tokens" values={values} min={1} step={1} />
			</div>
			<label class="check"><input type="checkbox" checked={isSeveral} onChange={(event) => setSeveral(event.currentTarget.checked)} />
				Ask several models at once, and compare their replies</label>
			{isSeveral && (
				<div class="setting">
					<label for="picker-question">Question</label>
					<textarea id="picker-question" rows={2} value={question} placeholder="Leave empty for more replies to the last message"
						onInput={(event) => { setQuestion(event.currentTarget.value); typeQuestion(event.currentTarget.value); }} />
				</div>
			)}
			{isSeveral ? (
				<footer>
					<p class="quiet small grow" role="status">{asked.length === 0 ? "Choose the models to ask." : asked.join(", ")}</p>
					<button type="button" class="primary" disabled={asked.length === 0} onClick={ask}>Ask {asked.length || ""} {asked.length === 1 ? "model" : "models"}</button>
				</footer>
			) : (
				<fieldset class="choices picker-scope">
					<legend>Applies to</legend>
					<label class="choice"><input type="radio" name="picker-scope" checked={scope === "discussion"} onChange={() => setScope("discussion")} />this discussion</label>
					<label class="choice"><input type="radio" name="picker-scope" checked={scope === "project"} onChange={() => setScope("project")} />the project, as its default</label>
					{isOwn && <button type="button" class="link" onClick={() => { openOverlay(null); void act.op("setting.set", { key: "model", value: null, of: "discussion" }, { say: "This discussion uses the default of the project." }); }}>Use the project’s default</button>}
					{!own && usual && <p class="quiet small">{usual} is used until you choose a model.</p>}
				</fieldset>
			)}
		</Dialog>
	);
}

/** The current model, in the header. */
function ModelButton() {
	const model = useModel();
	return (
		<button type="button" class="icon text model-button" id="to-model" aria-haspopup="dialog" aria-label={model ? `Model: ${model}` : "Choose a model"} title={model ? `Model: ${model}` : "Choose a model"} onClick={openModel}>
			<span class="words">{model || "Choose a model"}</span> <span aria-hidden="true">▾</span></button>
	);
}

addPane({ id: "model", title: "Model", place: "overlay", view: () => <ModelPicker isSeveral={false} /> });
addPane({ id: "several", title: "Ask several models", place: "overlay", view: () => <ModelPicker isSeveral /> });
addPane({ id: "model-button", title: "Model", place: "top", view: ModelButton, order: 5 });
