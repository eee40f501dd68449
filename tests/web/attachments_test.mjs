// SPDX-License-Identifier: MIT
//
// Attachments in the page: chosen, pasted, dropped, removed, sent, shown, purged.
import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const tally = new Tally(), server = new Server();
await server.run(["add", "Hello."]);
await server.run(["set", "model", "builtin/echo"]);
await server.start("0");
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const chips = page.locator(".attached .file-chip"), ready = page.locator(".attached .file-chip", { hasText: /bytes|KiB/ });

async function give(how) { // as if pasted or dropped
	await page.locator("#composer").evaluate((field, [kind, png]) => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))], "shot.png", { type: "image/png" }));
		const init = { bubbles: true, cancelable: true };
		field.dispatchEvent(kind === "paste" ? new ClipboardEvent("paste", { ...init, clipboardData: data }) : new DragEvent("drop", { ...init, dataTransfer: data }));
	}, [how, PNG]);
}

await page.locator("[data-attach]").setInputFiles([{ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("one line\n") },
	{ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) }]);
tally.check("two files are listed", await until(async () => await chips.count() === 2));
tally.check("one cannot be attached", await until(async () => (await chips.nth(1).textContent()).includes("The file is empty")));
await page.locator("#composer").fill("What is this?");
tally.check("nothing is sent with it", await page.locator("#ask").isDisabled());
await page.locator("#composer").press("Control+Enter");
await page.getByLabel("Remove empty.txt").click();
tally.check("removed", await until(async () => await chips.count() === 1 && await ready.count() === 1));
tally.check("the focus is in the composer", await page.evaluate(() => document.activeElement?.id === "composer"));
await page.locator("#composer").press("Control+Enter");
tally.check("sent with the question", await until(async () => await page.locator(".entries a.file-chip", { hasText: "note.txt" }).count() === 1));
tally.check("the list is empty again", await chips.count() === 0);
tally.check("the model was sent its text", await until(async () => JSON.stringify((await server.api("GET", "/discussions/main/context")).body).includes("one line")));

for (const how of ["paste", "drop"]) {
	await give(how);
	tally.check(`${how}: listed with its size`, await until(async () => await ready.count() === 1));
	await page.locator("#composer").fill(how);
	await page.locator("#add").click();
	tally.check(`${how}: shown`, await until(async () => await page.locator(".entries .picture-frame").count() === (how === "paste" ? 1 : 2)));
}
tally.check("import was not offered", await page.getByRole("dialog").count() === 0);
const frame = page.locator(".entries .picture-frame").first();
tally.check("the image is there", await until(() => frame.locator("img").evaluate((img) => img.complete && img.naturalWidth === 2)));
await frame.click();
tally.equal("larger", await frame.getAttribute("aria-expanded"), "true");
const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".entries a.file-chip").first().click()]);
tally.equal("a file is downloaded", download.suggestedFilename(), "note.txt");
await server.run(["purge", "--yes", "--text", "one line"]);
await server.api("POST", "/undo");
tally.check("undo removes the last one", await until(async () => await page.locator(".entries .picture-frame").count() === 1));

await server.run(["set", "model", "builtin/text"]);
await give("paste");
await until(async () => await ready.count() === 1);
await page.locator("#composer").fill("What is in this image?");
await page.locator("#composer").press("Control+Enter");
const toast = page.locator(".toast");
tally.check("a model that takes no images refuses the question", await until(async () => /does not accept images/.test((await toast.allInnerTexts()).join())));
tally.check("another can be chosen", await toast.getByRole("button", { name: "Choose a model" }).count() === 1);
tally.equal("the text is in the field again", await page.inputValue("#composer"), "What is in this image?");
tally.check("and so is the image", await until(async () => await ready.count() === 1));
await toast.getByRole("button", { name: "Try again" }).click();
await page.waitForTimeout(500);
tally.check("another attempt keeps both, once", await until(async () => await ready.count() === 1 && await page.inputValue("#composer") === "What is in this image?"));
await page.getByLabel("Remove shot.png").click();
await page.locator("#composer").fill("");

const exported = await server.run(["export", "--format", "html"]);
tally.check("the export contains the image", exported.includes(PNG));
await browser.close();
await server.stop?.();
process.exit(tally.end());
