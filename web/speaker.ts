// SPDX-License-Identifier: MIT
//
// Speakers: what the role of an entry says of how it looks.

/** Is it a tool? What those print is shown as it is, never as Markdown. */
export function isTool(role: string): boolean {
	return /^(tool|toolresult|function)$/i.test(role);
}

/** The class that colours the role. */
export function roleClass(role: string): string {
	if (/^(user|human)$/i.test(role))
		return "is-user";
	if (/^(ai|assistant|model)$/i.test(role))
		return "is-model";
	return isTool(role) ? "is-tool" : "is-other";
}

const MEANINGS = [/^(user|human)$/i, /^(ai|assistant|model)$/i, /^system$/i];

/** What a role is shown as: the role of the project's list that means the same; else itself. */
export function roleLabel(role: string, roles: readonly string[]): string {
	const meaning = MEANINGS.find((each) => each.test(role));
	return roles.includes(role) || !meaning ? role : roles.find((each) => meaning.test(each)) ?? role;
}
