// SPDX-License-Identifier: MIT
//
// Export: what to export, in which format and with which parts.
import { useState } from "preact/hooks";
import { say } from "./actions";
import { address, get } from "./api";
import { Dialog } from "./dialog";
import { useLoaded } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { state, useStore } from "./state";
import { discussionOf, takeOf } from "./store";
import { count, formatName, takeTitle, titleOf } from "./words";
import type { Format } from "./types";

const MOST_SHOWN = 100;

/** Readable formats and Retake's own come first; the others are for particular programs. */
const FIRST = ["html", "markdown", "text", "canonical"];

function byUse<T extends { name: string }>(formats: T[]): T[] {
	const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
	return [...formats].sort((a, b) => rank(a.name) - rank(b.name));
}

type What = "take" | "discussion" | "project";

interface Found {
	entries: number;
	places: number;
	kinds: Record<string, number>;
	items: { discussion: string | null; entry: string | null; where: string; kind: string; shown: string; size: number }[];
	more: boolean;
}

/** What would be redacted and where: users should check that before relying on it. */
function Hidden(props: { query: Record<string, string | number | null> }) {
	const { data, problem } = useLoaded(() => get<Found>("/export", { ...props.query, dry_run: 1 }), [JSON.stringify(props.query)], 150);
	if (!data)
		return <p class="quiet small" role="status">{problem || "Looking …"}</p>;
	if (!data.places)
		return <p class="quiet small" role="status">No secrets were found. Read the file anyway before you share it.</p>;
	return (
		<div class="hidden-list">
			<p class="small" role="status">
				{count(data.places, "place", "places")} in {count(data.entries, "entry", "entries")} will be redacted. No program recognises every secret: read the file before you share it.
			</p>
			<div class="table-box" tabIndex={0} role="region" aria-label="Text that will be redacted">
				<table>
					<thead><tr><th scope="col">What</th><th scope="col">Begins with</th><th scope="col">Where</th></tr></thead>
					<tbody>
						{data.items.slice(0, MOST_SHOWN).map((item) => (
							<tr>
								<td>{item.kind}</td>
								<td><code>{item.shown}</code> <span class="quiet">{count(item.size, "byte", "bytes")}</span></td>
								<td>{[item.discussion ?? "the project", item.entry, item.where].filter(Boolean).join(" · ")}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			{(data.more || data.items.length > MOST_SHOWN) && <p class="quiet small">Only the first {MOST_SHOWN} are shown.</p>}
		</div>
	);
}

/** The description, unless it only repeats the name. */
function aboutOf(format: Format): string {
	const about = format.about.startsWith(`${formatName(format)}: `) ? format.about.slice(formatName(format).length + 2) : format.about;
	return about.toLowerCase() === formatName(format).toLowerCase() ? "" : about;
}

function Export() {
	const info = useStore((from) => from.info);
	const writers = byUse(info?.formats.filter((format) => format.writes) ?? []);
	const [what, setWhat] = useState<What>("take"), [name, setName] = useState(FIRST[0]);
	const [isLossless, setLossless] = useState(false), [hasLines, setLines] = useState(false);
	const disc = titleOf(discussionOf(state.disc)), open = takeOf(state.take), take = open ? takeTitle(open) : "";
	const [isRedacted, setRedacted] = useState(false), [hasEmails, setEmails] = useState(false);
	const isCanonical = name === "canonical";
	const query: Record<string, string | number | null> = {
		format: name, redact: isRedacted ? 1 : null, emails: isRedacted && hasEmails ? 1 : null,
		...(isCanonical ? {} : {
			discussion: what === "project" ? null : state.disc, take: what === "project" ? null : state.take,
			all: what !== "take" ? 1 : null, lossless: isLossless ? 1 : null, lines: hasLines ? 1 : null,
		}),
	};
	const href = address("/export", query);
	const choiceOf = (format: Format) => (
		<label class="choice" key={format.name}>
			<input type="radio" name="format" checked={name === format.name} onChange={() => setName(format.name)} />
			<span>{formatName(format)} <span class="quiet">{format.extension}</span><span class="quiet small">{aboutOf(format)}</span></span>
		</label>
	);
	const done = () => {
		openOverlay(null);
		say(`Saved ${isCanonical || what === "project" ? "the project" : what === "take" ? `the take “${take}”` : `“${disc}”`} in the browser's downloads folder (${writers.filter((each) => each.name === name).map(formatName)}).`, false);
	};
	return (
		<Dialog title="Export" onClose={() => openOverlay(null)}>
			<div class="field"><label for="export-what">Content</label>
				<select id="export-what" autoFocus value={isCanonical ? "project" : what} disabled={isCanonical} onChange={(event) => setWhat(event.currentTarget.value as What)}>
					<option value="take">This take: {take}</option>
					<option value="discussion">This discussion with all its takes: {disc}</option>
					<option value="project">The whole project</option>
				</select>
				{what === "take" && !isCanonical && state.takeCount > 1 && <p class="quiet small">{state.takeCount === 2 ? "The other take is" : `The ${(state.takeCount - 1).toLocaleString()} other takes are`} not included. A take is one version of the discussion.</p>}
			</div>
			<fieldset class="choices">
				<legend>Format</legend>
				{writers.filter((each) => FIRST.includes(each.name)).map(choiceOf)}
				<details>
					<summary>For other programs ({writers.filter((each) => !FIRST.includes(each.name)).length})</summary>
					<div class="choices">{writers.filter((each) => !FIRST.includes(each.name)).map(choiceOf)}</div>
				</details>
			</fieldset>
			{!isCanonical && (
				<>
					<label class="check"><input type="checkbox" checked={isLossless} onChange={(event) => setLossless(event.currentTarget.checked)} />
						Include data that the format cannot represent, so that an import restores everything</label>
					{name === "openai" && <label class="check"><input type="checkbox" checked={hasLines} onChange={(event) => setLines(event.currentTarget.checked)} />
						One conversation per line</label>}
				</>
			)}
			<label class="check"><input type="checkbox" checked={isRedacted} onChange={(event) => setRedacted(event.currentTarget.checked)} />
				<span>Redact secrets: replace keys, tokens, passwords and home directories with placeholders</span></label>
			{isRedacted && (
				<>
					<label class="check inner"><input type="checkbox" checked={hasEmails} onChange={(event) => setEmails(event.currentTarget.checked)} />
						<span>Also redact email addresses</span></label>
					<Hidden query={query} />
				</>
			)}
			<footer>
				<button type="button" onClick={() => openOverlay(null)}>Cancel</button>
				<a class="button primary" href={href} download="" onClick={() => setTimeout(done, 100)}>Export</a>
			</footer>
		</Dialog>
	);
}

addPane({ id: "export", title: "Export", place: "overlay", view: Export });
