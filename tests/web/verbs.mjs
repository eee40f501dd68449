// SPDX-License-Identifier: MIT
//
// Every verb that matrix.mjs does not cover, of entries, takes, tree and history, with menus, panes
// and dialogs, and undo and redo of each that is a step. A second, idle window must always show the
// same state.
import { entriesOf, step as stepAlone } from "./matrix.mjs";
import { choose, openPage, pick, settled, shownAndThere, until } from "./place.mjs";

const ids = (text) => entriesOf(text).map((entry) => entry.id).join(" ");
const project = (text) => JSON.parse(text);
const takesOf = (text) => project(text).discussions.find((each) => each.name === "main")?.takes ?? [];
const takeOf = (text, name) => takesOf(text).find((each) => each.name === name);

/** As in matrix.mjs; the other window shows the server's state. */
async function step(t, name, act, holds) {
	await stepAlone(t, name, act, holds);
	await same(t, name);
}

async function same(t, name) {
	t.tally.check(`${name}: the other window`, await until(async () => {
		const [shown, there] = await shownAndThere(t.other, t.server);
		return shown.takes === there.takes && shown.entries === there.entries;
	}), await shownAndThere(t.other, t.server));
}

async function menu(page, label, item) {
	await page.getByRole("button", { name: label, exact: true }).first().click();
	await pick(page, item, { exact: typeof item === "string" });
}

async function answer(page, text) {
	await page.fill("dialog input", text);
	await page.press("dialog input", "Enter");
	await page.locator("dialog").waitFor({ state: "detached" });
}

async function openPane(page, id) {
	const panes = page.getByRole("button", { name: "Panes", exact: true });
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
}

async function showTake({ page, server }, name) {
	const tab = page.locator(".take-bar [role=tab]", { hasText: name }).first();
	if (await tab.count())
		await tab.click();
	else // it has another reply than the open one, and therefore no tab
		await page.locator(".fork button[aria-label='Previous alternative']:enabled").first().click();
	await until(async () => (await server.api("GET", "/discussions/d1")).take.name === name);
	await until(async () => page.evaluate((wanted) => document.querySelector(".take-bar [aria-selected=true]").title.startsWith(wanted + ","), name));
}

const focus = (page, id) => choose(page.locator(`.entries [data-entry="${id}"]`));

/** An entry may be outside the rendered rows. */
async function inView(page, id) {
	const entry = page.locator(`.entries [data-entry="${id}"]`);
	if (await entry.count() === 0)
		await page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
	await entry.waitFor();
	return entry;
}

async function more(page, id, item) {
	const entry = await inView(page, id);
	await entry.hover(); // buttons appear on hover
	await entry.getByRole("button", { name: /^More for entry/ }).click();
	await pick(page, item);
}

async function entries(t) {
	const { page } = t;
	await step(t, "insert after", async () => {
		await focus(page, "a1");
		await page.keyboard.press("a");
		await page.fill(".inserting textarea", "behind");
		await page.keyboard.press("Control+Enter");
	}, (after) => entriesOf(after)[2].content === "behind");
	await step(t, "move down", async () => {
		await focus(page, "q1");
		await page.keyboard.press("Alt+ArrowDown");
	}, (after) => ids(after).startsWith("a1 q1 "));
	await step(t, "move before a number", async () => {
		await more(page, "q1", "Move before …");
		await answer(page, "1");
	}, (after) => ids(after).startsWith("q1 a1 "));
	await step(t, "move to the end", async () => {
		await more(page, "q1", "Move before …");
		await answer(page, "");
	}, (after) => ids(after).endsWith(" q1"));
	await step(t, "mute", () => more(page, "a1", /^Mute/), (after) => entriesOf(after)[0].muted === true);
	await step(t, "unmute", () => more(page, "a1", /^Unmute/), (after) => !entriesOf(after)[0].muted);
	await step(t, "label", async () => {
		await more(page, "a1", /^Label …/);
		await answer(page, "first");
	}, (after) => project(after).discussions[0].labels.a1 === "first");
	await step(t, "another label", async () => {
		await more(page, "a1", /^Change the label/);
		await answer(page, "second");
	}, (after) => project(after).discussions[0].labels.a1 === "second");
	await step(t, "no label", async () => {
		await more(page, "a1", /^Change the label/);
		await answer(page, "");
	}, (after) => !project(after).discussions[0].labels?.a1);
	await step(t, "an edit", async () => {
		await focus(page, "a1");
		await page.keyboard.press("e");
		await page.fill(".editor textarea", "answer 1, better");
		await page.getByRole("button", { name: "Save", exact: true }).click();
	}, (after) => entriesOf(after)[0].content === "answer 1, better");
	await step(t, "an old version is brought back", async () => {
		await more(page, "a1", "Versions …");
		await page.getByRole("button", { name: "Restore" }).last().click();
	}, (after) => entriesOf(after)[0].content === "answer 1");
	await step(t, "continue from here", () => more(page, "q2", "Continue from here"),
		(after) => project(after).discussions[0].head === "q2");
	await page.getByText(`follows entry ${await page.locator('.entries [data-entry="q2"] .number').innerText()},`).waitFor();
	t.tally.check("what comes after it is dimmed", await page.locator(".entries .entry.beyond").count() > 0);
	t.tally.equal("and it is marked", await page.locator(".chip.head").innerText(), "continues here");
	await step(t, "what is written there begins a take", async () => {
		await page.fill("#composer", "elsewhere");
		await page.click("#add");
	}, (after) => takesOf(after).length === 2 && entriesOf(after).at(-1).content === "elsewhere");
	await showTake(t, "main");
	await step(t, "branch here, named", async () => {
		await more(page, "q2", "Branch with a name …");
		await answer(page, "named");
	}, (after) => !!takeOf(after, "named"));
	await showTake(t, "main");
	await step(t, "a discussion of the path", () => more(page, "a2", "Copy the path to a new discussion"),
		(after) => project(after).discussions.length === 2);
	await page.locator("nav .name[data-disc=d1]").click();
	await until(async () => JSON.parse(await t.server.canonical()).active === "main");
	await settled(page, t.server);
}

const rowOf = (page, id) => page.locator(`.entries [data-entry="${id}"]`);

/** Selecting with Shift and the mouse, from the menu, and by touch; letter keys in that mode. */
async function selecting(t) {
	const { page, server, tally } = t;
	const bar = page.getByRole("toolbar", { name: "Selected entries" });
	const chosen = () => page.locator(".entries .entry.selected").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" "));
	await showTake(t, "main");
	const all = await page.locator(".entries .entry").evaluateAll((rows) => rows.map((each) => each.dataset.entry));
	const at = all.indexOf("q2"), run = all.slice(at, at + 3);
	await rowOf(page, run[0]).locator(".entry-body").click();
	await rowOf(page, run[2]).locator(".entry-body").click({ modifiers: ["Shift"] });
	tally.equal("shift and a click selects entries", await chosen(), run.join(" "));
	tally.equal("and no text", await page.evaluate(() => getSelection().toString()), "");
	tally.check("their number is said", (await bar.innerText()).includes("3 entries selected"), await bar.innerText());
	await step(t, "mute the selection", () => bar.getByRole("button", { name: "Mute" }).click(),
		(after) => takeOf(after, "main").entries.filter((each) => each.muted).map((each) => each.id).join(" ") === run.join(" "));
	await page.click("#undo");
	await until(async () => !takeOf(await server.canonical(), "main").entries.some((each) => each.muted));
	await rowOf(page, run[0]).locator(".entry-body").click();
	await until(async () => (await bar.count()) === 0);
	tally.equal("a click selects nothing else", await page.locator(".entries .entry.selected").count(), 0);
	await more(page, run[0], /^Select from here/);
	await bar.getByText("1 entry selected. Choose the last one.").waitFor();
	await bar.getByRole("button", { name: "Delete 1 entry" }).waitFor();
	await rowOf(page, run[1]).locator(".entry-body").click();
	tally.equal("from the menu: up to the touched entry", await chosen(), run.slice(0, 2).join(" "));
	await step(t, "delete the selection", () => bar.getByRole("button", { name: "Delete 2 entries" }).click(),
		(after) => !takeOf(after, "main").entries.some((each) => run.slice(0, 2).includes(each.id)));
	tally.equal("the bar is gone", await bar.count(), 0);
	await page.click("#undo");
	await until(async () => takeOf(await server.canonical(), "main").entries.length === all.length);
	await settled(page, server);
	const before = await server.canonical();
	await page.locator("#redo").focus();
	await page.keyboard.press("d");
	await page.keyboard.press("x");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("u");
	await page.keyboard.press("b");
	await page.waitForTimeout(300);
	tally.equal("letters change nothing where no entry has the focus", await server.canonical(), before);
	tally.equal("they are typed text", await page.inputValue("#composer"), "dxub");
	await page.fill("#composer", "");
	await choose(rowOf(page, run[0]));
	await step(t, "a key right after the row that had the focus went away", async () => {
		await page.evaluate(() => {
			const row = document.createElement("div");
			row.className = "entry";
			row.tabIndex = 0;
			document.body.append(row);
			row.focus();
			row.remove();
		});
		await page.keyboard.press("x");
	}, (after) => takeOf(after, "main").entries.some((each) => each.muted));
	await page.click("#undo");
	await until(async () => (await server.canonical()) === before);
}

async function tree(t) {
	const { page, server, tally } = t;
	await showTake(t, "main");
	await openPane(page, "outline");
	const row = (id) => page.locator(`#pane [data-entry="${id}"]`).first();
	const verb = (name) => page.locator(`#pane [data-verb="${name}"]`);
	await row("q2").waitFor();
	const marks = async (...all) => {
		await page.locator("#pane [role=treeitem]").first().waitFor();
		for (const id of all) {
			await row(id).focus();
			await page.keyboard.press("Space");
		}
	};
	const unmarked = () => until(async () => !/marked/.test(await page.locator("#pane .pane-foot").innerText()));
	const unmark = () => page.locator("#pane [role=treeitem][tabindex='0']").press("Escape");
	for (const [filter, count] of [["default", 9], ["no-tools", 8], ["user", 5], ["labelled", 0], ["all", 9]]) {
		await page.getByLabel("Filter entries").selectOption(filter);
		tally.check(`filter ${filter}`, await until(async () => (await page.locator("#pane [role=treeitem]").count()) === count),
			await page.locator("#pane [role=treeitem]").allInnerTexts());
	}
	await step(t, "tree: label", async () => {
		await row("q2").focus();
		await verb("label").click();
		await answer(page, "here");
	}, (after) => project(after).discussions.find((each) => each.name === "main").labels.q2 === "here");
	await step(t, "tree: mute two", async () => {
		await marks("q2", "a2");
		await verb("mute").click();
	}, (after) => takeOf(after, "main").entries.filter((each) => each.muted).length === 2);
	await unmarked();
	await marks("q2", "a2");
	await step(t, "tree: unmute them", () => verb("mute").getByText("Unmute").click(),
		(after) => takeOf(after, "main").entries.every((each) => !each.muted));
	await unmarked();
	await marks("q2", "a2");
	await step(t, "tree: move two", async () => {
		await verb("move").click();
		await answer(page, "0");
	}, (after) => takeOf(after, "main").entries.slice(0, 2).map((each) => each.id).join() === "q2,a2");
	await unmark();
	await page.click("#undo");
	await until(async () => takeOf(await server.canonical(), "main").entries[0].id !== "q2");
	await until(async () => (await page.locator("#pane [role=treeitem]").first().getAttribute("data-entry")) !== "q2");
	await step(t, "tree: branch", async () => {
		await row("a2").focus();
		await verb("branch").click();
		await answer(page, "third");
	}, (after) => !!takeOf(after, "third"));
	await showTake(t, "third");
	await step(t, "tree: bring here", async () => {
		await page.locator("#pane [role=treeitem]", { hasText: "elsewhere" }).first().focus();
		await verb("graft").click();
	}, (after) => takeOf(after, "third").entries.at(-1).content === "elsewhere");
	await showTake(t, "main");
	await step(t, "tree: delete two", async () => {
		await marks("tool", "q3");
		await verb("delete").click();
	}, (after) => !takeOf(after, "main").entries.some((each) => each.id === "q3"));
	await page.click("#undo");
	await until(async () => takeOf(await server.canonical(), "main").entries.some((each) => each.id === "q3"));
	await settled(page, server);
}

async function going(t) {
	const { page, server, tally } = t;
	const row = (id) => page.locator(`#pane .tree-row[data-entry="${id}"]`).first();
	await showTake(t, "main");
	await server.op("setting.set", { key: "model", value: "builtin/summary" });
	await until(async () => (await page.locator(".composer .model").innerText()).includes("summary"));
	await openPane(page, "outline");
	await page.locator("#pane .tree-row.head").waitFor();
	const dialog = page.getByRole("dialog", { name: "Continue from there?" });
	await step(t, "tree: go, without a summary", async () => {
		await row("a2").press("Enter");
		await dialog.getByRole("button", { name: "Without a summary" }).click();
	}, (after) => project(after).discussions.find((each) => each.name === "main").head === "a2");
	await page.click("#undo");
	await until(async () => (await server.api("GET", "/discussions/d1")).head !== "a2");
	await page.locator("#pane .tree-row.head").waitFor();
	await step(t, "tree: leave with a summary", async () => {
		await row("a2").press("Enter");
		await dialog.getByRole("button", { name: "With a summary", exact: true }).click();
		await dialog.waitFor({ state: "detached" });
	}, (after) => takesOf(after).some((each) => each.entries?.some((entry) => entry.kind === "branch_summary")));
	tally.equal("nothing was written for the person", await page.inputValue("#composer"), "");
	await page.click("#undo");
	await until(async () => !(await server.canonical()).includes("branch_summary"));
	await showTake(t, "main");
	await step(t, "compact a run", async () => {
		await page.keyboard.press("Control+k");
		await page.locator("#palette").fill("Compact or compress …");
		await page.locator(".palette-item", { hasText: "Compact or compress …" }).first().click();
		await page.getByRole("radio", { name: /A range of entries/ }).check();
		await page.getByLabel("From").selectOption("a1");
		await page.getByLabel("To", { exact: true }).selectOption("a2");
		await page.locator("dialog").getByRole("button", { name: "Compact" }).click();
		await page.locator("dialog").waitFor({ state: "detached" });
	}, (after) => takeOf(after, "main").entries.some((each) => each.kind === "compaction"));
	await step(t, "compare and bring over", async () => {
		await page.keyboard.press("Control+k");
		await page.locator("#palette").fill("Compare takes …");
		await page.locator(".palette-item", { hasText: "Compare takes …" }).first().click();
		await page.getByRole("button", { name: /^Copy over/ }).first().click();
		await page.locator("dialog").getByText(/^Copied to/).waitFor();
		await page.keyboard.press("Escape");
		await page.locator("dialog").waitFor({ state: "detached" });
	}, (after, before) => JSON.stringify(takesOf(after)) !== JSON.stringify(takesOf(before)));
}

/** A step of the history, which may be outside the rendered rows. */
async function stepRow(page, seq) {
	const row = page.locator(`#pane [data-step="${seq}"]`);
	for (let top = 0; await row.count() === 0 && top < 20000; top += 300) {
		await page.evaluate((to) => { document.querySelector("#pane .pane-rows").scrollTop = to; }, top);
		await page.waitForTimeout(50);
	}
	return row;
}

async function history(t) {
	const { page, server, tally } = t;
	await openPane(page, "history");
	await page.locator("#pane [data-step]").first().waitFor();
	const steps = (await server.api("GET", "/discussions/d1/history")).steps;
	const mine = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take");
	const whole = await server.canonical();
	// every past state can be viewed
	for (const each of steps.filter((one) => !one.undone && !/switch/.test(one.op)).slice(0, 6)) {
		await (await stepRow(page, each.seq)).click();
		await page.locator(`section[aria-label="State after step ${each.seq}"]`).waitFor();
		const past = await server.api("GET", `/discussions/d1/entries?at_op=${each.seq}&take=${each.take?.id ?? mine}`).catch(() => null);
		if (past)
			tally.check(`the state after step ${each.seq}`, await until(async () => {
				// rows that are not visible do not exist
				const shown = await page.locator("#pane .past-row").evaluateAll((rows) => rows.map((row) => row.dataset.entry).filter(Boolean));
				return ` ${past.entries.map((entry) => entry.id).join(" ")} `.includes(` ${shown.join(" ")} `) && shown.length >= Math.min(past.entries.length, 5);
			}), past.entries.map((entry) => entry.id));
	}
	tally.equal("looking changes nothing", await server.canonical(), whole);
	// a jump is not a step: it is reverted by a jump, or redo
	const target = steps.filter((one) => !one.undone && one.scope === "discussion" && !/switch|head/.test(one.op))[2];
	await (await stepRow(page, target.seq)).click();
	await page.getByRole("button", { name: "Jump here" }).click();
	tally.check("jump", await until(async () => (await server.canonical()) !== whole));
	await same(t, "jump");
	tally.equal("redo leads back", await until(async () => {
		const now = await server.canonical();
		if (now !== whole && await page.locator("#redo").getAttribute("aria-disabled") === null) {
			await page.locator("#redo").click();
			await until(async () => (await server.canonical()) !== now);
		}
		return now === whole;
	}), true);
	await same(t, "redo after a jump");
	const edit = steps.find((one) => one.op === "label.set" && !one.undone);
	await (await stepRow(page, edit.seq)).click();
	await step(t, "revert one old step", () => page.getByRole("button", { name: "Revert only this" }).click(),
		(after) => !project(after).discussions.find((each) => each.name === "main").labels?.q2);
}

async function settings(t) {
	const { page } = t;
	await openPane(page, "prompt");
	await step(t, "the working prompt", async () => {
		await page.locator("#working-prompt").fill("Write a poem.");
		await page.locator("#working-prompt").press("Control+Enter");
	}, (after) => project(after).discussions.find((each) => each.name === "main").prompt.edited === true);
	await step(t, "tell the model", () => page.getByRole("button", { name: "Notify the model" }).click(),
		(after) => after.includes("[user edited prompt to:"));
	await step(t, "a system prompt", async () => {
		await page.locator("#project_system_prompt").fill("Be brief.");
		await page.locator("#project_system_prompt").press("Control+Enter");
	}, (after) => project(after).settings.project_system_prompt === "Be brief.");
	await openPane(page, "settings");
	await page.locator("#pane .advanced > summary").click();
	const line = async (label, value) => {
		await page.locator("#pane").getByLabel(label, { exact: true }).fill(value);
		await page.locator("#pane").getByLabel(label, { exact: true }).press("Enter");
	};
	await step(t, "temperature", () => line("Temperature", "0.5"), (after) => after.includes('"temperature":0.5'));
	await step(t, "a role", () => line("Name of a new role", "Critic"), (after) => project(after).roles.includes("Critic"));
	await step(t, "what it is sent as", () => page.getByLabel("Critic is sent as").selectOption("system"),
		(after) => project(after).settings.role_map.Critic === "system");
	await step(t, "a file", () => line("Path to add to files", "a/b.c"), (after) => after.includes("a/b.c"));
	await step(t, "a preset", async () => {
		await page.getByRole("button", { name: "Save a preset …" }).click();
		await answer(page, "review");
	}, (after) => after.includes('"review"'));
	await step(t, "reset", async () => {
		await page.keyboard.press("Control+k");
		await page.locator("#palette").fill("Reset the project …");
		await page.locator(".palette-item", { hasText: "Reset the project …" }).first().click();
		await page.locator("dialog").getByRole("button", { name: "Reset" }).click();
	}, (after) => !after.includes("Write a poem."));
}

/** Another program, not another window, writes to the same store. */
async function otherProgram(t) {
	const { page, server, tally } = t;
	await page.click("#undo");
	await page.locator("nav .name", { hasText: "main_2" }).waitFor();
	await page.locator("nav .name[data-disc=d1]").click();
	await until(async () => JSON.parse(await server.canonical()).active === "main");
	await showTake(t, "main");
	await page.locator('.entries [data-entry="q1"]').waitFor();
	await server.run(["edit", "q1", "question 1, from a terminal"]);
	tally.check("what another program does is seen", await until(async () =>
		(await page.locator('.entries [data-entry="q1"]').textContent()).includes("from a terminal")));
	tally.check("and said", await until(async () => /edited an entry/.test(await page.locator(".news").textContent())));
	await same(t, "another program");
}

export async function run({ server, browser, tally }) {
	await server.start("0", "--files", server.folder);
	for (const [id, role, content] of [["q1", "User", "question 1"], ["a1", "AI", "answer 1"], ["q2", "User", "question 2"],
		["a2", "AI", "answer 2"], ["tool", "toolResult", "rows: 3"], ["q3", "User", "question 3"], ["a3", "AI", "answer 3"]])
		await server.op("entry.append", { id, role, content });
	const page = await openPage(server, browser, tally), other = await openPage(server, browser, tally);
	await page.waitForSelector(".entry");
	await other.waitForSelector(".entry");
	const t = { server, page, other, tally };
	for (const part of [entries, selecting, tree, going, history, settings, otherProgram])
		await part(t);
	await page.context().close();
	await other.context().close();
}
