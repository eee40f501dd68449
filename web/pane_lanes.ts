// SPDX-License-Identifier: MIT
//
// Lanes: the tree of a history, newest step first, drawn as lines beside a list. An open lane leads
// to the parent of the last step in it. The steps that lead to the current one are in lane 0. Steps
// of the project (settings, roles) form a separate tree.
import type { Step } from "./types";

export interface LaneRow {
	step: Step;
	/** Lane of its dot. */
	lane: number;
	/** Lanes that pass by or come from above. */
	from: number[];
	/** Other lanes that end in this dot. */
	joins: number[];
	/** True if the lane continues below. */
	continuesBelow: boolean;
	/** True if the lane comes from above. */
	continuesAbove: boolean;
	/** On the path to the current state. */
	isOnPath: boolean;
}

export function lanesOf(steps: Step[]): LaneRow[] {
	const expected: (number | null)[] = [null]; // by lane: the seq of the expected step
	const current = steps.find((step) => step.current && step.scope !== "project");
	let next = current?.seq ?? -1; // on the path to the current state
	return steps.map((step) => {
		const isOnPath = step.seq === next;
		if (isOnPath)
			next = step.parent;
		const mine = expected.flatMap((seq, lane) => (seq === step.seq ? [lane] : []));
		let lane = isOnPath ? 0 : mine[0];
		if (lane === undefined) {
			lane = expected.findIndex((seq, at) => at > 0 && seq === null);
			if (lane < 0)
				lane = expected.push(null) - 1;
		}
		const continuesAbove = mine.includes(lane), joins = mine.filter((each) => each !== lane);
		for (const each of mine)
			expected[each] = null;
		const from = expected.flatMap((seq, at) => (seq === null || at === lane ? [] : [at]));
		const continuesBelow = step.parent > 0;
		expected[lane] = continuesBelow ? step.parent : null;
		return { step, lane, from, joins, continuesBelow, continuesAbove, isOnPath };
	});
}
