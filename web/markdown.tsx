// SPDX-License-Identifier: MIT
//
// Markdown: renders the block tree that the server makes of a text (src/markup/markup.h defines its
// nodes) as elements. Nothing in a text becomes markup of the page; links go to http, https and
// mailto only, which is checked here again. A text without a tree is shown with its line breaks.
import { Component } from "preact";
import type { ComponentChildren } from "preact";
import { Code } from "./code";
import { Formula } from "./math";

export interface Mark {
	t: string;
	c?: Node[];
	n?: number;
	lang?: string;
	start?: number;
	tight?: boolean;
	task?: boolean;
	done?: boolean;
	href?: string;
	src?: string;
	title?: Node[];
	alt?: Node[];
	cp?: string;
	display?: boolean;
	id?: string;
	head?: Node[][];
	align?: (string | null)[];
	rows?: Node[][][];
	at?: [number, number];
}
export type Node = string | Mark;

const DEEPEST = 70;

/** Renders text that is not code; set by the page (symbols.tsx), not by an exported one. */
export const mentions: { show: (text: string) => ComponentChildren } = { show: (text) => text };

/** The plain text of text nodes: [text, …]. */
function plain(texts: Node[] = []): string {
	return texts.map((node) => (typeof node === "string" ? node : node.cp ? `[U+${node.cp}]` : plain(node.c))).join("");
}

function isSafe(url: string): boolean {
	return /^(https?:\/\/|mailto:|#)/.test(url);
}

function Link(props: { href: string; title?: string; children: ComponentChildren }) {
	if (!isSafe(props.href))
		return <>{props.children} ({props.href})</>;
	return (
		<a href={props.href} title={props.title} target="_blank" rel="noopener noreferrer">
			{props.children}
		</a>
	);
}

function inline(node: Node, depth: number, isCode = false): ComponentChildren {
	if (typeof node === "string")
		return isCode ? node : mentions.show(node);
	const inner = () => inlines(node.c, depth + 1, isCode || node.t === "a");
	switch (node.t) {
	case "em":
		return <em>{inner()}</em>;
	case "strong":
		return <strong>{inner()}</strong>;
	case "del":
		return <del>{inner()}</del>;
	case "code":
		return <code>{inner()}</code>;
	case "a":
		return <Link href={node.href ?? ""} title={plain(node.title) || undefined}>{inner()}</Link>;
	case "img":
		return <Link href={node.src ?? ""} title={plain(node.title) || undefined}>[image: {plain(node.alt) || node.src}]</Link>;
	case "br":
		return <br />;
	case "ctl":
		return <span class="control" title="invisible character">U+{node.cp}</span>;
	case "math":
		return <Formula source={plain(node.c)} isDisplay={node.display === true} />;
	case "ref":
		return isCode ? plain(node.c) : <sup class="ref"><button type="button" class="link" aria-label={`Footnote ${node.id}`} onClick={toNote}>{node.id}</button></sup>;
	case "note":
		return <span class="footnote-mark" data-note={node.id}>{node.id}</span>;
	default:
		return inner();
	}
}

/** Goes to the footnote within the same text, without ids, which would be global to the page. */
function toNote(event: MouseEvent): void {
	const ref = event.currentTarget as HTMLElement, id = ref.textContent ?? "";
	const note = ref.closest(".prose")?.querySelector<HTMLElement>(`[data-note="${CSS.escape(id)}"]`)?.closest("li");
	if (!note)
		return;
	note.tabIndex = -1;
	note.focus({ preventScroll: true });
	note.scrollIntoView({ block: "nearest" });
}

const isNote = (item: Mark): boolean => {
	const first = item.c?.[0], begin = typeof first === "object" ? first.c?.[0] : undefined;
	return typeof begin === "object" && begin.t === "note";
};

function inlines(nodes: Node[] = [], depth = 0, isCode = false): ComponentChildren {
	return depth > DEEPEST ? plain(nodes) : nodes.map((node) => inline(node, depth, isCode));
}

function list(node: Mark, depth: number): ComponentChildren {
	const items = (node.c ?? []).map((item) => {
		const li = item as Mark;
		return (
			<li class={li.task ? "task" : isNote(li) ? "footnote" : undefined}>
				{li.task && <input type="checkbox" checked={li.done} disabled aria-label={li.done ? "done" : "not done"} />}
				{blocks(li.c, depth + 1, node.tight)}
			</li>
		);
	});
	return node.t === "ol" ? <ol start={node.start}>{items}</ol> : <ul>{items}</ul>;
}

function table(node: Mark): ComponentChildren {
	const side = (at: number) => (node.align?.[at] ? `align-${node.align[at]}` : undefined);
	return (
		<div class="table" tabIndex={0} role="group" aria-label="Table">
			<table>
				<thead><tr>{node.head?.map((cell, at) => <th class={side(at)}>{inlines(cell)}</th>)}</tr></thead>
				<tbody>
					{node.rows?.map((row) => (
						<tr>{row.map((cell, at) => <td class={side(at)}>{inlines(cell)}</td>)}</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

/** A model's thinking: closed, with its size. */
export function Thinking(props: { text: string }) {
	return (
		<details class="thinking">
			<summary>Thinking <span class="quiet">{props.text.length.toLocaleString()} characters</span></summary>
			<div class="plain">{props.text}</div>
		</details>
	);
}

function block(node: Node, depth: number, isTight?: boolean): ComponentChildren {
	if (typeof node === "string")
		return node;
	switch (node.t) {
	case "p":
		return isTight ? <span class="tight">{inlines(node.c)}</span> : <p>{inlines(node.c)}</p>;
	case "h": {
		// the page itself uses h1 and h2
		const Heading = `h${Math.min(6, (node.n ?? 1) + 2)}` as "h3";
		return <Heading class={`level-${node.n ?? 1}`}>{inlines(node.c)}</Heading>;
	}
	case "pre":
		return <Code text={plain(node.c)} language={node.lang}>{inlines(node.c, 0, true)}</Code>;
	case "quote":
		return <blockquote>{blocks(node.c, depth + 1)}</blockquote>;
	case "ul":
	case "ol":
		return list(node, depth);
	case "table":
		return table(node);
	case "hr":
		return <hr />;
	case "thinking":
		return <Thinking text={plain(node.c)} />;
	default:
		return inline(node, depth);
	}
}

function blocks(nodes: Node[] = [], depth = 0, isTight?: boolean): ComponentChildren {
	return depth > DEEPEST ? plain(nodes) : nodes.map((node) => block(node, depth, isTight));
}

/** A text that the server has rendered; without a tree, plain text. */
export function Markdown(props: { text: string; tree?: unknown }) {
	return Array.isArray(props.tree)
		? <div class="prose">{blocks(props.tree as Node[])}</div>
		: <div class="plain">{mentions.show(props.text)}</div>;
}

/** A block that renders only when it changes. */
class Block extends Component<{ node: Node }> {
	shouldComponentUpdate(next: { node: Node }): boolean {
		return next.node !== this.props.node;
	}
	render() {
		return block(this.props.node, 0);
	}
}

const TOGETHER = 24, NEAR_PX = 300;

interface GroupProps {
	nodes: Node[];
	/** More blocks may follow. */
	isOpen: boolean;
}

/** Complete blocks that are far from the viewport are replaced by an empty box of the same height. */
class Group extends Component<GroupProps, { far_px: number | null }> {
	state: { far_px: number | null } = { far_px: null };
	private box: HTMLElement | null = null;
	private isNear = true;
	private watcher = new IntersectionObserver((seen) => {
		this.isNear = seen[seen.length - 1].isIntersecting;
		this.settle();
	}, { rootMargin: `${NEAR_PX}px` });

	private settle(): void {
		const { far_px } = this.state, isFar = !this.isNear && !this.props.isOpen;
		if (!isFar && far_px !== null)
			this.setState({ far_px: null });
		else if (isFar && far_px === null && !getSelection()?.containsNode(this.box!, true))
			this.setState({ far_px: this.box!.offsetHeight });
	}
	shouldComponentUpdate(next: GroupProps, state: { far_px: number | null }): boolean {
		const { nodes, isOpen } = this.props;
		return state.far_px !== this.state.far_px || next.isOpen !== isOpen || next.nodes.length !== nodes.length ||
			next.nodes.some((node, at) => node !== nodes[at]);
	}
	componentDidMount(): void {
		this.watcher.observe(this.box!);
	}
	componentDidUpdate(): void {
		this.settle();
	}
	componentWillUnmount(): void {
		this.watcher.disconnect();
	}
	render() {
		const { far_px } = this.state;
		return (
			<div class="group" ref={(box) => { this.box = box; }} style={{ height: far_px === null ? "" : `${far_px}px` }}>
				{far_px === null && this.props.nodes.map((node) => <Block node={node} />)}
			</div>
		);
	}
}

function groups(nodes: Node[]): ComponentChildren {
	const made = [];
	for (let at = 0; at < nodes.length; at += TOGETHER)
		made.push(<Group nodes={nodes.slice(at, at + TOGETHER)} isOpen={at + TOGETHER >= nodes.length} />);
	return made;
}

/** A streaming text: existing blocks stay unchanged. */
export function StreamingMarkdown(props: { text: string; tree: Node[] | null }) {
	return props.tree
		? <div class="prose">{groups(props.tree)}</div>
		: <div class="plain">{props.text}</div>;
}
