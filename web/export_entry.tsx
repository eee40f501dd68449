// SPDX-License-Identifier: MIT
//
// One entry of an exported page: who said it, and its parts. What we do not know is shown as it
// is; nothing in it becomes markup of the page.
import { Code } from "./code";
import { Markdown, Thinking } from "./markdown";
import { isTool, roleClass } from "./speaker";
import { endWords, gist } from "./words";
import type { Block } from "./types";
import type { PageEntry } from "./export_data";

function pretty(value: unknown): string {
	if (typeof value !== "string")
		return JSON.stringify(value, null, 2) ?? "";
	try {
		return JSON.stringify(JSON.parse(value), null, 2);
	} catch {
		return value;
	}
}

function Thing(props: { name: string; says?: string; value: unknown }) {
	return (
		<details class="tool">
			<summary><span class="tool-name">{props.name}</span> <span class="quiet">{props.says}</span></summary>
			<Code text={pretty(props.value)} language="json" />
		</details>
	);
}

function word(value: unknown, otherwise: string): string {
	return typeof value === "string" && value ? value : otherwise;
}

function Call(props: { block: Block }) {
	const { block } = props, inner = block.function as Block | undefined;
	const given = block.arguments ?? block.input ?? inner?.arguments;
	return <Thing name={word(block.name ?? inner?.name, "tool")} says={gist(given)} value={given} />;
}

function Picture(props: { block: Block }) {
	const { block } = props;
	const source = block.source as { data?: unknown; media_type?: unknown } | undefined;
	const data = block.data ?? source?.data, type = block.mimeType ?? source?.media_type ?? "image/png";
	if (typeof data !== "string" || !/^[A-Za-z0-9+/=\s]*$/.test(data) || !/^image\/(png|jpeg|gif|webp)$/.test(String(type)))
		return <Thing name="image" value={block} />;
	return <img class="picture" alt="A picture of this entry" src={`data:${type};base64,${data}`} />;
}

function Part(props: { block: unknown; tree: unknown; isOutput?: boolean }) {
	const block = props.block as Block | null;
	if (typeof block !== "object" || block === null)
		return <Code text={pretty(block)} />;
	if (props.isOutput && typeof block.text === "string")
		return <Code text={block.text} />;
	const inner = block.content;
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
		return <Call block={block} />;
	case "toolResult":
	case "tool_result":
		return <Thing name="Result" value={typeof inner === "string" ? inner : inner ?? block} />;
	case "image":
		return <Picture block={block} />;
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

function Body(props: { entry: PageEntry; blocks: unknown }) {
	const { entry } = props, { content } = entry;
	if (entry.purged)
		return <p class="quiet">This text was purged.</p>;
	const segments = Array.isArray(entry.thinking_segments) ? entry.thinking_segments : [];
	const calls = Array.isArray(entry.tool_calls) ? entry.tool_calls : [];
	const trees = Array.isArray(props.blocks) ? props.blocks : [];
	const isOutput = isTool(word(entry.role, ""));
	return (
		<>
			{segments.map((segment) => <Thinking text={segmentText(segment)} />)}
			{typeof content === "string"
				? (isOutput ? <Code text={content} /> : <Markdown text={content} tree={props.blocks} />)
				: content.map((block, at) => <Part block={block} tree={trees[at]} isOutput={isOutput} />)}
			{calls.map((call) => <Part block={{ ...(call as object), type: "function" }} tree={null} />)}
			{endWords(entry) && <p class="quiet partial">{endWords(entry)}</p>}
		</>
	);
}

export interface EntryProps {
	entry: PageEntry;
	at: number;
	blocks: unknown;
	label?: string;
	link: string;
	/** Its content was another when it was written. */
	isEdited: boolean;
	isHead: boolean;
	isMarked: boolean;
}

export function Entry(props: EntryProps) {
	const { entry } = props, role = word(entry.role, "") || word(entry.kind, "entry");
	const kind = entry.kind && entry.kind !== "message" && entry.kind !== role ? entry.kind : null;
	return (
		<article class={`entry ${roleClass(role)}` + (entry.muted ? " muted" : "")}
			data-at={props.at} aria-current={props.isMarked || undefined} aria-label={`${props.at + 1}, ${role}`}>
			<header class="entry-head">
				<a class="number" href={props.link} title="A link to this entry">{props.at + 1}</a>
				<h2 class="role">{role}</h2>
				{kind && <span class="chip">{kind.replace(/_/g, " ")}</span>}
				{props.label !== undefined && <span class="chip label">{props.label}</span>}
				{entry.muted && <span class="chip">muted</span>}
				{props.isEdited && <span class="chip edited" title="This text was changed after it was written">edited</span>}
				{typeof entry.model === "string" && <span class="quiet">{entry.model}</span>}
				<span class="space" />
				{props.isHead && <span class="here">head</span>}
				{typeof entry.ts === "string" && <span class="when">{entry.ts.replace("T", " ").slice(0, 16)}</span>}
			</header>
			<div class="entry-body"><Body entry={entry} blocks={props.blocks} /></div>
		</article>
	);
}
