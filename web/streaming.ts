// SPDX-License-Identifier: MIT
//
// Streaming: incremental rendering of a streaming reply. From time to time the server renders its
// text to blocks (POST /render), but only the unstable end: blocks before the offset "stable" do
// not change any more and are not sent again. Text that arrived since the last request is appended
// to the last block as plain text, so it appears at once.
//
// The cost is limited per second, not per chunk: the longer the unstable end, the less often it is
// sent.
import { post } from "./api";
import type { Mark, Node } from "./markdown";

const PAUSE_MS = 120, CHARACTERS_PER_MS = 64, LONGEST = 1 << 20;

export interface RenderedText {
	/** The text that the blocks were rendered from: a prefix of the reply, or all of it. */
	text: string;
	blocks: Node[];
	/** The number of blocks that are stable, */
	done: number;
	/** and their length in characters. */
	from: number;
}

interface Stream {
	text: string;
	rendered: RenderedText | null;
	askedAt: number;
	isScheduled: boolean;
	onRendered: (rendered: RenderedText) => void;
}

const streams = new Map<string, Stream>();

/** The number of characters in the first bytes of a text in UTF-8. */
function charactersIn(text: string, bytes: number): number {
	let at = 0;
	for (let left = bytes; left > 0 && at < text.length; at++) {
		const code = text.charCodeAt(at);
		// a surrogate pair is four bytes: two for each half
		left -= code < 0x80 ? 1 : code < 0x800 || (code & 0xf800) === 0xd800 ? 2 : 3;
	}
	return at;
}

/** Updates the text of a reply; onRendered is called when new blocks have been rendered. */
export function updateStream(name: string, text: string, onRendered: (rendered: RenderedText) => void): void {
	const stream = streams.get(name) ?? { text, rendered: null, askedAt: 0, isScheduled: false, onRendered };
	streams.set(name, stream);
	stream.text = text;
	stream.onRendered = onRendered;
	if (stream.isScheduled || text === "" || text === stream.rendered?.text)
		return;
	const end = text.length - (stream.rendered?.from ?? 0);
	if (end > LONGEST)
		return;
	stream.isScheduled = true;
	const wait = stream.askedAt + Math.max(PAUSE_MS, end / CHARACTERS_PER_MS) - performance.now();
	setTimeout(() => void render(name, stream), Math.max(0, wait));
}

export function forgetStreams(name?: string): void {
	if (name === undefined)
		streams.clear();
	else
		streams.delete(name);
}

async function render(name: string, stream: Stream): Promise<void> {
	const { text } = stream;
	const old = stream.rendered && text.startsWith(stream.rendered.text) ? stream.rendered : null;
	const end = text.slice(old?.from ?? 0);
	stream.askedAt = performance.now();
	try {
		const answer = await post<{ blocks: Mark[][]; stable: number[] }>("/render", { texts: [end] });
		const blocks = answer.blocks[0], stable = answer.stable[0];
		stream.rendered = {
			text, blocks: [...(old?.blocks.slice(0, old.done) ?? []), ...blocks],
			done: (old?.done ?? 0) + blocks.filter((block) => block.at && block.at[1] <= stable).length,
			from: (old?.from ?? 0) + charactersIn(end, stable),
		};
	} catch {
		stream.rendered = old; // keeps the plain text; the next chunk retries
	}
	stream.isScheduled = false;
	if (streams.get(name) !== stream)
		return;
	if (stream.rendered?.text === text)
		stream.onRendered(stream.rendered);
	if (stream.text !== text)
		updateStream(name, stream.text, stream.onRendered);
}

// the "ctl" characters of markup.h
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/gu;

function textNodes(text: string): Node[] {
	const nodes: Node[] = [];
	let from = 0;
	for (const found of text.matchAll(CONTROLS)) {
		nodes.push(text.slice(from, found.index), { t: "ctl", cp: found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0") });
		from = found.index + found[0].length;
	}
	if (from < text.length)
		nodes.push(text.slice(from));
	return nodes;
}

/** Incomplete code is not highlighted, and its last line has no line feed. */
function openCode(code: Mark, rest: Node[], endsLine: boolean): void {
	const texts = [...(code.c ?? [])], last = texts[texts.length - 1];
	if (!endsLine && typeof last === "string" && last.endsWith("\n"))
		texts[texts.length - 1] = last.slice(0, -1);
	code.c = [...texts, ...rest];
	code.lang = undefined;
}

/** A copy of the last block with text appended to its last text; null: it has none. */
function continued(block: Mark, rest: Node[], before: string): Mark | null {
	const top = { ...block };
	const gap = rest.length && /\s$/.test(before) ? [" "] : [];
	let at = top;
	for (;;) {
		const inner: Node | undefined = at.c?.[at.c.length - 1];
		switch (at.t) {
		case "p":
		case "h":
			at.c = [...(at.c ?? []), ...gap, ...rest];
			return top;
		case "pre":
			openCode(at, rest, before.endsWith("\n"));
			return top;
		case "quote":
		case "ul":
		case "ol":
		case "li": {
			if (typeof inner !== "object") {
				at.c = [...(at.c ?? []), { t: "p", c: rest }];
				return top;
			}
			const copy: Mark = { ...inner };
			at.c = [...at.c!.slice(0, -1), copy];
			at = copy;
			break;
		}
		default:
			return null;
		}
	}
}

/** The blocks of a text, with the text since the last request in the last block; null: no blocks yet. */
export function renderedBlocks(text: string, rendered: RenderedText | undefined): Node[] | null {
	if (!rendered || !text.startsWith(rendered.text))
		return null;
	const { blocks } = rendered, last = blocks[blocks.length - 1];
	const rest = text.slice(rendered.text.length), isOpen = rendered.done < blocks.length;
	if (isOpen && typeof last === "object") {
		const extended = continued(last, textNodes(rest), rendered.text);
		if (extended)
			return [...blocks.slice(0, -1), extended];
	}
	return rest.trim() ? [...blocks, { t: "p", c: textNodes(rest) }] : blocks;
}
