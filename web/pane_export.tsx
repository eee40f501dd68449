// SPDX-License-Identifier: MIT
//
// Export: what is to be written, in which format, and with how much.
import { useState } from "preact/hooks";
import { address } from "./api";
import { Dialog } from "./dialog";
import { addPane, openOverlay } from "./panes";
import { state, useStore } from "./state";
import { discussionOf, takeOf } from "./store";

type What = "take" | "discussion" | "project";

function Export() {
	const info = useStore((from) => from.info);
	const writers = info?.formats.filter((format) => format.writes) ?? [];
	const [what, setWhat] = useState<What>("take"), [name, setName] = useState("markdown");
	const [isLossless, setLossless] = useState(false), [hasLines, setLines] = useState(false);
	const disc = discussionOf(state.disc)?.name ?? "", take = takeOf(state.take)?.name ?? "";
	const isCanonical = name === "canonical";
	const href = address("/export", isCanonical ? { format: name } : {
		format: name,
		discussion: what === "project" ? null : state.disc, take: what === "take" ? state.take : null,
		all: what !== "take" ? 1 : null, lossless: isLossless ? 1 : null, lines: hasLines ? 1 : null,
	});
	return (
		<Dialog title="Export" onClose={() => openOverlay(null)}>
			<div class="field"><label for="export-what">What</label>
				<select id="export-what" autoFocus value={isCanonical ? "project" : what} disabled={isCanonical} onChange={(event) => setWhat(event.currentTarget.value as What)}>
					<option value="take">This take: {take}</option>
					<option value="discussion">This discussion with all its takes: {disc}</option>
					<option value="project">The whole project</option>
				</select>
			</div>
			<fieldset class="choices">
				<legend>Format</legend>
				{writers.map((format) => (
					<label class="choice">
						<input type="radio" name="format" checked={name === format.name} onChange={() => setName(format.name)} />
						<span>{format.name} <span class="quiet">{format.extension}</span><span class="quiet small">{format.about}</span></span>
					</label>
				))}
			</fieldset>
			{!isCanonical && (
				<>
					<label class="check"><input type="checkbox" checked={isLossless} onChange={(event) => setLossless(event.currentTarget.checked)} />
						Add what the format itself cannot say, so that an import brings back everything</label>
					{name === "openai" && <label class="check"><input type="checkbox" checked={hasLines} onChange={(event) => setLines(event.currentTarget.checked)} />
						One conversation a line</label>}
				</>
			)}
			<footer>
				<button type="button" onClick={() => openOverlay(null)}>Cancel</button>
				<a class="button primary" href={href} download="" onClick={() => setTimeout(() => openOverlay(null), 100)}>Export</a>
			</footer>
		</Dialog>
	);
}

addPane({ id: "export", title: "Export", place: "overlay", view: Export });
