// SPDX-License-Identifier: MIT
//
// The palette finds operations and settings by their usual words; a server without a shared directory
// says so; a menu item that is not possible says why.
import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server();
await server.run(["add", "One."]);
await server.run(["add", "Two.", "-r", "AI"]);
await server.start("0");
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const FOUND = [["promote", "Make the take a discussion"], ["rename", "Rename the take"], ["roles", "Edit the roles"], ["track", "Set the track"],
	["filter", "Filter by role"], ["reset", "Reset the project"], ["save", "Save"], ["temperature", "Set the temperature"], ["undo capacity", "Set the steps that can be undone"],
	["base prompt", "Edit the system prompt"], ["preset", "Save or load a preset"], ["screenshots", "Choose files to send"], ["truncate", "Truncate the take"],
	["compact", "Compact or compress"], ["summarise", "Compact or compress"], ["max tokens", "Set the maximum number of tokens"], ["setting", "Set top p"]];

async function isFound(query, text) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill(query);
	const is = await until(async () => await page.locator(".palette-item", { hasText: text }).count() > 0, 2000);
	await page.keyboard.press("Escape");
	await until(async () => await page.locator("#palette").count() === 0);
	return is;
}
tally.check("one take cannot be promoted", !(await isFound("promote", "Make the take a discussion")));
await server.run(["branch", ":1", "other"]);
await until(async () => await page.getByRole("tab").count() > 1);
for (const [query, text] of FOUND)
	tally.check(`"${query}" finds "${text}"`, await isFound(query, text));

await page.keyboard.press("Control+k");
await page.locator("#palette").fill("undo capacity");
await page.locator(".palette-item", { hasText: "Set the steps" }).first().click();
tally.check("a setting has the focus", await until(() => page.evaluate(() => document.activeElement?.id === "set-maximum-number-of-undo-steps")));
tally.check("no directory is shared", await until(async () => await page.getByText("This server does not share any directory").count() === 1));
tally.check("no file can be added", await page.getByLabel("Path to add to context files").isDisabled());

await page.locator("[data-entry]").last().hover();
await page.locator("[data-entry]").last().getByRole("button", { name: /more|menu|actions/i }).last().click();
await page.getByRole("menuitem", { name: /^More/ }).click().catch(() => undefined);
const last = page.getByRole("menuitem", { name: "Move down" });
tally.equal("the reason", await last.getAttribute("title"), "This is the last entry");
await browser.close();
await server.stop();
process.exit(tally.end());
