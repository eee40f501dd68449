// SPDX-License-Identifier: MIT
//
// The panes: each of their verbs is used in a browser and its result checked in the canonical
// export, or through the API; axe-core reports nothing in any of them. Every part has a separate
// server.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { choose, DEPS, openBrowser, openPage, pick, Server, Tally, until } from "./place.mjs";

const AXE = readFileSync(join(DEPS, "axe/axe.min.js"), "utf8");
const tally = new Tally();

// ---- shared by the parts ----

/** Two takes: "main" (q1 a1 q2 a2), and "other" (q1 a1 q3), which is the active one. */
async function seed(server) {
	for (const [id, role, content] of [["q1", "User", "Which database?"], ["a1", "AI", "SQLite, almost always."],
		["q2", "User", "And two windows?"], ["a2", "AI", "Still SQLite, with WAL."]])
		await server.op("entry.append", { id, role, content });
	await server.op("take.branch", { at: "a1", name: "other" });
	await server.op("entry.append", { id: "q3", role: "User", content: "Is Postgres better?" });
}

async function state(server) {
	return JSON.parse(await server.canonical());
}

async function take(server, name, disc = 0) {
	const found = (await state(server)).discussions[disc].takes.find((each) => each.name === name);
	return found?.entries ?? [];
}

const idsOf = (entries) => entries.map((entry) => entry.id).join(" ");

/** Waits until look() accepts the export. */
async function becomes(name, server, look, wanted) {
	let got;
	await until(async () => {
		got = await look();
		return JSON.stringify(got) === JSON.stringify(wanted);
	});
	tally.equal(name, JSON.stringify(got), JSON.stringify(wanted));
}

async function axe(page, where, name) {
	await page.waitForTimeout(250); // transitions of drawers and dialogs have ended
	await page.evaluate(AXE + ";0");
	const found = await page.evaluate((selector) => axe.run(selector, { resultTypes: ["violations"] }), where);
	tally.check(`axe: ${name}`, found.violations.length === 0, ...found.violations.map((each) =>
		`${each.id} (${each.impact}): ${each.nodes.slice(0, 3).map((node) => node.html + " " + node.any.map((why) => why.message)).join(" | ")}`));
}

async function openPane(page, id) {
	const panes = page.getByRole("button", { name: "Panes", exact: true });
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
}

async function palette(page, text) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill(text);
	await page.locator(".palette-item", { hasText: text }).first().click();
}

async function answer(page, text) {
	const field = page.locator("dialog input.line");
	await field.fill(text);
	await field.press("Enter");
	await page.locator("dialog").waitFor({ state: "detached" });
}

const row = (page, id) => page.locator(`#pane [data-entry="${id}"]`).first();
const verb = (page, name) => page.locator(`#pane [data-verb="${name}"]`);

// ---- the parts ----

async function outline(server, page) {
	await openPane(page, "outline");
	await row(page, "q3").waitFor();
	const rows = () => page.locator("#pane [role=treeitem]").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" "));
	tally.equal("all entries of all takes", await rows(), "q1 a1 q2 a2 q3");
	tally.check("the head is marked", (await row(page, "q3").innerText()).includes("← here"));
	tally.check("the tip of the other take is marked", (await row(page, "a2").innerText()).includes("main"));
	tally.equal("what is not on the path is dimmed", await page.locator("#pane .tree-row.off").count(), 2);
	tally.equal("connectors only at the fork", await page.locator("#pane .rails.joint").count(), 2);

	await page.getByLabel("Search the outline").fill("sqlite wal");
	await becomes("search: all of the words", server, rows, "a2");
	await server.op("entry.edit", { entry: "q3", content: "**Is** `Postgres` better? ".padEnd(200, "and so on ") + "elephants" });
	await page.getByLabel("Search the outline").fill("elephants");
	await becomes("search: also beyond the preview", server, rows, "q3");
	tally.check("it is shown rendered", (await row(page, "q3").locator(".words").innerText()).startsWith("Is Postgres better?"));
	await page.getByLabel("Search the outline").fill("");
	await page.getByLabel("Filter entries").selectOption("user");
	await becomes("user only", server, rows, "q1 q2 q3");
	await page.getByLabel("Filter entries").selectOption("default");

	// nothing is chosen: nothing can be deleted by mistake
	tally.check("nothing is chosen to begin with", await verb(page, "delete").isDisabled());
	await row(page, "q1").click();
	await becomes("a click chooses", server, () => page.locator("#pane [aria-selected=true]").evaluateAll((all) => all.map((each) => each.dataset.entry).join()), "q1");
	tally.check("and it can be deleted", await verb(page, "delete").isEnabled());
	await row(page, "a1").click({ modifiers: ["Shift"] });
	await becomes("it says how many", server, () => verb(page, "delete").innerText(), "Delete 2");
	await row(page, "q3").click();
	await becomes("a click unmarks", server, () => verb(page, "delete").innerText(), "Delete");
	await row(page, "q1").click({ modifiers: ["Control"] });
	await page.locator("#pane [data-verb=delete]").focus();
	await page.keyboard.press("Escape");
	await becomes("Escape unmarks, wherever one is in it", server, () => page.locator("#pane .tree-row.marked").count(), 1);

	// keys
	await choose(row(page, "q3"));
	const focused = () => page.evaluate(() => document.activeElement.dataset.entry);
	await page.keyboard.press("Home");
	await becomes("Home", server, focused, "q1");
	await page.keyboard.press("ArrowDown");
	await becomes("down", server, focused, "a1");
	await page.keyboard.press("ArrowLeft");
	await becomes("left folds", server, rows, "q1 a1");
	tally.equal("and says so", await row(page, "a1").getAttribute("aria-expanded"), "false");
	await page.keyboard.press("ArrowRight");
	await becomes("right unfolds", server, rows, "q1 a1 q2 a2 q3");
	tally.equal("one row is in the tab order", await page.locator("#pane [role=treeitem][tabindex='0']").count(), 1);

	// verbs
	await verb(page, "label").click();
	await answer(page, "key");
	await becomes("label", server, async () => (await state(server)).discussions[0].labels, { a1: "key" });
	await page.getByLabel("Filter entries").selectOption("labelled");
	await becomes("labelled only", server, rows, "a1");
	await page.getByLabel("Filter entries").selectOption("all");
	await choose(row(page, "q2"));
	await page.keyboard.press("Space");
	await choose(row(page, "a2"));
	await page.keyboard.press("Space");
	await becomes("two are marked", server, () => page.locator("#pane [aria-selected=true]").count(), 2);
	await verb(page, "graft").click();
	await becomes("bring here", server, async () => idsOf(await take(server, "other")), "q1 a1 q3 q2 a2");
	await page.locator("#pane .tree-row.head").waitFor();
	await choose(row(page, "q3"));
	await verb(page, "mute").click();
	await becomes("mute", server, async () => (await take(server, "other"))[2].muted, true);
	await verb(page, "move").click();
	await answer(page, "0");
	await becomes("move", server, async () => idsOf(await take(server, "other")), "q3 q1 a1 q2 a2");
	await becomes("the tree follows", server, async () => (await rows()).split(" ").length, 9);
	await page.locator("#pane [data-entry=q3]").last().focus();
	await verb(page, "delete").click();
	await becomes("delete", server, async () => idsOf(await take(server, "other")), "q1 a1 q2 a2");
	await choose(row(page, "a1"));
	await verb(page, "branch").click();
	await answer(page, "third");
	await becomes("branch", server, async () => idsOf(await take(server, "third")), "q1 a1");
	await axe(page, "#pane", "outline");
}

/** Hidden entries of extensions are neither in the take nor in the outline, except with the filter "all entries". */
async function hidden(server, page) {
	await server.op("entry.append", { id: "h1", role: "Hook", kind: "custom_message", content: "CONCEALED", display: false });
	await server.op("entry.append", { id: "c1", role: "Hook", kind: "custom_message", content: "VISIBLE", display: true });
	await server.op("entry.append", { id: "s1", kind: "custom", content: "STATE" });
	const inTake = () => page.locator(".entries [data-entry]").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" "));
	await becomes("entries of the take", server, inTake, "q1 a1 q3 c1");
	await page.reload();
	await becomes("and after a reload", server, inTake, "q1 a1 q3 c1");
	tally.check("nothing of the others is in the page", !(await page.locator("body").innerText()).match(/CONCEALED|STATE/));
	await openPane(page, "outline");
	const rows = () => page.locator("#pane [role=treeitem]").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" "));
	await becomes("rows of the outline", server, rows, "q1 a1 q2 a2 q3 c1");
	const current = () => page.locator("#pane [aria-current=true]").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" "));
	await becomes("the last one shown says where one is", server, current, "c1");
	await row(page, "c1").focus();
	await page.keyboard.press("Enter");
	await becomes("going to the head changes nothing", server, async () => (await page.locator("body").innerText()).includes("Already at this point."), true);
	tally.equal("nothing is asked", await page.locator("dialog").count(), 0);
	await page.getByLabel("Filter entries").selectOption("all");
	await becomes("all entries", server, rows, "q1 a1 q2 a2 q3 h1 c1 s1");
	await becomes("where one is", server, current, "s1");
}

async function going(server, page) {
	await openPane(page, "outline");
	const headOf = async () => (await server.api("GET", "/discussions/main")).head;
	const composer = () => page.locator("#composer").inputValue();
	await row(page, "q3").press("Enter");
	await page.getByText("Already at this point.").waitFor();
	tally.equal("the head itself is not a target", await headOf(), "q3");

	const dialog = page.getByRole("dialog", { name: "Continue from there?" });
	await row(page, "a2").click();
	await page.locator(".entries [data-entry=a2][aria-current]").waitFor();
	tally.equal("a click only shows it", await dialog.count(), 0);
	tally.equal("and moves nothing", await headOf(), "q3");
	await row(page, "q3").click();
	await page.locator(".entries [data-entry=q3][aria-current]").waitFor();
	await row(page, "a2").press("Enter");
	await dialog.waitFor();
	tally.check("it says that no model is set", (await dialog.innerText()).includes("No model is set"));
	tally.check("a reply: the next entry is added after it", (await dialog.innerText()).includes("follows that entry"));
	tally.check("so none can be asked", await dialog.getByRole("button", { name: "With a summary", exact: true }).isDisabled());
	await axe(page, "dialog", "leaving");
	const before = await server.canonical();
	await dialog.getByRole("button", { name: "Stay here" }).click();
	await dialog.waitFor({ state: "detached" });
	tally.equal("staying changes nothing", await server.canonical(), before);

	await row(page, "a2").press("Enter");
	await dialog.getByRole("button", { name: "Without a summary" }).click();
	await becomes("after a reply", server, headOf, "a2");
	await page.locator("#pane .tree-row.head[data-entry=a2]").waitFor();
	tally.equal("nothing to write again", await composer(), "");

	await row(page, "q2").press("Enter");
	await dialog.waitFor();
	tally.check("a question: the next message replaces it", (await dialog.innerText()).includes("replaces that question"), await dialog.innerText());
	await dialog.getByRole("button", { name: "Without a summary" }).click();
	await becomes("a question: before it", server, headOf, "a1");
	await becomes("its text is handed back", server, composer, "And two windows?");
	await page.locator("#composer").fill("And three?");
	await page.locator("#add").click();
	await becomes("what is sent becomes a take", server, async () => (await state(server)).discussions[0].takes.length, 3);

	// a failing model: the head does not move
	await server.op("setting.set", { key: "model", value: "openai/none" });
	await page.locator(".tree-row.head").waitFor();
	await until(async () => (await page.locator(".composer .model").innerText()).includes("none"));
	const still = await server.canonical();
	await row(page, "a2").press("Enter");
	await dialog.getByRole("button", { name: "With a summary", exact: true }).click();
	await dialog.getByRole("alert").waitFor();
	tally.equal("a failure changes nothing", await server.canonical(), still);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });

	await server.op("setting.set", { key: "model", value: "builtin/summary" });
	await until(async () => (await page.locator(".composer .model").innerText()).includes("builtin"));
	await choose(row(page, "q1"));
	await verb(page, "go").click();
	tally.check("an extract takes no wishes", await dialog.getByLabel(/Focus of the summary/).isDisabled());
	await dialog.getByRole("button", { name: "With a summary", exact: true }).click();
	await dialog.waitFor({ state: "detached" });
	await becomes("the summary is an entry", server, async () =>
		(await state(server)).discussions[0].takes.some((each) => each.entries.some((entry) => entry.kind === "branch_summary")), true);
	await becomes("and the question is handed back", server, composer, "Which database?");
}

/** A model that never answers is stopped: the head has not moved. */
async function stopping(server, page) {
	await server.op("setting.set", { key: "model", value: "ollama/slow" });
	await until(async () => (await page.locator(".composer .model").innerText()).includes("slow"));
	await openPane(page, "outline");
	const before = await server.canonical();
	await row(page, "a2").press("Enter");
	const dialog = page.getByRole("dialog", { name: "Continue from there?" });
	await dialog.getByRole("button", { name: "With a summary", exact: true }).click();
	await dialog.getByRole("button", { name: "Stop" }).click();
	await dialog.getByText("Stopped. Nothing was changed.").waitFor();
	tally.equal("a stop changes nothing", await server.canonical(), before);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	await palette(page, "Compact or compress …");
	await page.getByRole("radio", { name: /The whole take/ }).check();
	await page.locator("dialog").getByRole("button", { name: "Compress" }).click();
	await page.locator("dialog").getByRole("button", { name: "Stop" }).click();
	await page.getByText("Stopped. Nothing was changed.").waitFor();
	tally.equal("nor does a stop of a compression", await server.canonical(), before);
}

async function history(server, page) {
	const whole = await server.canonical();
	await openPane(page, "history");
	await page.locator("#pane [data-step]").first().waitFor();
	const step = (seq) => page.locator(`#pane [data-step="${seq}"]`);
	tally.equal("all steps", await page.locator("#pane [data-step]").count(), 6);
	tally.check("the current one is marked", (await step(6).innerText()).includes("← now"));
	tally.equal("a step is told by its text, not by its id", await step(6).locator(".words").innerText(), "added entry “Is Postgres better?”");
	tally.check("and by its take", (await step(6).innerText()).includes("take other"));
	await step(2).click();
	const past = page.locator("#pane .past-row");
	await past.nth(1).waitFor();
	tally.equal("a past state", await past.evaluateAll((all) => all.map((each) => each.dataset.entry).join(" ")), "q1 a1");
	tally.equal("what it brought is marked", await page.locator("#pane .past-row.marked").evaluateAll((all) => all.map((each) => each.dataset.entry).join(" ")), "a1");
	tally.check("it is the take that it changed", (await page.locator("#pane .past .pane-bar").innerText()).includes("main"));
	tally.equal("viewing changes nothing", await server.canonical(), whole);
	await axe(page, "#pane", "history");
	await page.keyboard.press("ArrowUp");
	await becomes("arrows select further steps", server, () => past.count(), 3);
	await page.keyboard.press("ArrowDown");
	await page.getByRole("button", { name: "Jump here" }).click();
	await becomes("jump", server, async () => idsOf((await state(server)).discussions[0].takes[0].entries), "q1 a1");
	await becomes("the rest is dimmed", server, () => page.locator("#pane .step.off").count(), 4);
	await server.op("entry.append", { id: "new", content: "Another way." });
	await becomes("the other way stays, as a branch", server, () => page.locator("#pane [data-step]").count(), 7);
	await becomes("it is a branch", server, () => page.locator("#pane .step.off").count(), 4);
	await step(6).click();
	await page.getByRole("button", { name: "Jump here" }).click();
	await becomes("and back", server, () => server.canonical(), whole);
	const tab = page.locator(".tab[data-take][aria-selected=true]");
	await becomes("in the take that was shown", server, () => tab.getAttribute("title"), "other, 3 entries, Is Postgres better?");
	await page.locator(".tab[data-take=t1]").click();
	await becomes("from which one goes", server, () => tab.getAttribute("data-take"), "t1");
	await step(4).click();
	await page.getByRole("button", { name: "Revert only this" }).click();
	await becomes("revert", server, async () => idsOf(await take(server, "main")), "q1 a1 q2");
	await server.op("entry.delete", { entry: "q2", take: "main" });
	const newest = page.locator("#pane [data-step]").first();
	await becomes("a deletion is told by what went", server, () => newest.locator(".words").innerText(), "deleted entry “And two windows?”");
	await newest.click();
	await page.locator("#pane .past-gone", { hasText: "And two windows?" }).waitFor();
	await page.getByRole("button", { name: "Close the preview" }).click();

	// a row of the history stays one row, whatever its text is
	await server.op("take.rename", { take: "other", name: "a_take_with_quite_a_long_name" });
	await server.op("entry.append", { content: "```python\nimport sqlite3\n```", take: "a_take_with_quite_a_long_name" });
	await server.op("undo");
	await becomes("a long name is told", server, async () => (await page.locator("#pane .step.off", { hasText: "a_take_with_quite_a_long_name" }).count()) > 0, true);
	tally.equal("no row runs into the next", await page.locator("#pane .step").evaluateAll((all) => all.filter((each) => {
		const box = each.getBoundingClientRect();
		return [...each.querySelectorAll(".step-text, .step-text *")].some((part) => part.getBoundingClientRect().bottom > box.bottom + 1 || part.getBoundingClientRect().top < box.top - 1);
	}).length), 0);
	tally.check("code is told, too", (await page.locator("#pane .step.off", { hasText: "a_take_with_quite_a_long_name" }).first().innerText()).includes("import sqlite3"));
	tally.check("who did it is said where it was no page", (await page.locator("#pane .step").first().innerText()).includes("http"));

	await server.op("entry.edit", { entry: "a1", content: "Use SQLite, of course." });
	await becomes("an edit is told", server, async () => /edited entry “Use SQLite/.test(await newest.innerText()), true);
	await newest.click();
	await page.locator("#pane .past-row.marked", { hasText: "changed" }).click();
	await page.locator("#pane .past-text ins").first().waitFor();
	tally.check("a changed entry opens with what changed", (await page.locator("#pane .past-text ins").allInnerTexts()).join(" ").includes("course"));
	await page.keyboard.press("Escape");
	await past.first().waitFor();
	tally.check("and closes again", await until(() => page.evaluate(() => document.activeElement?.classList.contains("past-row"))));
	const heading = await page.locator("#pane .past .pane-bar").boundingBox(), list = await page.locator("#pane .past .pane-rows").boundingBox();
	tally.check("the heading lies above the rows", heading.y + heading.height <= list.y + 1 && heading.height < 56, heading, list);

	await page.getByRole("button", { name: "Close the preview" }).click();
	const known = await newest.getAttribute("aria-setsize");
	await server.op("take.switch", { take: "main" });
	await server.op("take.switch", { take: "a_take_with_quite_a_long_name" });
	await server.op("setting.set", { key: "draft", value: "half a thought" });
	await page.getByText(/Show 1 saved draft and \d+ switch/).waitFor();
	tally.equal("drafts and switches are not in the list", await newest.getAttribute("aria-setsize"), known);
	tally.check("and now is what they came after", (await newest.innerText()).includes("← now"));
	await page.getByText("Show 1 saved draft").click();
	await becomes("unless they are asked for", server, () => newest.locator(".words").innerText(), "saved a draft");
}

/** A long history is loaded in pages. */
async function pages(server, page) {
	const COUNT = 450;
	await server.api("POST", "/batch", { atomic: false, ops: Array.from({ length: COUNT }, (_, i) => ({ op: "entry.append", content: `Text ${i}` })) });
	await openPane(page, "history");
	await page.locator("#pane [data-step]").first().waitFor();
	await page.locator("#pane [role=option][tabindex='0']").focus();
	const focused = () => page.evaluate(() => document.activeElement.dataset.step);
	tally.equal("the newest first", await focused(), String(COUNT + 6));
	await until(async () => {
		await page.keyboard.press("End");
		return await focused() === "1";
	});
	tally.equal("down to the first", await focused(), "1");
	tally.check("few rows are there", await page.locator("#pane [data-step]").count() < 80);
	await server.op("entry.append", { content: "One more." });
	await page.keyboard.press("Home");
	await becomes("what is new comes in, above", server, async () => { await page.keyboard.press("Home"); return focused(); }, String(COUNT + 7));
	await page.keyboard.press("End");
	await becomes("and the rest stays", server, focused, "1");
}

async function prompt(server, page) {
	await openPane(page, "prompt");
	const disc = async () => (await state(server)).discussions[0];
	const settings = async () => (await state(server)).settings ?? {};
	await page.locator("#working-prompt").fill("Write a poem.");
	await page.locator("#working-prompt").press("Control+Enter");
	await becomes("the working prompt", server, async () => (await disc()).prompt, { edited: true, text: "Write a poem." });
	await page.locator("#pane .chip", { hasText: "edited" }).waitFor();
	await page.getByRole("button", { name: "Notify the model" }).click();
	await becomes("the notice", server, async () => (await take(server, "other")).at(-1).content, '[user edited prompt to: "Write a poem."]');
	await becomes("is no longer edited", server, async () => (await disc()).prompt.edited ?? false, false);
	await server.op("prompt.update", { text: "Write prose." });
	await becomes("what others write comes in", server, () => page.locator("#working-prompt").inputValue(), "Write prose.");
	await page.locator("#working-prompt").fill("Mine, unsaved");
	await server.op("prompt.update", { text: "Theirs again." });
	await until(async () => (await server.api("GET", "/discussions/main/prompt")).text === "Theirs again.");
	await page.waitForTimeout(200);
	tally.equal("but it does not overwrite a draft", await page.locator("#working-prompt").inputValue(), "Mine, unsaved");
	await page.reload();
	await page.waitForSelector(".entry");
	await openPane(page, "prompt");
	await page.locator("#pane .chip", { hasText: "edited" }).waitFor();
	tally.equal("it is there when the page is opened again", await page.locator("#working-prompt").inputValue(), "Mine, unsaved");
	await page.getByRole("button", { name: "Discard changes" }).click();
	tally.equal("until it is put back", await page.locator("#working-prompt").inputValue(), "Theirs again.");
	await openPane(page, "outline");
	await openPane(page, "prompt");
	tally.equal("for good", await page.locator("#working-prompt").inputValue(), "Theirs again.");
	tally.equal("the usual instructions come first", await page.locator("#pane textarea").first().getAttribute("id"), "project_system_prompt");
	await page.getByText("Other prompts, sent before the instructions").click();
	for (const key of ["base_system_prompt", "global_system_prompt", "project_system_prompt"]) {
		await page.locator(`#${key}`).fill(`The ${key}.`);
		await page.locator(`#${key}`).press("Control+Enter");
		await becomes(key, server, async () => (await settings())[key], `The ${key}.`);
	}
	await page.getByLabel(/If the prompts below are empty, explain the working prompt/).uncheck();
	await becomes("use_default_base_prompt", server, async () => (await settings()).use_default_base_prompt, false);
	await page.getByLabel(/If the prompts below are empty, explain the working prompt/).check();
	await becomes("and as it is by default", server, async () => (await settings()).use_default_base_prompt, undefined);
	const context = await server.api("GET", "/discussions/main/context");
	await becomes("tokens of all", server, () => page.locator("#pane strong").innerText(), context.tokens.toLocaleString("en-US"));
	tally.equal("and of each", await page.locator("#pane .context-row").count(), context.entries.length);
	await page.getByLabel("Budget in tokens").fill(String(context.tokens - 4));
	await becomes("what is left out", server, async () => await page.locator("#pane .context-row.off").count() > 0, true);
	await axe(page, "#pane", "prompt");
}

/** The last request is shown unchanged, and its differences from the next request are marked. */
async function sent(server, page) {
	await openPane(page, "prompt");
	await page.locator("#pane").getByText("there is no request from this discussion yet").waitFor();
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	await page.locator(".composer .model", { hasText: "builtin" }).waitFor();
	await page.fill("#composer", "Which one is smaller?");
	await page.press("#composer", "Control+Enter");
	await page.locator("#pane").getByText("Since then: 1 new entry.").waitFor();
	const { usage } = await server.api("GET", "/discussions/main/usage"), number = (count) => count.toLocaleString("en-US");
	await becomes("the tokens of all replies", server, () => page.locator("#pane .usage dd").first().innerText(),
		`1 reply, ${number(usage.input_tokens)} tokens sent, ${number(usage.output_tokens)} received, price unknown`);
	await server.op("entry.edit", { entry: "q1", content: "Which small database?" });
	await server.op("entry.mute", { entry: "a1" });
	await server.op("setting.set", { key: "project_system_prompt", value: "Be brief." });
	await page.locator("#pane").getByText("Since then: 1 new entry, 1 edited, 1 no longer sent, project system prompt.").waitFor();
	await axe(page, "#pane", "what was sent last");
	const whole = await server.canonical();
	await page.getByRole("button", { name: "Compare with the next request" }).click();
	const rows = page.locator("dialog .compare-row");
	await rows.first().waitFor();
	await axe(page, "dialog", "what was sent, compared");
	const marks = (selector) => page.locator(`dialog ${selector}`).evaluateAll((all) => all.map((each) => each.textContent.trim()));
	tally.equal("a word that came is marked", (await marks(".shows-in ins")).join("|"), "small");
	tally.equal("an entry that is not sent any more", (await marks(".side-entry.out .plain")).join("|"), "SQLite, almost always.");
	tally.equal("what is new", (await marks(".side-entry.in .plain")).map((text) => text.slice(0, 9)).join("|"), "Be brief.|You said:");
	tally.check("the rest is said to be the same", (await marks(".same-parts summary")).every((text) => /the same$/.test(text)));
	await page.locator("dialog .same-parts summary").last().click();
	tally.check("and can be seen", (await page.locator("dialog .same-part").last().innerText()).includes("Which one is smaller?"));
	tally.equal("viewing changes nothing", await server.canonical(), whole);
	await page.keyboard.press("Escape");
	await server.op("take.branch", { at: "q1", name: "short" });
	await page.locator(".take-bar [role=tab]", { hasText: "short" }).click();
	await page.locator("#pane").getByText(/in the take other/).waitFor();
}

async function settings(server, page) {
	await openPane(page, "settings");
	const set = async () => { const all = await state(server); return { ...all.settings, ...all.discussions[0].settings }; };
	const line = async (label, value) => {
		await page.locator("#pane").getByLabel(label, { exact: true }).fill(value);
		await page.locator("#pane").getByLabel(label, { exact: true }).press("Enter");
	};
	await page.locator("#pane .advanced > summary").click();
	for (const [label, key, text, value] of [["Model", "model", "builtin/echo", "builtin/echo"],
		["Temperature", "temperature", "0.5", 0.5], ["Top p", "top_p", "0.9", 0.9], ["Max tokens", "max_tokens", "512", 512],
		["Maximum number of undo steps", "undo_capacity", "50", 50], ["Tokens to keep", "compact_keep_tokens", "2048", 2048]]) {
		await line(label, text);
		await becomes(key, server, async () => (await set())[key], value);
	}
	await line("Temperature", "");
	await becomes("reset to the default", server, async () => (await set()).temperature, undefined);
	await page.getByRole("button", { name: "summary", exact: true }).click();
	await becomes("a model of the list", server, async () => (await set()).model, "builtin/summary");
	const roles = async () => (await server.api("GET", "/roles"));
	await page.getByLabel("Name of a new role").fill("Critic");
	await page.getByLabel("Name of a new role").press("Enter");
	await becomes("add a role", server, async () => (await roles()).includes("Critic"), true);
	await page.getByLabel("Critic is sent as").selectOption("system");
	await becomes("role_map", server, async () => (await set()).role_map, { Critic: "system" });
	await page.getByLabel("Critic is sent as").selectOption("");
	await becomes("no role_map", server, async () => (await set()).role_map, undefined);
	await page.getByLabel("Remove the role Critic").click();
	await becomes("remove a role", server, async () => (await roles()).includes("Critic"), false);
	await page.getByLabel("Edits reported to the model").selectOption("all");
	await becomes("edit_notices", server, async () => (await set()).edit_notices, "all");
	await page.getByLabel(/Compact automatically/).check();
	await becomes("compact_auto", server, async () => (await set()).compact_auto, true);
	await line("Track of this discussion", "work");
	const disc = async () => (await state(server)).discussions[0];
	await becomes("track", server, async () => (await disc()).track, "work");
	for (const which of ["files", "context files", "screenshots"]) {
		const field = page.getByLabel(`Path to add to ${which}`, { exact: true });
		await field.fill("a/b.c");
		await field.press("Enter");
		await becomes(which, server, async () => (await server.api("GET", "/discussions/main/files"))[which.replace(" ", "_")], ["a/b.c"]);
	}
	await page.getByRole("button", { name: "Save a preset …" }).click();
	await answer(page, "review");
	await becomes("save a preset", server, async () => Object.keys((await disc()).presets ?? {}), ["review"]);
	await page.getByLabel("Files", { exact: true }).getByLabel("Remove a/b.c").click();
	await becomes("remove a file", server, async () => (await server.api("GET", "/discussions/main/files")).files, []);
	await page.getByLabel("Load the preset review").click();
	await becomes("load a preset", server, async () => (await server.api("GET", "/discussions/main/files")).files, ["a/b.c"]);
	await axe(page, "#pane", "settings");
	await page.getByLabel("Delete the preset review").click();
	await becomes("delete a preset", server, async () => Object.keys((await disc()).presets ?? {}), []);
	await tracks(server, page);
}

/** "main" is bound to the track "work": to the project's discussion and back, and the list filtered by the track. */
async function tracks(server, page) {
	for (let at = 1; at <= 8; at++)
		await server.op("discussion.new", { name: `d${at}` });
	const isMain = async () => (await page.locator(".discussions li.open .name").getAttribute("data-disc")) === "d1";
	const toggle = async (name) => {
		await page.getByRole("button", { name: "Discussions", exact: true }).click();
		await pick(page, name);
	};
	await toggle("Back to the discussion without a track");
	await becomes("from the track to the project", server, isMain, false);
	await toggle('To the track “work”');
	await becomes("and back to the track", server, isMain, true);
	// back to the discussion that was left, although another one was changed since
	await page.locator(".discussions [data-disc=d4]").click();
	await becomes("in another discussion", server, async () => page.locator(".discussions li.open .name").getAttribute("data-disc"), "d4");
	await toggle('To the track “work”');
	await becomes("to the track", server, isMain, true);
	await server.op("entry.append", { discussion: "d7", content: "changed since" });
	await toggle("Back to the discussion without a track");
	await becomes("back to the one that was left", server, async () => page.locator(".discussions li.open .name").getAttribute("data-disc"), "d4");
	await toggle('To the track “work”');
	await becomes("once more to the track", server, isMain, true);
	await page.getByLabel("Filter discussions").fill("wor");
	await becomes("the list of a track", server, () => page.locator(".discussions li").count(), 1);
}

/** A step of another take is reverted there, and one comes back from it. */
async function elsewhere(server, page) {
	await server.op("entry.edit", { entry: "q2", content: "And three windows?", take: "main" });
	await openPane(page, "history");
	await page.locator("#pane [data-step]", { hasText: "three windows" }).click();
	await page.getByRole("button", { name: "Revert only this" }).click();
	const open = () => page.locator(".tab[data-take][aria-selected=true]").getAttribute("aria-label");
	await becomes("the take of the step is open", server, open, "main, 4 entries");
	await page.getByRole("button", { name: 'Back to “other”' }).click();
	await becomes("and the other one is a click away", server, async () => (await open()).split(",")[0], "other");
	const newest = () => page.locator("#pane [data-step] .words").first().innerText();
	for (const [key, value, told] of [["project_system_prompt", "Be brief.", 'set the instructions to "Be brief."'], ["template.review", "Review.", 'set the template "review" to "Review."'],
		["tags", ["work", "db"], "set the tags to work, db"], ["pinned", true, "pinned the discussion"], ["pinned", null, "unpinned the discussion"]]) {
		await server.op("setting.set", { key, value, of: ["tags", "pinned"].includes(key) ? "discussion" : "project" });
		await becomes(`the history says "${told}"`, server, newest, told);
	}
}

async function compare(server, page) {
	await server.op("entry.edit", { entry: "a1", content: "SQLite, nearly always." });
	await server.op("entry.append", { id: "code", content: "**Like so:**\n\n```sql\nSELECT 1;\n```", take: "main" });
	await choose(page.locator(".entry").first());
	await page.keyboard.press("x");
	await page.locator(".toast").getByText("Muted").waitFor();
	await page.keyboard.press("x");
	await page.locator(".toast").getByText("Unmuted").waitFor();
	await palette(page, "Compare takes");
	await page.locator('dialog [data-entry="code"]').waitFor();
	tally.equal("earlier messages stay outside", await page.locator("dialog .toast").count(), 0);
	await page.getByLabel(/^Show rendered, without/).check();
	await page.locator('dialog [data-entry="code"] strong').waitFor();
	tally.equal("Markdown can be laid out", await page.locator('dialog [data-entry="code"] pre.code .hl-keyword').innerText(), "SELECT");
	tally.equal("each take's own text", (await page.locator('dialog [data-entry="a1"] .prose').allInnerTexts()).join(" | "), "SQLite, nearly always. | SQLite, almost always.");
	tally.equal("without marks", await page.locator("dialog :is(ins, del)").count(), 0);
	await axe(page, "dialog", "compare, laid out");
	await page.getByLabel(/^Show rendered, without/).uncheck();
	await server.op("entry.delete", { entry: "code", take: "main" });
	await page.locator('dialog [data-entry="code"]').waitFor({ state: "detached" });
	const side = (id) => page.locator(`dialog [data-entry="${id}"]`);
	await side("q2").waitFor();
	tally.equal("words that differ", await side("a1").first().locator("del").innerText(), "nearly");
	tally.equal("at both sides", await side("a1").last().locator("ins").innerText(), "almost");
	await axe(page, "dialog", "compare");
	await side("a2").getByRole("button", { name: "Copy over" }).click();
	await page.locator("dialog .toast").getByText("Copied to the end of other.").waitFor();
	tally.check("what was done can be undone at once", await page.locator("dialog .toast").getByRole("button", { name: "Undo" }).isVisible());
	await becomes("bring over", server, async () => idsOf(await take(server, "other")), "q1 a1 q3 a2");
	await side("q2").getByRole("button", { name: "Copy over" }).click();
	await becomes("where it stands", server, async () => idsOf(await take(server, "other")), "q1 a1 q3 q2 a2");
	await page.getByRole("button", { name: "Open the take main" }).click();
	await becomes("the other take can be opened from there", server, () => page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("aria-label"), "main, 4 entries");
	await server.op("take.branch", { at: "q1", name: "third" });
	await page.locator(".take-bar [role=tab]", { hasText: "third" }).waitFor();
	await page.getByRole("button", { name: "The take", exact: true }).click();
	await pick(page, "Merge a take …");
	tally.equal("one of the other takes can be merged", (await page.getByRole("combobox", { name: "Merge a take" }).locator("option").allInnerTexts()).join(), "other,third");
	await page.keyboard.press("Escape");
}

async function finding(server, page) {
	await server.op("discussion.new", { name: "cooking" });
	await server.op("entry.append", { id: "c1", content: "How long does rice need?" });
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("postgres better");
	const hit = page.locator(".palette-item .hit");
	await hit.first().waitFor();
	tally.equal("what matched is marked", (await hit.first().locator("mark").allInnerTexts()).join(" ").toLowerCase(), "postgres better");
	await axe(page, "dialog", "palette");
	await page.keyboard.press("Enter");
	await becomes("the words are marked there", server, () => page.evaluate(() => [...CSS.highlights.get("found") ?? []].map((range) => range.toString()).join(" ")), "Postgres better");
	await becomes("Enter goes there", server, () => page.evaluate(() => document.querySelector(".entry[aria-current]")?.dataset.entry ?? document.activeElement?.dataset.entry), "q3");
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("cokng");
	await page.locator(".palette-item", { hasText: "cooking" }).waitFor();
	await page.keyboard.press("Enter");
	await becomes("a discussion by some letters", server, () => page.locator(".top .where").innerText(), "cooking");
	await page.getByRole("button", { name: "Search and commands" }).click();
	await page.locator("#palette").fill("no such thing at all");
	await page.getByText("No match.").waitFor();
	await page.keyboard.press("Escape");
	await page.locator("dialog").waitFor({ state: "detached" });
}

/** Choosing a model; problems with a name are reported before the model is asked. */
async function model(server, page) {
	const set = async () => ({ ...(await state(server)).settings, ...(await state(server)).discussions[0].settings }).model;
	const button = page.locator(".composer .model"), dialog = page.getByRole("dialog", { name: "Model" });
	tally.equal("what the server was started with", await button.innerText(), "builtin/summary");
	tally.equal("it can be asked", await page.locator("#ask").count(), 1);
	await page.locator("#composer").fill("Who are you?");
	await page.locator("#ask").click();
	await becomes("and answers", server, async () => (await take(server, "other")).length, 5);

	await button.click();
	const field = dialog.getByRole("combobox", { name: "Find a model" });
	await dialog.getByRole("option", { name: /^echo / }).waitFor();
	tally.equal("built-in models are described", await dialog.getByRole("option", { name: /^summary / }).locator(".about").innerText(), "extracts sentences");
	tally.equal("a provider without a key is one line", await dialog.getByRole("option", { name: /^openai / }).locator(".about").innerText(), "needs a key (OPENAI_API_KEY)");
	tally.check("a provider with an invalid URL, too", await dialog.getByRole("option").filter({ hasText: "its URL is not valid" }).count() === 1);
	await axe(page, "dialog", "model");
	await field.press("End");
	await dialog.getByRole("option", { name: /^openai / }).click();
	const setup = page.getByRole("dialog", { name: "Set up openai" });
	await axe(page, "dialog", "model setup");
	tally.equal("its setup names the file", await setup.locator(".setup-file code").innerText(), join(server.folder, "config/retake/config.toml"));
	await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: (text) => { window.copied = text; return Promise.resolve(); } } }));
	await setup.getByRole("button", { name: "Copy the lines for the configuration file" }).click();
	const lines = await page.evaluate(() => window.copied);
	tally.check("and has lines to copy", /^\[provider\.openai\]\n[^]*key_file = /.test(lines), lines);
	await setup.getByRole("button", { name: "Back to the models" }).click();
	await dialog.getByRole("option", { name: "Add a provider …" }).click();
	const other = page.getByRole("dialog", { name: "Add a provider" });
	await other.getByRole("button", { name: "Copy the lines for the configuration file" }).click();
	mkdirSync(join(server.folder, "added/retake"), { recursive: true });
	writeFileSync(join(server.folder, "added/retake/config.toml"), [lines, await page.evaluate(() => window.copied)].join("\n"));
	server.env.XDG_CONFIG_HOME = join(server.folder, "added");
	const known = JSON.parse(await server.run(["models", "--json"]));
	tally.check("the command line accepts both", known.some((each) => each.provider === "local" && each.url === "http://127.0.0.1:8080/v1"), known);
	await other.getByRole("button", { name: "Back to the models" }).click();
	await dialog.getByRole("option", { name: /^echo / }).waitFor();
	await field.fill("gpt-5");
	await field.press("Enter");
	const alert = dialog.getByRole("alert"), status = dialog.locator("p[role=status]");
	tally.check("a name without a provider is that of its maker, which has no key", (await status.innerText()).includes("OPENAI_API_KEY"), await status.allInnerTexts());
	tally.equal("it is not set", await set(), undefined);
	await field.fill("opnai/gpt-5");
	await field.press("Enter");
	tally.check("nor is a provider that is not there", (await status.innerText()).includes('no provider “opnai”'), await status.allInnerTexts());
	tally.equal("and it is not set", await set(), undefined);
	await field.fill("builtin/ecco");
	await field.press("Enter");
	await alert.getByText("No built-in model").waitFor();
	tally.check("an unknown model keeps the dialog open, with the reason and those that exist", /"ecco"; available: echo, summary/.test(await alert.innerText()), await alert.innerText());
	tally.equal("at the field", await field.getAttribute("aria-describedby"), await alert.getAttribute("id"));
	tally.equal("and nowhere else", await page.locator(".toast.problem").count(), 0);
	tally.equal("it is not set either", await set(), undefined);
	tally.check("one that was refused was not used", !(await page.evaluate(() => localStorage.getItem("retake.models") ?? "")).includes("ecco"));
	await field.fill("openai/gpt-5");
	await field.press("Enter");
	await becomes("a whole name is used", server, set, "openai/gpt-5");
	await page.locator(".toast", { hasText: "Model of this project: openai/gpt-5" }).waitFor();

	await page.locator("#composer").fill("And now?");
	await page.locator("#ask").click();
	const toast = page.locator(".toast.problem");
	const failure = page.locator(".failure").last();
	await failure.waitFor();
	tally.check("a missing key names the file", (await failure.innerText()).includes("retake/config.toml"), await failure.innerText());
	await failure.getByRole("button", { name: "Choose a model" }).click();
	await field.fill("ech");
	await field.press("Enter");
	await becomes("one of the list, for this discussion", server, async () => (await state(server)).discussions[0].settings?.model, "builtin/echo");
	await becomes("the default of the project stays", server, async () => (await state(server)).settings.model, "openai/gpt-5");
	await page.getByRole("button", { name: "Model: builtin/echo" }).click();
	tally.equal("used last comes first", await dialog.getByRole("group", { name: "Recent" }).getByRole("option").first().innerText().then((text) => text.split("\n")[0]), "builtin/echo");
	await dialog.getByLabel("Effort").selectOption("low");
	await becomes("effort", server, async () => (await state(server)).discussions[0].settings?.reasoning_effort, "low");
	await page.keyboard.press("Escape");

	await server.op("setting.set", { key: "model", value: "builtin/summary", of: "discussion" }, "?discussion=d1");
	await becomes("others choose one, too", server, () => button.innerText(), "builtin/summary");
}

/** Several models answer one question; the failure of one does not affect the others; one undo. */
async function several(server, page) {
	const dialog = page.getByRole("dialog", { name: "Ask several models" });
	const takes = async () => (await state(server)).discussions[0].takes.length;
	await page.locator("#composer").fill("Who is right?");
	await palette(page, "Ask several models");
	const field = dialog.getByRole("combobox", { name: "Find a model" });
	for (const name of ["builtin/echo", "builtin/summary", "openai/none"]) {
		await field.fill(name);
		await field.press("Enter");
	}
	await axe(page, "dialog", "several models");
	await dialog.getByRole("button", { name: "Ask 3 models" }).click();
	const compared = page.getByRole("dialog", { name: "Compare takes" });
	await compared.waitFor();
	await page.locator(".toast.problem").waitFor();
	tally.check("a model without a key is named", (await page.locator(".toast").innerText()).includes("openai/none"), await page.locator(".toast").innerText());
	await becomes("a take more", server, takes, 3);
	await becomes("the first reply is in the open take", server, async () => (await take(server, "other")).length, 5);
	tally.equal("which is not offered in itself", await page.locator(".toast").getByRole("button", { name: "Compare" }).count(), 0);
	tally.check("their replies are side by side", (await compared.locator(".side-entry").count()) >= 2);
	await page.keyboard.press("Escape");
	await page.locator("#undo").click();
	await becomes("one undo takes both away", server, async () => [await takes(), (await take(server, "other")).length], [2, 4]);
}

/** Templates: created, used with their variables from the composer, deleted. */
async function templates(server, page) {
	const names = async () => Object.keys((await state(server)).settings ?? {}).filter((key) => key.startsWith("template."));
	await palette(page, "Templates");
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "New template" }).click();
	tally.check("the name can be typed at once", await until(() => page.evaluate(() => document.activeElement.id === "template-name")));
	await dialog.getByLabel("Name").fill("re view");
	await dialog.getByLabel("Text").fill("Review {{file}} as {{ who }}.");
	tally.check("a name with a blank cannot be saved", await dialog.getByRole("button", { name: "Save" }).isDisabled());
	await dialog.getByLabel("Name").fill("review");
	await axe(page, "dialog", "a template");
	await dialog.getByRole("button", { name: "Save" }).click();
	await becomes("saved", server, names, ["template.review"]);
	await page.keyboard.press("Escape");
	const field = page.locator("#composer");
	await field.fill("/rev");
	await page.getByRole("button", { name: "/review" }).waitFor();
	await field.press("Enter");
	await dialog.getByLabel("file").fill("<b>$&</b>");
	await dialog.getByLabel("who").fill("{{file}}");
	await axe(page, "dialog", "variables");
	await dialog.getByRole("button", { name: "Insert into the message" }).click();
	await until(async () => (await field.inputValue()) !== "/rev");
	tally.equal("its variables are filled in once", await field.inputValue(), "Review <b>$&</b> as {{file}}.");
	tally.equal("nothing was sent", (await take(server, "other")).length, 3);
	await palette(page, "Templates");
	await dialog.getByRole("button", { name: "Delete the template review" }).click();
	await becomes("deleted", server, names, []);
	await page.keyboard.press("Escape");
	await page.locator("#undo").click();
	await becomes("and back", server, names, ["template.review"]);
	await server.op("setting.set", { key: "template.long", value: "A long text. ".repeat(30) });
	await palette(page, "Templates");
	await dialog.getByRole("button", { name: "Delete the template long" }).waitFor();
	tally.check("a long text leaves room for the buttons", await dialog.evaluate((box) => box.scrollWidth <= box.clientWidth));
}

/** A completely different text is shown in full; an export is named after its contents. */
async function wholes(server, page) {
	await server.op("entry.edit", { entry: "a1", take: "other", content: "Nothing of all that stands here any more." });
	await choose(page.locator(".entry[data-entry=a1]"));
	await page.keyboard.press("w");
	await page.getByRole("dialog", { name: "Versions of entry 2" }).waitFor();
	tally.equal("the old text is whole", await page.locator(".versions .wholes del").innerText(), "SQLite, almost always.");
	await page.keyboard.press("Escape");
	await server.op("discussion.rename", { discussion: "d1", name: "rye/bréad" });
	await page.locator(".top .where", { hasText: "rye" }).waitFor();
	await palette(page, "Export …");
	tally.equal("first what people read", (await page.locator("dialog .choice > span").evaluateAll((all) => all.slice(0, 2).map((each) => each.firstChild.textContent.trim()))).join(), "Web page,Markdown");
	await page.getByRole("radio", { name: /^Web page/ }).check();
	const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("dialog").getByRole("link", { name: "Export" }).click()]);
	tally.equal("the file's name", saved.suggestedFilename(), "rye_bréad.html");
	await page.locator(".toast", { hasText: "folder (Web page)" }).waitFor();
	// other programs use another take: an export starts with the visible one
	const shown = await page.locator(".take-bar [role=tab][aria-selected=true] .name").innerText();
	const others = (await server.api("GET", "/discussions/d1/takes")).find((each) => each.name !== shown);
	await server.op("take.switch", { take: others.id }, "?discussion=d1");
	await page.locator(`.take-bar [data-take="${others.id}"] .dot`).waitFor();
	await palette(page, "Export …");
	await page.getByLabel("Content", { exact: true }).selectOption("discussion");
	await page.getByRole("radio", { name: /^Web page/ }).check();
	const [all] = await Promise.all([page.waitForEvent("download"), page.locator("dialog").getByRole("link", { name: "Export" }).click()]);
	const html = readFileSync(await all.path(), "utf8");
	const data = JSON.parse(/<script[^>]*id="?retake-data"?[^>]*>([^]*?)<\/script>/.exec(html)[1]);
	tally.check("an exported discussion has all its takes", data.discussions[0].takes.length > 1, data.discussions[0].takes.map((each) => each.name));
	tally.equal("and opens at the selected one", data.discussions[0].active, shown);
	await page.locator(`.take-bar [data-take="${others.id}"]`).click();
}

async function files(server, page) {
	await palette(page, "Import files …");
	const file = join(server.folder, "talk.json");
	writeFileSync(file, JSON.stringify([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hello." }]));
	const shown = await page.locator(".take-bar [aria-selected=true]").getAttribute("data-take");
	await server.op("take.switch", { take: (await server.api("GET", "/discussions/main/takes")).find((each) => each.id !== shown).id });
	const before = await server.canonical();
	await page.locator("dialog input[type=file]").setInputFiles(file);
	await page.getByText("2 new entries").waitFor();
	tally.equal("counting changes nothing", await server.canonical(), before);
	await axe(page, "dialog", "import");
	await page.getByRole("button", { name: "Import", exact: true }).click();
	await becomes("import", server, async () => (await state(server)).discussions.map((each) => each.name).sort(), ["main", "talk"]);
	await page.locator("dialog").waitFor({ state: "detached" });
	await page.locator(".top .where", { hasText: "talk" }).waitFor();
	await page.locator("#undo").click();
	await becomes("undo leads back to the take that was shown", server, () => page.locator(".take-bar [aria-selected=true]").getAttribute("data-take"), shown);
	await page.locator("#redo:not([aria-disabled])").click();
	await becomes("and redo shows the imported entries", server, () => page.locator(".top .where").innerText(), "talk");

	await palette(page, "Import files …");
	const titled = join(server.folder, "notes.md");
	writeFileSync(titled, "# A plan for Rome\n\n## User\n\nWhen?\n\n## Assistant\n\nIn May.\n");
	await page.locator("dialog input[type=file]").setInputFiles(titled);
	await page.locator("dialog").getByText("2 new entries").waitFor();
	tally.equal("a heading at the beginning is the name", await page.getByLabel("Name", { exact: true }).inputValue(), "A plan for Rome");
	await page.getByRole("button", { name: "Import", exact: true }).click();
	await page.locator(".top .where", { hasText: "A plan for Rome" }).waitFor();
	await page.locator("dialog").waitFor({ state: "detached" });
	await page.locator("#undo").click();
	await becomes("undone", server, async () => (await state(server)).discussions.map((each) => each.name).sort(), ["main", "talk"]);

	// the same file again, dropped on the page: it is recognised
	await page.evaluate((text) => {
		const carried = new DataTransfer();
		carried.items.add(new File([text], "talk.json"));
		document.querySelector("#take").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
	}, readFileSync(file, "utf8"));
	await page.getByText("2 already exist").waitFor();
	tally.check("nothing to import", await page.locator("dialog").getByRole("button", { name: "Import", exact: true }).isDisabled());
	await page.keyboard.press("Escape");
	await page.locator("dialog").waitFor({ state: "detached" });

	await palette(page, "Export …");
	await axe(page, "dialog", "export");
	await page.locator("dialog").getByRole("radio", { name: /^Everything, for Retake/ }).check();
	const [download] = await Promise.all([page.waitForEvent("download"), page.locator("dialog a.button").click()]);
	tally.equal("export", readFileSync(await download.path(), "utf8").trim(), (await server.canonical()).trim());
}

async function summing(server, page) {
	// compaction and compression, with the built-in model
	await server.op("setting.set", { key: "model", value: "builtin/summary" });
	await until(async () => (await page.locator(".composer .model").innerText()).includes("builtin"));
	await palette(page, "Compact or compress …");
	await page.getByRole("radio", { name: /A range of entries/ }).check();
	await page.getByLabel("From").selectOption("q1");
	await page.getByLabel("To", { exact: true }).selectOption("a1");
	await axe(page, "dialog", "compaction");
	await page.locator("dialog").getByRole("button", { name: "Compact" }).click();
	await page.locator("dialog").waitFor({ state: "detached" });
	await becomes("compact a run", server, async () => (await take(server, "other")).filter((each) => each.kind === "compaction").length, 1);
	await openPane(page, "outline");
	await becomes("it is marked, with its tokens", server, async () =>
		/^\[compaction: \d+ tokens\]/.test(await page.locator("#pane .tree-row", { hasText: "[compaction" }).first().innerText()), true);
	await becomes("the others stay", server, async () => (await take(server, "other")).filter((each) => ["q1", "a1", "q3"].includes(each.id)).length, 3);
	const whole = await server.canonical();
	await palette(page, "Compact or compress …");
	await page.getByRole("radio", { name: /The whole take/ }).check();
	await page.locator("dialog").getByRole("button", { name: "Compress" }).click();
	await page.locator("dialog").waitFor({ state: "detached" });
	await becomes("compress", server, async () => (await server.api("GET", "/discussions/main/entries")).count, 1);
	await page.locator("#undo").click();
	await becomes("undo restores them", server, () => server.canonical(), whole);
}

async function ends(server, page) {
	const whole = await server.canonical();
	await page.locator(".discussions header .menu").click();
	await page.getByRole("menuitem", { name: "Reset the project …" }).click();
	await axe(page, "dialog", "reset");
	await page.locator("dialog").getByRole("button", { name: "Reset" }).click();
	await becomes("reset", server, async () => idsOf((await state(server)).discussions[0].takes[0].entries ?? []), "");
	await page.locator("#undo").click();
	await becomes("one undo brings everything back", server, () => server.canonical(), whole);
	await palette(page, "Purge a secret …");
	const dialog = page.locator("dialog"), sure = page.getByRole("button", { name: "Purge permanently" });
	await page.getByLabel("The exact text").fill("Postgres");
	tally.check("not without a word", await sure.isDisabled());
	await axe(page, "dialog", "purge");
	await page.getByLabel(/^Type/).fill("purge");
	await sure.click();
	await page.getByText("Purged from this project.").waitFor();
	tally.check("purge", !(await server.canonical()).includes("Postgres"));
	await dialog.getByRole("button", { name: "Close" }).last().click();
	await becomes("the page forgets it, too", server, async () => (await page.locator("#take").innerText()).includes("Postgres"), false);
}

/** Every pane and dialog, dark and narrow: no axe violations, no horizontal overflow. */
async function looks(server, _page, browser) {
	for (const [colorScheme, width] of [["dark", 1280], ["light", 390], ["dark", 390]]) {
		const page = await openPage(server, browser, tally, { colorScheme, viewport: { width, height: 800 } });
		for (const id of ["outline", "history", "prompt", "settings"]) {
			await openPane(page, id);
			await page.locator("#pane .pane-body").waitFor();
			await axe(page, width > 1000 ? "body" : "#pane", `${id}, ${colorScheme}, ${width} px`);
			const wide = await page.evaluate(() => document.querySelector("#pane").scrollWidth - document.querySelector("#pane").clientWidth);
			tally.check(`nothing sideways: ${id}, ${width} px`, wide <= 0, wide);
		}
		await page.keyboard.press("Escape");
		for (const text of ["Compare takes", "Compact or compress …", "Export …", "Import files …", "Purge a secret …", "Reset the project …"]) {
			await palette(page, text);
			await page.locator("dialog:not(.palette)").waitFor();
			await axe(page, "dialog", `${text}, ${colorScheme}, ${width} px`);
			const wide = await page.evaluate(() => document.querySelector("dialog").scrollWidth - document.querySelector("dialog").clientWidth);
			tally.check(`nothing sideways: ${text}, ${width} px`, wide <= 0, wide);
			await page.keyboard.press("Escape");
			await page.locator("dialog").waitFor({ state: "detached" });
		}
		await page.context().close();
	}
}

/** 100,000 entries: few rows are rendered, and the last is one key away. */
async function many(server, page) {
	const COUNT = 100000;
	const file = join(server.folder, "many.jsonl");
	writeFileSync(file, JSON.stringify(Array.from({ length: COUNT }, (_, i) => ({ role: i % 2 ? "assistant" : "user", content: `Text ${i}` }))));
	await fetch(`${server.url}/retake/v1/import?name=many`, { method: "POST", body: readFileSync(file),
		headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" } });
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("many");
	await page.locator(".palette-item", { hasText: "many" }).first().click();
	await openPane(page, "outline");
	await becomes("100,000 rows", server, async () => await page.locator("#pane [role=treeitem]").first().getAttribute("aria-setsize").catch(() => null), String(COUNT));
	await page.locator("#pane [role=treeitem][tabindex='0']").focus();
	await page.keyboard.press("Home");
	await becomes("Home", server, () => page.evaluate(() => document.activeElement.getAttribute("aria-posinset")), "1");
	await page.keyboard.press("End");
	await becomes("End", server, () => page.evaluate(() => document.activeElement.getAttribute("aria-posinset")), String(COUNT));
	tally.check("few rows are there", await page.locator("#pane [role=treeitem]").count() < 100);
}

const PARTS = { outline, hidden, going, stopping, history, pages, prompt, sent, settings, compare, elsewhere, finding, model, several, templates, wholes, files, summing, ends, looks, many };

const silent = createServer(() => undefined);
await new Promise((done) => silent.listen(0, "127.0.0.1", done));
const browser = await openBrowser();
for (const [name, run] of Object.entries(PARTS)) {
	if (process.env.ONLY && process.env.ONLY !== name)
		continue;
	const server = new Server();
	server.env.OLLAMA_HOST = `http://127.0.0.1:${silent.address().port}`;
	try {
		if (name === "model") {
			server.env.RETAKE_MODEL = "builtin/summary";
			server.env.OLLAMA_HOST = "not a host";
		}
		await server.start("0", ...(name === "settings" ? ["--files", server.folder] : []));
		await seed(server);
		const page = await openPage(server, browser, tally);
		await page.locator("[data-entry=q3]").first().waitFor();
		await run(server, page, browser);
		await page.context().close();
	} catch (error) {
		tally.check(`${name} runs to its end`, false, error.stack ?? error);
	} finally {
		await server.stop();
	}
}
await browser.close();
silent.closeAllConnections();
silent.close();
process.exit(tally.end());
