// SPDX-License-Identifier: MIT
//
// Focus: moves the focus and the scroll position without a dependency on the list.

/** Set by entries.tsx. */
export const list: { show: (id: string, focus: boolean) => void; toEnd: () => void; makeRoom: () => void } =
	{ show: () => undefined, toEnd: () => undefined, makeRoom: () => undefined };

/** Scrolls to the end of the take and follows it. */
export function showEnd(): void {
	list.toEnd();
}

export function showEntry(id: string, focus = true): void {
	list.show(id, focus);
}

/** Remembers the focused element. The returned function reports whether the focus may still be moved: it is
 * unchanged, nowhere or on an entry. Otherwise the user is typing or in a dialog. */
export function focusKept(): () => boolean {
	const was = document.activeElement;
	return () => {
		const at = document.activeElement;
		return at === null || at === was || at === document.body ||
			(at.closest(".entry") !== null && !at.matches("textarea, input, select, [role=menu] *"));
	};
}

/** Focuses the tab stop of the list, or the take if it has no rows. */
export function focusTake(): void {
	(document.querySelector<HTMLElement>(".entry[tabindex='0']") ?? document.getElementById("take"))?.focus();
}

/** Is there a keyboard? On a touch device, focusing a field would open the on-screen keyboard. */
export function hasKeys(): boolean {
	return matchMedia("(pointer: none)").matches || !matchMedia("(hover: none), (pointer: coarse)").matches;
}

export function focusComposer(): void {
	document.getElementById("composer")?.focus({ preventScroll: true });
}

/** Focuses the composer after the promise, unless the user has moved the focus since. */
export async function focusComposerAfter(done: Promise<unknown>): Promise<void> {
	const isKept = focusKept();
	await done;
	if (hasKeys() && isKept())
		focusComposer();
}
