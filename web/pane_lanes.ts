// SPDX-License-Identifier: MIT
//
// Lanes: steps of a history that is a tree, newest first, drawn as lines beside a list. A lane
// waits for the step that comes before the one it left. The steps that lead to the current one
// are in lane 0. Steps of the project (settings, roles) are a tree of their own beside it.
import type { Step } from "./types";

export interface LaneRow {
	step: Step;
	/** Where its dot is. */
	lane: number;
	/** Lanes that pass by, or come from above. */
	from: number[];
	/** Lanes that end in this dot, other than its own. */
	joins: number[];
	/** Its own lane goes on below. */
	goesOn: boolean;
	/** Its own lane comes from above. */
	comes: boolean;
	/** It leads to the current state. */
	isOn: boolean;
}

export function lanesOf(steps: Step[]): LaneRow[] {
	const waits: (number | null)[] = [null]; // lane: the seq that it waits for
	const current = steps.find((step) => step.current && step.scope !== "project");
	let next = current?.seq ?? -1; // of the line that leads to the current state
	return steps.map((step) => {
		const isOn = step.seq === next;
		if (isOn)
			next = step.parent;
		const mine = waits.flatMap((seq, lane) => (seq === step.seq ? [lane] : []));
		let lane = isOn ? 0 : mine[0];
		if (lane === undefined) {
			lane = waits.findIndex((seq, at) => at > 0 && seq === null);
			if (lane < 0)
				lane = waits.push(null) - 1;
		}
		const comes = mine.includes(lane), joins = mine.filter((each) => each !== lane);
		for (const each of mine)
			waits[each] = null;
		const from = waits.flatMap((seq, at) => (seq === null || at === lane ? [] : [at]));
		const goesOn = step.parent > 0;
		waits[lane] = goesOn ? step.parent : null;
		return { step, lane, from, joins, goesOn, comes, isOn };
	});
}
