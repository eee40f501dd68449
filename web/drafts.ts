// SPDX-License-Identifier: MIT
//
// Drafts: unsaved text. A draft belongs to the store and to the browser window where it was typed:
// it is restored when that window reloads, and never in another. A copy in localStorage survives
// the window: drafts of closed windows are offered to others (left.tsx), but never filled in.
import { STORE } from "./place";

const OWN = `retake.draft.${STORE}.`, LEFT = `retake.left.${STORE}.`, WINDOW = "retake.window";

function storage(of: "local" | "session"): Storage | null {
	try {
		return of === "local" ? localStorage : sessionStorage;
	} catch {
		return null; // storage is forbidden: the text exists only in the field
	}
}

function write(to: Storage | null, key: string, text: string | null): void {
	try {
		if (text === null)
			to?.removeItem(key);
		else
			to?.setItem(key, text);
	} catch {
		// full: same as above
	}
}

function ownWindow(): string {
	const id = storage("session")?.getItem(WINDOW) ?? [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16)).join("");
	write(storage("session"), WINDOW, id);
	return id;
}

const mine = ownWindow();
// This lock is held as long as the window exists, so that other windows can tell. Shared, for duplicates of this
// window.
void navigator.locks?.request(WINDOW + "." + mine, { mode: "shared" }, () => new Promise(() => undefined)).catch(() => undefined);

export function ownDraft(key: string): string | null {
	return storage("session")?.getItem(OWN + key) ?? null;
}

/** null: saved or discarded. */
export function keepDraft(key: string, text: string | null): void {
	write(storage("session"), OWN + key, text);
	write(storage("local"), `${LEFT}${mine}.${key}`, text);
}

/** The draft that this window stored with a discussion on the server, to recognise it later as its own. */
export function keepLeft(disc: string | null, text: string): void {
	write(storage("session"), `${OWN}left.${disc}`, text || null);
}

export function keptLeft(disc: string | null): string | null {
	return storage("session")?.getItem(`${OWN}left.${disc}`) ?? null;
}

export interface Left {
	/** Key in localStorage; "": not stored in this browser. */
	name: string;
	text: string;
	/** True if the window of the draft is still open. */
	isHeld: boolean;
}

/** Drafts of other windows under this key or under a key that extends it after a dot, and drafts of this window
 * under other such keys. */
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
