// SPDX-License-Identifier: MIT
//
// Conflict: somebody else was faster. Both texts are shown, and the person decides.
import { Dialog } from "./dialog";
import { useStore } from "./state";
import { Difference } from "./versions";

export function ConflictDialog() {
	const conflict = useStore((from) => from.conflict);
	if (!conflict)
		return null;
	const { mine, theirs } = conflict;
	return (
		<Dialog title="Changed since you looked" class="wide conflict" onClose={() => conflict.decide("discard")}>
			<p>{conflict.entry ? "This entry was changed after you began, in another window or program." : "The discussion was changed after you looked, in another window or program."}</p>
			{mine !== null && theirs !== null && (
				<>
					<p class="quiet">Theirs, with what yours would change:</p>
					<Difference before={theirs} after={mine} />
				</>
			)}
			{theirs === null && conflict.entry && <p>The entry is not there any more.</p>}
			<footer>
				<button type="button" class={conflict.canKeepBoth ? "" : "primary"} onClick={() => conflict.decide("discard")}>{mine === null ? "Leave it" : "Discard mine"}</button>
				{conflict.canKeepBoth && (
					<button type="button" class="primary" onClick={() => conflict.decide("both")}>Keep both: mine as a new take</button>
				)}
				<button type="button" class="danger" disabled={theirs === null && conflict.entry !== null}
					onClick={() => conflict.decide("overwrite")}>{mine === null ? "Do it anyway" : "Overwrite"}</button>
			</footer>
		</Dialog>
	);
}
