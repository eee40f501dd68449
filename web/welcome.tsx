// SPDX-License-Identifier: MIT
//
// Welcome: the contents of an empty take: an introduction and a sample.
import * as act from "./actions";
import { sampleOps } from "./sample";
import { showEntry } from "./focus";
import { openModel } from "./model";
import { useModel } from "./pane_data";
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

/** How to get replies, where no model is set. */
function ModelAdvice() {
	const model = useModel();
	return model ? <p>Your messages are answered by {model}.</p> : (
		<p>
			<button type="button" class="primary" onClick={openModel}>Choose a model</button>
			{" "}to get replies: a program on this machine such as Ollama, or a service with your API key. Entries can also be
			written, imported and edited without one.
		</p>
	);
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
			<ModelAdvice />
			<p class="welcome-acts">
				<button type="button" onClick={() => void openSample()}>Load the sample</button>
				<button type="button" onClick={() => openOverlay("import")}>Import conversations …</button>
				<button type="button" onClick={() => openOverlay("help")}>Help and keys</button>
			</p>
		</div>
	);
}
