// SPDX-License-Identifier: MIT
//
// Facts about a reply: model, tokens, time and cost, as far as the entry contains them; in the page
// and in exports. Imported sessions use the member names of their programs.
import { costWords, durationWords } from "./words";

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? value as Fields : {});

function firstCount(...values: unknown[]): number | null {
	const found = values.find((value) => typeof value === "number" && value >= 0);
	return typeof found === "number" ? found : null;
}

/** The known facts about a reply, each as displayed text and name. */
export function replyFacts(entry: Fields): [text: string, name: string][] {
	const record = fieldsOf(fieldsOf(entry.pi).message), usage = fieldsOf(entry.usage ?? record.usage);
	const model = [entry.model, record.model].find((each) => typeof each === "string" && each !== "");
	const into = firstCount(usage.input_tokens, usage.prompt_tokens, usage.input);
	const out = firstCount(usage.output_tokens, usage.completion_tokens, usage.output);
	const cached = firstCount(usage.cache_read_input_tokens, usage.cacheRead);
	const ms = firstCount(entry.duration_ms), cost = firstCount(entry.cost, usage.cost, fieldsOf(usage.cost).total);
	const facts: [string, string][] = [];
	if (model !== undefined)
		facts.push([String(model), "Model"]);
	if (into !== null || out !== null)
		facts.push([`${into?.toLocaleString() ?? "?"} → ${out?.toLocaleString() ?? "?"} tokens`,
			`Tokens sent and received${cached ? `; ${cached.toLocaleString()} of them from the cache` : ""}`]);
	if (ms !== null)
		facts.push([durationWords(ms), "Duration"]);
	if (cost !== null && cost > 0)
		facts.push([costWords(cost), "Cost"]);
	return facts;
}

export function ReplyFoot(props: { entry: Fields }) {
	const facts = replyFacts(props.entry);
	if (facts.length === 0)
		return null;
	return <p class="reply-foot">{facts.map(([text, name]) => <span title={name}>{text}</span>)}</p>;
}
