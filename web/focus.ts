// SPDX-License-Identifier: MIT
//
// Focus: bringing a row of the list into view, for those who do not know the list.

/** Filled in by entries.tsx. */
export const list: { show: (id: string, focus: boolean) => void; toEnd: () => void } =
	{ show: () => undefined, toEnd: () => undefined };

/** The end of the take comes into view, and stays so while it grows. */
export function showEnd(): void {
	list.toEnd();
}

export function showEntry(id: string, focus = true): void {
	list.show(id, focus);
}

/** Notes what has the focus. Later: has nobody gone elsewhere since? It is where it was, nowhere, or on an
 *  entry. Else it is somebody's who writes or is asked, and what is done by now leaves it alone. */
export function focusKept(): () => boolean {
	const was = document.activeElement;
	return () => {
		const at = document.activeElement;
		return at === null || at === was || at === document.body ||
			(at.closest(".entry") !== null && !at.matches("textarea, input, select, [role=menu] *"));
	};
}

/** To the row that is in the tab order; where the take has none, to the take. */
export function focusTake(): void {
	(document.querySelector<HTMLElement>(".entry[tabindex='0']") ?? document.getElementById("take"))?.focus();
}

/** Is there a keyboard? Where fingers touch, the focus in a field would show one on the screen. */
export function hasKeys(): boolean {
	return !matchMedia("(hover: none), (pointer: coarse)").matches;
}

export function focusComposer(): void {
	document.getElementById("composer")?.focus({ preventScroll: true });
}

/** When that has happened: to the field where one writes, unless the user has gone elsewhere since. */
export async function thenWrite(done: Promise<unknown>): Promise<void> {
	const isKept = focusKept();
	await done;
	if (hasKeys() && isKept())
		focusComposer();
}
