// SPDX-License-Identifier: MIT
//
// Settings of the page: what this browser keeps for itself. Those of the project are in a pane.
import { doesNotify, switchNotify } from "./finished";
import { doesEnterSend, switchEnter } from "./keys";
import { Menu } from "./menu";
import { openOverlay } from "./panes";
import { choose, textSize, theme } from "./theme";
import type { MenuItem } from "./menu";
import type { TextSize, Theme } from "./theme";

const THEMES: [Theme, string][] = [["system", "Theme of the system"], ["light", "Light theme"], ["dark", "Dark theme"]];
const SIZES: [TextSize, string][] = [["small", "Small text"], ["normal", "Normal text"], ["large", "Large text"]];

function items(): MenuItem[] {
	return [
		...THEMES.map(([each, text]) => ({ text, isOn: theme() === each, isOne: true, run: () => choose({ theme: each }) })),
		...SIZES.map(([each, text], at) => ({ text, isOn: textSize() === each, isOne: true, isFirstOfGroup: at === 0, run: () => choose({ size: each }) })),
		{ text: "Enter sends", isOn: doesEnterSend(), isFirstOfGroup: true, run: () => switchEnter(!doesEnterSend()) },
		{ text: "Notify me when a long reply ends", isOn: doesNotify(), run: () => void switchNotify(!doesNotify()) },
		{ text: "Help and keys …", isFirstOfGroup: true, run: () => openOverlay("help") },
	];
}

export function PageSettings() {
	return <Menu label="Appearance and keys" buttonId="page-settings" items={items}><span aria-hidden="true">⚙</span></Menu>;
}
