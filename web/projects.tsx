// SPDX-License-Identifier: MIT
//
// Projects: shows the open project and switches to another. Each has its own URL, so that two
// windows can show two projects. A browser that is limited to one project has nothing to choose.
import { useEffect, useState } from "preact/hooks";
import { sayProblem } from "./actions";
import { get, post, SHARED } from "./api";
import { Cut } from "./cut";
import { askLine } from "./dialog";
import { Menu } from "./menu";
import { may } from "./rights";
import { useStore } from "./state";

interface Project {
	name: string;
	default: boolean;
}

function open(project: Project): void {
	location.assign(project.default ? "/" : `/?project=${encodeURIComponent(project.name)}`);
}

async function create(): Promise<void> {
	const name = (await askLine("New project", "", { text: "A project has its own discussions, settings and history.", yes: "Create" }))?.trim();
	if (!name)
		return;
	await post("/projects", { name });
	open({ name, default: false });
}

export function Projects() {
	const info = useStore((from) => from.info);
	const [all, setAll] = useState<Project[]>([]);
	const canChoose = SHARED === null && !!info?.features.includes("projects");
	const read = () => {
		if (canChoose)
			get<Project[]>("/projects").then(setAll, sayProblem);
	};
	useEffect(read, [canChoose]);
	if (!info || !canChoose)
		return null;
	return (
		<div class="projects" onFocusCapture={read}>
			<Menu label={`Project ${info.project}`} buttonId="projects" class="text" items={() => [
				...all.map((each) => ({
					text: each.name, isOn: each.name === info.project, isOne: true,
					run: () => { if (each.name !== info.project) open(each); },
				})),
				...(may("create") ? [{ text: "New project …", isFirstOfGroup: true, run: () => void create().catch(sayProblem) }] : []),
			]}><Cut text={info.project} /> <span aria-hidden="true">▾</span></Menu>
		</div>
	);
}
