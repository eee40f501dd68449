// SPDX-License-Identifier: MIT
//
// What newcomers do on their first day: read the cost, revert a step while there are two takes, and
// select entries. SHOTS=FOLDER saves screenshots.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, pick, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server();
await server.run(["set", "model", "builtin/echo"]);
await server.start("0");
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const field = page.locator("#composer"), toast = page.locator(".toast");
const look = (name) => process.env.SHOTS && page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });

// usage
if (await page.getByRole("button", { name: "Panes", exact: true }).getAttribute("aria-expanded") !== "true")
	await page.getByRole("button", { name: "Panes", exact: true }).click();
await page.locator("#pane-tab-prompt").click();
await field.fill("Hello");
await field.press("Enter");
await until(async () => await page.locator(".entry:not(.running)").count() === 2);
tally.check("the price is unknown", await until(async () => (await page.locator(".usage").innerText()).includes("price unknown")));
await page.locator(".usage").scrollIntoViewIfNeeded();
await look("usage");

const { id } = (await server.api("GET", "/discussions/main/entries")).entries[1];
await server.op("take.branch", { at: id, name: "other" });
await page.locator(".tab", { hasText: "other" }).waitFor();

// a step is reverted in its own take only, and the message says so
await page.locator("#pane-tab-history").click();
await page.locator("#pane .pane-row", { hasText: "got reply" }).first().click();
await page.getByRole("button", { name: "Revert only this" }).click();
await toast.filter({ hasText: "Reverted that step. Other takes are unchanged." }).waitFor();
await look("reverted");
await toast.getByRole("button", { name: "Undo" }).click();
await until(async () => await page.locator(".entry:not(.running)").count() === 2);

// a selection begins: the Undo of an earlier change would be misleading
const { id: first } = (await server.api("GET", "/discussions/main/entries?take=main")).entries[0];
await page.locator(`[data-entry="${first}"]`).first().hover();
await page.locator(`[data-entry="${first}"] .menu button, [data-entry="${first}"] button.menu`).first().click();
tally.check("there is a message", await toast.count() === 1);
await pick(page, "Select from here …");
tally.check("a selection dismisses it", await until(async () => await toast.count() === 0));

await page.keyboard.press("Escape");
// a mistake before other changes, in a take without a chosen name
const { entry: mistake } = await server.op("entry.append", { role: "User", content: "Deleted by mistake" });
for (let n = 1; n <= 12; n++)
	await server.op("entry.append", { role: "AI", content: `Line ${n}\n\n`.repeat(4) });
await server.op("take.branch", { at: mistake });
const open = (await server.api("GET", "/discussions/main/takes")).find((each) => each.active);
for (let n = 1; n <= 12; n++)
	await server.op("entry.append", { role: "AI", content: `Another ${n}\n\n`.repeat(4) });
await server.op("entry.delete", { entry: mistake });
await server.op("entry.append", { role: "User", content: "Something else" });
await page.locator(`.tab[data-take="${open.id}"]`).click();
await until(async () => {
	await page.locator(".entries").evaluate((box) => { box.scrollTop = box.scrollHeight; });
	return await page.locator(".entry", { hasText: "Something else" }).count() === 1;
});
await page.locator("#pane-tab-outline").click();
await page.locator("#pane-tab-history").click();
await page.locator("#pane .pane-row", { hasText: "deleted entry" }).first().click();
const past = page.locator("#pane .past");
tally.check("the state is that of its take, by its title", await until(async () => /Deleted by mistake/.test(await past.innerText())) && !/did not exist|_take_/.test(await past.innerText()), [open.name, await past.innerText()]);
await page.getByRole("button", { name: "Revert only this" }).click();
tally.check("the restored entry is in view", await until(() => page.evaluate((id) => {
	const at = document.querySelector(`.entries [data-entry="${id}"]`)?.getBoundingClientRect();
	return at && at.top > 0 && at.bottom < innerHeight;
}, mistake)));
await server.op("take.delete", { take: open.id });
await page.getByRole("tab", { name: /^main,/ }).click();
await until(async () => await page.locator(".entry:not(.running)").count() === 2);

// instructions that are typed, but not saved, are reported where the question is asked; leaving the field saves them
await page.keyboard.press("Escape");
await page.locator("#pane-tab-prompt").click();
await page.locator("#project_system_prompt").fill("Answer briefly.");
const unsaved = page.locator(".composer .behind", { hasText: "Not saved, so not sent" });
tally.check("unsaved instructions are reported", await until(async () => await unsaved.count() === 1));
await look("unsaved");
await field.click();
tally.check("they are saved without a button", await until(async () => (await server.api("GET", "/discussions/main/settings")).settings.project_system_prompt === "Answer briefly."));
tally.check("and the message goes", await until(async () => await unsaved.count() === 0));

// takes can be compared without a menu
await page.getByRole("button", { name: "Compare", exact: true }).click();
tally.check("compare is visible", await until(async () => await page.getByRole("dialog", { name: "Compare takes" }).count() === 1));
await page.keyboard.press("Escape");

// "/" leads to the first template
await field.fill("/");
await page.getByRole("button", { name: "No templates yet. New template …" }).click();
tally.check("the templates open", await until(async () => await page.getByRole("dialog", { name: "Templates" }).count() === 1));
await page.keyboard.press("Escape");
await field.fill("");

// another discussion is archived, and Undo lists it again
await server.op("discussion.new", { name: "aside" });
const isArchived = async () => (await server.api("GET", "/discussions?all=1")).find((each) => each.name === "aside")?.archived === true;
await page.getByRole("button", { name: /^More for aside/ }).click();
await pick(page, "Archive");
tally.check("archived", await until(isArchived));
await toast.getByRole("button", { name: "Undo" }).click();
tally.check("and listed again", await until(async () => !(await isArchived())));

// several models: the question is written in the dialog, and each model is listed once
await page.evaluate(() => localStorage.setItem("retake.models", '["builtin/echo"]'));
await page.getByRole("button", { name: /^Model: builtin/ }).click();
const picker = page.getByRole("dialog", { name: "Model" });
await picker.getByLabel(/^Ask several models/).check();
const models = picker.getByRole("option");
await until(async () => await models.count() > 1);
tally.equal("a model is listed once", await models.filter({ hasText: "echo" }).count(), 1);
await picker.getByLabel("Question").fill("Which of you is faster?");
await models.filter({ hasText: "echo" }).click();
await models.filter({ hasText: "summary" }).click();
await look("several");
await picker.getByRole("button", { name: "Ask 2 models" }).click();
tally.check("both are asked", await until(async () => (await server.api("GET", "/discussions/main/entries?take=main")).entries.some((each) => each.content === "Which of you is faster?")));
const both = page.getByRole("dialog", { name: "Compare takes" });
tally.check("and compared", await until(async () => await both.count() === 1));
await page.keyboard.press("Escape");

// a model that plays a file is refused where it is chosen
await page.getByRole("button", { name: /^Model: builtin/ }).click();
await page.keyboard.type("builtin/play:x");
await page.keyboard.press("Enter");
tally.check("a script is refused by the dialog", await until(async () => (await picker.innerText()).includes("only on the command line or in the configuration file")), await picker.innerText());
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");

// on a phone the names of the takes have the room of the filter
await page.setViewportSize({ width: 390, height: 844 });
await look("phone");
tally.check("no filter of roles beside several takes", await until(async () => !(await page.locator(".role-filter").isVisible())));
await page.getByRole("button", { name: "The take", exact: true }).click();
await pick(page, /^Compare takes/);
await both.waitFor();
const widths = await both.locator(".compare-heads select").evaluateAll((all) => all.map((each) => each.offsetWidth));
tally.check("and both takes of a comparison have names that can be read", widths.length === 2 && Math.min(...widths) > 150, widths);
tally.check("without generated names", !(await both.locator(".compare-heads").innerText()).includes("_take_"), await both.locator(".compare-heads").innerText());
await page.keyboard.press("Escape");
await page.setViewportSize({ width: 1280, height: 800 });

// an imported conversation: its root is not an entry, its year is visible, and the list has no cut words
const said = (id, parent, role, text) => ({ id, parent, children: [], message: { author: { role }, create_time: 1588327200, content: { content_type: "text", parts: [text] } } });
writeFileSync(join(server.folder, "conversations.json"), JSON.stringify([{ title: "Ships", conversation_id: "c1", current_node: "b", mapping: {
	r: { id: "r", parent: null, children: ["a"], message: null }, a: said("a", "r", "user", "Do ships float?"), b: said("b", "a", "assistant", "Yes, **most**.") } }]));
await server.run(["import", "conversations.json"]);
await page.locator(".discussions button.name", { hasText: "Ships" }).click();
await page.locator(".entry", { hasText: "Do ships float?" }).waitFor();
tally.equal("after an imported reply another one is not the main action", await page.locator("#ask").getAttribute("class"), "");
tally.equal("the first message is entry 1", await page.locator(".entry .number").first().innerText(), "1");
tally.check("the year of an old message", (await page.locator(".entry .when").first().innerText()).includes("2020"), await page.locator(".entry .when").first().innerText());
const cut = () => page.locator(".discussions .name .count").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent));
tally.equal("no size in the list is cut", (await cut()).join(), "");
await look("list");

// the kind of an entry is any text of another program
writeFileSync(join(server.folder, "kinds.json"), JSON.stringify({ format: "retake", version: 1, discussions: [{ id: "k", name: "kinds", active: "kinds", takes: [{ name: "kinds", entries: ["constructor", "toString", "__proto__"].map((kind, at) =>
	({ id: `k${at}`, role: "User", kind, content: `kind ${at}`, ts: "2026-11-28T10:00:00Z" })) }] }], roles: ["User", "AI"] }));
await server.run(["import", "kinds.json"]);
await page.locator(".discussions button.name", { hasText: "kinds" }).click();
tally.check("entries of unknown kinds are shown", await until(async () => await page.locator(".entry", { hasText: /kind \d/ }).count() === 3), await page.locator(".entries").innerText());
await page.locator(".discussions button.name", { hasText: "Ships" }).click();
await page.locator(".entry", { hasText: "Do ships float?" }).waitFor();

// a discussion without a chosen name is called by its title
await page.getByRole("button", { name: /^More for Hello/ }).click();
await pick(page, "Delete …");
tally.check("the question names the title", await until(async () => (await page.locator("dialog").innerText()).includes("“Hello” with all its takes")), await page.locator("dialog").innerText());
await page.keyboard.press("Escape");

await page.keyboard.press("Control+k");
await page.locator("#palette").fill("faster");
tally.check("a match in another discussion, too", await until(async () => (await page.locator(".palette-list").innerText()).includes("In “Hello”")), await page.locator(".palette-list").innerText());
await page.keyboard.press("Escape");

await page.keyboard.press("Control+k");
const groups = () => page.locator(".palette-list").innerText();
tally.check("what newcomers look for comes first", await until(async () => /Do\n+New discussion\n/.test(await groups())), await groups());
await page.locator("#palette").fill("ships float");
tally.check("a hit elsewhere names the role as the page does, and its discussion once", await until(async () => /User, entry 1 · (?!take Ships)/.test(await groups())) && !/take Ships/.test(await groups()), await groups());
await page.keyboard.press("Escape");

// formats have the names of their programs
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("Import files");
await page.keyboard.press("Enter");
tally.check("formats by their programs", await until(async () => /ChatGPT, .*Claude Code, .*Web page/s.test(await page.locator("dialog .drop").innerText())), await page.locator("dialog .drop").innerText());
await page.locator("dialog input[type=file]").setInputFiles(join(server.folder, "conversations.json"));
tally.check("a known file says that nothing is new", await until(async () => (await page.locator("dialog").innerText()).includes("Nothing new: all 2 already exist.")), await page.locator("dialog").innerText());
await page.keyboard.press("Escape");

// the help knows words of other programs
await page.getByRole("button", { name: "Help and keys", exact: true }).click();
for (const word of ["cost", "fork", "regenerate", "share", "system prompt", "template", "attach", "merge"]) {
	await page.getByLabel("Search the help").fill(word);
	tally.check(`the help knows ${word}`, await until(async () => await page.locator(".topics dt").count() > 0));
}

await browser.close();
await server.stop();
process.exit(tally.end());
