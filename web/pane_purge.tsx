// SPDX-License-Identifier: MIT
//
// Purge, the only action that cannot be undone, and reset, which can be, although it does not look
// like it. Both explain what they do.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { Dialog } from "./dialog";
import { placeOf } from "./outline";
import { addPane, openOverlay } from "./panes";
import { set, state, useStore } from "./state";
import { reload } from "./store";
import { count } from "./words";
import type { Result } from "./types";

const SURE = "purge";

function Purge() {
	const outline = useStore((from) => from.outline);
	const place = outline ? placeOf(outline, state.focus) : -1;
	const [isEntry, setEntry] = useState(false), [text, setText] = useState(""), [sure, setSure] = useState("");
	const [done, setDone] = useState<Result | null>(null), [isBusy, setBusy] = useState(false);
	const entry = place >= 0 ? outline!.id[place] : null;
	const isReady = sure.trim().toLowerCase() === SURE && (isEntry ? entry !== null : text.trim() !== "");
	const purge = async () => {
		setBusy(true);
		const result = await act.op("purge", isEntry ? { entry } : { text }, { say: "" });
		setBusy(false);
		if (!result)
			return;
		setDone(result);
		setText("");
		set({ bodies: new Map(), tags: new Map() }); // discard cached texts, too
		await reload();
	};
	if (done)
		return (
			<Dialog title="Purge a secret" onClose={() => openOverlay(null)}>
				<p role="status">{done.unchanged ? "No text matches: nothing was changed." : "Purged from this project."}</p>
				{[...(done.notes ?? []), ...(done.note ? [done.note] : [])].map((note) => <p class="note">{note}</p>)}
				<footer><button type="button" class="primary" autoFocus onClick={() => openOverlay(null)}>Close</button></footer>
			</Dialog>
		);
	return (
		<Dialog title="Purge a secret" onClose={() => openOverlay(null)}>
			<p>Erases a text everywhere in this project: in every take, every older version, the whole history and the search index.
				<strong> This cannot be undone.</strong> Use it for passwords and keys; to remove an entry, delete it instead.</p>
			<fieldset class="choices">
				<legend>What</legend>
				<label class="choice"><input type="radio" name="what" checked={!isEntry} onChange={() => setEntry(false)} />
					<span>Everything that contains a specific text<span class="quiet small">Entries that contain it become empty; names, labels and settings that contain it are masked.</span></span></label>
				<label class="choice"><input type="radio" name="what" checked={isEntry} disabled={!entry} onChange={() => setEntry(true)} />
					<span>{entry ? `Entry ${place + 1}, ${outline!.role[place]}` : "One entry"}
						<span class="quiet small">{entry ? "All versions of its text. The entry is kept, but is empty." : "Select an entry first."}</span></span></label>
			</fieldset>
			{!isEntry && <label class="field">The exact text<input class="line" autoFocus value={text} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} /></label>}
			<p class="quiet small">Not covered: earlier backups and exports, other projects, and text that was sent to a model.</p>
			<label class="field">Type "{SURE}" to continue<input class="line" value={sure} autocomplete="off" onInput={(event) => setSure(event.currentTarget.value)} /></label>
			<footer>
				<button type="button" onClick={() => openOverlay(null)}>Cancel</button>
				<button type="button" class="danger" disabled={!isReady || isBusy} onClick={() => void purge()}>Purge permanently</button>
			</footer>
		</Dialog>
	);
}

function Reset() {
	const discussions = useStore((from) => from.discussions);
	const entries = discussions.reduce((sum, each) => sum + each.entries, 0);
	const reset = async () => {
		openOverlay(null);
		await act.op("project.reset", {}, { say: "Reset the project. One undo restores everything." });
	};
	return (
		<Dialog title="Reset the project" onClose={() => openOverlay(null)}>
			<p>Removes {discussions.length === 1 ? "the discussion" : `all ${discussions.length} discussions`} ({count(entries, "entry", "entries")}) and
				starts with an empty one. Roles, settings, prompts and lists of files get their initial values.</p>
			<p>It is one step: <strong>one undo restores all of it</strong>. The history stays; nothing is deleted permanently.</p>
			<footer>
				<button type="button" autoFocus onClick={() => openOverlay(null)}>Cancel</button>
				<button type="button" class="danger" onClick={() => void reset()}>Reset</button>
			</footer>
		</Dialog>
	);
}

addPane({ id: "purge", title: "Purge a secret", place: "overlay", view: Purge });
addPane({ id: "reset", title: "Reset the project", place: "overlay", view: Reset });
