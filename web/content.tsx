// SPDX-License-Identifier: MIT
//
// Content: what an entry says, in its parts: text, what was thought, calls of tools and their
// results, pictures. What we do not know is shown as it is.
import { useState } from "preact/hooks";
import { Code } from "./code";
import { textOf } from "./entry_acts";
import { Markdown, Thinking } from "./markdown";
import { isTool } from "./speaker";
import { endWords, gist } from "./words";
import type { Block, Entry } from "./types";

const LONG = 20000;

/** A long text: its beginning, and a button for the rest. */
function Long(props: { text: string; tree?: unknown }) {
	const [isAll, setAll] = useState(false);
	if (props.text.length <= LONG || isAll)
		return <Markdown text={props.text} tree={props.tree} />;
	return (
		<>
			<Markdown text={props.text.slice(0, LONG)} />
			<button type="button" onClick={() => setAll(true)}>
				Show all of it ({Math.ceil(props.text.length / 1000).toLocaleString()} thousand characters)
			</button>
		</>
	);
}

/** What a program printed: as it is, and no more than a page of it. */
function Output(props: { text: string }) {
	const [isAll, setAll] = useState(false);
	return (
		<>
			<Code text={isAll ? props.text : props.text.slice(0, LONG)} />
			{props.text.length > LONG && !isAll && <button type="button" onClick={() => setAll(true)}>Show all of it</button>}
		</>
	);
}

function pretty(value: unknown): string {
	if (typeof value !== "string")
		return JSON.stringify(value, null, 2) ?? "";
	try {
		return JSON.stringify(JSON.parse(value), null, 2);
	} catch {
		return value;
	}
}

function ToolCall(props: { block: Block }) {
	const { block } = props;
	const given = block.arguments ?? block.input ?? (block.function as Block | undefined)?.arguments;
	return (
		<details class="tool">
			<summary><span class="tool-name">{block.name ?? "tool"}</span> <span class="quiet">{gist(given)}</span></summary>
			<Code text={pretty(given)} language="json" />
		</details>
	);
}

function ToolResult(props: { block: Block }) {
	const { block } = props;
	const inner = block.content as string | Block[] | undefined;
	const text = typeof inner === "string" ? inner : Array.isArray(inner) ? textOf(inner) : pretty(block);
	return (
		<details class="tool" open={text.length < 400}>
			<summary>Result <span class="quiet">{String(block.tool_use_id ?? block.toolCallId ?? "")}</span></summary>
			<Code text={text} />
		</details>
	);
}

function Picture(props: { block: Block }) {
	const source = props.block.source as { data?: string; media_type?: string } | undefined;
	const data = (props.block.data as string) ?? source?.data;
	const type = (props.block.mimeType as string) ?? source?.media_type ?? "image/png";
	if (typeof data !== "string" || !/^image\/(png|jpeg|gif|webp)$/.test(type))
		return <Code text={pretty(props.block)} language="json" />;
	return <img class="picture" alt="A picture of this entry" src={`data:${type};base64,${data}`} />;
}

/** Where a block of text has a tree of its own: entry.blocks has one for each, or is one. */
function treeOf(entry: Entry, at: number | null): unknown {
	const trees = entry.blocks;
	if (at === null || !Array.isArray(trees))
		return trees;
	return Array.isArray(trees[at]) ? trees[at] : undefined;
}

function Part(props: { entry: Entry; block: Block; at: number; isOutput: boolean }) {
	const { block } = props;
	if (props.isOutput && typeof block.text === "string")
		return <Output text={block.text} />;
	switch (block.type) {
	case "text":
	case "input_text":
	case "output_text":
		return <Long text={block.text ?? ""} tree={(block.blocks as unknown) ?? treeOf(props.entry, props.at)} />;
	case "thinking":
	case "reasoning":
		return <Thinking text={block.thinking ?? block.text ?? ""} />;
	case "toolCall":
	case "tool_use":
	case "tool_call":
	case "function":
		return <ToolCall block={block} />;
	case "toolResult":
	case "tool_result":
		return <ToolResult block={block} />;
	case "image":
		return <Picture block={block} />;
	default:
		return <details class="tool"><summary>{block.type}</summary><Code text={pretty(block)} language="json" /></details>;
	}
}

function segmentText(segment: unknown): string {
	if (typeof segment === "string")
		return segment;
	const fields = segment as Record<string, unknown> | null;
	return String(fields?.content ?? fields?.text ?? fields?.thinking ?? "");
}

export function Content(props: { entry: Entry; isSource: boolean }) {
	const { entry } = props;
	const { content } = entry;
	if (entry.purged)
		return <p class="quiet">This text was purged.</p>;
	if (props.isSource)
		return <div class="plain source">{typeof content === "string" ? content : pretty(content)}</div>;
	const isOutput = isTool(entry.role);
	const segments = entry.thinking_segments ?? [];
	return (
		<>
			{segments.map((segment) => <Thinking text={segmentText(segment)} />)}
			{typeof content === "string"
				? (content === "" ? <p class="quiet">Empty. <span class="for-keys">Press e or double-click to write.</span></p>
					: isOutput ? <Output text={content} /> : <Long text={content} tree={treeOf(entry, null)} />)
				: content.map((block, at) => <Part entry={entry} block={block} at={at} isOutput={isOutput} />)}
			{endWords(entry) && <p class="quiet partial">{endWords(entry)}</p>}
		</>
	);
}
