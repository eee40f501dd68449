// SPDX-License-Identifier: MIT
//
// The palette searches by meaning if an embedding_model is configured, and only then. The choice is kept while the
// window is open.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { openBrowser, openPage, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server(), browser = await openBrowser();
await server.run(["add", "The kitten chases a mouse."]);
await server.run(["add", "SQLite keeps a journal.", "-r", "AI"]);
const box = (page) => page.getByLabel("By meaning");
const hits = (page) => page.locator(".palette-item .hit .words");

await server.start("0");
let page = await openPage(server, browser, tally);
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("feline");
await page.waitForTimeout(500);
tally.equal("not offered", await box(page).count(), 0);
await page.close();
await server.end();

const here = dirname(fileURLToPath(import.meta.url));
const embeddings = spawn("python3", [join(here, "../llm/embed_server.py"), join(server.folder, "requests")],
	{ stdio: ["pipe", "pipe", "inherit"] });
const port = await new Promise((done) => embeddings.stdout.once("data", (data) => done(String(data).trim())));
mkdirSync(join(server.folder, "config/retake"), { recursive: true });
writeFileSync(join(server.folder, "config/retake/config.toml"),
	`embedding_model = "local/64"\n[provider.local]\nkind = "openai"\nurl = "http://127.0.0.1:${port}/v1"\n`);
await server.start("0");
page = await openPage(server, browser, tally);
tally.check("embedded", await until(async () => (await server.api("GET", "/info")).embedding.done === 2));
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("feline");
await page.waitForTimeout(500);
tally.equal("words find nothing", await hits(page).count(), 0);
await box(page).check();
tally.check("by meaning", await until(async () => (await hits(page).first().innerText().catch(() => "")).includes("kitten")),
	await hits(page).allInnerTexts());
await page.keyboard.press("Escape");
await page.keyboard.press("Control+k");
tally.check("the choice is kept", await until(() => box(page).isChecked()));
await page.locator("#palette").fill("store table");
tally.check("another subject", await until(async () => (await hits(page).first().innerText().catch(() => "")).includes("SQLite")));
await browser.close();
await server.stop();
embeddings.stdin.end();
process.exit(tally.end());
