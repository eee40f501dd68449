// SPDX-License-Identifier: MIT
//
// Place: the entry and take in the URL, or where this browser was last.
import { path } from "./api";
import type { Query } from "./api";

export interface Place {
	disc?: string;
	take?: string;
	entry?: string;
}

/** Identifies the store and project: the same address may serve others at another time. */
export const STORE = document.querySelector<HTMLMetaElement>('meta[name="retake-store"]')?.content ?? "";

const KEPT = `retake.place.${STORE}`, FIRST = 30;

/** Decodes a part of a URL; a malformed one is returned unchanged. */
function decoded(part: string): string {
	try {
		const text = decodeURIComponent(part);
		return /[\0-\x1f]/.test(text) ? part : text;
	} catch {
		return part;
	}
}

/** "#/d/d1/t/t2/e/k3f9" in the URL, or the last place. */
export function linkedPlace(): Place {
	let text = location.hash;
	try {
		text ||= localStorage.getItem(KEPT) ?? "";
	} catch {
		// storage is unavailable: no last place
	}
	const parts = text.replace(/^#\//, "").split("/").map(decoded);
	const found: Record<string, string> = {};
	for (let i = 0; i + 1 < parts.length; i += 2)
		found[parts[i]] = parts[i + 1];
	return { disc: found.d, take: found.t, entry: found.e };
}

/** isLeft: the discussion of the current URL was left and still exists, so that the Back button returns to it. */
export function rememberPlace(disc: string, take: string, isLeft = false): void {
	const place = `#/d/${disc}/t/${take}`;
	try {
		localStorage.setItem(KEPT, place);
	} catch {
		// same as above
	}
	if (location.hash.startsWith(place))
		return;
	if (isLeft)
		history.pushState(null, "", place);
	else
		history.replaceState(null, "", place);
}

/** The path and query for the texts that are shown first: the end of a take, by default of the active one. */
export function lastTexts(disc: string, take: string | undefined): [string, Query] {
	return [path("discussions", disc, "entries"), { take, last: FIRST, tags: 1, blocks: 1 }];
}
