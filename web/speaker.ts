// SPDX-License-Identifier: MIT
//
// Speaker: how the role of an entry determines its appearance.

const TOOL = /^(tool|toolresult|tool_result|function)$/i;

/** Is it a tool? Output of tools is shown verbatim, never as Markdown. */
export function isTool(role: string): boolean {
	return TOOL.test(role);
}

/** The CSS class with the role's colour. */
export function roleClass(role: string): string {
	if (/^(user|human)$/i.test(role))
		return "is-user";
	if (/^(ai|assistant|model)$/i.test(role))
		return "is-model";
	return isTool(role) ? "is-tool" : "is-other";
}

const MEANINGS = [/^(user|human)$/i, /^(ai|assistant|model)$/i, /^system$/i, TOOL];

/** The displayed name of a role: the equivalent one in the project's list, "Tool" for a tool, otherwise the role itself. */
export function roleLabel(role: string, roles: readonly string[]): string {
	const meaning = MEANINGS.find((each) => each.test(role));
	return roles.includes(role) || !meaning ? role : roles.find((each) => meaning.test(each)) ?? (meaning === TOOL ? "Tool" : role);
}
