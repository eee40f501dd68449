// SPDX-License-Identifier: MIT
//
// Content: the parts of an entry: text, thinking, tool calls and their results, images. Unknown
// parts are shown as source.
import { useReducer } from "preact/hooks";
import { FileLink, Picture, sourceOf } from "./attachments";
import { Code } from "./code";
import { textOf } from "./entry_acts";
import { Markdown, Thinking } from "./markdown";
import { isTool, roleClass } from "./speaker";
import { Output, pretty, ToolPart, ToolRow } from "./tool_row";
import { callOf, eventOf, otherCalls } from "./tools";
import { endWords, sizeWords } from "./words";
import type { Call, Outcome } from "./tools";
import type { Block, Entry } from "./types";

/** In characters. */
const LONG = 20000, FOLDED = 4000;

/** Stay unfolded when they are rendered again. */
const unfolded = new Set<string>();

/** A long text, folded with a button. Replies are never folded: they are meant to be read, while a long pasted
 * text is usually known to the user. */
function Long(props: { text: string; tree?: unknown; isFoldable: boolean }) {
	const { text, isFoldable } = props, [, redraw] = useReducer((n: number) => n + 1, 0);
	const isAll = unfolded.has(text) || text.length <= (isFoldable ? FOLDED : LONG);
	if (isAll)
		return <Markdown text={text} tree={props.tree} />;
	return (
		<>
			{text.length > LONG ? <Markdown text={text.slice(0, LONG)} /> : <div class="folded-text"><Markdown text={text} tree={props.tree} /></div>}
			<button type="button" class="unfold" onClick={() => { unfolded.add(text); redraw(0); }}>Show all ({sizeWords(text.length)})</button>
		</>
	);
}

/** outcomes: results of calls, as far as the next entry is loaded. */
function Called(props: { call: Call; outcomes?: ReadonlyMap<string, Outcome> }) {
	return <ToolRow call={props.call} outcome={props.call.id ? props.outcomes && (props.outcomes.get(props.call.id) ?? null) : undefined} />;
}

function Result(props: { block: Block }) {
	const { block } = props;
	const inner = block.content as string | Block[] | undefined;
	const text = typeof inner === "string" ? inner : Array.isArray(inner) ? textOf(inner) : pretty(block);
	return <ToolPart name="Result" gist={String(block.tool_use_id ?? block.toolCallId ?? "")} text={text} isError={(block.is_error ?? block.isError) === true} />;
}

/** An image or another file: attached here, or part of another program's session. */
function File(props: { block: Block }) {
	const source = props.block.source as { data?: string; media_type?: string } | undefined;
	const block: Block = { mimeType: source?.media_type ?? "image/png", data: source?.data, ...props.block };
	if (block.type === "image" && (block.purged || sourceOf(block).match(/^(data:image|\/)/)))
		return <Picture src={block.purged ? "" : sourceOf(block)} name={String(block.name ?? "of this entry")} />;
	if (block.type === "file" && typeof block.name === "string")
		return <FileLink block={block} />;
	return <Code text={pretty(props.block)} language="json" />;
}

/** The tree of one text block: entry.blocks has one tree per block, or is itself the tree. */
function treeOf(entry: Entry, at: number | null): unknown {
	const trees = entry.blocks;
	if (at === null || !Array.isArray(trees))
		return trees;
	return Array.isArray(trees[at]) ? trees[at] : undefined;
}

interface PartProps {
	entry: Entry;
	block: Block;
	at: number;
	isOutput: boolean;
	isFoldable: boolean;
	outcomes?: ReadonlyMap<string, Outcome>;
}

function Part(props: PartProps) {
	const { block } = props;
	if (props.isOutput && typeof block.text === "string")
		return <Output text={block.text} />;
	switch (block.type) {
	case "text":
	case "input_text":
	case "output_text":
		return <Long text={block.text ?? ""} tree={(block.blocks as unknown) ?? treeOf(props.entry, props.at)} isFoldable={props.isFoldable} />;
	case "thinking":
	case "reasoning":
		return <Thinking text={block.thinking ?? block.text ?? ""} />;
	case "toolCall":
	case "tool_use":
	case "tool_call":
	case "function":
		return <Called call={callOf(block)} outcomes={props.outcomes} />;
	case "toolResult":
	case "tool_result":
		return <Result block={block} />;
	case "image":
	case "file":
		return <File block={block} />;
	default:
		return <ToolPart name={block.type} text={pretty(block)} language="json" />;
	}
}

function segmentText(segment: unknown): string {
	if (typeof segment === "string")
		return segment;
	const fields = segment as Record<string, unknown> | null;
	return String(fields?.content ?? fields?.text ?? fields?.thinking ?? "");
}

/** Placeholder for an entry without visible content. */
function EmptyNote(props: { entry: Entry }) {
	const { entry } = props;
	if (endWords(entry) || eventOf(entry) || otherCalls(entry).length || entry.thinking_segments?.length)
		return null;
	return <p class="quiet">Empty. <span class="for-keys">Press e or double-click to edit.</span></p>;
}

interface ContentProps {
	entry: Entry;
	isSource: boolean;
	outcomes?: ReadonlyMap<string, Outcome>;
	/** Absent if the reply is complete. */
	onContinue?: () => void;
}

export function Content(props: ContentProps) {
	const { entry } = props;
	const { content } = entry;
	if (entry.purged)
		return <p class="quiet">This text was purged.</p>;
	if (props.isSource)
		return <div class="plain source">{typeof content === "string" ? content : pretty(content)}</div>;
	const isOutput = isTool(entry.role), isFoldable = roleClass(entry.role) !== "is-model";
	const segments = entry.thinking_segments ?? [];
	return (
		<>
			{segments.map((segment) => <Thinking text={segmentText(segment)} />)}
			{typeof content === "string"
				? (content === "" ? <EmptyNote entry={entry} />
					: isOutput ? <Output text={content} /> : <Long text={content} tree={treeOf(entry, null)} isFoldable={isFoldable} />)
				: content.length === 0 ? <EmptyNote entry={entry} />
					: content.map((block, at) => <Part entry={entry} block={block} at={at} isOutput={isOutput} outcomes={props.outcomes} isFoldable={isFoldable} />)}
			{otherCalls(entry).map((call) => <Called call={call} outcomes={props.outcomes} />)}
			{endWords(entry) && (
				<p class="quiet partial">
					{endWords(entry)}{" "}
					{props.onContinue && <button type="button" class="link" title="Let the model extend this reply" onClick={(event) => {
						// the button disappears
						event.currentTarget.closest<HTMLElement>(".entry")?.focus({ preventScroll: true });
						props.onContinue!();
					}}>Continue</button>}
				</p>
			)}
		</>
	);
}
