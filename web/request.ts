// SPDX-License-Identifier: MIT
//
// Requests: a model request, split into comparable parts: settings, system prompt, messages. Each
// provider has these in other places; this makes requests to different providers comparable.
import { changes } from "./diff";
import { areTextsLike } from "./pane_align";

export interface Part {
	/** Role of a message, or "settings", "tools". */
	role: string;
	text: string;
}

/** One line of a comparison: parts that both requests have, two versions of one part, or a part of one request. */
export type Line = { same: Part[] } | { same: null; before: Part | null; after: Part | null };

/** How far ahead the other version of a part is searched for. */
const LOOK_AHEAD = 20;

type Fields = Record<string, unknown>;

const SYSTEM = /^(system|systemInstruction|system_instruction)$/, MESSAGES = /^(messages|contents|input)$/;

function isFields(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pretty(value: unknown): string {
	return JSON.stringify(value, null, 2) ?? "";
}

/** The text of a content; other content is shown as JSON. */
function textOf(content: unknown): string {
	if (typeof content === "string")
		return content;
	if (Array.isArray(content))
		return content.map(textOf).join("\n\n");
	if (!isFields(content))
		return content === undefined || content === null ? "" : pretty(content);
	if (Array.isArray(content.parts) && Object.keys(content).length === 1)
		return textOf(content.parts);
	const { type, text, ...others } = content;
	delete others.cache_control; // not part of the text
	return typeof text === "string" && (type === undefined || type === "text") && Object.keys(others).length === 0 ? text : pretty(content);
}

function messageOf(message: unknown): Part {
	if (!isFields(message))
		return { role: "", text: textOf(message) };
	const { role, content, parts, ...others } = message;
	const text = textOf(content ?? parts);
	const rest = Object.keys(others).length ? pretty(others) : "";
	return { role: String(role ?? ""), text: text && rest ? `${text}\n\n${rest}` : text || rest };
}

export function partsOf(body: unknown): Part[] {
	if (!isFields(body))
		return [{ role: "request", text: pretty(body) }];
	const settings: Fields = {}, first: Part[] = [], tools: Part[] = [], messages: Part[] = [];
	for (const [key, value] of Object.entries(body))
		if (SYSTEM.test(key))
			first.push({ role: "system", text: textOf(value) });
		else if (MESSAGES.test(key) && Array.isArray(value))
			messages.push(...value.map(messageOf));
		else if (key === "tools")
			tools.push({ role: "tools", text: pretty(value) });
		else
			settings[key] = value;
	return [{ role: "settings", text: pretty(settings) }, ...tools, ...first, ...messages];
}

/** In a run of differences: versions of one part are paired, the others stay alone. */
function pairs(out: Part[], into: Part[]): Line[] {
	const lines: Line[] = [];
	let next = 0;
	for (const before of out) {
		const near = into.slice(next, next + LOOK_AHEAD);
		const found = near.findIndex((each) => each.role === before.role && (each.role === "settings" || areTextsLike(before.text, each.text)));
		for (const after of near.slice(0, found + 1))
			lines.push({ same: null, before: after === near[found] ? before : null, after });
		if (found < 0)
			lines.push({ same: null, before, after: null });
		next += found + 1;
	}
	for (const after of into.slice(next))
		lines.push({ same: null, before: null, after });
	return lines;
}

/** Compares two requests. */
export function compare(before: Part[], after: Part[]): Line[] {
	const key = (part: Part) => `${part.role}\n${part.text}`;
	const lines: Line[] = [];
	let out: Part[] = [], into: Part[] = [], i = 0, j = 0;
	const flush = () => {
		lines.push(...pairs(out, into));
		out = [];
		into = [];
	};
	for (const piece of changes(before.map(key), after.map(key))) {
		if (piece.kind === "out") {
			out.push(...before.slice(i, i += piece.texts.length));
		} else if (piece.kind === "in") {
			into.push(...after.slice(j, j += piece.texts.length));
		} else if (piece.texts.length > 0) {
			flush();
			lines.push({ same: before.slice(i, i += piece.texts.length) });
			j += piece.texts.length;
		}
	}
	flush();
	return lines;
}
