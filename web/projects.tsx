// SPDX-License-Identifier: MIT
//
// Projects: shows the open project and switches to another. Each has its own URL, so that two
// windows can show two projects. A browser that is limited to one project has nothing to choose.
import { useEffect, useState } from "preact/hooks";
import { sayProblem } from "./actions";
import { get, post, PROJECT, SHARED } from "./api";
import { Cut } from "./cut";
import { askLine } from "./dialog";
import { Menu } from "./menu";
import { may } from "./rights";
import { state, useStore } from "./state";

interface Project {
	name: string;
	default: boolean;
}

function open(project: Project): void {
	location.assign(project.default ? "/" : `/?project=${encodeURIComponent(project.name)}`);
}

/** The page's project does not exist, or this account may not open it. Opens another one unless the address names
 * the project; returns the message. */
export async function leaveUnknownProject(): Promise<string> {
	const [first] = await get<Project[]>("/projects");
	if (first && PROJECT === null)
		open({ ...first, default: false });
	return first ? `There is no project “${PROJECT ?? "default"}” that you can open. Choose another one above the discussions.`
		: `You are not a member of a project yet. Ask the owner of a project to add you${may("create") ? ", or create one above the discussions" : ""}.`;
}

async function create(): Promise<void> {
	const own = state.account?.user && !may("server") ? `${state.account.user}/` : ""; // the server requires it
	const name = (await askLine("New project", own, { text: "A project has its own discussions, settings and history.", yes: "Create" }))?.trim();
	if (!name)
		return;
	await post("/projects", { name });
	open({ name, default: false });
}

export function Projects() {
	const info = useStore((from) => from.info), isUnknown = useStore((from) => from.info === null && from.trouble !== null);
	const [all, setAll] = useState<Project[]>([]);
	const canChoose = SHARED === null && (isUnknown || !!info?.features.includes("projects"));
	const read = () => {
		if (canChoose)
			get<Project[]>("/projects").then(setAll, sayProblem);
	};
	useEffect(read, [canChoose]);
	if (!canChoose)
		return null;
	const named = info?.project;
	return (
		<div class="projects" onFocusCapture={read}>
			<Menu label={named ? `Project ${named}` : "Choose a project"} buttonId="projects" class="text" items={() => [
				...all.map((each) => ({
					text: each.name, isOn: each.name === named, isOne: true,
					run: () => { if (each.name !== named) open(each); },
				})),
				...(may("create") ? [{ text: "New project …", isFirstOfGroup: true, run: () => void create().catch(sayProblem) }] : []),
			]}><Cut text={named ?? "Choose a project"} /> <span aria-hidden="true">▾</span></Menu>
		</div>
	);
}
