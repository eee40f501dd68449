// SPDX-License-Identifier: MIT
//
// Theme and text size, as this browser keeps them. Runs before the page is drawn, right after its
// style: the rules for dark are those of the system's choice, and are switched on or off here.

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";

const THEME = "retake.theme", SIZE = "retake.size", DARK = "(prefers-color-scheme: dark)";
const LIGHT = "(prefers-color-scheme: light)";
/** Never, always; all of them are found again by the next program that looks for them. */
const MEDIA: Record<Theme, string> = { system: DARK, light: `${DARK} and ${LIGHT}`, dark: `${DARK}, ${LIGHT}` };
const SIZES: Record<TextSize, string> = { small: "87.5%", normal: "", large: "118.75%" };

function kept(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null; // a browser that keeps nothing has the default
	}
}

export function theme(): Theme {
	const text = kept(THEME);
	return text === "light" || text === "dark" ? text : "system";
}

export function textSize(): TextSize {
	const text = kept(SIZE);
	return text === "small" || text === "large" ? text : "normal";
}

// Found once: their media are changed afterwards.
const darkRules: CSSMediaRule[] = [...document.styleSheets].flatMap((sheet) =>
	[...sheet.cssRules].filter((rule): rule is CSSMediaRule => rule instanceof CSSMediaRule && /prefers-color-scheme/.test(rule.media.mediaText)));

export function apply(): void {
	const root = document.documentElement;
	for (const rule of darkRules)
		rule.media.mediaText = MEDIA[theme()];
	root.style.colorScheme = theme() === "system" ? "" : theme();
	root.style.fontSize = SIZES[textSize()];
}

export function choose(what: { theme: Theme } | { size: TextSize }): void {
	if ("theme" in what)
		localStorage.setItem(THEME, what.theme);
	else
		localStorage.setItem(SIZE, what.size);
	apply();
}
