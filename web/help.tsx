// SPDX-License-Identifier: MIT
//
// Help: topics and all keys, from the table that defines them, with a search field for both.
import { useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { hasKeys } from "./focus";
import { areOn, commands, doesEnterSend, shown, switchEnter, switchKeys } from "./keys";
import { addPane, openOverlay } from "./panes";
import { useStore } from "./state";

/** Title, text, and words that lead to the topic. */
const TOPICS: [string, string, string][] = [
	["Discussions, takes, entries", "A discussion has one or more takes: alternative branches. A take is a list of entries, each of which you can edit. The next reply is based on their current text.", "conversation chat message branch edit rename pin archive tag delete"],
	["Branch and compare", "Continue from an earlier entry to start a new take. Where takes diverge, ‹ 1/2 › beside an entry switches between them, and the number opens them side by side.", "fork alternative diff merge"],
	["Undo", "Every change is a step in the history. Undo the last one with the button at the top. In the “History” pane you can revert any earlier one; the later steps are kept.", "mistake history redo revert restore"],
	["Ask again", "“Again” requests another reply and keeps the first one as a take. “Stop” ends a reply and keeps its beginning; “Continue” extends it.", "regenerate retry stop continue another reply several models"],
	["Merge a take", "The takes menu contains “Merge a take …”: the model summarises the conclusions of another take, and the summary becomes an entry here.", "combine branch join summary"],
	["Attach files and images", "Paste or drop them on the message field, or use “Attach”. If a model does not accept images, the message is not sent, and the page reports this.", "upload picture photo pdf document"],
	["Templates", "A reusable message with variables. “/” in the message field lists the templates, or creates the first one.", "snippet variable slash command"],
	["Search", "The field at the top searches commands, discussions, takes and the text of all discussions.", "find last week"],
	["Import", "Drop files from other programs on the page, or use the discussions menu. The page shows their contents before anything is added.", "chatgpt claude markdown open"],
	["Export", "The button at the top (on a phone, in the “More” menu) saves the discussion as a web page or in another format, with secrets redacted if you want.", "share send page html pdf print download"],
	["Context and prompt", "The “Prompt” pane shows the instructions (system prompt), the next request with its tokens, and the usage and cost so far. Muted entries are kept and not sent.", "system prompt instructions cost price tokens usage money budget"],
	["Statistics", "“Statistics” in the discussions menu, or “/stats” in the message field, counts entries, tokens and cost by day, model, program, discussion and project.", "stats tokens cost usage calendar spending"],
	["Projects", "A project has its own discussions, settings and history. The menu above the discussions opens another project or creates one.", "workspace folder"],
	["Theme, text size, notifications", "The “Appearance and keys” menu at the top (on a phone, “More”) contains these settings, including whether Enter sends. They are stored in this browser. The menu also contains “Sign out”.", "dark light font settings keys sign out logout"],
];

/** Does the text contain all words? */
function matches(text: string, words: string[]): boolean {
	const all = text.toLowerCase();
	return words.every((word) => all.includes(word));
}

function Help() {
	const isOn = useStore(areOn), sends = useStore(doesEnterSend);
	const [wanted, setWanted] = useState("");
	const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
	const topics = TOPICS.filter((topic) => matches(topic.join(" "), words));
	const found = commands.filter((command) => matches([command.title, command.group, ...command.keys.map(shown)].join(" "), words));
	const groups = [...new Set(found.map((command) => command.group))];
	return (
		<Dialog title="Help" class="wide" onClose={() => openOverlay(null)}>
			<input class="line help-field" type="search" placeholder="Search the help" aria-label="Search the help" value={wanted} autoFocus={hasKeys()}
				onInput={(event) => setWanted(event.currentTarget.value)} />
			<p class="quiet" role="status">{words.length > 0 && topics.length + found.length === 0 ? `No matches for “${wanted}”.` : ""}</p>
			<dl class="topics">
				{topics.map(([title, text]) => <div key={title}><dt>{title}</dt><dd>{text}</dd></div>)}
			</dl>
			{words.length === 0 && (
				<>
					<label class="switch single">
						<input type="checkbox" checked={isOn} onChange={(event) => switchKeys(event.currentTarget.checked)} />
						{" "}Single-letter keys act on an entry selected with the keyboard
					</label>
					<label class="switch">
						<input type="checkbox" checked={sends} onChange={(event) => switchEnter(event.currentTarget.checked)} />
						{" "}Enter sends, Shift+Enter inserts a line break
					</label>
					<p class="for-keys">Typed text goes into the field at the bottom, wherever the focus is. <kbd>Esc</kbd> moves from
						there to the entries: on the framed entry, single letters are commands.</p>
				</>
			)}
			<div class="keys">
				{groups.map((group) => (
					<section key={group}>
						<h3>{group}</h3>
						<dl>
							{found.filter((command) => command.group === group).map((command) => (
								<div key={command.id}>
									<dt>{command.keys.map((key) => <kbd>{shown(key)}</kbd>)}</dt>
									<dd>{command.title}</dd>
								</div>
							))}
						</dl>
					</section>
				))}
				{words.length === 0 && (
					<section>
						<h3>In a text field</h3>
						<dl>
							<div><dt><kbd>{shown("Ctrl+Enter")}</kbd></dt><dd>Save, or send</dd></div>
							<div><dt><kbd>Esc</kbd></dt><dd>Cancel; asks before discarding text</dd></div>
							<div><dt><kbd>Tab</kbd></dt><dd>Leave the field</dd></div>
						</dl>
					</section>
				)}
			</div>
		</Dialog>
	);
}

addPane({ id: "help", title: "Help", place: "overlay", view: Help });
