// SPDX-License-Identifier: MIT
//
// Drafts: what was typed and not saved. It belongs to the store, and to the window in which it was
// typed: it is there again when that is loaded anew, and in no other. A copy stays in the browser:
// what a window left that was closed is offered to others (left.tsx), and never filled in.
import { STORE } from "./place";

const OWN = `retake.draft.${STORE}.`, LEFT = `retake.left.${STORE}.`, WINDOW = "retake.window";

function storage(of: "local" | "session"): Storage | null {
	try {
		return of === "local" ? localStorage : sessionStorage;
	} catch {
		return null; // forbidden: then the text is in the field alone
	}
}

function write(to: Storage | null, key: string, text: string | null): void {
	try {
		if (text === null)
			to?.removeItem(key);
		else
			to?.setItem(key, text);
	} catch {
		// full: as above
	}
}

function ownWindow(): string {
	const id = storage("session")?.getItem(WINDOW) ?? [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16)).join("");
	write(storage("session"), WINDOW, id);
	return id;
}

const mine = ownWindow();
// Held as long as the window is there: so others know that it is. Shared, for a copy of this window.
void navigator.locks?.request(WINDOW + "." + mine, { mode: "shared" }, () => new Promise(() => undefined)).catch(() => undefined);

export function ownDraft(key: string): string | null {
	return storage("session")?.getItem(OWN + key) ?? null;
}

/** null: it is saved, or given up. */
export function keepDraft(key: string, text: string | null): void {
	write(storage("session"), OWN + key, text);
	write(storage("local"), `${LEFT}${mine}.${key}`, text);
}

/** What this window left with a discussion, on the server, so that it is known again as its own. */
export function keepLeft(disc: string | null, text: string): void {
	write(storage("session"), `${OWN}left.${disc}`, text || null);
}

export function keptLeft(disc: string | null): string | null {
	return storage("session")?.getItem(`${OWN}left.${disc}`) ?? null;
}

export interface Left {
	/** Where it is kept; "": not in this browser. */
	name: string;
	text: string;
	/** Its window is still there: the words are at home. */
	isHeld: boolean;
}

/** What other windows have under this key, or under one that begins so and goes on with a dot; and
 * this one under another such key. */
export async function otherDrafts(key: string, own: string): Promise<Left[]> {
	const local = storage("local"), found: Left[] = [];
	const locks = await navigator.locks?.query().catch(() => undefined);
	const held = new Set(locks?.held?.map((lock) => lock.name));
	for (let i = 0; local && i < local.length; i++) {
		const name = local.key(i)!, at = name.indexOf(".", LEFT.length);
		const of = name.slice(LEFT.length, at), rest = name.slice(at + 1), text = local.getItem(name);
		if (name.startsWith(LEFT) && text && (rest === key || rest.startsWith(key + ".")) && !(of === mine && rest === own))
			found.push({ name, text, isHeld: of !== mine && held.has(`${WINDOW}.${of}`) });
	}
	return found;
}

export function dropLeft(left: Left): void {
	write(storage("local"), left.name, null);
}
