// SPDX-License-Identifier: MIT
//
// File lists: files, context files and screenshots of the discussion. The files are sent before the
// entries and must be below the directories that the server was started with. Each is shown with
// its size and tokens, or with the reason why it cannot be sent.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { useLoaded } from "./pane_data";
import { useStore } from "./state";
import { readContext } from "./pane_sent";
import { goToField } from "./pane_verbs";
import { discPath } from "./store";
import { bytesWords, count } from "./words";
import type { Context } from "./types";

type Item = string | Record<string, unknown>;
type Lists = Record<string, Item[]>;

/** Member, title, and what it is for. They are sent in this order. */
const LISTS: [string, string, string][] = [
	["files", "Files", "The files that you are working on. Sent first."],
	["context_files", "Context files", "Sources and documents for reference. “@” in the message field adds files to this list."],
	["screenshots", "Screenshots", "Images only. Sent last."],
];

function nameOf(item: Item): string {
	return typeof item === "string" ? item : String(item.path ?? item.name ?? JSON.stringify(item));
}

/** What an item currently expands to, or why it cannot be sent. */
function ItemNote(props: { which: string; name: string; context: Context | null }) {
	const { which, name, context } = props;
	const isOf = (each: { list: string; item: string }) => each.list === which && each.item === name;
	const problems = context?.file_problems.filter(isOf) ?? [], files = context?.files.filter(isOf) ?? [];
	if (problems.length > 0)
		return <span class="problem small">{problems.map((each) => each.message).join("; ")}</span>;
	if (files.length === 0)
		return null;
	const size = files.reduce((sum, file) => sum + file.size, 0), tokens = files.reduce((sum, file) => sum + file.tokens, 0);
	return <span class="quiet small">{files.length > 1 && `${count(files.length, "file", "files")}, `}{bytesWords(size)}, {count(tokens, "token", "tokens")}</span>;
}

function List(props: { which: string; title: string; about: string; items: Item[]; context: Context | null; isShared: boolean }) {
	const { which, title, items, context, isShared } = props;
	const [name, setName] = useState("");
	const save = (next: Item[]) => act.op("files.set", { which, items: next }, { say: `Changed the list of ${title.toLowerCase()}.` });
	const add = async () => {
		if (name.trim() && await save([...items, name.trim()]))
			// unless the next name was entered in the meantime
			setName((now) => (now === name ? "" : now));
	};
	return (
		<>
			<h3>{title}</h3>
			<p class="quiet small" id={`about-${which}`}>{props.about}</p>
			{items.length > 0 && (
				<ul class="plain-list" aria-label={title}>
					{items.map((item, at) => (
						<li key={`${at} ${nameOf(item)}`}>
							<span class="grow path" title={nameOf(item)}>{nameOf(item)}</span>
							<ItemNote which={which} name={nameOf(item)} context={context} />
							<button type="button" class="icon" aria-label={`Remove ${nameOf(item)}`}
								onClick={() => void save(items.filter((_, other) => other !== at))}>×</button>
						</li>
					))}
				</ul>
			)}
			<form class="adder" onSubmit={(event) => { event.preventDefault(); void add(); }}>
				<input class="line" aria-label={`Path to add to ${title.toLowerCase()}`} aria-describedby={`about-${which}`} placeholder="File, directory or glob" value={name} disabled={!isShared}
					onInput={(event) => setName(event.currentTarget.value)} />
				<button type="submit" disabled={!name.trim()}>Add</button>
			</form>
		</>
	);
}

/** Button beside the composer: shows the number of items and opens the lists. */
export function FilesButton() {
	const disc = useStore((from) => from.disc), take = useStore((from) => from.take), version = useStore((from) => from.version);
	const isShared = useStore((from) => from.info)?.features.includes("files") ?? false;
	const { data } = useLoaded(() => (isShared && disc ? get<Lists>(discPath("files")) : Promise.resolve(null)), [disc, take, version, isShared], 60);
	const items = LISTS.reduce((sum, [which]) => sum + (data?.[which]?.length ?? 0), 0);
	return isShared ? (
		<button type="button" class="icon text wide-only" id="to-files" title="Files on the server's computer, sent with each request"
			onClick={() => goToField("settings", "file-lists")}>{items ? `Files: ${items}` : "Files"}</button>
	) : null;
}

export function FileLists() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const { data } = useLoaded(() => get<Lists>(discPath("files")), [disc, version], 60);
	const isShared = useStore((from) => from.info)?.features.includes("files") ?? true;
	const hasAny = LISTS.some(([which]) => (data?.[which] ?? []).length > 0);
	const { data: context } = useLoaded(() => (hasAny ? readContext(null) : Promise.resolve(null)), [disc, version, hasAny], 300);
	return (
		<div id="file-lists" tabIndex={-1}>
			<h2>Files in each request</h2>
			{isShared ? <p class="quiet small">The model reads these before the entries, in this order. Enter a file, a directory with everything below it, a
				pattern (<code>src/*.c</code>), lines (<code>main.c:10-20</code>) or a definition (<code>main.c#name</code>).</p> : <p class="quiet small">This server does not share a directory, so files cannot be sent. The owner of the server can change this by restarting it with a shared directory.</p>}
			{LISTS.map(([which, title, about]) => <List isShared={isShared} key={which} which={which} title={title} about={about} items={data?.[which] ?? []} context={context ?? null} />)}
			{context && context.files.length > 0 && <p class="quiet small">{count(context.files.length, "file is", "files are")} sent before the entries, with about {context.file_tokens.toLocaleString()} tokens.</p>}
		</div>
	);
}
