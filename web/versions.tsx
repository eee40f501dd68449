// SPDX-License-Identifier: MIT
//
// Versions: every text that an entry had, each with its changes and a button that restores it (as
// an edit, which can be undone).
import { useEffect, useState } from "preact/hooks";
import { edit } from "./actions";
import { get } from "./api";
import { Dialog } from "./dialog";
import { diff } from "./diff";
import { textOf, versions } from "./entry_acts";
import { placeOf } from "./outline";
import { addPane, openOverlay } from "./panes";
import { state } from "./state";
import { discPath, readEntry } from "./store";
import { when, whenFull } from "./words";
import type { Content, Revision } from "./types";

/** Below this common share, a text is shown as another text instead of as a change. */
const LEAST_SAME = 0.35;

/** Two texts as one, with deletions and insertions marked; if hardly anything is common, one after the other. */
export function Difference(props: { before: string; after: string }) {
	const { before, after } = props;
	const pieces = diff(before, after);
	const same = pieces.reduce((sum, piece) => sum + (piece.kind === "same" ? piece.text.trim().length : 0), 0);
	if (before && after && same < LEAST_SAME * Math.max(before.length, after.length))
		return <div class="plain difference wholes"><del>{before}</del><ins>{after}</ins></div>;
	return (
		<div class="plain difference">
			{pieces.map((piece) =>
				piece.kind === "same" ? piece.text
					: piece.kind === "in" ? <ins>{piece.text}</ins> : <del>{piece.text}</del>)}
		</div>
	);
}

function words(content: Content | undefined): string {
	return content === undefined ? "" : textOf(content);
}

function Versions() {
	const entry = versions.of!;
	const [at] = useState(() => (state.outline ? placeOf(state.outline, entry) : -1));
	const [all, setAll] = useState<Revision[] | null>(null);
	const [problem, setProblem] = useState("");
	useEffect(() => {
		get<Revision[]>(discPath("entries", entry, "revisions"), { take: state.take })
			.then(setAll, (error: Error) => setProblem(error.message));
	}, [entry]);
	const restore = async (revision: Revision) => {
		const now = await readEntry(entry);
		if (await edit(entry, words(revision.content), now.tag, typeof now.entry.content !== "string"))
			openOverlay(null);
	};
	return (
		<Dialog title={`Versions of entry ${at < 0 ? entry : at + 1}`} class="wide" onClose={() => openOverlay(null)}>
			{problem && <p>{problem}</p>}
			<ol class="versions" reversed>
				{all && [...all].reverse().map((revision) => {
					const before = all[all.indexOf(revision) - 1];
					return (
						<li>
							<div class="version-head">
								<span>{revision.current ? "Now" : `Step ${revision.seq}`}</span>
								<span class="quiet" title={revision.at && whenFull(revision.at)}>{revision.by} {revision.at && when(revision.at)}</span>
								<span class="space" />
								{!revision.current && !revision.purged &&
									<button type="button" onClick={() => void restore(revision)}>Restore</button>}
							</div>
							{revision.purged ? <p class="quiet">purged</p>
								: before ? <Difference before={words(before.content)} after={words(revision.content)} />
									: <div class="plain">{words(revision.content)}</div>}
						</li>
					);
				})}
			</ol>
		</Dialog>
	);
}

addPane({ id: "versions", title: "Versions", place: "overlay", view: Versions });
