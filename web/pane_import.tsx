// SPDX-License-Identifier: MIT
//
// Import: files that are chosen, or dropped on the page. Each is counted first without a change;
// then the user confirms. Of dropped files only exported conversations are offered for import; the
// others are attached to the next message.
import { useEffect, useRef, useState } from "preact/hooks";
import * as act from "./actions";
import { hasFiles } from "./attachments";
import { post } from "./api";
import { Dialog } from "./dialog";
import { notify } from "./notice";
import { addPane, openOverlay } from "./panes";
import { may } from "./rights";
import { attachFiles } from "./several";
import { state } from "./state";
import { count, formatName, isGeneratedName } from "./words";
import type { Format } from "./types";

interface Counted {
	format: string;
	discussions: number;
	entries: number;
	hidden: number;
	takes: number;
	known: number;
	repaired: number;
	skipped: number;
	noted: number;
	empty: number;
	remarks?: (string | { text?: string })[];
	/** The name of the (first) discussion in the file. */
	name?: string;
}

interface Candidate {
	file: File;
	/** null: the name in the file, otherwise that of the file. */
	name: string | null;
	counted: Counted | null;
	problem: string;
	isDone: boolean;
}

// Files that were dropped before the dialog opened.
let dropped: File[] = [];

function countFile(file: File): Promise<Counted> {
	return post<Counted>("/import", undefined, { raw: file, query: { dry_run: 1, fallback: plainName(file) } });
}

/** Does the file contain exported conversations? */
async function isExport(file: File): Promise<boolean> {
	if (/^image\/|^application\/pdf$/.test(file.type) || file.size === 0 || !may("edit"))
		return false;
	return countFile(file).then((counted) => counted.entries + counted.known > 0, () => false);
}

async function sortDropped(files: File[]): Promise<void> {
	const are = await Promise.all(files.map(isExport));
	dropped = files.filter((_, at) => are[at]);
	if (dropped.length > 0)
		openOverlay("import");
	attachFiles(files.filter((_, at) => !are[at]));
}

function plainName(file: File): string {
	return file.name.replace(/\.[^.]*$/, "");
}

/** The name in the file, unless it only means that no name was chosen there; undefined: there is none. */
function nameInFile(counted: Counted): string | undefined {
	return counted.name && !isGeneratedName(counted.name) ? counted.name : undefined;
}

function nameOf(each: Candidate): string {
	return each.name ?? nameInFile(each.counted!) ?? plainName(each.file);
}

function count1(counted: Counted): string {
	if (counted.entries === 0 && counted.discussions === 0 && counted.known > 0)
		return `Nothing new: ${counted.known === 1 ? "its entry already exists" : `all ${counted.known.toLocaleString()} already exist`}.`;
	const parts = [
		count(counted.discussions, "discussion"), count(counted.takes, "take"),
		counted.entries > 0 && count(counted.entries, "new entry", "new entries") + (counted.hidden > 0 ? ` (${counted.hidden.toLocaleString()} hidden)` : ""),
		counted.known > 0 && `${counted.known.toLocaleString()} already exist`,
		counted.repaired > 0 && `${counted.repaired.toLocaleString()} repaired`,
		counted.skipped > 0 && `${counted.skipped.toLocaleString()} skipped`,
		counted.empty > 0 && `${counted.empty.toLocaleString()} empty ${counted.empty === 1 ? "conversation" : "conversations"} skipped`,
	];
	return parts.filter(Boolean).join(", ");
}

function nameOfFormat(name: string): string {
	return formatName(state.info?.formats.find((format) => format.name === name) ?? { name, about: "" });
}

/** The programs that most newcomers come from. */
const COMMON = ["ChatGPT", "Claude.ai", "Open WebUI", "LibreChat", "Claude Code"];

/** Other programs first. */
function readNames(): string {
	const all = state.info?.formats.filter((format) => format.reads) ?? [], isProgram = (format: Format) => formatName(format) === format.name || /^[^:]{1,20}: /.test(format.about);
	const names = [...all.filter(isProgram), ...all.filter((format) => !isProgram(format))].map(formatName);
	return [...COMMON.filter((name) => names.includes(name)), ...names.filter((name) => !COMMON.includes(name))].join(", ");
}

function Import() {
	const isDropped = useRef(dropped.length > 0);
	const [all, setAll] = useState<Candidate[]>([]), [isBusy, setBusy] = useState(false), [isOver, setOver] = useState(false);
	const input = useRef<HTMLInputElement>(null);
	const change = (file: File, to: Partial<Candidate>) =>
		setAll((old) => old.map((each) => (each.file === file ? { ...each, ...to } : each)));
	const add = (files: Iterable<File>) => {
		for (const file of files) {
			setAll((old) => [...old, { file, name: null, counted: null, problem: "", isDone: false }]);
			countFile(file).then(
				(counted) => change(file, { counted }), (error: Error) => change(file, { problem: error.message }));
		}
	};
	useEffect(() => add(dropped.splice(0)), []);
	const ready = all.filter((each) => each.counted && !each.problem && !each.isDone && (each.counted.entries > 0 || each.counted.discussions > 0));
	const bring = async () => {
		setBusy(true);
		let done = 0, entries = 0;
		for (const each of ready) {
			const imported = await act.importFile(each.file, each.counted!.discussions > 1 ? undefined : nameOf(each).trim() || undefined, plainName(each.file));
			if (!imported)
				break;
			change(each.file, { isDone: true });
			entries += imported.entries;
			done++;
		}
		setBusy(false);
		if (done > 1)
			notify({ text: `Imported ${count(entries, "entry", "entries")} from ${done} files.`, action: { label: "Undo all", run: () => void act.undo(done) } });
		if (done === ready.length && !all.some((each) => each.problem))
			openOverlay(null);
	};
	return (
		<Dialog title="Import" onClose={() => openOverlay(null)}>
			<div class={"drop" + (isOver ? " over" : "")}
				onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
				onDrop={(event) => { event.preventDefault(); event.stopPropagation(); setOver(false); add(event.dataTransfer?.files ?? []); }}>
				<p>Drop files here, or</p>
				<input ref={input} type="file" multiple hidden aria-label="Files to import" onChange={(event) => { add(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
				<button type="button" class={all.length ? "" : "primary"} autoFocus onClick={() => input.current?.click()}>Choose files …</button>
				<p class="quiet small">{readNames()}.
					The format is recognised from the contents.</p>
			</div>
			{all.length > 0 && (
				<ul class="plain-list imports" aria-label="Files">
					{all.map((each) => (
						<li key={each.file.name}>
							<div class="grow">
								<strong>{each.file.name}</strong> {each.counted && <span class="quiet">{nameOfFormat(each.counted.format)}</span>}
								<p class={each.problem ? "problem" : "quiet small"} role={each.problem ? "alert" : "status"}>
									{each.problem || (each.isDone ? "Imported." : each.counted ? count1(each.counted) : "Counting …")}</p>
								{(each.counted?.remarks?.length ?? 0) > 0 && (
									<details><summary>{count(each.counted!.remarks!.length, "remark")}</summary>
										<ul>{each.counted!.remarks!.slice(0, 50).map((remark) => <li>{typeof remark === "string" ? remark : remark.text ?? JSON.stringify(remark)}</li>)}</ul>
									</details>
								)}
								{each.counted && !each.isDone && each.counted.entries > 0 && each.counted.discussions <= 1 && (
									<label class="field inline">Name<input class="line" value={nameOf(each)} onInput={(event) => change(each.file, { name: event.currentTarget.value })} /></label>
								)}
							</div>
							<button type="button" class="icon" aria-label={`Remove ${each.file.name} from the list`} disabled={isBusy}
								onClick={() => setAll((old) => old.filter((other) => other !== each))}>×</button>
						</li>
					))}
				</ul>
			)}
			<footer>
				{isDropped.current && all.length > 0 && !isBusy && (
					<button type="button" onClick={() => { attachFiles(all.map((each) => each.file)); openOverlay(null); }}>Attach to the message instead</button>
				)}
				<button type="button" onClick={() => openOverlay(null)}>{all.some((each) => each.isDone) ? "Close" : "Cancel"}</button>
				<button type="button" class={all.length ? "primary" : ""} disabled={ready.length === 0 || isBusy} onClick={() => void bring()}>
					{ready.length > 1 ? `Import ${ready.length} files` : "Import"}</button>
			</footer>
		</Dialog>
	);
}

addEventListener("dragover", (event) => {
	if (hasFiles(event))
		event.preventDefault();
});
addEventListener("drop", (event) => {
	if (!hasFiles(event) || event.defaultPrevented)
		return;
	event.preventDefault();
	if (state.disc)
		void sortDropped([...(event.dataTransfer?.files ?? [])]);
});

addPane({ id: "import", title: "Import", place: "overlay", view: Import });
