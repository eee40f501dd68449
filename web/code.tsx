// SPDX-License-Identifier: MIT
//
// Code: source text with syntax highlighting. highlight.js produces a tree that becomes elements
// here, never a string of HTML. Text in an unknown language and very long text are not highlighted.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { ComponentChildren } from "preact";
import { useMemo, useReducer } from "preact/hooks";
import { CopyButton } from "./copy";

const LONGEST = 60000;

interface Node {
	scope: string | null;
	children: (Node | string)[];
}

/** An emitter for highlight.js that builds a tree; its own emitter writes HTML. */
class Tree {
	root: Node = { scope: null, children: [] };
	private stack: Node[] = [this.root];

	private get top(): Node {
		return this.stack[this.stack.length - 1];
	}
	addText(text: string): void {
		if (text)
			this.top.children.push(text);
	}
	startScope(scope: string): void {
		const node = { scope, children: [] };
		this.top.children.push(node);
		this.stack.push(node);
	}
	endScope(): void {
		if (this.stack.length > 1)
			this.stack.pop();
	}
	openNode(scope: string): void {
		this.startScope(scope);
	}
	closeNode(): void {
		this.endScope();
	}
	__addSublanguage(emitter: Tree, name?: string): void {
		this.top.children.push({ scope: name ? `language:${name}` : null, children: emitter.root.children });
	}
	finalize(): void {
		this.stack = [this.root];
	}
	toHTML(): string {
		return "";
	}
}

const languages = {
	bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, makefile, markdown, python,
	ruby, rust, sql, typescript, xml, yaml,
};
let isReady = false;

/** Languages are registered on first use: registering them takes as long as the first rendering of the page. */
function makeReady(): void {
	if (isReady)
		return;
	isReady = true;
	for (const [name, language] of Object.entries(languages))
		hljs.registerLanguage(name, language);
	hljs.registerAliases(["toml"], { languageName: "ini" });
	hljs.configure({ __emitter: Tree } as never);
}

function elements(nodes: (Node | string)[]): ComponentChildren[] {
	return nodes.map((node) => {
		if (typeof node === "string")
			return node;
		const inner = elements(node.children);
		if (!node.scope || node.scope.startsWith("language:"))
			return inner;
		return <span class={"hl-" + node.scope.split(".")[0]}>{inner}</span>;
	});
}

/** The highlighted text; null: not highlighted. */
function coloured(text: string, language: string): ComponentChildren[] | null {
	makeReady();
	if (text.length > LONGEST || !hljs.getLanguage(language))
		return null;
	try {
		const found = hljs.highlight(text, { language, ignoreIllegals: true });
		return elements((found as unknown as { _emitter: Tree })._emitter.root.children);
	} catch {
		return null;
	}
}

/** Longer code is folded at first (.folded in style.css). */
const FOLDED_LINES = 40;
/** Stay unfolded when they are rendered again. */
const unfolded = new Set<string>();

function linesOf(text: string): number {
	let lines = 1;
	for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1))
		lines++;
	return lines;
}

export function Code(props: { text: string; language?: string; children?: ComponentChildren }) {
	const { text, language } = props;
	const parts = useMemo(() => (language ? coloured(text, language.toLowerCase()) : null),
		[text, language]);
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const lines = useMemo(() => linesOf(text), [text]), isFolded = lines > FOLDED_LINES && !unfolded.has(text);
	const unfold = () => {
		unfolded.add(text);
		redraw(0);
	};
	return (
		<div class="code-box">
			<div class="code-head">
				<span class="code-name">{language}</span>
				<CopyButton text={() => text} label={language ? `Copy the code, ${language}` : "Copy the code"} />
			</div>
			<pre class={"code" + (isFolded ? " folded" : "")} tabIndex={0} aria-label={language ? `Code, ${language}` : "Code"}>
				<code>{parts ?? props.children ?? text}</code>
			</pre>
			{isFolded && <button type="button" class="unfold" onClick={unfold}>Show all {lines.toLocaleString()} lines</button>}
		</div>
	);
}
