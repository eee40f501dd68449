// SPDX-License-Identifier: MIT
//
// Discussions: the list at the left, and what can be done with each.
import { useState } from "preact/hooks";
import * as act from "./actions";
import { Cut } from "./cut";
import { askLine } from "./dialog";
import { CloseDrawer } from "./drawer";
import { thenWrite } from "./focus";
import { Menu } from "./menu";
import { newDiscussion } from "./pane_verbs";
import { openOverlay } from "./panes";
import { Projects } from "./projects";
import { set, useStore } from "./state";
import { askDeleteDiscussion } from "./tabs";
import { openSample } from "./welcome";
import { count } from "./words";
import type { MenuItem } from "./menu";
import type { Discussion } from "./types";

const MOST = 300;

async function rename(each: Discussion): Promise<void> {
	const name = await askLine("Rename the discussion", each.name);
	if (name?.trim() && name !== each.name)
		await act.renameDiscussion(each.id, name.trim());
}

function choose(disc: string): void {
	set({ drawer: null });
	void thenWrite(act.switchDiscussion(disc));
}

/** Of the open one the take that is shown is counted, of the others the active one. */
function sizeOf(each: Discussion, shownCount = each.entries): string {
	return (shownCount ? count(shownCount, "entry", "entries") : "empty") + (each.takes > 1 ? ` · ${each.takes} takes` : "")
		+ (each.track ? ` · ${each.track}` : "");
}

/** The discussion on the other side: of a track, or of the project; of several the one that was changed last. */
function otherSide(all: Discussion[], open: string | null): Discussion | undefined {
	const toTrack = !all.find((each) => each.id === open)?.track;
	return all.filter((each) => !!each.track === toTrack)
		.sort((a, b) => (b.updated ?? "").localeCompare(a.updated ?? ""))[0];
}

function toggleItems(all: Discussion[], open: string | null): MenuItem[] {
	const other = otherSide(all, open);
	return other && all.some((each) => each.track)
		? [{ text: other.track ? `To the track "${other.track}"` : "Back to the project's discussion", run: () => choose(other.id) }]
		: [];
}

export function Discussions() {
	const all = useStore((from) => from.discussions), open = useStore((from) => from.disc);
	const outline = useStore((from) => from.outline);
	const shownCount = outline && outline.discussion === open ? outline.id.length : undefined;
	const [filter, setFilter] = useState("");
	const wanted = filter.toLowerCase();
	const shown = all.filter((each) => each.name.toLowerCase().includes(wanted) || each.track?.toLowerCase().includes(wanted));
	return (
		<nav class="discussions" aria-label="Discussions">
			<Projects />
			<header>
				<h2>Discussions</h2>
				<span class="space" />
				<button type="button" class="icon" aria-label="New discussion" title="New discussion" onClick={() => void newDiscussion()}>+</button>
				<Menu label="Discussions" items={() => [
					{ text: "New …", run: () => void newDiscussion() },
					...toggleItems(all, open),
					{ text: "Import files …", run: () => openOverlay("import") },
					{ text: "Load the sample", run: () => void openSample() },
				]}><span aria-hidden="true">⋯</span></Menu>
				<CloseDrawer />
			</header>
			{all.length > 8 && (
				<input class="line" type="search" placeholder="Filter by name or track" aria-label="Filter discussions" value={filter}
					onInput={(event) => setFilter(event.currentTarget.value)} />
			)}
			<ul>
				{shown.slice(0, MOST).map((each) => [each, sizeOf(each, each.id === open ? shownCount : undefined)] as const).map(([each, size]) => (
					<li key={each.id} class={each.id === open ? "open" : ""}>
						<button type="button" class="name" aria-label={`${each.name}, ${size}`} aria-current={each.id === open ? "page" : undefined}
							onClick={() => choose(each.id)}>
							<Cut text={each.name} />{" "}
							<span class="count" title={each.id === open ? "In the take that is shown" : "In its active take"}>{size}</span>
						</button>
						<Menu label={`More for ${each.name}`} items={() => [
							{ text: "Rename …", run: () => void rename(each) },
							{ text: "Delete …", run: () => void askDeleteDiscussion(each.id), isOff: all.length < 2 && "It is the only discussion", isDanger: true },
						]}><span aria-hidden="true">⋯</span></Menu>
					</li>
				))}
			</ul>
			{shown.length > MOST && <p class="quiet">{shown.length - MOST} more: type in the filter.</p>}
		</nav>
	);
}
