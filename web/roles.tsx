// SPDX-License-Identifier: MIT
//
// Roles: the project's list of roles; the first is the default for new entries.
import { useState } from "preact/hooks";
import { addRole, removeRole } from "./actions";
import { Dialog } from "./dialog";
import { addPane, openOverlay } from "./panes";
import { roleName } from "./speaker";
import { useStore } from "./state";

function Roles() {
	const roles = useStore((from) => from.settings)?.roles ?? [];
	const [name, setName] = useState("");
	const add = (event: Event) => {
		event.preventDefault();
		if (name.trim())
			void addRole(name.trim());
		setName("");
	};
	return (
		<Dialog title="Roles" onClose={() => openOverlay(null)}>
			<ul class="roles">
				{roles.map((role) => (
					<li key={role}><span title={role}>{roleName(role)}</span>
						<button type="button" class="icon" aria-label={`Remove ${roleName(role)}`} onClick={() => void removeRole(role)}>×</button></li>
				))}
			</ul>
			<form class="inline" onSubmit={add}>
				<input class="line" aria-label="A new role" placeholder="Another role" value={name} autoFocus
					onInput={(event) => setName(event.currentTarget.value)} />
				<button type="submit">Add</button>
			</form>
			<p class="quiet">An entry may have any role; these are offered. Entries keep theirs when one is removed.</p>
		</Dialog>
	);
}

addPane({ id: "roles", title: "Roles", place: "overlay", view: Roles });
