// SPDX-License-Identifier: MIT
//
// Model: the providers and their models, and a check of a model name before it is set: a name
// without a provider would fail only at the next request. The picker is in model_picker.tsx.
import { useState } from "preact/hooks";
import { get } from "./api";
import { useLoaded } from "./pane_data";
import { openOverlay } from "./panes";
import { state } from "./state";

const MOST_SHOWN = 40;

export interface Provider {
	provider: string;
	state: string;
	/** URL of its server. */
	url?: string;
	/** Environment variable with its key. */
	key_env?: string;
	/** Prefixes of its model names, and a less certain part of them. */
	model_prefixes?: string[];
	model_infix?: string;
}

/** The provider whose models have such names. */
function makerOf(name: string, providers: Provider[]): string | undefined {
	const maker = providers.find((each) => each.model_prefixes?.some((prefix) => name.startsWith(prefix)))
		?? providers.find((each) => each.model_infix && name.includes(each.model_infix));
	return maker?.provider;
}

/** A problem with a model name, and a suggestion. */
export interface Doubt {
	text: string;
	meant?: string;
}

/** null: no problem found. providers: empty if they are not known. */
export function doubtOf(name: string, providers: Provider[]): Doubt | null {
	if (name.startsWith("builtin/play:"))
		return { text: "A model that plays a file can be chosen only on the command line or in the configuration file." };
	const slash = name.indexOf("/"), provider = name.slice(0, Math.max(slash, 0));
	if (slash > 0 && slash === name.length - 1)
		return { text: `Add the model of ${provider} after the slash.` };
	if (slash > 0)
		return providers.length === 0 || providers.some((each) => each.provider === provider) ? null
			: { text: `There is no provider “${provider}”. Available: ${providers.map((each) => each.provider).join(", ")}.` };
	const usual = state.info?.model ?? "";
	const maker = makerOf(name, providers) ?? usual.slice(0, Math.max(usual.indexOf("/"), 0));
	return { text: `“${name}” has no provider: use PROVIDER/NAME.`, meant: maker ? `${maker}/${name}` : undefined };
}

export function useProviders(): Provider[] {
	return useLoaded(() => get<Provider[]>("/models"), []).data ?? [];
}

interface ChoiceProps {
	now: string;
	providers: Provider[];
	onChoose: (name: string) => void;
	/** The listed models, for suggestions. */
	onKnown?: (names: string[]) => void;
}

/** A list of a provider's models. */
export function ModelChoice(props: ChoiceProps) {
	const { now, providers } = props;
	const [picked, setPicked] = useState<string | null>(null);
	const named = now.split("/")[0];
	const asked = picked ?? (providers.some((each) => each.provider === named) ? named : "builtin");
	const names = useLoaded(() => get<{ model: string }[]>("/models", { provider: asked }).then((all) => {
		props.onKnown?.(all.map((each) => each.model));
		return all;
	}), [asked]);
	const known = (names.data ?? []).map((each) => each.model).filter((name) => name.startsWith(asked + "/"));
	return (
		<div class="setting">
			<label for="set-provider">Provider</label>
			<select id="set-provider" value={asked} onChange={(event) => setPicked(event.currentTarget.value)}>
				{(providers.length ? providers : [{ provider: asked, state: "" }]).map((each) => (
					<option value={each.provider}>{each.provider}{each.state && ` (${each.state})`}</option>
				))}
			</select>
			{names.problem ? <p class="quiet small" role="status">{names.problem}</p>
				: known.length > 0 && (
					<ul class="chips" aria-label={`Models of ${asked}`}>
						{known.slice(0, MOST_SHOWN).map((name) => (
							<li><button type="button" class="chip-button" aria-pressed={name === now} onClick={() => props.onChoose(name)}>{name.slice(asked.length + 1)}</button></li>
						))}
					</ul>
				)}
		</div>
	);
}

export function DoubtLine(props: { doubt: Doubt | null; onMeant: (name: string) => void }) {
	const { doubt } = props;
	if (!doubt)
		return null;
	return (
		<p class="note problem" role="alert" id="model-problem">{doubt.text}{" "}
			{doubt.meant && <button type="button" onClick={() => props.onMeant(doubt.meant!)}>Use {doubt.meant}</button>}
		</p>
	);
}

export function openModel(): void {
	openOverlay("model");
}
