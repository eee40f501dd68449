// SPDX-License-Identifier: MIT
//
// Links: opens the place in the URL, or the nearest existing one, with a message about missing
// parts.
import { say, sayProblem, show } from "./actions";
import { get } from "./api";
import { showEntry } from "./focus";
import { placeOf } from "./outline";
import { takeAt } from "./pane_tree";
import { linkedPlace } from "./place";
import { set, state, subscribe } from "./state";
import { discPath, discussionOf, takeOf } from "./store";
import { titleOf } from "./words";
import type { Place } from "./place";
import type { Columns } from "./types";

/** Another take that contains the entry; null: none. */
async function takeWith(entry: string): Promise<string | null> {
	const columns = await get<Columns>(discPath("tree"), { columns: 1, preview: 0, bare: 1 });
	const row = columns.id.indexOf(entry);
	return row < 0 ? null : takeAt(columns, row, state.take);
}

/** Reports the missing part. */
async function sayMissing(place: Place): Promise<void> {
	const here = titleOf(discussionOf(state.disc));
	if (place.disc !== state.disc)
		return say(`The link leads to a discussion that does not exist. This is “${here}”.`, false);
	const isOtherTake = place.take !== undefined && place.take !== state.take;
	const gone = isOtherTake ? "The link leads to a take that no longer exists." : "The link leads to an entry that no longer exists.";
	const isThere = !place.entry || (state.outline !== null && placeOf(state.outline, place.entry) >= 0);
	const other = isThere ? null : await takeWith(place.entry!);
	if (other !== null) {
		await show(state.disc!, other, place.entry);
		showEntry(place.entry!, false);
		return say(`${isOtherTake ? gone : "The linked entry is no longer in that take."} This is “${takeOf(other)?.name}”, which contains it.`, false);
	}
	if (isOtherTake || !isThere)
		say(`${gone} This is “${takeOf(state.take)?.name}”.`, false);
}

/** The URL has changed: goes there. */
async function follow(): Promise<void> {
	const place = linkedPlace();
	if (!place.disc)
		return;
	if (!discussionOf(place.disc))
		return sayMissing(place);
	if (place.disc !== state.disc || (place.take && place.take !== state.take)) {
		await show(place.disc, place.take, place.entry);
	} else if (place.entry) {
		set({ focus: place.entry });
		showEntry(place.entry);
	}
	await sayMissing(place);
}

/** Checks the current URL and follows later changes of it. */
export function followLinks(): void {
	const first = location.hash ? linkedPlace() : null;
	const stop = subscribe(() => {
		if (!state.outline || state.discussions.length === 0)
			return;
		stop();
		if (first)
			sayMissing(first).catch(sayProblem);
	});
	addEventListener("hashchange", () => { follow().catch(sayProblem); });
}
