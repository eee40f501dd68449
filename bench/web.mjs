// SPDX-License-Identifier: MIT
//
// Speed of the pages with large conversations, in Debian's chromium.
//
//   node bench/web.mjs [SHAPE …]        default: take chain siblings
//
//   take      COUNT entries (100,000) in one take, some of them results of tools, and 20 takes
//             that diverge from it
//   chain     COUNT entries, each the child of the previous one: a pi session
//   siblings  COUNT - 1 replies to one question, each in a separate take
//
// For each shape the page of `retake serve` and the one of `retake export`, ROUNDS times (5),
// medians:
//
//   first      from the request for the page until the frame that shows entries (…_cold: by a
//              server that has just started)
//   search     from the input of a word until the second frame, and until the result is shown
//   jump       to the middle and back to the end, until texts are shown there
//   nodes      maximum number of elements of the document
//   typing     with a streaming reply of DELTAS pieces (4000), one each PACE_MS (2): the longest
//              task, how many were over 50 ms, and the slowest key; …_after: the longest task
//              after the reply without typing; …_outline: with the outline open
//
// nodes_outline is with the outline open and after scrolling the entries, nodes_history with the
// history. The browser is started without its own pages (tests/web/place.mjs), which would be
// loaded at the same time. RETAKE, CHROMIUM and RETAKE_DEPS are paths. The last line is JSON.
// Meaningful times need an idle machine.
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser, ROOT, Server } from "../tests/web/place.mjs";

const COUNT = Number(process.env.COUNT ?? 100000), ROUNDS = Number(process.env.ROUNDS ?? 5);
const DELTAS = Number(process.env.DELTAS ?? 4000), PACE_MS = Number(process.env.PACE_MS ?? 2);
const RETAKE = resolve(process.env.RETAKE ?? join(ROOT, "build/retake"));
const LONG_MS = 50, PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120000);

function median(values) {
	const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
	return sorted.length ? Math.round(sorted[sorted.length >> 1] * 10) / 10 : null;
}

// ---- measuring ----

function words(at) {
	return `entry number ${at} ` + "says something ".repeat(at % 17) + (at % 50 === 7 ? "\n\n- **a**\n- `b`\n" : "");
}

/** A pi session; parentOf gives the parent of each entry; null: none. */
function session(parentOf) {
	const id = (at) => at.toString(16).padStart(8, "0");
	const timestamp = "2026-01-01T00:00:00.000Z";
	const lines = [JSON.stringify({ type: "session", version: 3, id: "0197a000-0000-7000-8000-000000000000", timestamp, cwd: "/" })];
	for (let at = 0; at < COUNT; at++) {
		const up = parentOf(at);
		const text = [{ type: "text", text: words(at) }];
		const message = at % 2 === 0 || up === null ? { role: "user", content: text, timestamp: 1767225600000 + at }
			: { role: "assistant", content: text, timestamp: 1767225600000 + at, api: "x", provider: "x", model: "m", stopReason: "stop" };
		lines.push(JSON.stringify({ type: "message", id: id(at), parentId: up === null ? null : id(up), timestamp, message }));
	}
	return lines.join("\n") + "\n";
}

function ops() {
	const lines = [];
	const role = (at) => (at % 10 === 5 ? "tool" : at % 2 ? "AI" : "User");
	for (let at = 0; at < COUNT; at++)
		lines.push({ op: "entry.append", role: role(at), content: words(at) });
	for (let fork = 1; fork <= 20; fork++)
		lines.push({ op: "take.branch", at: `:${Math.floor((COUNT / 21) * fork)}`, take: "t1", name: `fork ${fork}` },
			{ op: "entry.append", take: `fork ${fork}`, role: "AI", content: `another way ${fork}` });
	lines.push({ op: "take.switch", take: "t1" });
	return lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
}

const MAKE = {
	take: async (server) => server.run(["apply", "--atomic"], ops()),
	chain: async (server) => imported(server, session((at) => (at === 0 ? null : at - 1))),
	siblings: async (server) => imported(server, session((at) => (at === 0 ? null : 0))),
};

async function imported(server, text) {
	const file = join(server.folder, "session.jsonl");
	writeFileSync(file, text);
	await server.run(["import", file]);
}

/** A model that sends DELTAS pieces at a steady pace. */
async function mockModel() {
	const piece = (text) => "data: " + JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m",
		choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }) + "\n\n";
	const http = createServer((request, response) => {
		request.resume();
		response.writeHead(200, { "Content-Type": "text/event-stream" });
		const begun = performance.now();
		let sent = 0;
		const timer = setInterval(() => {
			const due = Math.min(DELTAS, Math.floor((performance.now() - begun) / PACE_MS));
			for (; sent < due; sent++)
				response.write(piece(sent % 40 === 39 ? "a **line**.\n\n" : `word${sent} `));
			if (sent === DELTAS) {
				clearInterval(timer);
				response.end("data: [DONE]\n\n");
			}
		}, Math.max(1, PACE_MS));
		response.on("close", () => clearInterval(timer));
	});
	await new Promise((done) => http.listen(0, "127.0.0.1", done));
	return { url: `http://127.0.0.1:${http.address().port}`, stop: () => { http.closeAllConnections(); http.close(); } };
}

/** In the page, before anything of it runs. */
function watch(patience) {
	const seen = window.seen = { first: null, tasks: [], keys: [], nodes: 0 };
	new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((each) => [each.startTime, each.duration])))
		.observe({ type: "longtask", buffered: true });
	new PerformanceObserver((list) => {
		for (const each of list.getEntries())
			if (each.name === "keydown" || each.name === "input")
				seen.keys.push(each.duration);
	}).observe({ type: "event", durationThreshold: 16, buffered: true });
	const isRead = () => /number|answer|way|word/.test(document.querySelector(".entry .entry-body")?.textContent ?? "");
	window.frames2 = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	window.whenTrue = async (look) => {
		const until = performance.now() + patience;
		while (!look()) {
			if (performance.now() > until)
				throw new Error(`still false: ${look}`);
			await new Promise((done) => requestAnimationFrame(done));
		}
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		return performance.now();
	};
	window.isFirst = window.whenTrue(isRead).then((at) => seen.first = at);
	setInterval(() => { seen.nodes = Math.max(seen.nodes, document.querySelectorAll("*").length); }, 100);
}

/** Scrolls the entries and waits until texts are shown there. */
const jump = (page, part) => page.evaluate(async (at) => {
	const box = document.querySelector(".entries"), from = performance.now();
	box.scrollTop = (box.scrollHeight - box.clientHeight) * at;
	const end = await window.whenTrue(() => {
		const place = box.getBoundingClientRect();
		const rows = [...document.querySelectorAll(".entries .entry")].filter((row) => {
			const each = row.getBoundingClientRect();
			return each.bottom > place.top && each.top < place.bottom;
		});
		return rows.length > 0 && rows.every((row) => /number|answer|way|word/.test(row.textContent));
	});
	return end - from;
}, part);

/** [to the second frame, until it is shown] of a search for a number in the outline. */
const search = (page, text, label) => page.evaluate(async ([wanted, name]) => {
	const field = document.querySelector(`[aria-label^="${name}"]`);
	field.focus();
	const from = performance.now();
	field.value = wanted;
	field.dispatchEvent(new Event("input", { bubbles: true }));
	await window.frames2();
	const frames = performance.now() - from;
	const number = wanted.split(" ").pop();
	const shown = await window.whenTrue(() => {
		const rows = [...document.querySelectorAll("[role=treeitem]")];
		return rows.length > 0 && rows.length < 40 && rows.some((row) => row.textContent.includes(`number ${number}`));
	});
	field.value = "";
	field.dispatchEvent(new Event("input", { bubbles: true }));
	await window.whenTrue(() => document.querySelectorAll("[role=treeitem]").length >= 15);
	return [frames, shown - from];
}, [text, label]);

async function opened(context, url) {
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	page.on("pageerror", (error) => console.error("error in the page:", error.message));
	await page.addInitScript(watch, PATIENCE_MS);
	const session = await context.newCDPSession(page);
	await page.goto(url, { waitUntil: "commit" });
	// the driver's own function for waiting would inject 300 KB of script into the measured
	// page
	await session.send("Runtime.evaluate", { expression: "window.isFirst", awaitPromise: true });
	return page;
}

/** The panes may be open already: the page remembers it. */
async function openOutline(page) {
	const tab = page.getByRole("tab", { name: "Outline" });
	if (!await tab.isVisible())
		await page.getByRole("button", { name: "Panes" }).click();
	await tab.click();
}

const first = (page) => page.evaluate(() => window.seen.first);
const mostNodes = (page) => page.evaluate(() => Math.max(window.seen.nodes, document.querySelectorAll("*").length));

// ---- the served page ----

async function typing(page, tally, name) {
	await page.evaluate(() => { window.seen.tasks.length = window.seen.keys.length = 0; });
	const from = await page.evaluate(() => performance.now());
	await page.fill("#composer", "go");
	await page.press("#composer", "Control+Enter");
	await page.waitForSelector(".running", { timeout: PATIENCE_MS });
	await page.focus("#composer");
	let keys = 0;
	while (await page.locator(".running").count()) {
		await page.keyboard.type("typed ".charAt(keys++ % 6));
		await page.waitForTimeout(25);
	}
	const to = await page.evaluate(() => performance.now());
	await page.waitForTimeout(5000); // until the data is reloaded after the reply
	const seen = await page.evaluate((since) => window.seen.tasks.filter((each) => each[0] >= since), from);
	const tasks = seen.filter((each) => each[0] < to), later = seen.filter((each) => each[0] >= to);
	const slowest = await page.evaluate(() => Math.max(0, ...window.seen.keys));
	if (process.env.VERBOSE)
		console.error(name, JSON.stringify(tasks.map((each) => each.map((value) => Math.round(value - (each[0] === value ? from : 0))))));
	(tally[name + "_longest_task"] ??= []).push(Math.max(0, ...tasks.map((each) => each[1])));
	(tally[name + "_over_50"] ??= []).push(tasks.filter((each) => each[1] > LONG_MS).length);
	(tally[name + "_longest_after"] ??= []).push(Math.max(0, ...later.map((each) => each[1])));
	(tally[name + "_slowest_key"] ??= []).push(slowest);
	await page.fill("#composer", "");
}

async function served(shape, browser, server, model) {
	const tally = {};
	const add = (name, value) => (tally[name] ??= []).push(value);
	mkdirSync(join(server.folder, "config/retake"), { recursive: true });
	writeFileSync(join(server.folder, "config/retake/config.toml"),
		`[provider.mock]\nkind = "openai"\nurl = "${model.url}"\ncontext_tokens = 8000\n`);
	await server.start();
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	await (await context.newPage()).goto(await server.loginUrl());
	await context.pages()[0].close();
	let begun = 0;
	for (let round = 0; round < ROUNDS; round++) {
		if (round > 0) {
			// the browser caches the files of the page, as usual
			const page = await opened(context, server.url + "/");
			add("first", await first(page));
			add("jump_middle", await jump(page, shape === "siblings" ? 0 : 0.5));
			add("jump_end", await jump(page, 1));
			add("nodes", await mostNodes(page));
			begun = performance.now();
			await openOutline(page);
			// waitForSelector only polls twice a second
			await page.evaluate(() => window.whenTrue(() => document.querySelector("[role=treeitem]")));
			add("outline", performance.now() - begun);
			await page.waitForTimeout(300);
			const [frames, shown] = await search(page, `number ${Math.floor(COUNT * 0.7) + round}`, "Search the outline");
			add("search_frames", frames);
			add("search_shown", shown);
			await jump(page, 0.3);
			add("nodes_outline", await mostNodes(page));
			const tabs = page.locator(".take-bar [role=tab]");
			if (await tabs.count() > 1) {
				begun = performance.now();
				await tabs.nth(1).click();
				await page.waitForSelector(".take-bar [role=tab]:nth-of-type(2)[aria-selected=true]");
				add("switch_take", performance.now() - begun);
				await tabs.nth(0).click();
				await page.waitForSelector(".take-bar [role=tab]:nth-of-type(1)[aria-selected=true]");
			}
			begun = performance.now();
			await page.getByRole("tab", { name: "History" }).click();
			await page.waitForSelector(".step");
			add("history", performance.now() - begun);
			add("nodes_history", await mostNodes(page));
			await page.close();
		} else {
			const page = await opened(context, server.url + "/");
			add("first_cold", await first(page));
			await page.close();
		}
	}
	await server.op("setting.set", { key: "model", value: "mock/m" });
	for (const name of ["typing", "typing_outline"]) {
		const page = await opened(context, server.url + "/");
		await page.waitForTimeout(1500);
		if (name !== "typing") {
			await openOutline(page);
			await page.waitForSelector("[role=treeitem]");
			await page.waitForTimeout(2000);
		}
		await typing(page, tally, name);
		add("nodes_typing", await mostNodes(page));
		await page.close();
	}
	await context.close();
	return tally;
}

// ---- the exported page ----

async function exported(shape, browser, server) {
	const tally = {};
	const add = (name, value) => (tally[name] ??= []).push(value);
	const file = join(server.folder, `${shape}.html`);
	for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
		const begun = performance.now();
		await new Promise((done, fail) => execFile(RETAKE, ["--db", server.db, "export", "--format", "html", "-o", file, "--force"],
			{ env: server.env, cwd: server.folder }, (error) => (error ? fail(error) : done())));
		add("make", performance.now() - begun);
	}
	add("megabytes", statSync(file).size / 1e6);
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	for (let round = 0; round < ROUNDS; round++) {
		const page = await opened(context, pathToFileURL(file).href);
		add("first", await first(page));
		add("jump_middle", await jump(page, shape === "siblings" ? 0 : 0.5));
		add("jump_end", await jump(page, 1));
		await page.waitForSelector("[role=treeitem]");
		const [frames, shown] = await search(page, `number ${Math.floor(COUNT * 0.7) + round}`, "Search");
		add("search_frames", frames);
		add("search_shown", shown);
		add("nodes", await mostNodes(page));
		await page.close();
	}
	await context.close();
	return tally;
}

const model = await mockModel();
const browser = await openBrowser();
const result = {};
for (const shape of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(MAKE)) {
	const server = new Server();
	try {
		await MAKE[shape](server);
		const parts = [["exported", exported], ["served", served]].filter(([name]) => !process.env.ONLY || process.env.ONLY === name);
		for (const [name, part] of parts) {
			const tally = await part(shape, browser, server, model);
			result[`${shape}_${name}`] = Object.fromEntries(Object.entries(tally).map(([key, values]) =>
				[key, key.startsWith("nodes") ? Math.max(...values) : median(values)]));
			console.log(shape, name, JSON.stringify(result[`${shape}_${name}`]));
		}
	} finally {
		await server.stop();
	}
}
await browser.close();
model.stop();
console.log(JSON.stringify(result));
