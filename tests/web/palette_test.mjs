// SPDX-License-Identifier: MIT
//
// The palette finds operations and settings by common words; a server without a shared directory
// says so; a disabled menu item gives the reason. Hits have dates. A renamed discussion renames its
// takes. A step reverted in another take is shown; messages contain no shell commands.
import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server();
await server.run(["add", "One."]);
await server.run(["add", "Two.", "-r", "AI"]);
await server.start("0");
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const FOUND = [["promote", "Make the take a discussion"], ["rename", "Rename the take"], ["roles", "Edit the roles"], ["track", "Set the track"],
	["filter", "Filter by role"], ["reset", "Reset the project"], ["save", "Save"], ["temperature", "Set the temperature"], ["undo capacity", "Set the number of steps that can be undone"],
	["base prompt", "Edit the instructions"], ["preset", "Save or load a preset"], ["screenshots", "Choose files to send"], ["truncate", "Truncate the take"],
	["compact", "Compact or compress"], ["summarise", "Compact or compress"], ["max tokens", "Set the maximum number of tokens"], ["setting", "Set top p"], ["tokens", "Statistics"]];

async function isFound(query, text) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill(query);
	const is = await until(async () => await page.locator(".palette-item", { hasText: text }).count() > 0);
	await page.keyboard.press("Escape");
	await until(async () => await page.locator("#palette").count() === 0);
	return is;
}
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("take");
await page.locator(".palette-item", { hasText: "Rename the take" }).waitFor();
await page.locator("#palette").fill("promote");
await page.locator(".palette-item", { hasText: "Rename the take" }).waitFor({ state: "detached" }); // these are the new hits
tally.equal("one take cannot be promoted", await page.locator(".palette-item", { hasText: "Make the take a discussion" }).count(), 0);
await page.keyboard.press("Escape");
await until(async () => await page.locator("#palette").count() === 0);
await server.run(["branch", ":1", "other"]);
await until(async () => await page.getByRole("tab").count() > 1);
for (const [query, text] of FOUND)
	tally.check(`"${query}" finds "${text}"`, await isFound(query, text));

await page.keyboard.press("Control+k");
await page.locator("#palette").fill("undo capacity");
await page.locator(".palette-item", { hasText: "Set the number of steps" }).first().click();
tally.check("a setting has the focus", await until(() => page.evaluate(() => document.activeElement?.id === "set-maximum-number-of-undo-steps")));
tally.check("no directory is shared", await until(async () => await page.getByText("This server does not share a directory").count() === 1));
tally.check("no file can be added", await page.getByLabel("Path to add to context files").isDisabled());

await page.locator("[data-entry]").last().hover();
await page.locator("[data-entry]").last().getByRole("button", { name: /more|menu|actions/i }).last().click();
await page.getByRole("menuitem", { name: /^More/ }).click().catch(() => undefined);
const last = page.getByRole("menuitem", { name: "Move down" });
tally.equal("the reason", await last.getAttribute("title"), "This is the last entry");
await page.keyboard.press("Escape");

await server.run(["new", "second"]);
await server.run(["add", "Ferries float."]);
await server.run(["branch", ":1", "other"]);

// A step that is reverted in another take is shown there.
await server.run(["edit", ":1", "Changed.", "-d", "main", "--take", "main"]);
await page.getByRole("tab", { name: /^other/ }).click();
await page.locator("#to-history").click();
const toast = page.locator(".toast");
const revert = async (words) => {
	await page.locator("#pane .step", { hasText: words, hasNotText: "reverted" }).first().click();
	await page.getByRole("button", { name: "Revert only this" }).click();
};
await revert("edited entry");
tally.check("the take is named", await until(async () => /in the take “?"?main/.test(await toast.first().innerText().catch(() => ""))), await toast.allInnerTexts());
tally.equal("and shown", await page.locator(".take-bar [aria-selected=true]").getAttribute("aria-label").then((name) => name.split(",")[0]), "main");
tally.check("with the text of before", await until(async () => (await page.locator(".entry").first().innerText()).includes("One.")));
await revert("edited entry");
tally.check("the reason has no command", await until(async () => /cannot revert/.test(await toast.first().innerText().catch(() => ""))) &&
	!(await toast.first().innerText()).includes("retake "), await toast.allInnerTexts());

// A discussion and the takes with its name are renamed in one step.
await page.getByRole("button", { name: "More for second" }).click();
await page.getByRole("menuitem", { name: "Rename" }).click();
await page.locator("dialog input").fill("Ferries");
await page.keyboard.press("Enter");
tally.check("renamed", await until(async () => (await server.api("GET", "/discussions")).some((each) => each.name === "Ferries")));
tally.equal("its take, too", (await server.api("GET", "/discussions/Ferries/takes")).map((each) => each.name).join(), "Ferries,other");
tally.check("the step says so", (await server.run(["history"])).includes('renamed discussion "second" to "Ferries"'));

// The palette starts with other discussions; hits have dates, and a date limits them.
await server.run(["add", "Old ferries.", "--ts", "2019-05-06T12:00:00Z", "-d", "main"]);
await page.keyboard.press("Control+k");
tally.check("recent", await until(async () => (await page.locator(".palette-item").first().innerText()).split("\n")[0].trim() === "Ferries"),
	await page.locator(".palette-item").allInnerTexts());
const hits = page.locator(".palette-item .hit");
await page.locator("#palette").fill("ferries");
tally.check("both", await until(async () => await hits.count() === 2), await hits.allInnerTexts());
await page.locator("#palette").fill("before:2020-01-01 ferries");
tally.check("the old one", await until(async () => await hits.count() === 1 && /May/.test(await hits.first().innerText())), await hits.allInnerTexts());
await browser.close();
await server.stop();
process.exit(tally.end());
