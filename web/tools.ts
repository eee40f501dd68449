// SPDX-License-Identifier: MIT
//
// Tools: matches tool calls with their results. A call may be a block of an entry, in the format of
// any provider, or in its "tool_calls"; a result may be a separate entry or a block. The page and
// exports show a result with its call instead of as a separate row.
import { isTool } from "./speaker";
import type { Block, Content } from "./types";

/** Only the members used here; data of an exported page is untrusted. */
export interface EntryLike {
	role: string;
	content: Content;
	purged?: boolean;
	[member: string]: unknown;
}

export interface Call {
	id: string;
	name: string;
	given: unknown;
}

export interface Outcome {
	text: string;
	isError: boolean;
	/** Position in the take of the entry with the result. */
	at: number;
}

/** How many entries are searched for a result or for a call. */
const FAR = 64;

const CALL = /^(toolCall|tool_use|tool_call|function)$/, RESULT = /^(toolResult|tool_result)$/;

function word(...values: unknown[]): string {
	return values.find((value): value is string => typeof value === "string" && value !== "") ?? "";
}

export function isCall(block: Block): boolean {
	return CALL.test(block.type);
}

export function callOf(block: Block): Call {
	const inner = block.function as Block | undefined;
	return {
		id: word(block.id, block.tool_use_id, block.toolCallId),
		name: word(block.name, inner?.name) || "tool",
		given: block.arguments ?? block.input ?? inner?.arguments,
	};
}

function blocksOf(body: EntryLike): Block[] {
	return Array.isArray(body.content) ? body.content.filter((block) => typeof block === "object" && block !== null) : [];
}

/** Calls outside the content. */
export function otherCalls(body: EntryLike): Call[] {
	const calls = Array.isArray(body.tool_calls) ? body.tool_calls : [];
	return calls.filter((call) => typeof call === "object" && call !== null).map(callOf);
}

function callsOf(body: EntryLike): Call[] {
	return [...blocksOf(body).filter(isCall).map(callOf), ...otherCalls(body)];
}

export function hasCalls(body: EntryLike): boolean {
	return otherCalls(body).length > 0 || blocksOf(body).some(isCall);
}

function textOf(content: unknown): string {
	if (typeof content === "string")
		return content;
	if (!Array.isArray(content))
		return content === undefined ? "" : JSON.stringify(content, null, 2);
	return content.map((block) => (typeof block?.text === "string" ? block.text : JSON.stringify(block, null, 2))).join("\n");
}

/** The results in an entry, by the id of the call; null: it has other content, too. */
export function resultsIn(body: EntryLike): Map<string, Omit<Outcome, "at">> | null {
	const pi = (body.pi as { message?: Record<string, unknown> } | undefined)?.message;
	const results = new Map<string, Omit<Outcome, "at">>();
	if (body.purged)
		return null;
	if (isTool(body.role)) {
		const id = word(body.tool_call_id, body.toolCallId, pi?.toolCallId, body.tool_use_id);
		const hasPicture = blocksOf(body).some((block) => block.type === "image");
		return id && !hasPicture ? results.set(id, { text: textOf(body.content), isError: (body.isError ?? body.is_error ?? pi?.isError) === true }) : null;
	}
	for (const block of blocksOf(body)) {
		const id = word(block.tool_use_id, block.toolCallId, block.id);
		if (!RESULT.test(block.type) || !id)
			return null;
		results.set(id, { text: textOf(block.content), isError: (block.is_error ?? block.isError) === true });
	}
	return results.size > 0 ? results : null;
}

type At = (at: number) => EntryLike | undefined;

/** The results of the calls in the entry at this position, by id, as far as the following entries contain them. */
export function outcomesAfter(at: number, entry: At): Map<string, Outcome> {
	const body = entry(at), found = new Map<string, Outcome>();
	const ids = new Set(body ? callsOf(body).map((call) => call.id) : []);
	for (let next = at + 1; found.size < ids.size && next <= at + FAR; next++) {
		const other = entry(next), results = other && resultsIn(other);
		if (!results)
			break;
		for (const [id, result] of results)
			if (ids.has(id))
				found.set(id, { ...result, at: next });
	}
	return found;
}

/** Is the whole content of an entry shown with the calls before it? */
export function isWithCall(at: number, entry: At): boolean {
	const body = entry(at), results = body && resultsIn(body);
	if (!results)
		return false;
	for (let before = at - 1; before >= 0 && before >= at - FAR; before--) {
		const other = entry(before);
		if (!other)
			return false;
		if (resultsIn(other))
			continue;
		const ids = new Set(callsOf(other).map((call) => call.id));
		return [...results.keys()].every((id) => ids.has(id));
	}
	return false;
}

const EVENTS = new Map(Object.entries({
	model_change: ["model", "provider", "modelId"], thinking_level_change: ["thinking", "thinkingLevel"],
	session_info: ["title", "name"], custom: ["custom", "customType"], label: ["label", "label"],
}));

/** A record that sets a value, in one line as in `show`: "model: openai/gpt-x"; "": not such a record. */
export function eventOf(body: EntryLike & { kind?: string }): string {
	const [prefix, ...members] = EVENTS.get(body.kind ?? "") ?? [""], record = body.pi as Record<string, unknown> | undefined;
	if (!prefix || textOf(body.content).trim() !== "")
		return "";
	return `${prefix}: ${members.map((member) => word(record?.[member], body[member])).filter(Boolean).join("/") || "none"}`;
}
