// SPDX-License-Identifier: MIT
//
// Compact: a model's summary is sent instead of a range of entries, which stay in the take, or
// replaces the whole take. It is one step and can be undone.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { Dialog } from "./dialog";
import { textOf } from "./entry_acts";
import { placeOf } from "./outline";
import { openTakeOf, useModel, useWork } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { state, useStore } from "./state";
import { count, oneLine } from "./words";

type How = "range" | "keep" | "compress";
const MOST_OPTIONS = 2000;

function Compact() {
	const outline = useStore((from) => from.outline), bodies = useStore((from) => from.bodies);
	const ids = outline?.id ?? [];
	const picked = state.anchor ? act.selected() : [];
	const [how, setHow] = useState<How>(picked.length > 1 ? "range" : "keep");
	const [from, setFrom] = useState(picked[0] ?? ids[0] ?? ""), [to, setTo] = useState(picked[picked.length - 1] ?? state.focus ?? ids[ids.length - 1] ?? "");
	const [keep, setKeep] = useState(""), [words, setWords] = useState("");
	const model = useModel(), work = useWork();
	const close = () => (work.isBusy ? work.stop() : openOverlay(null));
	const low = outline ? placeOf(outline, from) : -1, high = outline ? placeOf(outline, to) : -1;
	const isWrong = how === "range" && (low < 0 || high < low);
	const begin = async () => {
		const instructions = words.trim() ? { instructions: words.trim() } : {};
		const run = await work.start(how === "compress" ? { how: "compress", ...instructions }
			: { how: "compact", ...instructions, ...(how === "range" ? { from, to } : Number(keep) > 0 ? { keep: Number(keep) } : {}) });
		if (!run)
			return;
		openOverlay(null);
		await openTakeOf(run);
		const { tokens_before: before, tokens_after: after } = run as { tokens_before?: number; tokens_after?: number };
		act.say(run.unchanged ? "There is nothing to compact." : (how === "compress" ? "Compressed the take" : "Compacted") +
			(before && after ? `: about ${before.toLocaleString()} tokens became ${after.toLocaleString()}.` : "."), true, run.seq);
	};
	const option = (id: string, at: number) => {
		const body = bodies.get(id);
		return <option value={id}>{at + 1} {outline!.role[at]} {body ? oneLine(textOf(body.content), 40) : id}</option>;
	};
	// of a very long take, only entries near the ends of the range are offered
	const near = (wanted: string) => {
		const at = outline ? Math.max(0, placeOf(outline, wanted)) : 0;
		const first = ids.length > MOST_OPTIONS ? Math.max(0, Math.min(at - MOST_OPTIONS / 2, ids.length - MOST_OPTIONS)) : 0;
		return ids.slice(first, first + MOST_OPTIONS).map((id, i) => option(id, first + i));
	};
	const choice = (value: How, text: string, about: string) => (
		<label class="choice">
			<input type="radio" name="how" autoFocus={how === value} checked={how === value} disabled={work.isBusy} onChange={() => setHow(value)} />
			<span>{text}<span class="quiet small">{about}</span></span>
		</label>
	);
	return (
		<Dialog title="Compact or compress" onClose={close}>
			<fieldset class="choices">
				<legend>Entries to summarise</legend>
				{choice("keep", "The beginning", "The newest entries do not change. The others stay visible, but the summary is sent instead of them.")}
				{choice("range", "A range of entries", "A range that you choose stays visible, but the summary is sent instead of it.")}
				{choice("compress", "The whole take", "The summary replaces all its entries. Undo restores them.")}
			</fieldset>
			{how === "range" && (
				<div class="setting-row">
					<div class="field"><label for="compact-from">From</label>
						<select id="compact-from" value={from} onChange={(event) => setFrom(event.currentTarget.value)}>{near(from)}</select></div>
					<div class="field"><label for="compact-to">To</label>
						<select id="compact-to" value={to} onChange={(event) => setTo(event.currentTarget.value)}>{near(to)}</select></div>
				</div>
			)}
			{how === "range" && !isWrong && <p class="quiet small">{count(high - low + 1, "entry", "entries")}.</p>}
			{how === "range" && isWrong && <p class="note problem" role="alert">The range ends before it begins.</p>}
			{how === "keep" && (
				<label class="field">Tokens to keep at the end
					<input class="line" type="number" min={0} step={256} value={keep} placeholder="from the settings" onInput={(event) => setKeep(event.currentTarget.value)} />
				</label>
			)}
			<label class="field">Focus of the summary (optional)
				<textarea rows={2} value={words} disabled={work.isBusy} onInput={(event) => setWords(event.currentTarget.value)} />
			</label>
			{!model && <p class="note">No model is set for the summary. Choose one in the settings.</p>}
			{work.problem && <p class="note problem" role="alert">{work.problem}</p>}
			{work.isBusy && <p class="quiet" role="status">{work.run?.notice ?? "The model is writing a summary …"}</p>}
			<footer>
				<button type="button" onClick={close}>{work.isBusy ? "Stop" : "Cancel"}</button>
				<button type="button" class="primary" disabled={work.isBusy || !model || isWrong || ids.length === 0} onClick={() => void begin()}>
					{how === "compress" ? "Compress" : "Compact"}</button>
			</footer>
		</Dialog>
	);
}

addPane({ id: "compact", title: "Compact or compress", place: "overlay", view: Compact });
