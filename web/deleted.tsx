// SPDX-License-Identifier: MIT
//
// Deleted discussions: a list in place of the discussions. Restoring one reverts the step that deleted it.
import * as act from "./actions";
import { get } from "./api";
import { useLoaded } from "./pane_data";
import { useStore } from "./state";
import { titleOf, whenFull, shortDate } from "./words";
import type { Change, Discussion } from "./types";

const PAGE = 1000, MOST_PAGES = 20;

interface Deleted extends Discussion {
	/** The step that deleted it. */
	step: Change;
}

/** Newest first. Discussions that are missing for another reason, such as an undone creation, are in the history only. */
async function readDeleted(): Promise<Deleted[]> {
	const all = await get<Discussion[]>("/discussions", { all: true });
	const gone = new Map(all.filter((each) => each.present === false).map((each) => [each.id, each]));
	const found: Deleted[] = [];
	let before: number | null = null;
	for (let i = 0; i < MOST_PAGES && gone.size > 0; i++) {
		const page: { rows: Change[]; next: number | null } = await get("/history", { limit: PAGE, before });
		for (const step of page.rows.filter((row) => row.op === "discussion.delete"))
			for (const splice of step.splices ?? []) {
				const each = gone.get(splice.discussion);
				if (each && gone.delete(each.id))
					found.push({ ...each, step });
			}
		if ((before = page.next) === null)
			break;
	}
	return found;
}

export function DeletedList() {
	const number = useStore((from) => from.discussions.length);
	const { data, problem } = useLoaded(readDeleted, [number], 60);
	if (!data || data.length === 0)
		return <p class="quiet" role="status">{problem || (data ? "No deleted discussions." : "Reading …")}</p>;
	return (
		<ul class="deleted" aria-label="Deleted discussions">
			{data.map((each) => (
				<li key={each.id}>
					<span class="name">
						<span class="title" dir="auto" title={titleOf(each)}>{titleOf(each)}</span>
						<span class="count" title={`Deleted ${whenFull(each.step.at)}`}>deleted {shortDate(each.step.at)}</span>
					</span>
					<button type="button" aria-label={`Restore ${titleOf(each)}`} onClick={() => void act.restoreDiscussion(each.id, titleOf(each), each.step.seq)}>Restore</button>
				</li>
			))}
		</ul>
	);
}
