// SPDX-License-Identifier: MIT
//
// Symbols of the discussion's files: "@" in the composer completes them with the keyboard, "@name"
// in an entry shows the definition, and other names are text.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const tally = new Tally();
const PICTURES = process.env.RETAKE_PICTURES; // a directory for screenshots

try {
	if (!/^sandbox /m.test(execFileSync("ctags", ["--list-features"], { encoding: "utf8" })))
		throw new Error("ctags has no sandbox");
} catch {
	console.log("skipped: universal-ctags is not there (setup/packages.sh test)");
	process.exit(77);
}

const server = new Server();
writeFileSync(join(server.folder, "sum.c"),
	"int compute_other;\n\nint compute_sum(int a, int b)\n{\n\treturn a + b;\n}\n");
mkdirSync(join(server.folder, "docs"));
writeFileSync(join(server.folder, "docs/plan.md"), "The plan.\n");
writeFileSync(join(server.folder, ".gitignore"), "*.db-*\ndata\nstate\nconfig\nport\n");
await server.run(["add", "-r", "User", "Explain @compute_sum, not me@compute_sum or `@compute_sum` and @nobody."]);
await server.run(["files", "add", "context_files", "sum.c"]);
await server.start("0", "--files", server.folder);
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const list = page.getByRole("listbox", { name: "Files and definitions" });
const field = page.locator("#composer");
const picture = (name) => PICTURES && page.screenshot({ path: join(PICTURES, `${name}.png`) });
const shows = async (name, locator, state = "visible") =>
	tally.check(name, await locator.waitFor({ state, timeout: 15000 }).then(() => true, () => false));

// ---- in an entry ----

const links = page.locator(".entry button.symbol");
await shows("a name that resolves is a button", links.first());
tally.equal("each of them", (await links.allTextContents()).join(" "), "@compute_sum @compute_sum");
await links.first().focus();
await page.keyboard.press("Enter");
const dialog = page.getByRole("dialog", { name: "Definition of compute_sum" });
await shows("its definition", dialog.getByText("return a + b;"));
await shows("and its place", dialog.getByText("sum.c:3-6"));
tally.check("nothing else", !(await dialog.textContent()).includes("compute_other"));
await picture("definition");
await page.keyboard.press("Escape");
await shows("closed", dialog, "detached");

// ---- in the composer ----

await field.click();
await field.pressSequentially("See @comp");
await shows("the names that begin so", list);
tally.equal("all of them", (await list.getByRole("option").allTextContents()).map((text) => text.split(" ")[0]).join(" "),
	"@compute_other @compute_sum");
await picture("completion");
await page.keyboard.press("ArrowDown");
tally.equal("the field says which", await field.getAttribute("aria-activedescendant"), "completion-1");
await page.keyboard.press("Tab");
await shows("taken", list, "detached");
tally.equal("into the text", await field.inputValue(), "See @compute_sum ");
await field.pressSequentially("and @compute_o");
await shows("again", list);
await page.keyboard.press("Escape");
await shows("Esc closes the list", list, "detached");
tally.equal("and leaves the text", await field.inputValue(), "See @compute_sum and @compute_o");
await field.pressSequentially("t");
await shows("the next letter shows it again", list);
await page.keyboard.press("Enter");
tally.equal("Enter takes it, and sends nothing", await field.inputValue(), "See @compute_sum and @compute_other ");
await field.pressSequentially("me@comp");
await page.waitForTimeout(600);
tally.equal("not in a word", await list.count(), 0);
tally.equal("no entry was added", (await server.api("GET", "/discussions/main")).entries, 1);

// ---- without files ----

await server.op("discussion.new", { name: "bare" });
await page.locator(".discussions .name", { hasText: "bare" }).click();
await page.locator(".discussions .name[aria-current=page]", { hasText: "bare" }).waitFor();
await field.fill("");
await field.pressSequentially("@");
await shows("@ lists files before any was chosen", list);
const options = async () => (await list.getByRole("option").allTextContents()).map((text) => text.split(" ")[0]).join(" ");
tally.equal("those of the shared directory, without what is ignored", await options(), "sum.c test.db docs/plan.md");
await field.pressSequentially("PLA");
tally.check("by a part of the name, ignoring case", await until(async () => await options() === "docs/plan.md"), await options());
await picture("files");
await page.keyboard.press("Enter");
tally.equal("its path becomes text", await field.inputValue(), "docs/plan.md ");
const chosen = async () => (await server.api("GET", "/discussions/bare/files")).context_files.join(" ");
tally.check("and the file is sent with each request", await until(async () => await chosen() === "docs/plan.md"), await chosen());
await shows("which the page says", page.locator(".toast", { hasText: "“docs/plan.md” is now sent with each request." }));
await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
tally.check("and can be undone", await until(async () => await chosen() === ""));
await field.fill("");
await field.pressSequentially("@../");
await page.waitForTimeout(600);
tally.equal("nothing outside is listed", await list.count(), 0);
for (const about of ["The files that you are working on", "Sources and documents for reference", "Images only"]) {
	await page.locator("#to-files").click();
	await shows("each list is explained", page.locator("#file-lists").getByText(about));
}

await browser.close();
await server.stop();
process.exit(tally.end());
