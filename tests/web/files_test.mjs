// SPDX-License-Identifier: MIT
//
// The files of a discussion in the prompt pane: the listed files are those of the request, in its
// order, and a file that cannot be sent is named. Redo after a reload.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server(), names = [];
const root = join(server.folder, "tree");
mkdirSync(join(root, "src"), { recursive: true });
for (let i = 0; i < 20; i++) {
	names.push(`src/f${String(i).padStart(2, "0")}.c`);
	writeFileSync(join(root, names[i]), `int compute_${i};\n`);
}
for (const name of ["one.png", "two.png"]) {
	writeFileSync(join(root, name), Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000" + "00", "hex"));
	names.push(name);
}
writeFileSync(join(server.folder, "secret.txt"), "the secret\n");
symlinkSync("../secret.txt", join(root, "link.c"));
await server.run(["add", "What is compute_7?"]);
await server.start("0", "--files", root);
await server.op("files.set", { which: "context_files", items: ["src"] });
await server.op("files.set", { which: "screenshots", items: ["one.png", "two.png"] });

const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const panes = page.locator("#to-panes");
if (await panes.getAttribute("aria-expanded") !== "true")
	await panes.click();
await page.locator("#pane-tab-prompt").click();
const sentence = page.getByText(/^22 files are sent before the entries/);
tally.check("22 files will be sent", await until(async () => await sentence.count() > 0));
const shown = (await sentence.first().textContent()).replace(/^.*?tokens: |\.$/g, "").split(", ");
tally.equal("their names", shown.join(" "), names.join(" "));
const { body, files } = await server.api("GET", "/discussions/main/context");
tally.equal("those of the request", files.map((file) => file.name).join(" "), shown.join(" "));
const text = JSON.stringify(body);
tally.check("in its order", names.every((name, i) => text.indexOf(`\`${name}\`:`) > (i > 0 ? text.indexOf(`\`${names[i - 1]}\`:`) : -1)));

await server.op("files.set", { which: "context_files", items: ["link.c"] });
const problem = page.locator(".problem", { hasText: "link.c" });
tally.check("a link that leads out is named", await until(async () => await problem.count() > 0));
tally.check("and cannot be sent", /^Cannot be sent: /.test(await problem.first().textContent()));
tally.check("nothing of it is shown", !(await page.content()).includes("the secret"));
await server.run(["undo"]);
tally.check("after undo all will be sent", await until(async () => await sentence.count() > 0));

// A draft that is open when the page is left writes nothing that would discard redo.
await server.run(["add", "to be undone"]);
await server.run(["undo"]);
await page.locator("#composer").fill("half a thought");
await until(async () => (await server.api("GET", "/discussions/main/settings")).settings.draft);
await page.reload();
const redo = page.locator("#redo");
tally.check("redo is possible after a reload", await until(async () => await redo.count() > 0 && await redo.getAttribute("aria-disabled") === null));
await redo.click();
tally.check("and brings the entry back", await until(async () => (await server.run(["show"])).includes("to be undone")));

await browser.close();
await server.stop();
process.exit(tally.end());
