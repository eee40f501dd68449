// SPDX-License-Identifier: MIT
//
// Welcome: the contents of an empty take: an introduction and a sample.
import * as act from "./actions";
import { sampleOps } from "./sample";
import { showEntry } from "./focus";
import { openOverlay } from "./panes";
import { set, state } from "./state";
import { discussionOf } from "./store";

export async function openSample(): Promise<void> {
	const names = new Set(state.discussions.map((each) => each.name));
	let name = "sample";
	for (let n = 2; names.has(name); n++)
		name = `sample ${n}`;
	await act.make(name, sampleOps(name));
	const first = state.outline?.id[0];
	if (first && discussionOf(state.disc)?.name === name) {
		set({ focus: first });
		showEntry(first, false); // reading starts at the first entry
	}
}

export function Welcome(props: { isFirst: boolean }) {
	if (!props.isFirst)
		return <div class="welcome"><p>This take is empty. Write its first entry below.</p></div>;
	return (
		<div class="welcome">
			<h2>A conversation that you can edit</h2>
			<p>Every entry, yours or the model's, can be edited, moved, muted, split or deleted; the next reply
				is based on the current text. Branch anywhere to try something else: both branches are kept, as
				takes. Everything can be undone.</p>
			<p>
				<button type="button" class="primary" onClick={() => void openSample()}>Load the sample</button>
				{" "}or write the first entry below. No model is needed for either.
			</p>
			<p class="quiet"><button type="button" class="link" onClick={() => openOverlay("help")}>Help and keys</button></p>
		</div>
	);
}
