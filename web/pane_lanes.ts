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
	/** Its lane continues below. */
	goesOn: boolean;
	/** Its lane comes from above. */
	comes: boolean;
	/** On the path to the current state. */
	isOn: boolean;
}

export function lanesOf(steps: Step[]): LaneRow[] {
	const waits: (number | null)[] = [null]; // by lane: the seq of the expected step
	const current = steps.find((step) => step.current && step.scope !== "project");
	let next = current?.seq ?? -1; // on the path to the current state
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
