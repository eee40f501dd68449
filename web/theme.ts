// SPDX-License-Identifier: MIT
//
// Theme and text size, as stored in this browser. Runs before the first rendering, right after the
// style sheet: the rules for dark mode use a media query for the system's preference, which is
// overridden here.

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";

const THEME = "retake.theme", SIZE = "retake.size", DARK = "(prefers-color-scheme: dark)";
const LIGHT = "(prefers-color-scheme: light)";
/** "light" never matches, "dark" always does; both contain the original query, so that the other script finds the
 * rules again. */
const MEDIA: Record<Theme, string> = { system: DARK, light: `${DARK} and ${LIGHT}`, dark: `${DARK}, ${LIGHT}` };
const SIZES: Record<TextSize, string> = { small: "87.5%", normal: "", large: "118.75%" };

function kept(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null; // storage is unavailable: the defaults apply
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

// Collected once, as their media are changed afterwards.
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
