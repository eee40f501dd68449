// SPDX-License-Identifier: MIT
//
// Thinking within the text of a reply: folded in place, left out of previews, of copied text and of
// the prompt. A reply that updates the working prompt, and the message about it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { choose, hasSize, openPage, pick, until } from "./place.mjs";

const REPLY = "My plan. <thinking>A secret\nthought.</thinking>\n\nI changed it.\n\n```prompt\nBe brief.\nUse French.\n```\n";
const PROSE = "My plan. I changed it.\n\n```prompt\nBe brief.\nUse French.\n```";

async function fromMenu(page, item) {
	await page.locator(".entry").last().getByRole("button", { name: /^More for entry/ }).click();
	await pick(page, item);
}

export async function run({ server, browser, tally }) {
	const play = join(server.folder, "play");
	writeFileSync(play, JSON.stringify({ text: REPLY }) + "\n");
	server.env.RETAKE_MODEL = `builtin/play:${play}`;
	await server.start();
	await server.op("setting.set", { key: "prompt_updates", value: "block" });
	await server.op("setting.set", { key: "edit_notices", value: "none" });
	await server.op("prompt.update", { text: "Be brief.\nUse English." });
	const page = await openPage(server, browser, tally, { permissions: ["clipboard-read", "clipboard-write"] });
	const prompt = async () => JSON.parse(await server.canonical()).discussions[0].prompt.text;
	await page.fill("#composer", "Change the prompt");
	await page.keyboard.press("Control+Enter");
	const said = page.locator(".toast span").first();
	await page.locator(".toast", { hasText: "Prompt updated" }).waitFor();
	tally.check("the change of the prompt is shown", /- Use English\.\n\+ Use French\./.test(await said.innerText()), await said.innerText());
	tally.equal("and kept", await prompt(), "Be brief.\nUse French.");

	const reply = page.locator(".entry").last(), thought = reply.locator("details.thinking");
	await thought.waitFor();
	tally.equal("thinking is folded", await thought.evaluate((each) => each.open), false);
	tally.check("between the texts around it", /^My plan\.[^]*Thinking[^]*I changed it\./.test(await reply.locator(".entry-body").innerText()), await reply.innerText());
	await thought.locator("summary").click();
	tally.check("and unfolds", (await thought.innerText()).includes("A secret\nthought."));

	await fromMenu(page, "Copy the text");
	const copied = () => page.evaluate(() => navigator.clipboard.readText());
	tally.check("a copy is without it", await until(async () => (await copied()).replace(/\s+/g, " ") === PROSE.replace(/\s+/g, " ")), await copied());
	await fromMenu(page, "Use as the prompt");
	tally.check("a prompt of it, too", await until(async () => (await prompt()).startsWith("My plan.")) && !(await prompt()).includes("secret"), await prompt());
	await choose(reply);
	await page.keyboard.press("e");
	tally.check("who edits has all of it", (await page.inputValue(".editor textarea")).includes("<thinking>A secret"));
	await page.keyboard.press("Escape");
	await page.locator(".editor").waitFor({ state: "detached" });
	await fromMenu(page, "Collapse");
	const preview = reply.locator(".preview");
	await preview.waitFor();
	tally.check("a collapsed entry shows the text alone", !/think|secret/i.test(await preview.innerText()), await preview.innerText());
	await page.getByRole("button", { name: "Panes", exact: true }).click();
	await page.locator("#pane-tab-outline").click();
	const row = page.locator("#pane [role=treeitem]").last();
	await row.waitFor();
	tally.check("and so does the outline", !/think|secret/i.test(await row.innerText()) && (await row.innerText()).includes("My plan."), await row.innerText());
	await hasSize(page, 2);
	await page.context().close();
}
