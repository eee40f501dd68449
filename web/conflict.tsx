// SPDX-License-Identifier: MIT
//
// Conflict: the entry was changed by someone else first. Shows both texts, and the user decides.
import { Dialog } from "./dialog";
import { useStore } from "./state";
import { Difference } from "./versions";

export function ConflictDialog() {
	const conflict = useStore((from) => from.conflict);
	if (!conflict)
		return null;
	const { mine, theirs } = conflict;
	return (
		<Dialog title="Changed in the meantime" class="wide conflict" onClose={() => conflict.decide("discard")}>
			<p>{conflict.entry ? "This entry was changed in another window or program while you were editing." : "The discussion was changed in another window or program in the meantime."}</p>
			{mine !== null && theirs !== null && (
				<>
					<p class="quiet">The other text, with your changes marked:</p>
					<Difference before={theirs} after={mine} />
				</>
			)}
			{theirs === null && conflict.entry && <p>The entry no longer exists.</p>}
			<footer>
				<button type="button" class={conflict.canKeepBoth ? "" : "primary"} onClick={() => conflict.decide("discard")}>{mine === null ? "Cancel" : "Discard mine"}</button>
				{conflict.canKeepBoth && (
					<button type="button" class="primary" onClick={() => conflict.decide("both")}>Keep both: mine as a new take</button>
				)}
				<button type="button" class="danger" disabled={theirs === null && conflict.entry !== null}
					onClick={() => conflict.decide("overwrite")}>{mine === null ? "Change anyway" : "Overwrite"}</button>
			</footer>
		</Dialog>
	);
}
