// SPDX-License-Identifier: MIT
//
// Export: the open take, the discussion or all of it as a file.
import { address } from "./api";
import { Menu } from "./menu";
import { openOverlay } from "./panes";
import { state, useStore } from "./state";
import type { MenuItem } from "./menu";

function save(query: Record<string, string | number | null>): void {
	const link = document.createElement("a");
	link.href = address("/export", query);
	link.download = "";
	link.click();
}

function items(): MenuItem[] {
	const writers = state.info?.formats.filter((format) => format.writes && format.name !== "canonical") ?? [];
	return [
		...writers.map((format) => ({
			text: `This take as ${format.name} (${format.extension})`,
			run: () => save({ discussion: state.disc, take: state.take, format: format.name }),
		})),
		{
			text: "This discussion, all takes (pi)", isFirstOfGroup: true,
			run: () => save({ discussion: state.disc, format: "pi", all: 1 }),
		},
		{ text: "The whole project (canonical)", run: () => save({ format: "canonical" }) },
		{ text: "Choose, or without secrets …", isFirstOfGroup: true, run: () => openOverlay("export") },
	];
}

export function ExportMenu() {
	useStore((from) => from.info);
	return <Menu label="Export" class="export" items={items}><span class="wide-only">Export</span><span class="narrow-only" aria-hidden="true">⤓</span></Menu>;
}
