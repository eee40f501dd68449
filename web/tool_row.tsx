// SPDX-License-Identifier: MIT
//
// A tool call with its result: one line with the name, the first argument and the outcome, that can
// be expanded. The contents are only rendered when expanded: sessions of agents have thousands of
// calls.
import { useState } from "preact/hooks";
import { Code } from "./code";
import { count, gist, sizeWords } from "./words";
import type { Call, Outcome } from "./tools";

const LONG = 20000;

export function pretty(value: unknown): string {
	if (typeof value !== "string")
		return JSON.stringify(value, null, 2) ?? "";
	try {
		return JSON.stringify(JSON.parse(value), null, 2);
	} catch {
		return value;
	}
}

/** Output of a program, verbatim, at most one page. */
export function Output(props: { text: string }) {
	const [isAll, setAll] = useState(false);
	return (
		<>
			<Code text={isAll ? props.text : props.text.slice(0, LONG)} />
			{props.text.length > LONG && !isAll && <button type="button" onClick={() => setAll(true)}>Show all ({sizeWords(props.text.length)})</button>}
		</>
	);
}

function parsed(value: unknown): unknown {
	try {
		return typeof value === "string" ? JSON.parse(value) : value;
	} catch {
		return value;
	}
}

/** outcome: null: there is no result; omitted: unknown, or the call has no id that a result could name. */
export function ToolRow(props: { call: Call; outcome?: Omit<Outcome, "at"> | null }) {
	const { call, outcome } = props, [isOpen, setOpen] = useState(false);
	const ended = outcome && (outcome.isError ? "error" : "ok");
	return (
		<details class={"tool" + (outcome?.isError ? " failed" : "")} onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>
				<span class="tool-name">{call.name}</span> <span class="tool-gist">{gist(parsed(call.given))}</span>
				{outcome && <span class="tool-outcome"><strong>{ended}</strong> {outcome.text === "" ? "no output" : sizeWords(outcome.text.length)}</span>}
				{outcome === null && <span class="tool-outcome">no result</span>}
			</summary>
			{isOpen && <>
				<Code text={pretty(call.given)} language="json" />
				{outcome && <><p class="quiet tool-part">Result, {count(outcome.text.split("\n").length, "line")}</p><Output text={outcome.text} /></>}
			</>}
		</details>
	);
}

/** A result of an unknown call, or another part that is not text. */
export function ToolPart(props: { name: string; gist?: string; text: string; language?: string; isError?: boolean }) {
	const [isOpen, setOpen] = useState(false);
	return (
		<details class={"tool" + (props.isError ? " failed" : "")} onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>
				<span class="tool-name">{props.name}</span> <span class="tool-gist">{props.gist}</span>
				<span class="tool-outcome">{props.isError && <strong>error</strong>} {sizeWords(props.text.length)}</span>
			</summary>
			{isOpen && (props.language ? <Code text={props.text} language={props.language} /> : <Output text={props.text} />)}
		</details>
	);
}
