// SPDX-License-Identifier: MIT
//
// Typical tasks, each done with the keyboard only (hands.mjs), starting in the composer. The
// results are checked in the canonical export. At the end the number of keys of each task is
// printed; those in the table of docs/using.md must be the documented ones.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hands } from "./hands.mjs";
import { openBrowser, openPage, ROOT, Server, Tally, until } from "./place.mjs";

const TURNS = 10;
const tally = new Tally();
const counted = new Map();

// ---- shared by the tasks ----

async function state(server) {
	return JSON.parse(await server.canonical());
}

async function disc(server) {
	const project = await state(server);
	return project.discussions.find((each) => each.name === project.active) ?? project.discussions[0];
}

async function take(server, name) {
	const here = await disc(server);
	return here.takes.find((each) => each.name === (name ?? here.active)) ?? here.takes[0];
}

const ids = async (server, name) => ((await take(server, name)).entries ?? []).map((each) => each.id);
const entry = async (server, id, name) => ((await take(server, name)).entries ?? []).find((each) => each.id === id);
const steps = async (server) => (await server.api("GET", "/discussions/main/history")).steps.length;

async function becomes(name, look, wanted) {
	let got;
	await until(async () => {
		got = await look();
		return JSON.stringify(got) === JSON.stringify(wanted);
	});
	tally.equal(name, JSON.stringify(got), JSON.stringify(wanted));
}

/** Does a task, undoes it with one key, redoes it with one more. */
async function andBack(hands, server, name, before) {
	const cost = hands.strokes;
	await until(async () => (await server.canonical()) !== before);
	const after = await server.canonical();
	await hands.press("Control+z");
	await becomes(`${name}: undo`, () => server.canonical(), before);
	await hands.see("#redo:not([aria-disabled])");
	await hands.press("Control+Shift+z");
	await becomes(`${name}: redo`, () => server.canonical(), after);
	hands.strokes = cost;
}

/** Runs a command from the palette. */
async function command(hands, name) {
	await hands.press("Control+k");
	await hands.type(name);
	await hands.see((wanted) => document.querySelector("[role=option][aria-selected=true]")?.textContent.startsWith(wanted), name);
	await hands.press("Enter");
}

// ---- the tasks ----

const q = (n) => `q${n}`, a = (n) => `a${n}`;

const TASKS = {
	"fix a word in my last message, keep the reply": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "k", "e");
		await hands.type(" (fixed)");
		await hands.press("Control+Enter");
		await becomes("fixed", async () => (await entry(server, q(10))).content, "Question 10? (fixed)");
		await becomes("the reply stays", async () => (await ids(server)).at(-1), a(10));
		await hands.gone(".editor");
		tally.equal("the focus is in the composer", await hands.entry(), q(10));
		await andBack(hands, server, "fix", before);
	},
	"rewrite the assistant's reply": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "e", "Control+a");
		await hands.type("Another answer.");
		await hands.press("Control+Enter");
		await becomes("rewritten", async () => (await entry(server, a(10))).content, "Another answer.");
		await hands.gone(".editor");
		await andBack(hands, server, "rewrite", before);
	},
	"go back 5 user turns and resend": async (hands, server) => {
		await hands.press("Escape");
		await hands.times(5, "p");
		tally.equal("the fifth from the end", await hands.entry(), q(6));
		await hands.press("e");
		await hands.type(" Again?");
		await hands.press("Control+Shift+Enter");
		await hands.see(() => document.querySelectorAll(".take-bar [role=tab]").length === 2 && !document.querySelector(".editor"));
		await hands.see(() => /Question 6\? Again\?/.test(document.activeElement.closest(".entry")?.innerText ?? ""));
		await hands.press("g");
		await becomes("resent, and answered, in a new take", async () => (await take(server)).entries.slice(10).map((each) => each.content.slice(0, 30)),
			["Question 6? Again?", 'You said: "Question 6? Again?"']);
		await becomes("the old one is there", async () => (await ids(server, "main")).length, 20);
	},
	"undo anything": async (hands, server) => {
		await hands.press("Escape", "d");
		await hands.see(() => document.querySelectorAll("[data-entry=a10]").length === 0);
		await hands.counting(() => hands.press("u"));
		await becomes("undone", async () => (await ids(server)).length, 20);
		await hands.press("Shift+U");
		await becomes("redone", async () => (await ids(server)).length, 19);
		await hands.press("u");
		await becomes("and undone", async () => (await ids(server)).length, 20);
	},
	"switch take": async (hands, server) => {
		await hands.press("Escape", "k", "k", "b");
		await hands.see(() => document.querySelectorAll(".take-bar [role=tab]").length === 2);
		await until(async () => (await disc(server)).active === "main_take_1");
		await hands.see(() => document.activeElement.id === "composer");
		await hands.type("dug");
		tally.check("after branching the composer is focused", await until(async () =>
			(await hands.typed()) === "dug" && (await ids(server)).join() === (await ids(server, "main")).slice(0, 18).join()));
		await hands.press("Control+a", "Delete", "Escape");
		await hands.counting(() => hands.press("["));
		await becomes("the other take", async () => (await disc(server)).active ?? "main", "main");
		await hands.press("End");
		await hands.press("]");
		await becomes("and back", async () => (await disc(server)).active, "main_take_1");
		await until(async () => (await hands.entry()) === a(9));
		tally.equal("an entry that is not there: the one in its place", await hands.entry(), a(9));
	},
	"delete 8 messages in the middle": async (hands, server) => {
		const before = await server.canonical(), count = await steps(server);
		await hands.press("Escape", "Home", "j", "j", "j", "j");
		await hands.counting(async () => {
			await hands.times(7, "Shift+J");
			await hands.press("d");
		});
		await becomes("eight are gone", async () => (await ids(server)).join(" "), [q(1), a(1), q(2), a(2), q(7), a(7), q(8), a(8), q(9), a(9), q(10), a(10)].join(" "));
		await becomes("as one step", () => steps(server), count + 1);
		await until(async () => (await hands.entry()) === q(7));
		tally.equal("the focus is on what follows", await hands.entry(), q(7));
		await andBack(hands, server, "delete 8", before);
	},
	"import": async (hands, server) => {
		const file = join(server.folder, "talk.json");
		writeFileSync(file, JSON.stringify([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hello." }]));
		const chooser = hands.next("filechooser"); // a listener is registered long before the event
		await command(hands, "Import files");
		await hands.see("dialog .drop");
		await hands.press("Enter");
		await (await chooser).setFiles(file);
		await hands.see(() => document.querySelector("dialog")?.textContent.includes("2 new entries"));
		await hands.to(/^Import$/);
		await hands.press("Enter");
		await becomes("imported", async () => (await state(server)).discussions.map((each) => each.name).sort(), ["main", "talk"]);
		await hands.gone("dialog");
		await hands.see(() => document.querySelector(".top .where").textContent === "talk");
		await hands.press("Control+z");
		await becomes("undone", async () => (await state(server)).discussions.map((each) => each.name), ["main"]);
	},
	"save": async (hands) => {
		const says = () => /Everything is already saved/.test(document.body.innerText);
		await command(hands, "Save");
		await hands.see(says);
	},
	"save, by its button": async (hands) => {
		await hands.to(/^Saved$/, "Shift+Tab");
		await hands.see(() => document.activeElement.title.startsWith("Each change is saved at once"));
		await hands.press("Enter");
		await hands.see(() => /Everything is already saved/.test(document.body.innerText));
	},
	"export": async (hands, server) => {
		await command(hands, "Export …");
		await hands.see("dialog fieldset");
		await hands.to(/^Web page/);
		await hands.to(/^Everything/, "ArrowUp");
		await hands.to(/^Export$/);
		const saved = hands.next("download");
		await hands.press("Enter");
		tally.equal("the whole project", readFileSync(await (await saved).path(), "utf8").trim(), (await server.canonical()).trim());
		await hands.gone("dialog");
	},
	"label an entry, and find it and another by words": async (hands, server) => {
		await hands.press("Escape", "k", "m");
		await hands.type("here");
		await hands.press("Enter");
		await becomes("labelled", async () => (await disc(server)).labels, { [q(10)]: "here" });
		tally.equal("the focus is back", await hands.entry(), q(10));
		await hands.press("/");
		await hands.type("answer 3");
		await hands.see(".palette-item .hit");
		await hands.see(() => document.querySelector("[role=option][aria-selected=true]")?.textContent.includes("Answer 3."));
		await hands.press("Enter");
		await until(async () => (await hands.entry()) === a(3));
		tally.equal("found", await hands.entry(), a(3));
		await hands.press("o");
		await hands.see(() => document.activeElement.closest("[role=tree]") !== null);
		await hands.to(/Filter entries/, "Shift+Tab");
		await hands.type("L");
		await hands.see(() => document.querySelectorAll("#pane [role=treeitem]").length === 1);
		await hands.press("Tab", "Shift+Enter", "Escape");
		await until(async () => (await hands.entry()) === q(10));
		tally.equal("from the outline back to the entry", await hands.entry(), q(10));
	},
	"compare two takes, and bring an entry over": async (hands, server) => {
		await hands.press("Escape", "k", "k", "b");
		await hands.see(() => document.querySelectorAll(".take-bar [role=tab]").length === 2);
		await hands.see(() => document.activeElement.id === "composer");
		await hands.press("Escape");
		const before = await server.canonical();
		await command(hands, "Compare takes");
		await hands.see("dialog .compare-row");
		await hands.to(/Copy over/);
		await hands.press("Enter");
		await becomes("copied", async () => (await ids(server, "main_take_1")).length, 19);
		await hands.press("Escape");
		await hands.gone("dialog");
		await andBack(hands, server, "bring over", before);
	},
	"have a run of entries summed up": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "Home");
		await hands.times(3, "Shift+J");
		await command(hands, "Compact or compress");
		await hands.see("dialog #compact-from");
		await hands.to(/^Compact$/);
		await hands.press("Enter");
		await until(async () => (await take(server)).entries.some((each) => each.kind === "compaction"));
		const kinds = (await take(server)).entries.map((each) => (each.kind === "compaction" ? "c" : "."));
		tally.equal("one compaction, and all the others", kinds.filter((each) => each === "c").length, 1);
		tally.equal("stay", kinds.length, 21);
		await hands.gone("dialog");
		await andBack(hands, server, "compaction", before);
	},
	"change the model, a setting and the prompts": async (hands, server) => {
		const settings = async () => ({ ...(await state(server)).settings, ...(await disc(server)).settings });
		await command(hands, "Settings");
		await hands.see("#pane .pane-body");
		await hands.to(/^Model/);
		await hands.press("Control+a");
		await hands.type("builtin/echo");
		await hands.press("Enter");
		await becomes("the model", async () => (await settings()).model, "builtin/echo");
		await hands.to(/^Temperature/);
		await hands.type("0.5");
		await hands.press("Enter");
		await becomes("a setting", async () => (await settings()).temperature, 0.5);
		await command(hands, "Edit the prompt");
		await hands.to(/^The text that you and the model/);
		await hands.type("Write a poem.");
		await hands.press("Control+Enter");
		await becomes("the working prompt", async () => (await disc(server)).prompt, { edited: true, text: "Write a poem." });
		await hands.see(() => !!document.querySelector("#pane .chip.accent"));
		await hands.to(/^Notify the model/);
		await hands.press("Enter");
		await becomes("the notice", async () => (await take(server)).entries.at(-1).content, '[user edited prompt to: "Write a poem."]');
		await command(hands, "Edit the instructions");
		await hands.to(/^Instructions before/);
		await hands.type("Be brief.");
		await hands.press("Control+Enter");
		await becomes("a system prompt", async () => (await settings()).project_system_prompt, "Be brief.");
	},
	"leave a branch with a summary": async (hands, server) => {
		await hands.press("Escape", "o");
		await hands.see(() => document.activeElement.closest("[role=tree]") !== null);
		await hands.press("Home", "ArrowDown", "Enter");
		await hands.see("dialog textarea");
		await hands.to(/^With a summary/);
		await hands.press("Enter");
		await hands.gone("dialog");
		await becomes("in another take, the summary last", async () => (await take(server)).entries.map((each) => each.kind ?? "message"),
			["message", "message", "branch_summary"]);
		await becomes("the old one is whole", async () => (await ids(server, "main")).length, 20);
	},
	"look at the past, and go back to it": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "h");
		await hands.see(() => document.activeElement.closest("[role=listbox]") !== null);
		await hands.times(4, "ArrowDown");
		await hands.press("Enter");
		await hands.see("#pane .past-row");
		tally.equal("viewing changes nothing", await server.canonical(), before);
		await hands.to(/^Jump here/);
		await hands.press("Enter");
		await becomes("gone back", async () => (await ids(server)).length, 16);
		await hands.press("Escape", "h");
		await hands.gone("#pane");
		tally.check("the focus is in the take again", (await hands.entry()) !== null);
	},
	"insert, change the role, mute, move, split and merge": async (hands, server) => {
		const before = await server.canonical(), count = await steps(server);
		await hands.press("Escape", "Home", "a");
		await hands.type("Between one and two");
		await hands.press("Control+Enter");
		await becomes("inserted", async () => (await take(server)).entries[1].content, "Between one and two");
		const id = (await take(server)).entries[1].id;
		await until(async () => (await hands.entry()) === id);
		await hands.press("r", "Control+a");
		await hands.type("System");
		await hands.press("Enter");
		await becomes("the role", async () => (await take(server)).entries[1].role, "System");
		await hands.press("x");
		await becomes("muted", async () => (await take(server)).entries[1].muted, true);
		await hands.press("Alt+ArrowDown");
		await becomes("moved", async () => (await ids(server))[2], id);
		await hands.press("e", "Home");
		await hands.times(7, "ArrowRight");
		await hands.to(/^Split at the cursor/);
		await hands.press("Enter");
		await becomes("split", async () => (await take(server)).entries.slice(2, 4).map((each) => each.content.trim()), ["Between", "one and two"]);
		await until(async () => (await hands.entry()) === id);
		await hands.to(/^More for entry 3/);
		await hands.press("Enter");
		await hands.to(/^Merge/, "m");
		await hands.press("Enter");
		await becomes("merged", async () => (await ids(server)).length, 21);
		for (let left = (await steps(server)) - count; left > 0; left--)
			await hands.press("Control+z");
		await becomes("all of it undone", () => server.canonical(), before);
	},
	"begin a discussion, name it and delete it": async (hands, server) => {
		const names = async () => (await state(server)).discussions.map((each) => each.name).sort().join();
		await command(hands, "New discussion with a name");
		await hands.see("dialog input");
		await hands.type("second");
		await hands.press("Enter");
		await becomes("begun", names, "main,second");
		await hands.see(() => document.querySelector(".top .where").textContent === "second");
		await hands.to(/^More for second/, "Shift+Tab");
		await hands.press("Enter");
		await hands.see("[role=menu]");
		await hands.press("Enter", "Control+a");
		await hands.type("renamed");
		await hands.press("Enter");
		await becomes("renamed", names, "main,renamed");
		await hands.to(/^More for renamed/, "Shift+Tab");
		await hands.press("Enter", "End", "Enter");
		await hands.see("dialog");
		await hands.to(/^Delete$/);
		await hands.press("Enter");
		await becomes("deleted", names, "main");
		await hands.gone("dialog");
		await until(async () => /^Question 1\?/.test(await hands.focused()));
		tally.check("the focus is on one that is left", /^Question 1\?/.test(await hands.focused()), await hands.focused());
	},
	"empty the take, and bring it back": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "Home");
		await hands.times(19, "Shift+J");
		await hands.press("d");
		await becomes("empty", async () => (await ids(server)).length, 0);
		await hands.see(".welcome");
		await hands.press("Control+z");
		await becomes("back", () => server.canonical(), before);
		await hands.see(".entry");
		await hands.press("ArrowUp");
		tally.check("and keys are about entries again", (await hands.entry()) !== null);
	},
	"on a phone's width, choose a discussion and a pane": async (hands, server) => {
		await server.op("discussion.new", { name: "other" });
		await server.op("discussion.switch", { discussion: "main" });
		await hands.press("Escape");
		await hands.to(/^Discussions$/, "Shift+Tab", 60);
		await hands.press("Enter");
		await hands.see(() => document.activeElement.closest(".left") !== null);
		await hands.to(/^other/);
		await hands.press("Enter");
		await becomes("the other one", async () => (await state(server)).active, "other");
		await hands.see(() => document.activeElement.closest(".left") === null);
		await hands.to(/^Panes$/, "Shift+Tab", 60);
		await hands.press("Enter");
		await hands.see(() => document.activeElement.closest(".right") !== null);
		await hands.press("ArrowRight");
		await hands.see(() => document.activeElement.id === "pane-tab-history");
		await hands.press("Escape");
		await hands.see(() => document.activeElement.closest(".right") === null);
		tally.equal("the focus is in the take", await hands.focused(), "The take");
	},
	"turn the keys of one letter off": async (hands, server) => {
		const before = await server.canonical();
		await hands.press("Escape", "?");
		await hands.to(/Single-letter keys/);
		await hands.press("Space", "Escape");
		await hands.gone("dialog");
		await hands.press("d", "x", "u", "Shift+J");
		tally.equal("letters are typed text", await hands.typed(), "dxuJ");
		await hands.press("Control+a", "Delete", "Escape", "ArrowUp");
		tally.equal("arrows move", await hands.entry(), q(10));
		await hands.press("Enter");
		await hands.see(".editor textarea");
		await hands.type(" du");
		await hands.press("Control+Enter");
		await becomes("letters are text, and nothing else", async () => (await entry(server, q(10))).content, "Question 10? du");
		await hands.gone(".editor");
		await hands.press("Control+z");
		await becomes("Ctrl+Z undoes", () => server.canonical(), before);
	},
	"undo until nothing is left, and all of it back": async (hands, server) => {
		await hands.press("Escape");
		const before = await server.canonical();
		tally.check("redo is greyed", await hands.see("#redo[aria-disabled=true]"));
		await hands.to(/^Undo$/, "Shift+Tab", 60);
		for (let left = await steps(server); left > 0; left--) {
			await hands.see(() => document.activeElement.id === "undo" && !document.activeElement.ariaDisabled);
			await hands.press("Enter");
			await becomes("one step", async () => (await server.api("GET", "/discussions/main/history")).steps.filter((each) => !each.undone).length, left - 1);
		}
		tally.check("undo is greyed, and keeps the focus", await hands.see(() => document.activeElement.id === "undo" && document.activeElement.ariaDisabled === "true"));
		tally.check("redo is not", await hands.see("#redo:not([aria-disabled])"));
		const empty = await server.canonical();
		await hands.press("Enter");
		tally.equal("pressing it anyway does nothing", await server.canonical(), empty);
		await hands.press("Tab");
		for (let left = await steps(server); left > 0; left--) {
			await hands.press("Enter");
			await becomes("one step", async () => (await server.api("GET", "/discussions/main/history")).steps.filter((each) => each.undone).length, left - 1);
		}
		await becomes("all is back", () => server.canonical(), before);
		tally.check("and redo greyed", await hands.see("#redo[aria-disabled=true]"));
	},
};

// ---- running them ----

const browser = await openBrowser();
for (const [name, task] of Object.entries(TASKS)) {
	if (process.env.ONLY && !name.includes(process.env.ONLY))
		continue;
	const server = new Server();
	try {
		await server.start();
		const ops = Array.from({ length: TURNS }, (_, at) => [
			{ op: "entry.append", id: q(at + 1), role: "User", content: `Question ${at + 1}?` },
			{ op: "entry.append", id: a(at + 1), role: "AI", content: `Answer ${at + 1}.` },
		]).flat();
		if (/resend/.test(name))
			ops.push({ op: "setting.set", key: "model", value: "builtin/echo" });
		if (/sum/.test(name))
			ops.push({ op: "setting.set", key: "model", value: "builtin/summary" });
		await server.api("POST", "/batch", { atomic: false, ops });
		const page = await openPage(server, browser, tally, /phone/.test(name) ? { viewport: { width: 390, height: 800 } } : {});
		await page.waitForSelector("[data-entry=a10] .entry-body");
		const hands = await Hands.of(page, tally);
		hands.task = name;
		await hands.to(/^Text of the next entry/, "Shift+Tab"); // the last one in tab order, so close
		hands.strokes = 0;
		await task(hands, server);
		counted.set(name, hands.counted ?? hands.strokes);
		tally.equal(`${name}: no pointer`, await hands.pointers(), 0);
		await page.context().close();
	} catch (error) {
		tally.check(`${name} runs to its end`, false, error.stack ?? error);
	} finally {
		await server.stop();
	}
}
await browser.close();
const [table] = /<!-- keys -->.*<!-- \/keys -->/s.exec(readFileSync(join(ROOT, "docs/using.md"), "utf8"));
const promised = [...table.matchAll(/^\| ([^|]+) \| [^|]+ \| (\d+) \|$/gm)];
tally.check("docs/using.md has a table", promised.length >= 6, table);
for (const [, name, strokes] of promised)
	if (counted.has(name) || !process.env.ONLY)
		tally.equal(`docs/using.md: keys to ${name}`, counted.get(name), Number(strokes));
for (const [name, strokes] of counted)
	console.log(`${String(strokes).padStart(4)} keys: ${name}`);
process.exit(tally.end());
