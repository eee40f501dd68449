// SPDX-License-Identifier: MIT
//
// Settings of the page, stored in this browser. Settings of the project are in a pane. On a phone,
// the menu also has the header buttons that do not fit.
import { isBusy, redo, sayProblem } from "./actions";
import { post, SHARED } from "./api";
import { askYes } from "./dialog";
import { doesNotify, switchNotify } from "./finished";
import { doesEnterSend, hintOf, switchEnter } from "./keys";
import { Menu } from "./menu";
import { beginDiscussion } from "./pane_verbs";
import { openOverlay, usePhone } from "./panes";
import { hasTokens, isOfOne, may } from "./rights";
import { state } from "./state";
import { choose, textSize, theme } from "./theme";
import type { MenuItem } from "./menu";
import type { TextSize, Theme } from "./theme";

const THEMES: [Theme, string][] = [["system", "System theme"], ["light", "Light theme"], ["dark", "Dark theme"]];
const SIZES: [TextSize, string][] = [["small", "Small text"], ["normal", "Normal text"], ["large", "Large text"]];

/** The server then shows its sign-in page, or the page that names where a user of a proxy signs out. */
async function signOut(): Promise<void> {
	if (await askYes("Sign out?", "This browser then needs another sign-in link. Your discussions are kept.", "Sign out")) {
		const { sign_out } = await post<{ sign_out?: string }>("/logout");
		if (sign_out !== undefined)
			location.assign(sign_out);
		else
			location.reload();
	}
}

function items(isPhone: boolean): MenuItem[] {
	return [
		...(isPhone ? [
			...(may("edit") ? [{ text: "New discussion", run: () => void beginDiscussion() }] : []),
			...(!may("edit") ? [] : [{ text: "Redo", hint: hintOf("redo"), run: () => void redo(), isOff: !state.canRedo && !isBusy() && "There is nothing to redo" }]),
			...(isOfOne() ? [] : [{ text: "Export …", run: () => openOverlay("export") }]),
			{ text: "Help and keys …", run: () => openOverlay("help") },
		] : []),
		...THEMES.map(([each, text], at) => ({ text, isOn: theme() === each, isOne: true, isFirstOfGroup: isPhone && at === 0, run: () => choose({ theme: each }) })),
		...SIZES.map(([each, text], at) => ({ text, isOn: textSize() === each, isOne: true, isFirstOfGroup: at === 0, run: () => choose({ size: each }) })),
		{ text: "Enter sends", isOn: doesEnterSend(), isFirstOfGroup: true, run: () => switchEnter(!doesEnterSend()) },
		{ text: "Notify me when a long reply ends", isOn: doesNotify(), run: () => void switchNotify(!doesNotify()) },
		...(hasTokens() ? [{ text: "Access tokens …", isFirstOfGroup: true, run: () => openOverlay("tokens") }] : []),
		...(state.account?.quotas ? [{ text: "Limits …", isFirstOfGroup: !hasTokens(), run: () => openOverlay("limits") }] : []),
		...(SHARED !== null ? [] : [{ text: "Sign out …", isFirstOfGroup: true, run: () => void signOut().catch(sayProblem) }]),
	];
}

export function PageSettings() {
	const isPhone = usePhone();
	return <Menu label={isPhone ? "More" : "Appearance and keys"} buttonId="page-settings" items={() => items(isPhone)}><span aria-hidden="true">{isPhone ? "⋯" : "⚙"}</span></Menu>;
}
