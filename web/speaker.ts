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

/** The role as the project's list has it: the equivalent one, "Tool" for a tool, otherwise the role itself. */
export function listedRole(role: string, roles: readonly string[]): string {
	const meaning = MEANINGS.find((each) => each.test(role));
	return roles.includes(role) || !meaning ? role : roles.find((each) => meaning.test(each)) ?? (meaning === TOOL ? "Tool" : role);
}

/** The displayed name of a role. "Vendor API" is in the list of every new project. */
export function roleName(role: string): string {
	return role === "Vendor API" ? "Provider" : role;
}

/** The displayed name of an entry's role. */
export function roleLabel(role: string, roles: readonly string[]): string {
	return roleName(listedRole(role, roles));
}
