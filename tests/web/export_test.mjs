// SPDX-License-Identifier: MIT
//
// Exported pages. Each is exported from an imported project and opened from the disk; requests,
// console messages and errors are counted.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { BRIEF, DEPS, openBrowser, PATIENCE_MS, ROOT, Server, Tally, until } from "./place.mjs";

const AXE = readFileSync(join(DEPS, "axe/axe.min.js"), "utf8");
const MOST_ELEMENTS = 500, MANY = BRIEF ? 20000 : 100000, MIDDLE = MANY / 2 + 321;
const said = (number) => number.toLocaleString("en-US");

const tally = new Tally();
const browser = await openBrowser();
const place = new Server(); // only its folder and its environment
const RETAKE = resolve(process.env.RETAKE ?? join(ROOT, "build/retake"));
let made = 0;

function run(args) {
	return new Promise((done, fail) => execFile(RETAKE, args, { env: place.env, cwd: place.folder, maxBuffer: 1 << 28 },
		(error, out) => (error ? fail(error) : done(out))));
}

/** Exports this project; returns the file. */
async function exported(project) {
	const db = join(place.folder, `${++made}.db`), file = join(place.folder, `${made}.html`);
	writeFileSync(file + ".json", JSON.stringify(project));
	await run(["--db", db, "import", file + ".json"]);
	await run(["--db", db, "export", "--all-discussions", "-o", file]);
	return file;
}

/** Opens a page and records errors in it. */
async function open(file, options = {}, hash = "") {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
	const page = await context.newPage(), url = pathToFileURL(file).href;
	const seen = { requests: [], dialogs: 0, violations: [], errors: [] };
	page.on("request", (request) => {
		if (request.url().split("#")[0] !== url && !request.url().startsWith("data:"))
			seen.requests.push(request.url());
	});
	page.on("dialog", (dialog) => { seen.dialogs++; void dialog.dismiss(); });
	page.on("console", (line) => (/Content.Security.Policy/i.test(line.text()) ? seen.violations : seen.errors).push(line.text()));
	page.on("pageerror", (error) => seen.errors.push(String(error)));
	await page.goto(url + hash);
	return { page, seen, close: () => context.close() };
}

function quiet(name, seen) {
	tally.equal(`${name}: no request`, seen.requests.join(" "), "");
	tally.equal(`${name}: no dialog`, seen.dialogs, 0);
	tally.equal(`${name}: no violation of the policy`, seen.violations.join(" "), "");
	tally.equal(`${name}: no error`, seen.errors.join(" "), "");
}

const entry = (id, role, content, more = {}) => ({ id, role, content, ts: "2026-11-21T20:35:40Z", ...more });
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// ---- scripts ----

const RUN = "alert(1)";
const ELEMENTS = [
	`<script>${RUN}</script>`, `</script><script>${RUN}</script>`, `</SCRIPT ><script>${RUN}</script>`, `</script/x><script>${RUN}</script>`,
	`<!--<script>${RUN}</script>`, `<!--<script></script>-->${RUN}`, `--><script>${RUN}</script>`, `]]><script>${RUN}</script>`,
	`</style><script>${RUN}</script>`, `</title><script>${RUN}</script>`, `</pre></main><script>${RUN}</script>`, `</textarea><script>${RUN}</script>`,
	`<img src=x onerror=${RUN}>`, `<img src=1 href=1 onerror="javascript:${RUN}">`, `<svg onload=${RUN}>`, `<svg/onload=${RUN}>`,
	`<svg><script>${RUN}</script></svg>`, `<svg><a xlink:href="javascript:${RUN}"><text y=20>x</text></a></svg>`, `<math href="javascript:${RUN}">x</math>`,
	`<body onload=${RUN}>`, `<iframe src="javascript:${RUN}"></iframe>`, `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
	`<object data="javascript:${RUN}"></object>`, `<embed src="javascript:${RUN}">`, `<details open ontoggle=${RUN}>x</details>`,
	`<input autofocus onfocus=${RUN}>`, `<select autofocus onfocus=${RUN}>`, `<video><source onerror=${RUN}></video>`, `<audio src=x onerror=${RUN}>`,
	`<marquee onstart=${RUN}>x</marquee>`, `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`, `<base href="https://evil.example/">`,
	`<link rel=stylesheet href="https://evil.example/x.css">`, `<style>@import "https://evil.example/x.css";</style>`, `<form action="https://evil.example/"><button>x</button></form>`,
	`<a href="javascript:${RUN}">x</a>`, `<a href="jav&#x09;ascript:${RUN}">x</a>`, `<img src="https://evil.example/x.png">`, `<table background="https://evil.example/x.png">`,
	`<div style="background:url(https://evil.example/x.png)">x</div>`, `<x onclick=${RUN}>x</x>`, `"><img src=x onerror=${RUN}>`, `'><img src=x onerror=${RUN}>`,
	`" onmouseover="${RUN}" x="`, `' onmouseover='${RUN}' x='`, `javascript:${RUN}`, "`-" + RUN + "-`", `{{constructor.constructor('${RUN}')()}}`,
	`\${${RUN}}`, `\\u003cscript>${RUN}\\u003c/script>`, `&lt;script&gt;${RUN}&lt;/script&gt;`, `<scr\u0000ipt>${RUN}</scr\u0000ipt>`, `\u2028${RUN}\u2029`,
	`<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`, `<template><script>${RUN}</script></template>`, `<plaintext>`, `<xmp><script>${RUN}</script>`,
	`<frameset onload=${RUN}>`, `<isindex type=image src=1 onerror=${RUN}>`, `<button popovertarget=x onbeforetoggle=${RUN}>`,
	`\u202e<script>${RUN}</script>`, "\u0000\u0001\u001b[31m", `__proto__`, `constructor`, `toString`, `retake-data`, `page`, `app`,
];
const LINKS = [
	`[x](javascript:${RUN})`, `[x](JaVaScRiPt:${RUN})`, `[x](java\tscript:${RUN})`, `[x](&#106;avascript:${RUN})`, `[x](\u0001javascript:${RUN})`, `[x](vbscript:${RUN})`,
	`[x](data:text/html,<script>${RUN}</script>)`, `[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`, `[x](blob:null/1)`, `[x](file:///etc/passwd)`,
	`[x](//evil.example/)`, `[x](/\\evil.example/)`, `<javascript:${RUN}>`, `<data:text/html,x>`, `![x](javascript:${RUN})`, `![x](https://evil.example/x.png)`,
	`![x](data:image/svg+xml,<svg onload=${RUN}>)`, `[x][1]\n\n[1]: javascript:${RUN}`, `[x](https://example.org "\\" onmouseover=${RUN} x=\\"")`, `[x](https://example.org/"onmouseover=${RUN}")`,
	`[<img src=x onerror=${RUN}>](https://example.org)`, `\`<script>${RUN}</script>\``, `\`\`\`html\n<script>${RUN}</script>\n\`\`\``, `\`\`\`"><script>${RUN}</script>\nx\n\`\`\``,
	`| <script>${RUN}</script> |\n|---|\n| <img src=x onerror=${RUN}> |`, `# <svg onload=${RUN}>`, `> <script>${RUN}</script>`, `- [x] <img src=x onerror=${RUN}>`,
	`<div\nonclick=${RUN}>\n\nx`, `<!-- x --!><script>${RUN}</script>`, `<![CDATA[<script>${RUN}</script>]]>`, `<?php echo "<script>${RUN}</script>"; ?>`,
	`https://example.org/<script>${RUN}</script>`, `www.example.org"onmouseover="${RUN}`, `a@example.org<script>${RUN}</script>`,
];

function hostile(payloads) {
	const picture = (data, type) => ({ type: "image", data, mimeType: type });
	const entries = payloads.flatMap((text, at) => [
		entry(`a${at} ${text}`, text, text, { model: text, kind: at % 5 ? "message" : text }),
		entry(`b${at}`, "assistant", [
			{ type: "text", text }, { type: "thinking", thinking: text }, { type: text, text },
			{ type: "toolCall", id: text, name: text, arguments: { [text]: text } },
			{ type: "tool_result", tool_use_id: text, content: text },
			picture(text, "image/png"), picture("AAAA", text), picture("PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", "image/svg+xml"),
		], { thinking_segments: [text, { content: text }], tool_calls: [{ id: text, function: { name: text, arguments: text } }], [text]: text }),
	]);
	return {
		active: payloads[0],
		discussions: [{
			name: payloads[0], active: payloads[1], labels: Object.fromEntries(entries.map((each, at) => [each.id, payloads[at >> 1]])),
			takes: [{ name: payloads[1], entries }, ...payloads.slice(2, 12).map((name, at) => ({ name, entries: entries.slice(0, at + 1) }))],
			prompt: { text: payloads[3] },
		}, { name: payloads[2], takes: [{ name: payloads[4], entries: entries.slice(0, 2) }] }],
	};
}

/** Visits all entries, opens and clicks everything possible. */
async function walk(page, file, count) {
	const found = { links: 0, bad: [], entries: new Set() };
	for (let top = 0, still = 0; still < 3;) {
		const now = await page.evaluate(() => {
			for (const each of document.querySelectorAll("details:not([open])"))
				each.open = true;
			for (const each of document.querySelectorAll("#app *"))
				for (const type of ["mouseover", "mouseenter", "focus"])
					each.dispatchEvent(new MouseEvent(type, { bubbles: type === "mouseover" }));
			const box = document.querySelector(".entries"), before = box.scrollTop;
			box.scrollTop += 400;
			return {
				top: before, links: [...document.querySelectorAll("a")].map((each) => each.getAttribute("href")),
				odd: [...document.querySelectorAll("#app script, #app iframe, #app object, #app embed, #app form, #app link, #app style, #app svg, #app base, #app meta")].map((each) => each.outerHTML),
				inline: [...document.querySelectorAll("#app *")].flatMap((each) => each.getAttributeNames().filter((name) => /^on/.test(name))),
				at: [...document.querySelectorAll(".entry")].map((each) => Number(each.dataset.at)),
			};
		});
		await settle(page);
		found.links += now.links.length;
		found.bad.push(...now.odd, ...now.inline, ...now.links.filter((href) => !/^(https?:\/\/|mailto:|#)/.test(href)));
		now.at.forEach((at) => found.entries.add(at));
		still = now.top === top ? still + 1 : 0;
		top = now.top;
	}
	tally.equal("all entries were visited", found.entries.size, count);
	return found;
}

async function nothingRuns() {
	const payloads = [...ELEMENTS, ...LINKS];
	tally.check("there are a hundred of them", payloads.length >= 100, payloads.length);
	const project = hostile(payloads), count = project.discussions[0].takes[0].entries.length;
	const file = await exported(project);
	const { page, seen, close } = await open(file);
	await page.waitForSelector(".entry");
	await page.evaluate(() => { location.hash = ""; document.querySelector(".entries").scrollTop = 0; });
	await page.waitForTimeout(200);
	const found = await walk(page, file, count);
	tally.check("links lead where links may lead", found.bad.length === 0, found.bad.slice(0, 5));
	tally.check("there were links", found.links > 0);
	const text = await page.evaluate(() => document.querySelector(".page-left").textContent);
	tally.check("texts are shown as texts", text.includes("<img src=x onerror=alert(1)>") || text.includes("onerror"));
	await page.locator(".page-takes select").selectOption("3");
	await page.locator("h1 select").selectOption("1");
	await settle(page);
	await page.pdf(); // printing
	quiet("hostile texts", seen);
	await close();
	const still = await open(file, { javaScriptEnabled: false });
	tally.check("and without script", await still.page.locator("#page article").count() === count + 2);
	tally.equal("only text there", await still.page.locator("#page :not(section, h2, article, h3, small, pre, p, details, summary)").count(), 0);
	quiet("hostile texts without script", still.seen);
	await still.close();
	// the policy is in effect: a script added to the page does not run
	const spoiled = join(place.folder, "spoiled.html");
	writeFileSync(spoiled, readFileSync(file, "utf8").replace('<noscript>',
		'<script>alert(1)</script><img src=x onerror="alert(1)"><img src="https://127.0.0.1:9/x.png"><noscript>'));
	const other = await open(spoiled);
	await other.page.waitForSelector(".entry");
	tally.equal("no dialog of a foreign script", other.seen.dialogs, 0);
	tally.check("the policy stopped it", other.seen.violations.length >= 2, other.seen.violations);
	await other.close();
}

// ---- functions ----

const BASE = [
	entry("e1", "User", "Which database?"), entry("e2", "AI", "# Answer\n\nTake *this* one.\n\n```c\nint a; // why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
	entry("e3", "User", "And concurrency?"), entry("e4", "toolResult", "rows: *3*\n  of 4", { muted: true }), entry("e5", "AI", "The first ending.", { muted: true }),
];
const FORK = [...BASE.slice(0, 3), entry("e6", "AI", "Another ending."), entry("e7", "compaction", "all of it", { kind: "compaction" }), entry("e8", "User", "Go on.")];
const PROJECT = {
	active: "main",
	discussions: [
		{ name: "main", active: "main_take_1", head: "e6", labels: { e3: "question" }, takes: [{ name: "main", entries: BASE }, { name: "main_take_1", entries: FORK }] },
		{ name: "other", takes: [{ name: "other", entries: [entry("f1", "User", "hello")] }] },
	],
};

async function axe(page, name) {
	if (!await page.evaluate(() => "axe" in globalThis))
		await page.evaluate(AXE + ";0");
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	tally.check(`axe: ${name}`, found.violations.length === 0, ...found.violations.map((each) =>
		`${each.id} (${each.impact}): ${each.nodes.slice(0, 3).map((node) => node.html + " " + node.any.map((why) => why.message)).join(" | ")}`));
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();
const marked = (page) => page.evaluate(() => document.querySelector(".entry[aria-current]")?.textContent ?? null);
const rows = (page) => page.locator("[role=treeitem]").count();

async function itWorks() {
	const file = await exported(PROJECT);
	const { page, seen, close } = await open(file);
	await page.waitForSelector(".entry");
	tally.equal("it begins at the first entry", await page.locator('.entry[aria-current]').getAttribute("data-at"), "0");
	tally.check("and says how to continue it", (await page.locator(".page-foot").innerText()).includes("import this file in Retake. It contains 2 discussions with their takes and labels."));
	tally.equal("its heading is the title, as in the list of discussions", (await page.locator("h1 option").allInnerTexts()).join(), "Which database?,other");
	tally.equal("so is that of the window", await page.title(), "Which database? - Retake");
	tally.equal("takes have the names of their tabs", (await texts(page, ".page-tabs button")).join(", "), "main 5, Another ending. 6");
	tally.equal("also at their ends in the outline", (await texts(page, ".tree-row .tip")).join(), "main,Another ending.");
	tally.equal("and their own names beside", await page.locator(".page-tabs button").last().getAttribute("title"), "main_take_1");
	tally.equal("one row for each entry", await rows(page), 8);
	tally.check("the head is marked in the outline", (await texts(page, ".tree-row.head")).join().includes("Another ending"));
	tally.check("Markdown is shown", await page.locator(".entry h3, .entry em, .entry table, .entry .hl-comment").count() >= 3);
	tally.check("compactions hide nothing", (await texts(page, ".entry")).length === 6);

	await page.getByRole("treeitem", { name: /The first ending/ }).click();
	tally.check("a row shows its path", (await marked(page)).includes("The first ending."));
	tally.equal("in its take", await page.locator(".page-tabs [aria-pressed=true]").innerText(), "main 5");
	tally.equal("and the address says where", await page.evaluate(() => location.hash), "#d=main&t=main&e=e5");
	await page.goBack();
	await settle(page);
	tally.equal("back is back", await page.locator(".entry[aria-current]").getAttribute("data-at"), "0");
	await page.goForward();
	await page.getByRole("button", { name: "To the end" }).click();
	tally.check("to the head", (await marked(page)).includes("Another ending."));
	await page.getByRole("button", { name: /^main 5/ }).click();
	await settle(page);
	tally.equal("another take", (await texts(page, ".entry")).length, 5);
	const output = page.locator(".entry", { hasText: "rows:" });
	tally.equal("tool output is shown verbatim", await output.locator("pre").innerText(), "rows: *3*\n  of 4");
	tally.equal("and upright, muted or not", await output.locator("pre").evaluate((each) => getComputedStyle(each).fontStyle), "normal");

	const search = page.getByRole("searchbox"), filter = page.getByLabel("Filter entries");
	await search.fill("ending FIRST");
	tally.equal("all words of a search", await rows(page), 1);
	await search.fill("ending nowhere");
	tally.equal("must be there", await rows(page), 0);
	await search.fill("ending");
	await search.press("ArrowDown");
	tally.check("Down moves from the field to the results", await page.evaluate(() => document.activeElement.matches("[role=treeitem]") && document.activeElement.textContent.includes("ending")));
	await search.fill("database");
	await search.press("Enter");
	tally.equal("search terms are marked in the outline", (await texts(page, ".tree-row mark")).join(), "database");
	tally.check("and in the entry", await page.evaluate(() => [...CSS.highlights.get("found") ?? []].join()) === "database");
	tally.check("Enter shows it", (await marked(page)).includes("Which database"), await marked(page));
	tally.check("and keys continue from there", await page.evaluate(() => document.activeElement.matches("[role=treeitem][aria-selected=true]")));
	await search.fill("ending nowhere");
	await search.press("Enter");
	tally.check("without results the focus stays in the field", await search.evaluate((field) => field === document.activeElement));
	await search.fill("");
	for (const [name, count] of [["no-tools", 7], ["user", 3], ["labelled", 1], ["all", 8], ["default", 8]]) {
		await filter.selectOption(name);
		tally.equal(`filter ${name}`, await rows(page), count);
	}
	const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
	await page.locator("[role=treeitem][tabindex='0']").focus();
	tally.equal("one row is in the tab order", await page.locator("[role=treeitem][tabindex='0']").count(), 1);
	await page.keyboard.press("Home");
	tally.check("Home", (await focused()).includes("Which database"));
	await page.keyboard.press("ArrowDown");
	tally.check("down", (await focused()).includes("Answer"));
	await page.keyboard.press("Enter");
	tally.check("Enter goes there", (await marked(page)).includes("Take this one"));
	await page.keyboard.press("End");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowLeft");
	tally.check("left folds", await rows(page) < 8);
	await page.keyboard.press("ArrowRight");
	tally.equal("right unfolds", await rows(page), 8);

	await page.locator("h1 select").selectOption({ label: "other" });
	tally.check("another discussion", (await texts(page, ".entry")).join().includes("hello"));
	quiet("a project", seen);
	await close();

	const linked = await open(file, { colorScheme: "dark" }, "#d=main&t=main&e=e3");
	await linked.page.waitForSelector(".entry");
	tally.check("a link leads to its entry", (await marked(linked.page)).includes("And concurrency?"));
	tally.equal("and its take", await linked.page.locator(".page-tabs [aria-pressed=true]").innerText(), "main 5");
	tally.check("what it is of can be read", await linked.page.locator("h1").isVisible() && (await linked.page.locator("h1").boundingBox()).height > 10);
	const missing = linked.page.locator(".page-missing");
	tally.equal("and nothing is missing", await missing.count(), 0);
	const go = async (hash) => {
		await linked.page.evaluate((to) => { location.hash = to; }, hash);
		await missing.waitFor();
		return missing.locator("span").innerText();
	};
	tally.check("a link to an entry that is gone says so", /an entry that is not on this page/.test(await go("#d=main&t=main&e=nobody")));
	tally.equal("and shows its take", await linked.page.locator(".page-tabs [aria-pressed=true]").innerText(), "main 5");
	tally.equal("one that is in another take", await go("#d=main&t=main&e=e8"), 'The linked entry is no longer in that take. This is “Another ending.”, which contains it.');
	tally.check("is shown there", (await marked(linked.page)).includes("Go on."));
	tally.check("a take that is gone", /the take “nowhere”, which is not on this page/.test(await go("#d=main&t=nowhere&e=e3")));
	tally.check("where the entry is shown anyway", (await marked(linked.page)).includes("And concurrency?"));
	tally.check("a discussion", /the discussion “none”/.test(await go("#d=none")));
	await axe(linked.page, "a broken link, dark");
	await missing.getByRole("button").click();
	tally.equal("the line is put away", await missing.count(), 0);
	await linked.page.evaluate(() => { location.hash = "#d=main&t=main&e=e3"; });
	await linked.page.locator(".entry[aria-current]", { hasText: "And concurrency?" }).waitFor();
	await linked.page.emulateMedia({ media: "print" });
	await linked.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	tally.equal("paper has the whole take", await linked.page.locator("#paper .entry").count(), 5);
	tally.check("and no outline", !await linked.page.locator(".page-left").isVisible());
	await axe(linked.page, "paper, from a dark screen");
	await linked.page.evaluate(() => dispatchEvent(new Event("afterprint")));
	tally.equal("which is put away again", await linked.page.locator("#paper *").count(), 0);
	await linked.close();

	for (const colorScheme of ["light", "dark"])
		for (const width of [1280, 390]) {
			const name = `${colorScheme}, ${width} px`;
			const look = await open(file, { colorScheme, viewport: { width, height: 800 } });
			await look.page.waitForSelector(".entry");
			await axe(look.page, name);
			if (width < 800) {
				tally.check("a phone hides the outline", !await look.page.locator(".page-left").isVisible());
				await look.page.getByRole("button", { name: "Outline" }).click();
				tally.check("until it is asked for", await look.page.locator(".page-left").isVisible());
				await axe(look.page, `outline, ${name}`);
			}
			tally.check(`nothing sideways, ${name}`, await look.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
			await look.close();
			const bare = await open(file, { colorScheme, viewport: { width, height: 800 }, javaScriptEnabled: false });
			tally.equal(`without script, ${name}`, await bare.page.locator("article").count(), 7);
			await bare.close();
		}

	const back = join(place.folder, "back.db"), db = join(place.folder, `${made}.db`);
	await run(["--db", back, "import", file]);
	const states = await Promise.all([back, db].map((each) => run(["--db", each, "export", "--format", "canonical"])));
	tally.check("what is read back is the same", states[0] === states[1], ...states);
}

/** Siblings are in order of time, whatever take is active; hidden entries of extensions are hidden. */
/** An attached text can be read and saved, another file saved; a file's type is never trusted. */
async function attachedFiles() {
	const text = "Log of the lamp\n<b>lit</b> at six.", pdf = Buffer.from("%PDF-1.7\n\x00\xff", "latin1");
	const file = await exported({ active: "main", discussions: [{ name: "main", takes: [{ name: "main", entries: [entry("e1", "User", [
		{ type: "text", text: "Read these." }, { type: "file", name: "notes.txt", mimeType: "text/html", size: text.length, data: Buffer.from(text).toString("base64") },
		{ type: "file", name: "paper.pdf", mimeType: "application/pdf", size: pdf.length, data: pdf.toString("base64") },
		{ type: "file", name: "bad", data: "\"><img src=x onerror=alert(1)>" }])] }] }] });
	for (const javaScriptEnabled of [true, false]) {
		const { page, seen, close } = await open(file, { javaScriptEnabled }), as = javaScriptEnabled ? "" : " without script";
		await page.waitForSelector(javaScriptEnabled ? ".entry" : "#page article");
		tally.equal(`files that can be saved${as}`, (await page.locator("a[download]").evaluateAll((all) => all.map((each) => each.download))).join(), "notes.txt,paper.pdf");
		if (javaScriptEnabled) {
			tally.equal("with their sizes", (await texts(page, "a[download]")).join().replace(/\n/g, " "), `notes.txt ${text.length} bytes,paper.pdf ${pdf.length} bytes`);
			tally.check("a short text is shown", (await page.locator(".entry details[open]").innerText()).includes("<b>lit</b> at six."));
			tally.equal("a file that is not base64 cannot be saved, and is text", await page.locator(".entry img").count(), 0);
			const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a[download]").first().click()]);
			tally.equal("it is saved with its text", readFileSync(await download.path(), "utf8"), text);
			tally.equal("and its name", download.suggestedFilename(), "notes.txt");
			await axe(page, "attached files");
		} else {
			tally.check("the text is there", (await page.locator("#page details pre").textContent()).includes("<b>lit</b> at six."));
		}
		quiet(`attached files${as}`, seen);
		await close();
	}
}

async function hiddenAndOrder() {
	const at = (id, role, content, second, more) => entry(id, role, content, { ts: `2026-11-21T20:35:${second}Z`, ...more });
	const trunk = [at("q", "User", "Which one?", "01"), at("a", "AI", "It depends.", "02")];
	const file = await exported({ format: "retake", version: 1, active: "d", discussions: [{
		name: "d", active: "third", takes: [
			{ name: "third", entries: [...trunk, at("c", "User", "third way", "16"),
				at("h", "Hook", "CONCEALED", "17", { kind: "custom_message", display: false }), at("v", "Hook", "VISIBLE", "18", { kind: "custom_message", display: true }),
				at("s", "User", "STATE", "19", { kind: "custom" })] },
			{ name: "first", entries: [...trunk, at("b", "User", "first way", "03")] },
			{ name: "second", entries: [...trunk, at("e", "User", "second way", "08")] },
		],
	}] });
	const { page, seen, close } = await open(file);
	await page.waitForSelector(".entry");
	await page.waitForSelector("[role=treeitem]");
	const words = async () => (await texts(page, ".tree-row .words")).join(" | ");
	tally.equal("siblings by time, nothing that is hidden", await words(), "Which one? | It depends. | first way | second way | third way | VISIBLE");
	tally.check("the last one shown has the mark of the head", (await texts(page, ".tree-row.head")).join().includes("VISIBLE"), await texts(page, ".tree-row"));
	tally.check("the entries", !(await texts(page, ".entry")).join().match(/CONCEALED|STATE/) && (await texts(page, ".entry")).length === 4, await texts(page, ".entry"));
	await page.getByLabel("Filter entries").selectOption("all");
	tally.equal("all entries", await words(), "Which one? | It depends. | first way | second way | third way | CONCEALED | VISIBLE | STATE");
	await page.getByRole("treeitem", { name: /CONCEALED/ }).click();
	tally.check("one that is chosen is shown", await until(async () => (await marked(page))?.includes("CONCEALED")), await marked(page));
	await page.getByRole("treeitem", { name: /first way/ }).click();
	tally.check("and is not any more", await until(async () => !(await texts(page, ".entry")).join().includes("CONCEALED")));
	quiet("hidden entries", seen);
	await close();
}

/** Invalid parts of a page are left out; the entries are shown. */
async function spoiled() {
	const file = await exported({ discussions: [{ name: "main", takes: [{ name: "main", entries: BASE }] }] });
	const html = readFileSync(file, "utf8"), begin = '"name":"main"', bad = '{"toString":1}';
	const mends = {
		"a count": [begin, `"redacted":{"entries":1,"places":1,"kinds":{"api key":${bad}}},${begin}`],
		"counts": [begin, `"redacted":{"entries":${bad},"places":${bad},"kinds":{}},${begin}`],
		"kinds": [begin, `"redacted":{"entries":1,"places":1,"kinds":null},${begin}`],
		"a label": [begin, `"labels":{"e3":${bad}},${begin}`],
		"a kind": ['"id":"e3"', `"id":"e3","kind":${bad}`],
	};
	for (const [name, [from, to]] of Object.entries(mends)) {
		const other = join(place.folder, "spoiled.html");
		tally.check(`${name}: is there`, html.includes(from));
		writeFileSync(other, html.replace(from, () => to));
		const { page, close } = await open(other);
		await settle(page);
		const shown = await page.locator(".entry").count();
		tally.equal(`${name}: the entries are shown`, shown, name === "a kind" ? 4 : 5);
		await close();
	}
	const other = join(place.folder, "spoiled.html");
	writeFileSync(other, html.replace(begin, () => `"redacted":{"entries":1,"places":2,"kinds":{"api key":2}},${begin}`));
	const { page, close } = await open(other);
	await page.waitForSelector(".entry");
	tally.equal("valid parts are shown", await page.locator(".page-redacted").innerText(), "1 entry redacted · api key: 2");
	await close();
}

/** An edited text is marked, in the take and in the outline. */
async function edited() {
	const db = join(place.folder, "edited.db"), file = join(place.folder, "edited.html");
	await run(["--db", db, "-q", "add", "question"]);
	await run(["--db", db, "-q", "add", "-r", "AI", "answer"]);
	await run(["--db", db, "-q", "edit", ":2", "my answer"]);
	await run(["--db", db, "export", "-o", file]);
	const { page, seen, close } = await open(file);
	await page.waitForSelector("[role=treeitem]");
	tally.equal("an edited reply says so", (await page.locator(".entry").nth(1).locator(".edited").allInnerTexts()).join(), "edited");
	tally.equal("another does not", await page.locator(".entry").nth(0).locator(".edited").count(), 0);
	tally.equal("nor does any other row of the outline", (await page.locator("[role=treeitem]:has(.edited)").allInnerTexts()).length, 1);
	tally.check("than its own", (await page.locator("[role=treeitem]:has(.edited)").innerText()).includes("my answer"));
	quiet("edited", seen);
	await close();
}

/** Arrows lead to the alternatives in the page; the page of one take says how many it leaves out. */
async function branchPoints() {
	const db = join(place.folder, "forks.db"), all = join(place.folder, "forks.html"), one = join(place.folder, "one.html");
	const add = (...args) => run(["--db", db, "-q", "add", ...args]);
	await add("question");
	await add("-r", "AI", "first answer");
	await add("thanks");
	for (const answer of ["second answer", "third answer"]) {
		await run(["--db", db, "-q", "go", ":1"]);
		await add("-r", "AI", answer);
	}
	await run(["--db", db, "export", "-o", all]);
	await run(["--db", db, "export", "--take", "main", "-o", one]);
	const { page, seen, close } = await open(all, {}, "#d=main&t=main");
	const fork = page.locator(".entry .fork"), texts = () => page.locator(".entry-body").allInnerTexts();
	await fork.waitFor();
	tally.equal("the place among the alternatives", await fork.innerText().then((text) => text.replace(/\s/g, "")), "‹1/3›");
	tally.equal("no other entry has some", await page.locator(".entry:has(.fork)").getAttribute("data-at"), "1");
	tally.equal("the first has none before", await page.getByRole("button", { name: "Previous alternative" }).isDisabled(), true);
	await page.getByRole("button", { name: "Next alternative" }).click();
	tally.check("an arrow leads to the next", await until(async () => (await texts()).join() === "question,second answer"), await texts());
	await page.getByRole("button", { name: "Next alternative" }).click();
	tally.check("and on", await until(async () => (await texts()).join() === "question,third answer"), await texts());
	await page.goBack();
	tally.check("and the browser's button back", await until(async () => (await texts()).join() === "question,second answer"), await texts());
	await axe(page, "branch points");
	quiet("branch points", seen);
	await close();
	const lone = await open(one);
	await lone.page.waitForSelector(".entry");
	tally.equal("a page of one take counts the others", (await lone.page.locator(".entry-head .chip").allInnerTexts()).join(), "2 alternatives not included");
	tally.equal("at their place", await lone.page.locator(".entry:has(.entry-head .chip)").getAttribute("data-at"), "1");
	quiet("a page of one take", lone.seen);
	await lone.close();
}

async function manyEntries() {
	const entries = Array.from({ length: MANY }, (_, at) => entry(`e${at}`, at % 2 ? "AI" : "User", `Entry ${at} *says* a few words.`));
	const file = await exported({ discussions: [{ name: "long", takes: [{ name: "long", entries }, { name: "long_take_1", entries: entries.slice(0, 7) }] }] });
	const { page, seen, close } = await open(file);
	await page.waitForSelector(".entry");
	const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
	tally.check("the last entry is shown", (await marked(page))?.includes(`Entry ${MANY - 1} says`));
	tally.check("with few elements", await elements() < MOST_ELEMENTS, await elements());
	await page.locator("[role=treeitem][tabindex='0']").focus();
	await page.keyboard.press("Home");
	await page.keyboard.press("Enter");
	await settle(page);
	tally.check("the first", (await marked(page)).includes("Entry 0 says"));
	await page.getByRole("searchbox").fill(`Entry ${MIDDLE}`);
	tally.equal("one is found", await rows(page), 1);
	await page.getByRole("treeitem").click();
	await settle(page);
	const inView = await page.evaluate(() => {
		const at = document.querySelector(".entry[aria-current]")?.getBoundingClientRect(), box = document.querySelector(".entries").getBoundingClientRect();
		return at && at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
	});
	tally.check("and it is visible", inView && (await marked(page)).includes(`Entry ${MIDDLE} says`));
	for (let i = 0; i < 20; i++) {
		await page.evaluate(() => { document.querySelector(".entries").scrollTop += 3000; });
		await settle(page);
	}
	tally.check("scrolling leaves few elements", await elements() < MOST_ELEMENTS, await elements());
	quiet("many entries", seen);
	await close();
	await firstOf(file);
	await meanwhile(file);
	await cutOff(file);
}

/** A truncated file says so. */
async function cutOff(file) {
	const part = `${file}.part.html`, html = readFileSync(file);
	writeFileSync(part, html.subarray(0, html.indexOf(DATA) + 5000));
	const page = await browser.newPage();
	await page.goto(`file://${part}#d=long&t=long&e=e123`);
	tally.check("a link to a missing part says so", /could not be read/.test(await page.locator(".page-missing [role=status]").innerText()));
	tally.check("and the outline does not wait for it", /outline could not be read/.test(await page.locator(".page-left").innerText()));
	tally.check("nor does paper", /the file is incomplete/.test(await printed(page)), await printed(page));
	await page.goto("about:blank");
	await page.goto(`file://${part}`);
	tally.check("a file that was cut off says so", (await page.locator("[role=alert]").innerText()).includes("incomplete"));
	tally.check("and shows what it has", (await page.locator(".entry[aria-current]").innerText()).includes(`Entry ${MANY - 1} says`));
	await page.close();
}

/** The first printed line. */
const printed = (page) => page.evaluate(() => {
	dispatchEvent(new Event("beforeprint"));
	const line = document.querySelector("#paper .part")?.textContent ?? "", count = document.querySelectorAll("#paper .entry").length;
	dispatchEvent(new Event("afterprint"));
	return `${count}: ${line}`;
});

/** Serves a page up to this position, and the rest later. */
async function slowly(file, cut) {
	const html = readFileSync(file);
	let go;
	const rest = new Promise((done) => { go = done; });
	const http = createServer(async (request, response) => {
		response.writeHead(200, { "Content-Type": "text/html" });
		response.write(html.subarray(0, html.indexOf(cut)));
		await rest;
		response.end(html.subarray(html.indexOf(cut)));
	});
	await new Promise((done) => http.listen(0, "127.0.0.1", done));
	const end = () => {
		http.closeAllConnections();
		http.close();
	};
	return { go, end, url: `http://127.0.0.1:${http.address().port}/` };
}

const DATA = '<script type="application/json" id="retake-data">';

/** While the rest is being read, prints and links say so; a link is followed when its target arrives. */
async function meanwhile(file) {
	const { go, end, url } = await slowly(file, DATA);
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	await page.goto(`${url}#d=long&t=long&e=e123`, { waitUntil: "commit" });
	const says = page.locator(".page-missing [role=status]");
	await says.waitFor({ timeout: PATIENCE_MS });
	tally.check("a link to an unread part says that it waits", /still being loaded/.test(await says.innerText()), await says.innerText());
	tally.check("with the end below it", (await marked(page)).includes(`Entry ${MANY - 1} says`));
	tally.check("print lists the missing parts", new RegExp(`^30: Entries ${said(MANY - 29)} to ${said(MANY)} of ${said(MANY)}: .*still being loaded`).test(await printed(page)), await printed(page));
	await page.evaluate((last) => { location.hash = `#d=long&t=long&e=e${last}`; }, MANY - 2);
	await page.locator(".entry[aria-current]", { hasText: `Entry ${MANY - 2} says` }).waitFor();
	tally.equal("a link to a loaded entry does not wait", await says.count(), 0);
	for (const hash of ["#d=long&t=long_take_1&e=e3", `#d=long&t=long&e=${encodeURIComponent("#7")}`, "#d=long&t=long&e=e123"]) {
		await page.evaluate((to) => { location.hash = to; }, hash);
		await says.waitFor();
		tally.check("another waits", /still being loaded/.test(await says.innerText()), hash, await says.innerText());
	}
	go();
	await page.locator(".entry[aria-current]", { hasText: "Entry 123 says" }).waitFor();
	await page.waitForSelector("[role=treeitem]");
	tally.equal("then it is there, and nothing is said", await says.count(), 0);
	tally.check("in view", await page.locator(".entry[aria-current]").evaluate((at) => {
		const box = document.querySelector(".entries").getBoundingClientRect(), is = at.getBoundingClientRect();
		return is.top >= box.top - 1 && is.bottom <= box.bottom + 1;
	}));
	tally.check("and paper has what it has at a time", new RegExp(`^5000: Entries 1 to 5,000 of ${said(MANY)}: at most 5,000 entries`).test(await printed(page)), await printed(page));
	await page.close();
	end();
	// nothing of it is there
	writeFileSync(`${file}.plain.html`, readFileSync(file, "utf8").replace(/<script type="application\/json" id="retake-first">[^]*?<\/script>/, ""));
	const plain = await slowly(`${file}.plain.html`, DATA), other = await browser.newPage();
	await other.goto(plain.url, { waitUntil: "commit" });
	tally.check("before there is anything, paper says that", await until(async () => /^0: This page is still being loaded/.test(await printed(other))), await printed(other));
	plain.go();
	await other.locator(".entry[aria-current]").waitFor({ timeout: PATIENCE_MS });
	tally.check("and not after that", /^5000: /.test(await printed(other)));
	await other.close();
	plain.end();
}

/** The end is shown before the rest of the page has arrived, and keeps its position afterwards. */
async function firstOf(file) {
	const { go, end, url } = await slowly(file, DATA);
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } }), errors = [];
	page.on("pageerror", (error) => errors.push(String(error)));
	await page.goto(url, { waitUntil: "commit" });
	const last = page.locator(".entry[aria-current]");
	await last.waitFor({ timeout: PATIENCE_MS });
	const seen = async () => [await last.innerText(), Math.round((await last.boundingBox()).y)];
	const early = await seen();
	tally.check("the end is shown before the rest is there", early[0].includes(`Entry ${MANY - 1} says`) && (await last.locator("em").count()) === 1, early);
	tally.equal("which is still read", await page.locator(".page-left").innerText(), "Reading …");
	await page.evaluate(() => { document.querySelector(".entries").scrollTop -= 150; });
	await settle(page);
	const before = await seen();
	go();
	await page.waitForSelector("[role=treeitem]");
	await settle(page);
	const after = await seen();
	tally.equal("and then it is the same", after[0], before[0]);
	tally.check("at the scroll position", before[1] > early[1] + 100 && Math.abs(after[1] - before[1]) < 60, early, before, after);
	tally.equal("without an error", errors.join(" "), "");
	await page.evaluate(() => { document.querySelector(".entries").scrollTop /= 2; });
	tally.check("the middle is there, too", await until(() => page.evaluate((half) => {
		const at = Number(document.querySelector(".entries .entry")?.dataset.at);
		return Math.abs(at - half) < half / 10;
	}, MANY / 2)));
	await page.close();
	end();
}

// ---- print ----

const LONG = "x".repeat(400), ADDRESS = "https://example.org/a/page";
const PRINTED = {
	active: "main",
	discussions: [{ name: "main", takes: [{ name: "main", entries: [
		entry("p1", "User", "Which one?"),
		entry("p2", "AI", `See [this page](${ADDRESS}).\n\n\`\`\`c\n${LONG} ${LONG}\n${"short\n".repeat(60)}\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |`),
		...Array.from({ length: 60 }, (_, i) => entry(`q${i}`, i % 2 ? "AI" : "User", `Line ${i}\n\n`.repeat(6))),
	] }] }],
};

/** Pages in a PDF, by its page objects. */
const pagesOf = (pdf) => (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;

async function itPrints() {
	const file = await exported(PRINTED);
	for (const javaScriptEnabled of [true, false]) {
		const name = javaScriptEnabled ? "paper" : "paper without script", root = javaScriptEnabled ? "#paper" : "#page";
		const { page, close } = await open(file, { colorScheme: "dark", javaScriptEnabled });
		await page.waitForSelector(javaScriptEnabled ? ".entry" : "article");
		await page.emulateMedia({ media: "print", colorScheme: "dark" });
		// the width of A4 without its margins
		await page.setViewportSize({ width: 688, height: 1000 });
		if (javaScriptEnabled)
			await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		const style = (selector, member, pseudo) => page.locator(selector).first().evaluate((node, [member, pseudo]) => getComputedStyle(node, pseudo)[member], [member, pseudo]);
		tally.equal(`${name}: black`, await style(`${root} ${javaScriptEnabled ? ".entry" : "pre"}`, "color"), "rgb(0, 0, 0)");
		tally.equal(`${name}: on white`, await style("body", "backgroundColor"), "rgb(255, 255, 255)");
		tally.equal(`${name}: no controls`, await page.locator("button:visible, select:visible, input:visible").count(), 0);
		tally.check(`${name}: nothing sideways`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("pre, .code")].every((each) => each.scrollWidth <= each.clientWidth + 1)));
		tally.check(`${name}: nothing is folded`, await page.evaluate(() => [...document.querySelectorAll("pre, .code")].every((each) => each.scrollHeight <= each.clientHeight + 1 && getComputedStyle(each).maskImage === "none")));
		tally.equal(`${name}: headings stay with their text`, await style(`${root} ${javaScriptEnabled ? ".entry-head" : "h3"}`, "breakAfter"), "avoid");
		if (javaScriptEnabled) {
			tally.equal("a link has its address", await style(`#paper a[href="${ADDRESS}"]`, "content", "::after"), `" (${ADDRESS})"`);
			await axe(page, "printed");
		}
		const pdf = await page.pdf({ format: "A4" });
		tally.check(`${name}: pages`, pagesOf(pdf) > 3, pagesOf(pdf));
		await close();
	}
}

for (const part of [itPrints, nothingRuns, itWorks, attachedFiles, hiddenAndOrder, spoiled, edited, branchPoints, manyEntries])
	try {
		await part();
	} catch (error) {
		tally.check(`${part.name} runs to its end`, false, error.stack ?? error);
	}
await browser.close();
await place.stop();
process.exit(tally.end());
