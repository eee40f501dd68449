// SPDX-License-Identifier: MIT
//
// Focus: bringing a row of the list into view, for those who do not know the list.

/** Filled in by entries.tsx. */
export const list: { show: (id: string, focus: boolean) => void } = { show: () => undefined };

export function showEntry(id: string, focus = true): void {
	list.show(id, focus);
}

/** To the row that is in the tab order; where the take has none, to the take. */
export function focusTake(): void {
	(document.querySelector<HTMLElement>(".entry[tabindex='0']") ?? document.getElementById("take"))?.focus();
}
