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
