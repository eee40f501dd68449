// SPDX-License-Identifier: MIT
//
// File lists: files, context files and screenshots of the discussion. Retake keeps their names;
// what is in them is the business of the program that reads them.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { get } from "./api";
import { useLoaded } from "./pane_data";
import { useStore } from "./state";
import { discPath } from "./store";

type Item = string | Record<string, unknown>;
type Lists = Record<string, Item[]>;

const LISTS: [string, string][] = [["files", "Files"], ["context_files", "Context files"], ["screenshots", "Screenshots"]];

function nameOf(item: Item): string {
	return typeof item === "string" ? item : String(item.path ?? item.name ?? JSON.stringify(item));
}

function List(props: { which: string; title: string; items: Item[] }) {
	const { which, title, items } = props;
	const [name, setName] = useState("");
	const save = (next: Item[]) => act.op("files.set", { which, items: next }, { say: `Changed the list of ${title.toLowerCase()}.` });
	const add = async () => {
		if (name.trim() && await save([...items, name.trim()]))
			setName((now) => (now === name ? "" : now)); // the next one may be there by now
	};
	return (
		<>
			<h2>{title}</h2>
			{items.length > 0 && (
				<ul class="plain-list" aria-label={title}>
					{items.map((item, at) => (
						<li key={`${at} ${nameOf(item)}`}>
							<span class="grow path" title={nameOf(item)}>{nameOf(item)}</span>
							<button type="button" class="icon" aria-label={`Remove ${nameOf(item)}`}
								onClick={() => void save(items.filter((_, other) => other !== at))}>×</button>
						</li>
					))}
				</ul>
			)}
			<form class="adder" onSubmit={(event) => { event.preventDefault(); void add(); }}>
				<input class="line" aria-label={`Path to add to ${title.toLowerCase()}`} placeholder="Path" value={name}
					onInput={(event) => setName(event.currentTarget.value)} />
				<button type="submit" disabled={!name.trim()}>Add</button>
			</form>
		</>
	);
}

export function FileLists() {
	const disc = useStore((from) => from.disc), version = useStore((from) => from.version);
	const { data } = useLoaded(() => get<Lists>(discPath("files")), [disc, version], 60);
	return <>{LISTS.map(([which, title]) => <List key={which} which={which} title={title} items={data?.[which] ?? []} />)}</>;
}
