// SPDX-License-Identifier: MIT
//
// Help: what this is in a few lines, and all keys, from the table that makes them work.
import { Dialog } from "./dialog";
import { areOn, commands, doesEnterSend, shown, switchEnter, switchKeys } from "./keys";
import { addPane, openOverlay } from "./panes";
import { useStore } from "./state";

function Help() {
	const isOn = useStore(areOn), sends = useStore(doesEnterSend);
	const groups = [...new Set(commands.map((command) => command.group))];
	return (
		<Dialog title="Help" class="wide" onClose={() => openOverlay(null)}>
			<p>A <b>discussion</b> has one or more <b>takes</b>: ways that it went. A take is a list of{" "}
				<b>entries</b>, each of which can be changed. What you change is a step in the history, and
				every step can be undone, also an old one, also after others.</p>
			<p>Where takes part, <b>‹ 1/2 ›</b> beside an entry leads to the other ways, and the number
				between <b>compares</b> two of them side by side.</p>
			<label class="switch single">
				<input type="checkbox" checked={isOn} onChange={(event) => switchKeys(event.currentTarget.checked)} />
				{" "}Single keys are on, for an entry chosen with the keyboard
			</label>
			<label class="switch">
				<input type="checkbox" checked={sends} onChange={(event) => switchEnter(event.currentTarget.checked)} />
				{" "}Enter sends, Shift+Enter begins a line (where the next entry is written)
			</label>
			<p class="for-keys">What you type goes into the field at the bottom, wherever the focus is. <kbd>Esc</kbd> leads from
				there to the entries: on the entry with the frame around it, single keys are commands.</p>
			<div class="keys">
				{groups.map((group) => (
					<section>
						<h3>{group}</h3>
						<dl>
							{commands.filter((command) => command.group === group).map((command) => (
								<div>
									<dt>{command.keys.map((key) => <kbd>{shown(key)}</kbd>)}</dt>
									<dd>{command.title}</dd>
								</div>
							))}
						</dl>
					</section>
				))}
				<section>
					<h3>While writing</h3>
					<dl>
						<div><dt><kbd>{shown("Ctrl+Enter")}</kbd></dt><dd>Save, or send</dd></div>
						<div><dt><kbd>Esc</kbd></dt><dd>Cancel; asks when something was typed</dd></div>
						<div><dt><kbd>Tab</kbd></dt><dd>Leave the field</dd></div>
					</dl>
				</section>
			</div>
		</Dialog>
	);
}

addPane({ id: "help", title: "Help", place: "overlay", view: Help });
