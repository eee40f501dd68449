// SPDX-License-Identifier: MIT
//
// Rights: what the account of this page may do. The server decides; the page hides what it would refuse.
// Everything is hidden that is not known to be harmless, so a new action is not shown to readers by mistake.
import { get, SHARED } from "./api";
import { set, state } from "./state";
import type { Account, Settings } from "./types";
import type { MenuItem } from "./menu";

export type Right = "self" | "create" | "read" | "comment" | "edit" | "manage" | "server";

/** Without accounts, and until the rights are known, everything is allowed. */
export function may(right: Right): boolean {
	return state.account?.rights.includes(right) ?? true;
}

/** Does the page show one discussion only (a share link)? */
export function isOfOne(): boolean {
	return !!state.account?.discussion;
}

export async function readAccount(): Promise<void> {
	const account = await get<Account>("/account");
	set({ account });
	const { dataset } = document.documentElement;
	if (may("edit"))
		delete dataset.rights;
	else
		dataset.rights = may("comment") ? "comment" : "read";
}

/** Are there members and links that this account may change? May it have tokens? */
export function mayManage(): boolean {
	return !!state.account?.accounts && may("manage");
}

export function hasTokens(): boolean {
	return !!state.account?.user && may("self");
}

/** The reason why there is nothing to edit; "": there is. */
export function whyReadOnly(): string {
	if (may("edit") || !state.info)
		return "";
	if (SHARED !== null)
		return "Read-only: share link";
	return may("comment") ? "You can add entries; other changes require the editor role" : "Read-only: your role is reader";
}

/** The menu items that the account may use. */
export function allowed(items: MenuItem[]): MenuItem[] {
	return may("edit") ? items : items.filter((item) => item.needs === "read" ? !isOfOne() : item.needs === "open" || (item.needs === "comment" && may("comment")));
}

const PANES_TO_READ = ["outline", "history", "search-button"], PANES_OF_ONE = ["outline"];

export function showsPane(id: string): boolean {
	return isOfOne() ? PANES_OF_ONE.includes(id) : may("edit") || PANES_TO_READ.includes(id);
}

/** Commands and verbs that only read; those of one discussion are in the first list. */
const COMMANDS_OF_ONE = new Set(["next", "previous", "select-next", "select-previous", "question-previous", "question-next", "first", "last",
	"copy", "take-previous", "take-next", "outline", "help", "leave", "pane-outline", "filter"]);
const COMMANDS_TO_READ = new Set(["versions", "history", "search", "palette", "tokens", "limits", "pane-history", "export", "stats", "compare"]);

export function mayRun(id: string): boolean {
	return may("edit") || COMMANDS_OF_ONE.has(id) || (!isOfOne() && (COMMANDS_TO_READ.has(id) || id.startsWith("export-"))) ||
		(may("comment") && (id === "compose" || id === "label"));
}

/** In place of the settings that a link of a discussion cannot read. */
export const NO_SETTINGS: Settings = { discussion: "", roles: [], prompt: { text: "", edited: false }, settings: {} };
