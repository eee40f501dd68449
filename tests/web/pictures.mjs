// SPDX-License-Identifier: MIT
//
// Screenshots of every main view, for review: wide and phone, light and dark.
//
//   node tests/web/pictures.mjs FOLDER [VIEW…]    only views whose name contains one of the words
//   HALF=light node …                             half of them: wide light and phone dark; HALF=dark
//   node tests/web/pictures.mjs --readme          those of README.md, into docs/images
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser, openPage, ROOT, Server, Tally } from "./place.mjs";

const SIZES = { wide: { width: 1400, height: 900 }, phone: { width: 390, height: 844 } };
const isReadme = process.argv[2] === "--readme";
const folder = isReadme ? join(ROOT, "docs/images") : process.argv[2];
const words = isReadme ? [] : process.argv.slice(3);
const wanted = (name) => !words.length || words.some((word) => name.includes(word));

// ---- contents ----

const TALK = [
	["q1", "User", "Which database for a desktop app that one person uses?"],
	["a1", "AI", "**SQLite**: one file, no server.\n\n| | SQLite | PostgreSQL |\n|---|---|---|\n| set up | none | a server |\n| backup | copy with `backup` | `pg_dump` |\n\n```c\nsqlite3 *db;\nint rc = sqlite3_open(\"app.db\", &db); /* one call */\n```\n\n- durable with `synchronous=FULL`\n- *one* writer at a time"],
	["q2", "User", "How do I ship it?"],
	["a2", "AI", "With your program: the library is part of it."],
];
const MORE = [
	["q3", "User", "And when two windows of the same program are open? They would both write to the same file, and I have read that this is where people get hurt."],
	["a3", "AI", "Still SQLite: turn on **WAL** mode, and readers never wait for the writer.\n\n1. `PRAGMA journal_mode = WAL`\n2. `PRAGMA busy_timeout = 5000`\n3. keep write transactions short\n\n> Every writer waits its turn; nobody is hurt."],
];

async function talk(server, isLong) {
	for (const [id, role, content] of isLong ? [...TALK, ...MORE] : TALK)
		await server.op("entry.append", { id, role, content });
	await server.op("label.set", { entry: "a1", label: "good-start" });
	await server.op("take.branch", { at: "q1" });
	await server.op("entry.append", { id: "d1", role: "AI", content: "DuckDB, if you mostly read tables." });
	if (isLong) {
		await server.op("take.switch", { take: "t1" });
		await server.op("take.branch", { at: "q2", name: "static-or-shared" });
		await server.op("entry.append", { id: "a2b", role: "AI", content: "Link it statically; it is one C file." });
		await server.op("take.switch", { take: "t1" });
		await server.op("entry.append", { id: "c1", role: "AI", content: [
			{ type: "thinking", thinking: "The user may want to see the file itself." },
			{ type: "text", text: "Let me look at what you have." },
			{ type: "toolCall", id: "call1", name: "read_file", arguments: { path: "src/db.c", lines: [1, 40], env: { OPENAI_API_KEY: "sk-proj-Ab3dEf6hIj9kLmN0pQr2StUv" } } }] });
		await server.op("entry.append", { id: "r1", role: "Tool", content: "#include <sqlite3.h>\n\nstatic sqlite3 *db;\n" });
		await server.op("entry.edit", { entry: "a2", content: "You do not ship it: the library is one C file, and part of your program." });
		await server.op("entry.mute", { entry: "r1" });
		await server.op("prompt.update", { text: "We decide on a store for a small desktop application. Prefer one file." });
		await server.op("setting.set", { key: "project_system_prompt", value: "You are a patient engineer." });
		await server.op("files.set", { which: "files", items: ["src/db.c", "src/a/rather/long/way/down/to/a/file/with_a_long_name.c"] });
	}
	await server.op("take.switch", { take: "t1" });
	await server.op("discussion.new", { name: "plans" });
	if (isLong)
		await server.op("discussion.new", { name: "A discussion whose name is rather longer than the list is wide" });
	await server.op("discussion.switch", { discussion: "main" });
}

/** A model that starts a reply, and is slow. */
function slowModel() {
	const server = createServer((request, answer) => {
		answer.writeHead(200, { "Content-Type": "text/event-stream" });
		for (const text of ["Yes. ", "**Two windows** are two connections; ", "each has a `sqlite3` of its own,\n\n- and WAL\n- and"])
			answer.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
	});
	return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

// ---- views: from the open page to the view ----

const closeAll = async (page) => { for (let i = 0; i < 3; i++) await page.keyboard.press("Escape"); };

async function pane(page, id) {
	const panes = page.getByRole("button", { name: "Panes", exact: true });
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
	await page.waitForTimeout(400);
}

async function command(page, text) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill(text);
	await page.locator(".palette-item", { hasText: text }).first().click();
	await page.waitForTimeout(400);
}

const entry = (page, at) => page.locator(".entry").nth(at);

const VIEWS = {
	talk: async () => undefined,
	top: (page) => page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; }),
	focus: (page) => entry(page, 1).focus(),
	hover: (page) => entry(page, 1).hover(),
	edit: async (page) => { await entry(page, 1).focus(); await page.waitForTimeout(300); await page.keyboard.press("e"); },
	insert: async (page) => { await entry(page, 1).focus(); await page.keyboard.press("a"); },
	selected: async (page) => { await entry(page, 1).focus(); await page.keyboard.press("Shift+J"); await page.keyboard.press("Shift+J"); },
	menu: (page) => page.getByRole("button", { name: /More for entry/ }).nth(2).click(),
	menuall: async (page) => { await page.getByRole("button", { name: /More for entry/ }).nth(2).click(); await page.getByRole("menuitem", { name: /^More \(/ }).click(); },
	takemenu: (page) => page.locator(".take-bar button").last().click(),
	exportmenu: (page) => page.getByRole("button", { name: "Export" }).click(),
	drawer: async (page) => { const button = page.getByRole("button", { name: "Discussions", exact: true }); if (await button.isVisible()) await button.click(); },
	palette: async (page) => { await page.keyboard.press("Control+k"); await page.waitForTimeout(200); },
	palettefound: async (page) => { await page.keyboard.press("Control+k"); await page.locator("#palette").fill("sql"); await page.waitForTimeout(500); },
	help: async (page) => { await entry(page, 1).focus(); await page.keyboard.press("?"); },
	outline: (page) => pane(page, "outline"),
	history: (page) => pane(page, "history"),
	preview: async (page) => { await pane(page, "history"); await page.locator("#pane [role=treeitem], #pane [role=option], #pane .pane-row").nth(4).click(); },
	prompt: (page) => pane(page, "prompt"),
	sent: async (page) => { await pane(page, "prompt"); await page.evaluate(() => { const box = document.querySelector("#pane .scrolls"); box.scrollTop = box.scrollHeight; }); },
	settings: (page) => pane(page, "settings"),
	advanced: async (page) => { await pane(page, "settings"); await page.locator("#pane .advanced > summary").click(); await page.locator("#pane .advanced").scrollIntoViewIfNeeded(); },
	model: async (page) => { await page.locator(".composer .model").click(); await page.waitForTimeout(500); },
	stats: (page) => command(page, "Statistics"),
	roles: async (page) => { await page.locator(".take-bar button").last().click(); await page.getByRole("menuitem", { name: /^More \(/ }).click(); await page.getByRole("menuitem", { name: "Roles" }).click(); },
	export: async (page) => { await command(page, "Export"); },
	redact: async (page) => { await command(page, "Export"); await page.getByText("Redact secrets").click(); await page.waitForTimeout(500); },
	import: (page) => command(page, "Import"),
	compact: (page) => command(page, "Compact"),
	purge: (page) => command(page, "Purge"),
	compare: (page) => command(page, "Compare"),
	files: async (page) => { await pane(page, "settings"); await page.locator("#pane h3", { hasText: "Context files" }).scrollIntoViewIfNeeded(); await page.evaluate(() => { const box = document.querySelector("#pane .scrolls"); box.scrollTop = box.scrollHeight; }); },
	versions: async (page) => { await page.locator("[data-entry=a2]").focus(); await page.keyboard.press("w"); await page.waitForTimeout(300); },
	toast: async (page) => { await entry(page, 2).focus(); await page.keyboard.press("d"); await page.waitForTimeout(300); },
};

async function run(name, page, server, view, scheme, size) {
	try {
		await view(page, server);
	} catch (error) {
		console.log(`${name} ${size} ${scheme}: ${String(error.message).split("\n")[0]}`);
	}
	await page.waitForTimeout(350);
	await page.screenshot({ path: join(folder, `${name}-${size}-${scheme}.png`) });
}

const ready = async (page) => { await page.waitForSelector(".entry .entry-body, .welcome, .tour, .empty"); await page.waitForTimeout(250); };

async function each(make) {
	for (const size of Object.keys(SIZES))
		for (const scheme of ["light", "dark"])
			if (!process.env.HALF || (size === "wide") === (scheme === process.env.HALF)) // light: wide light, phone dark
				await make({ viewport: SIZES[size], colorScheme: scheme }, size, scheme);
}

async function views(server, browser, tally) {
	await each(async (options, size, scheme) => {
		for (const [name, view] of Object.entries(VIEWS)) {
			if (!wanted(name))
				continue;
			const page = await openPage(server, browser, tally, options);
			await ready(page);
			await run(name, page, server, view, scheme, size);
			if (name === "toast")
				await server.api("POST", "/discussions/d1/undo", {}).catch(() => server.op("undo"));
			await closeAll(page);
			await page.context().close();
		}
	});
}

async function first(browser, tally) {
	if (!wanted("first"))
		return;
	const server = await new Server().start();
	await each(async (options, size, scheme) => {
		const page = await openPage(server, browser, tally, options);
		await page.waitForTimeout(400);
		await page.screenshot({ path: join(folder, `first-${size}-${scheme}.png`) });
		await page.context().close();
	});
	await server.stop();
}

async function busy(server, browser, tally) {
	const views = {
		streaming: async (page) => {
			await page.fill("#composer", "And two windows?");
			await page.press("#composer", "Control+Enter");
			await page.waitForSelector(".running");
			await page.waitForTimeout(700);
		},
		leave: async (page) => {
			await pane(page, "outline");
			await page.locator("#pane [data-entry=a1]").first().click();
			await page.getByRole("button", { name: "Continue from here" }).click();
			await page.waitForSelector("dialog[open]");
		},
		lastsent: async (page) => {
			await pane(page, "prompt");
			await page.evaluate(() => { const box = document.querySelector("#pane .scrolls"); box.scrollTop = box.scrollHeight; });
		},
		comparesent: (page) => command(page, "Compare the last request"),
		conflict: async (page) => {
			await entry(page, 0).focus();
			await page.keyboard.press("Home");
			await page.locator("[data-entry=q1][aria-current]").waitFor();
			await page.keyboard.press("e");
			await page.fill(".editor textarea", "Which database for a desktop application?");
			await server.op("entry.edit", { entry: "q1", content: "Which database for a small desktop app, that one person uses? " + Math.random() });
			await page.press(".editor textarea", "Control+Enter");
			await page.waitForSelector("dialog.conflict");
		},
	};
	await each(async (options, size, scheme) => {
		for (const [name, view] of Object.entries(views)) {
			if (!wanted(name))
				continue;
			const page = await openPage(server, browser, tally, options);
			await ready(page);
			await run(name, page, server, view, scheme, size);
			for (const each of (await server.api("GET", "/runs").catch(() => [])) ?? [])
				if (each.state === "running")
					await server.api("POST", `/runs/${each.run}/stop`, {}).catch(() => server.api("DELETE", `/runs/${each.run}`));
			await page.context().close();
		}
	});
}

async function pages(server, browser) {
	const file = join(server.folder, "page.html");
	await server.op("entry.append", { role: "User", content: "The key is sk-ant-api03-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu, in /home/alice." }, "?discussion=d2");
	await server.run(["export", "-o", file, "--redact", "--force"]);
	await each(async (options, size, scheme) => {
		const context = await browser.newContext(options), page = await context.newPage();
		for (const name of ["exported", "exportedtree"]) {
			if (!wanted(name))
				continue;
			await page.goto(pathToFileURL(file).href);
			await page.waitForTimeout(300);
			if (name === "exportedtree" && size === "phone")
				await page.getByRole("button", { name: "Outline" }).click();
			if (name === "exportedtree" && size === "wide")
				await page.locator("header select").selectOption({ label: "plans" });
			await page.waitForTimeout(300);
			await page.screenshot({ path: join(folder, `${name}-${size}-${scheme}.png`) });
		}
		await context.close();
	});
	if (wanted("print")) {
		const page = await browser.newPage({ viewport: { width: 800, height: 1100 } });
		await page.goto(pathToFileURL(file).href);
		await page.waitForTimeout(300);
		await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		await page.emulateMedia({ media: "print" });
		await page.screenshot({ path: join(folder, "print.png"), fullPage: true });
		await page.close();
	}
	if (wanted("noscript")) {
		const context = await browser.newContext({ javaScriptEnabled: false, viewport: SIZES.wide }), page = await context.newPage();
		await page.goto(pathToFileURL(file).href);
		await page.screenshot({ path: join(folder, "noscript.png") });
		await context.close();
	}
}

// ---- screenshots of README.md ----

async function readme(browser, tally) {
	const server = new Server(), viewport = { width: 1280, height: 760 };
	try {
		await server.start();
		await talk(server, false);
		await readmePages(server, browser, tally, viewport);
	} finally {
		await server.stop();
	}
}

async function readmePages(server, browser, tally, viewport) {
	const light = await openPage(server, browser, tally, { viewport });
	await ready(light);
	await pane(light, "outline");
	await light.screenshot({ path: join(folder, "page.png") });
	const dark = await openPage(server, browser, tally, { viewport, colorScheme: "dark" });
	await ready(dark);
	await pane(dark, "history");
	await dark.screenshot({ path: join(folder, "page-history-dark.png") });
	const file = join(server.folder, "page.html");
	await server.run(["export", "-o", file]);
	const page = await browser.newPage({ viewport });
	await page.goto(pathToFileURL(file).href);
	await page.waitForTimeout(400);
	await page.screenshot({ path: join(folder, "exported.png") });
}

async function all(browser, tally) {
	const slow = await slowModel(), server = new Server();
	mkdirSync(join(server.folder, "config/retake"), { recursive: true });
	writeFileSync(join(server.folder, "config/retake/config.toml"),
		`[provider.slow]\nkind = "openai"\nurl = "http://127.0.0.1:${slow.address().port}/v1"\n`);
	try {
		await server.start();
		await talk(server, true);
		await first(browser, tally);
		await views(server, browser, tally);
		if (["streaming", "leave", "lastsent", "comparesent", "conflict"].some(wanted)) {
			await server.op("setting.set", { key: "model", value: "builtin/echo" });
			await server.api("POST", "/discussions/d1/runs", { text: "Is one file enough for us?" });
			await server.op("entry.edit", { entry: "q1", content: "Which database for a small desktop app that one person uses?" });
			await server.op("entry.mute", { entry: "a2" });
			await server.op("setting.set", { key: "project_system_prompt", value: "You are a patient and brief engineer." });
			await server.op("setting.set", { key: "model", value: "slow/talker" });
			await busy(server, browser, tally);
		}
		await pages(server, browser);
	} finally {
		slow.closeAllConnections();
		slow.close();
		await server.stop();
	}
}

if (!folder) {
	console.log("node tests/web/pictures.mjs FOLDER [VIEW…] | --readme");
	process.exit(2);
}
mkdirSync(folder, { recursive: true });
const tally = new Tally(), browser = await openBrowser();
try {
	await (isReadme ? readme : all)(browser, tally);
} finally {
	await browser.close();
}
