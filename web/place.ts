// SPDX-License-Identifier: MIT
//
// Place: which entry of which take the address bar names, or where this browser was last.
import { path } from "./api";
import type { Query } from "./api";

export interface Place {
	disc?: string;
	take?: string;
	entry?: string;
}

/** Which store and project these are: other ones may be served at the same address another day. */
export const STORE = document.querySelector<HTMLMetaElement>('meta[name="retake-store"]')?.content ?? "";

const KEPT = `retake.place.${STORE}`, FIRST = 30;

/** A part of an address; one that is written wrongly leads nowhere. */
function decoded(part: string): string {
	try {
		const text = decodeURIComponent(part);
		return /[\0-\x1f]/.test(text) ? part : text;
	} catch {
		return part;
	}
}

/** "#/d/d1/t/t2/e/k3f9", of the address bar or as it was left. */
export function linkedPlace(): Place {
	let text = location.hash;
	try {
		text ||= localStorage.getItem(KEPT) ?? "";
	} catch {
		// a browser that keeps nothing: fine
	}
	const parts = text.replace(/^#\//, "").split("/").map(decoded);
	const found: Record<string, string> = {};
	for (let i = 0; i + 1 < parts.length; i += 2)
		found[parts[i]] = parts[i + 1];
	return { disc: found.d, take: found.t, entry: found.e };
}

export function rememberPlace(disc: string, take: string): void {
	const place = `#/d/${disc}/t/${take}`;
	try {
		localStorage.setItem(KEPT, place);
	} catch {
		// as above
	}
	if (!location.hash.startsWith(place))
		history.replaceState(null, "", place);
}

/** Where the texts that are seen first are read: the last ones of a take; without one, of the active one. */
export function lastTexts(disc: string, take: string | undefined): [string, Query] {
	return [path("discussions", disc, "entries"), { take, last: FIRST, tags: 1, blocks: 1 }];
}
