// SPDX-License-Identifier: MIT
//
// Rails: the lines left of a row of a tree, for the innermost branches. One element that draws them
// as its background.
import type { Rail, TreeRow } from "./pane_tree";

const MOST = 4;

export function Rails(props: { row: TreeRow }) {
	const lines: boolean[] = [];
	for (let rail: Rail | null = props.row.rail; rail && lines.length < MOST; rail = rail.up)
		lines.unshift(rail.more);
	if (lines.length === 0)
		return null;
	const names = ["rails", `of-${lines.length}`, ...lines.flatMap((more, at) => (more ? [`more-${at}`] : []))];
	return <span class={names.join(" ") + (props.row.begins ? " joint" : "")} aria-hidden="true" />;
}
