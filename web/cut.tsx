// SPDX-License-Identifier: MIT
//
// Cut: shortens a name in its middle, as names differ most often at their ends: "a long question
// (2)", "a long question (3)".
const TAIL = 8, SHORT = 2 * TAIL;
// without Intl.Segmenter the text is cut between characters instead of graphemes
const graphemes = typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;

function lettersOf(text: string): string[] {
	return graphemes ? [...graphemes.segment(text)].map((each) => each.segment) : [...text];
}

export function Cut(props: { text: string; title?: string }) {
	// a text that ends with "…" is already cut at its end
	const isCut = props.text.endsWith("…"), letters = props.text.length <= SHORT ? [] : lettersOf(props.text), title = props.title ?? props.text;
	if (letters.length <= SHORT)
		return <span class="cut" dir="auto" title={title}>{props.text}</span>;
	if (isCut)
		return <span class="cut" dir="auto" title={title}><span class="cut-head">{props.text}</span></span>;
	return (
		<span class="cut" dir="auto" title={title}>
			<span class="cut-head">{letters.slice(0, -TAIL).join("")}</span><span class="cut-tail">{letters.slice(-TAIL).join("")}</span>
		</span>
	);
}
