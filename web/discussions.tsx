// SPDX-License-Identifier: MIT
//
// Discussions: the list at the left, and what can be done with each.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { askLine } from "./dialog";
import { CloseDrawer } from "./drawer";
import { Menu } from "./menu";
import { openOverlay } from "./panes";
import { set, useStore } from "./state";
import { askDeleteDiscussion } from "./tabs";
import { openSample } from "./welcome";
import type { Discussion } from "./types";

const MOST = 300;

async function begin(): Promise<void> {
	const name = await askLine("New discussion", "", { text: "What is it about?", yes: "Begin" });
	if (name?.trim())
		await act.newDiscussion(name.trim());
}

async function rename(each: Discussion): Promise<void> {
	const name = await askLine("Rename the discussion", each.name);
	if (name?.trim() && name !== each.name)
		await act.renameDiscussion(each.id, name.trim());
}

function choose(disc: string): void {
	set({ drawer: null });
	void act.switchDiscussion(disc);
}

export function Discussions() {
	const all = useStore((from) => from.discussions), open = useStore((from) => from.disc);
	const [filter, setFilter] = useState("");
	const wanted = filter.toLowerCase();
	const shown = all.filter((each) => each.name.toLowerCase().includes(wanted));
	return (
		<nav class="discussions" aria-label="Discussions">
			<header>
				<h2>Discussions</h2>
				<span class="space" />
				<button type="button" class="icon" aria-label="New discussion" title="New discussion" onClick={() => void begin()}>+</button>
				<Menu label="Discussions" items={() => [
					{ text: "New …", run: () => void begin() },
					{ text: "Import files …", run: () => openOverlay("import") },
					{ text: "Load the sample", run: () => void openSample() },
				]}><span aria-hidden="true">⋯</span></Menu>
				<CloseDrawer opener="to-discussions" />
			</header>
			{all.length > 8 && (
				<input class="line" type="search" placeholder="Filter" aria-label="Filter discussions" value={filter}
					onInput={(event) => setFilter(event.currentTarget.value)} />
			)}
			<ul>
				{shown.slice(0, MOST).map((each) => (
					<li key={each.id} class={each.id === open ? "open" : ""}>
						<button type="button" class="name" aria-current={each.id === open ? "page" : undefined}
							onClick={() => choose(each.id)}>
							<span>{each.name}</span>
							<span class="count" title="In its active take">{each.entries ? `${each.entries.toLocaleString()} ${each.entries === 1 ? "entry" : "entries"}` : "empty"}{each.takes > 1 ? ` · ${each.takes} takes` : ""}</span>
						</button>
						<Menu label={`More for ${each.name}`} items={() => [
							{ text: "Rename …", run: () => void rename(each) },
							{ text: "Delete …", run: () => void askDeleteDiscussion(each.id), isOff: all.length < 2, isDanger: true },
						]}><span aria-hidden="true">⋯</span></Menu>
					</li>
				))}
			</ul>
			{shown.length > MOST && <p class="quiet">{shown.length - MOST} more: type in the filter.</p>}
		</nav>
	);
}
