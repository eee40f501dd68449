// SPDX-License-Identifier: MIT
//
// One entry of an exported page: role and content. Unknown parts are shown as source; nothing in an
// entry becomes markup of the page.
import { useMemo } from "preact/hooks";
import { Code } from "./code";
import { CopyButton } from "./copy";
import { Markdown, Thinking } from "./markdown";
import { ReplyFoot } from "./reply_foot";
import { isTool, roleClass, roleLabel } from "./speaker";
import { Output, pretty, ToolPart, ToolRow } from "./tool_row";
import { callOf, eventOf, otherCalls } from "./tools";
import { bytesWords, count, endWords, firstWords, withoutSigns } from "./words";
import type { Call, Outcome } from "./tools";
import type { Block } from "./types";
import { customTypeOf, textToCopy } from "./export_data";
import type { Fork, PageEntry, Spot } from "./export_data";

const NAMED = 40;

function Thing(props: { name: string; says?: string; value: unknown }) {
	return <ToolPart name={props.name} gist={props.says} text={pretty(props.value)} language="json" />;
}

function word(value: unknown, otherwise: string): string {
	return typeof value === "string" && value ? value : otherwise;
}

function Called(props: { call: Call; outcomes?: ReadonlyMap<string, Outcome> }) {
	return <ToolRow call={props.call} outcome={props.call.id ? props.outcomes && (props.outcomes.get(props.call.id) ?? null) : undefined} />;
}

function Result(props: { block: Block }) {
	const { block } = props, inner = block.content;
	return <ToolPart name="Result" text={typeof inner === "string" ? inner : pretty(inner ?? block)} isError={(block.is_error ?? block.isError) === true} />;
}

function Picture(props: { block: Block }) {
	const { block } = props;
	const source = block.source as { data?: unknown; media_type?: unknown } | undefined;
	const data = block.data ?? source?.data, type = block.mimeType ?? source?.media_type ?? "image/png";
	if (typeof data !== "string" || !/^[A-Za-z0-9+/=\s]*$/.test(data) || !/^image\/(png|jpeg|gif|webp)$/.test(String(type)))
		return <Thing name="image" value={block} />;
	return <img class="picture" alt="Image in this entry" src={`data:${type};base64,${data}`} />;
}

/** The largest file, in base64, that is also shown as text; the longest text that is shown unfolded. */
const READABLE = 1 << 20, UNFOLDED = 4000;

/** The text of a file; null: it is not a text. */
function fileText(data: string): string | null {
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
		return /[\0-\x08\x0e-\x1f]/.test(text) ? null : text;
	} catch {
		return null;
	}
}

/** An attached file: a link to save it, and its text. Its type is not trusted: it is only saved, never opened. */
function Attached(props: { block: Block }) {
	const { block } = props, name = word(block.name ?? block.file_name, "file");
	const data = typeof block.data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(block.data) ? block.data : "";
	const text = useMemo(() => (data && data.length <= READABLE ? fileText(data) : null), [data]);
	if (!data)
		return typeof block.size === "number" ? <p><span class="file-chip">{name} <span class="quiet small">{block.purged ? "purged" : "not included"}</span></span></p> : <Thing name="file" says={name} value={block} />;
	return (
		<div class="page-file">
			<a class="file-chip" href={`data:application/octet-stream;base64,${data}`} download={name} title={`Save ${name}`}>{name} <span class="quiet small">{bytesWords(Math.floor(data.replace(/=+$/, "").length * 3 / 4))}</span></a>
			{text !== null && <details class="tool" open={text.length <= UNFOLDED}><summary><span class="tool-name">Text of {name}</span></summary><Output text={text} /></details>}
		</div>
	);
}

function Part(props: { block: unknown; tree: unknown; isOutput?: boolean; outcomes?: ReadonlyMap<string, Outcome> }) {
	const block = props.block as Block | null;
	if (typeof block !== "object" || block === null)
		return <Code text={pretty(block)} />;
	if (props.isOutput && typeof block.text === "string")
		return <Output text={block.text} />;
	switch (block.type) {
	case "text":
	case "input_text":
	case "output_text":
		return <Markdown text={word(block.text, "")} tree={props.tree} />;
	case "thinking":
	case "reasoning":
		return <Thinking text={word(block.thinking ?? block.text, "")} />;
	case "toolCall":
	case "tool_use":
	case "tool_call":
	case "function":
		return <Called call={callOf(block)} outcomes={props.outcomes} />;
	case "toolResult":
	case "tool_result":
		return <Result block={block} />;
	case "image":
		return <Picture block={block} />;
	case "file":
		return <Attached block={block} />;
	default:
		return <Thing name={word(block.type, "part")} value={block} />;
	}
}

function segmentText(segment: unknown): string {
	if (typeof segment === "string")
		return segment;
	const fields = segment as Record<string, unknown> | null;
	return word(fields?.content ?? fields?.text ?? fields?.thinking, "");
}

function Body(props: { entry: PageEntry; blocks: unknown; outcomes?: ReadonlyMap<string, Outcome> }) {
	const { entry } = props, { content } = entry;
	if (entry.purged)
		return <p class="quiet">This text was purged.</p>;
	const segments = Array.isArray(entry.thinking_segments) ? entry.thinking_segments : [];
	const trees = Array.isArray(props.blocks) ? props.blocks : [];
	const isOutput = isTool(word(entry.role, ""));
	return (
		<>
			{segments.map((segment) => <Thinking text={segmentText(segment)} />)}
			{typeof content === "string"
				? (isOutput ? <Output text={content} /> : <Markdown text={content} tree={props.blocks} />)
				: content.map((block, at) => <Part block={block} tree={trees[at]} isOutput={isOutput} outcomes={props.outcomes} />)}
			{otherCalls(entry).map((call) => <Called call={call} outcomes={props.outcomes} />)}
			{endWords(entry) && <p class="quiet partial">{endWords(entry)}</p>}
		</>
	);
}

/** Arrows to the entries that follow the same one, and a mark where the page does not contain all of them. */
function Alternatives(props: { fork: Fork | null; missing: number; onGo?: (spot: Spot) => void }) {
	const { fork, missing, onGo } = props;
	const arrow = (name: string, sign: string, to: Spot | null) => (
		<button type="button" class="icon" aria-label={`${name} alternative`} title={`${name} alternative`} disabled={!to} onClick={() => onGo!(to!)}>{sign}</button>
	);
	return (
		<>
			{fork && <span class="fork" role="group" aria-label={`Alternative ${fork.place + 1} of ${fork.count}`}>
				{onGo && arrow("Previous", "‹", fork.previous)}{fork.place + 1}/{fork.count}{onGo && arrow("Next", "›", fork.next)}
			</span>}
			{missing > 0 && <span class="chip" title="This page contains one take only: export the whole discussion to include the others">{count(missing, "alternative")} not included</span>}
		</>
	);
}

export interface EntryProps {
	entry: PageEntry;
	at: number;
	blocks: unknown;
	label?: string;
	link: string;
	/** True if the content was edited after the entry was created. */
	isEdited: boolean;
	/** Alternatives to it in the page, and the number of others. */
	fork: Fork | null;
	missing: number;
	onGo?: (spot: Spot) => void;
	/** The next entry follows this one, although it is not the last of its take. */
	isHead: boolean;
	/** Results of its tool calls. */
	outcomes?: ReadonlyMap<string, Outcome>;
	/** The day that begins with this entry; "": same as before. */
	day: string;
	isMarked: boolean;
}

export function Entry(props: EntryProps) {
	const { entry } = props, role = word(entry.role, "") || word(entry.kind, "entry");
	const kind = entry.kind && entry.kind !== "message" && entry.kind !== role ? entry.kind : null;
	const event = eventOf(entry);
	return (
		<article class={`entry ${roleClass(role)}` + (entry.muted ? " muted" : "") + (event ? " is-event" : "")}
			data-at={props.at} aria-current={props.isMarked || undefined} aria-label={`${props.at + 1}, ${role}`}>
			{props.day && <p class="day"><span>{props.day}</span></p>}
			<header class="entry-head">
				<a class="number" href={props.link} title="A link to this entry">{props.at + 1}</a>
				<h2 class="role">{roleLabel(role, [])}</h2>
				<Alternatives fork={props.fork} missing={props.missing} onGo={props.onGo} />
				{event && <span class="event">{event}</span>}
				{kind && !event && <span class="chip">{customTypeOf(entry) || kind.replace(/_/g, " ")}</span>}
				{props.label !== undefined && <span class="chip label">{props.label}</span>}
				{entry.muted && <span class="chip">muted</span>}
				{props.isEdited && <span class="chip edited" title="This text was changed after it was written">edited</span>}
				<span class="space" />
				{!event && !entry.purged && <span class="acts"><CopyButton text={() => textToCopy(entry)} label={`Copy the text of entry ${props.at + 1}, ${roleLabel(role, [])}: ${firstWords(withoutSigns(textToCopy(entry)), NAMED)}`} /></span>}
				{props.isHead && <span class="chip head">continues here</span>}
				{typeof entry.ts === "string" && <span class="when">{entry.ts.replace("T", " ").slice(0, 16)}</span>}
			</header>
			{!event && <div class="entry-body"><Body entry={entry} blocks={props.blocks} outcomes={props.outcomes} /></div>}
			<ReplyFoot entry={entry} />
		</article>
	);
}
