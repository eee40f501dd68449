// SPDX-License-Identifier: MIT
//
// Math: TeX as MathML. Temml parses it (decision 25) and returns a tree; only known elements and
// attributes of that become elements here, never a string of HTML. Formulas that it rejects, and
// all formulas until the library is loaded, are shown as source.
import { h } from "preact";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useReducer } from "preact/hooks";

interface TexNode {
	type?: string;
	text?: string;
	attributes?: Record<string, unknown>;
	style?: Record<string, unknown>;
	classes?: string[];
	children?: TexNode[];
}

declare global {
	interface Window {
		/** Throws if tex is not accepted. */
		retakeMath?: (tex: string, isDisplay: boolean) => TexNode;
	}
}

const LONGEST = 20000, DEEPEST = 200;

const ELEMENTS = new Set(("math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup " +
	"munder mover munderover mmultiscripts mprescripts mtable mtr mtd menclose").split(" "));
const ATTRIBUTES = new Set(("display displaystyle scriptlevel mathvariant mathcolor mathbackground mathsize form fence separator " +
	"stretchy symmetric largeop movablelimits accent accentunder lspace rspace minsize maxsize width height depth voffset " +
	"linethickness columnspan rowspan dir").split(" "));
const STYLES = new Set("padding paddingLeft paddingRight paddingTop paddingBottom border borderTop borderBottom borderLeft borderRight color textAlign".split(" "));

/** Only words, numbers and lengths: no URLs. */
const VALUE = /^[\w\s.#%+-]{0,60}$/;

function some(of: Record<string, unknown> | undefined, known: ReadonlySet<string>): Record<string, string> {
	return Object.fromEntries(Object.entries(of ?? {}).map(([name, value]) => [name, String(value)])
		.filter(([name, value]) => known.has(name) && VALUE.test(value)));
}

function element(node: TexNode, depth: number): ComponentChildren {
	if (typeof node.text === "string")
		return node.text;
	if (depth > DEEPEST)
		throw new Error("the formula is nested too deeply");
	const inner = (node.children ?? []).map((each) => element(each, depth + 1));
	if (!node.type || !ELEMENTS.has(node.type))
		return inner;
	const classes = (node.classes ?? []).filter((name) => /^tml-[\w-]+$/.test(name)).join(" ");
	return h(node.type, { ...some(node.attributes, ATTRIBUTES), style: some(node.style, STYLES), ...(classes ? { class: classes } : {}) }, ...inner);
}

let isAsked = false;

/** The page names the library's URL; an exported page contains the library, or no math. */
function load(): void {
	const from = document.querySelector<HTMLMetaElement>("meta[name=retake-math]")?.content;
	if (isAsked || window.retakeMath || !from)
		return;
	isAsked = true;
	const script = document.createElement("script");
	script.src = from;
	script.onerror = () => { isAsked = false; };
	document.head.append(script);
}

function mathmlOf(tex: string, isDisplay: boolean): ComponentChildren {
	if (!window.retakeMath || tex.length > LONGEST)
		return null;
	try {
		return element(window.retakeMath(tex, isDisplay), 0);
	} catch {
		return null;
	}
}

/** source: including the delimiters. */
export function Formula(props: { source: string; isDisplay: boolean }) {
	const { source, isDisplay } = props, [round, redraw] = useReducer((n: number) => n + 1, 0);
	const tex = source.replace(/^(\$\$?|\\[([])/, "").replace(/(\$\$?|\\[)\]])$/, "");
	useEffect(() => {
		if (window.retakeMath)
			return;
		const ready = () => redraw(0);
		addEventListener("retake-math", ready);
		load();
		return () => removeEventListener("retake-math", ready);
	}, []);
	const parts = useMemo(() => mathmlOf(tex, isDisplay), [tex, isDisplay, round]);
	if (parts === null)
		return <span class="tex" title="Source of the formula">{source}</span>;
	return <span class={isDisplay ? "formula display" : "formula"} tabIndex={isDisplay ? 0 : undefined} role="math" aria-label={tex}>{parts}</span>;
}
