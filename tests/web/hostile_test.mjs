// SPDX-License-Identifier: MIT
//
// Hostile texts (payloads.mjs) in every displayed field: blocks rendered by the server, entries in
// all forms, names, labels, settings, lists, history and search in the live page, streaming replies
// and failures of a model's server, exported pages. Nothing may run, make a request, open a window,
// violate the policy, or leave an element or attribute that the page itself does not use. The same
// texts in an unsafe page prove that the watch detects attacks.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { elementsOf, elementsOfTree, judge, judgeBlocks, quiet, watch } from "./hostile_judge.mjs";
import { KINDS, payloads } from "./payloads.mjs";
import { BRIEF, choose, DEPS, openBrowser, ROOT, Server, Tally, until } from "./place.mjs";

const { parse } = await import(join(DEPS, "parse5/dist/index.js"));
const SAMPLE = BRIEF ? 12 : 1, LEAST = 500 / SAMPLE, CHUNK = 48, FIRED_LEAST = 300;
const isLinking = ({ text }) => /^\[https:\/\/127/.test(text);
const ALL = payloads().filter((each) => each.n % SAMPLE === 0 || isLinking(each));
const TALL_PX = 2400, PATIENCE_MS = 60000;
const tally = new Tally();
const browser = await openBrowser();
const chunks = Array.from({ length: Math.ceil(ALL.length / CHUNK) }, (_, at) => ALL.slice(at * CHUNK, (at + 1) * CHUNK));
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

tally.check("there are enough of them", new Set(ALL.map((each) => each.text)).size >= LEAST, ALL.length);
tally.equal("and no two are the same", new Set(ALL.map((each) => each.text)).size, ALL.length);

// ---- shared by the parts ----

/** Opens a separate window: the page, its activity, and the server's URLs. */
async function visit(server) {
	const context = await browser.newContext({ viewport: { width: 1280, height: TALL_PX } });
	context.setDefaultTimeout(PATIENCE_MS);
	const own = (url) => url.startsWith(server.url + "/") || url.startsWith("/web/");
	const seen = await watch(context, own);
	const page = await context.newPage();
	await page.goto(await server.loginUrl());
	await page.waitForSelector("[role=tablist] [role=tab]");
	const close = async () => {
		tally.equal("no error to the end", seen.errors.slice(0, 2).join(" | "), "");
		await context.close();
	};
	return { page, seen, own, close };
}

/** Hovers over everything, and judges it; each problem is reported once. */
async function look(at, name) {
	const rows = await at.page.evaluate(() => {
		for (const each of document.querySelectorAll("details:not([open])"))
			each.open = true;
		for (const each of document.querySelectorAll("#app a, #app summary, #app .chip"))
			for (const type of ["pointerover", "mouseover", "mouseenter"])
				each.dispatchEvent(new MouseEvent(type, { bubbles: !type.endsWith("enter") }));
		return [...document.querySelectorAll("#app .entry")].map((each) => each.dataset.entry ?? each.dataset.at);
	});
	at.entries ??= new Set();
	at.links = (at.links ?? 0) + await at.page.locator("#app .prose a").count();
	at.rows = rows;
	rows.forEach((row) => at.entries.add(`${at.disc} ${row}`));
	const bad = judge(await elementsOf(at.page), at.own);
	at.bad ??= new Set();
	for (const each of bad.slice(0, 3))
		if (at.bad.size < 6 && !at.bad.has(each)) {
			at.bad.add(each);
			tally.check(`${name}: only what the page has by itself`, false, each);
		}
	return bad.length;
}

/**
 * Judges a list that is longer than the viewport, from start to end: the last judged row is scrolled to the top. Rows
 * are measured when their texts are loaded, so rows may have moved since: then scrolls back until the ranges overlap.
 */
async function lookThrough(at, selector, name) {
	let bad = 0, reached = 0;
	await at.page.evaluate((what) => { const box = document.querySelector(what); if (box) box.scrollTop = 0; }, selector);
	await settle(at.page);
	for (let isMore = true; isMore;) {
		await at.page.waitForFunction(([what, from]) => {
			const box = document.querySelector(what), frame = box?.getBoundingClientRect();
			const inView = [...box?.querySelectorAll(".entry[aria-posinset]") ?? []].filter((row) => {
				const place = row.getBoundingClientRect();
				return place.bottom > frame.top && place.top < frame.bottom;
			});
			const positions = inView.map((row) => Number(row.ariaPosInSet)).sort((a, b) => a - b);
			if (inView.length && positions[0] > from + 1) {
				box.scrollTop -= box.clientHeight / 2;
				return false;
			}
			return positions.every((position, nr) => position === positions[0] + nr) && !document.querySelector(".entry-body > .plain.quiet");
		}, [selector, reached]);
		bad += await look(at, name);
		[isMore, reached] = await at.page.evaluate(([what, from, looked]) => {
			const box = document.querySelector(what), before = box?.scrollTop;
			if (!box)
				return [false, 0];
			const end = box.getBoundingClientRect().bottom - 1;
			// rows that appeared during the check have not been judged
			const seen = [...box.querySelectorAll(".entry, [data-row], [role=treeitem]")].filter((row) =>
				row.getBoundingClientRect().top < end && (!row.matches(".entry") || looked.includes(row.dataset.entry ?? row.dataset.at)));
			const last = seen.at(-1), positions = new Set(seen.map((row) => Number(row.ariaPosInSet)));
			while (positions.has(from + 1))
				from++;
			const step = last ? last.getBoundingClientRect().top - box.getBoundingClientRect().top : box.clientHeight;
			box.scrollTop += step >= 1 ? step : box.clientHeight / 2; // one row can be higher than the box
			return [box.scrollTop !== before, from];
		}, [selector, reached, at.rows]);
		await settle(at.page);
	}
	return bad;
}

/** Joins several texts into one, to save time. */
function together(size) {
	const all = [];
	for (const { text } of ALL)
		if (all.length && all.at(-1).join("").length + text.length < size)
			all.at(-1).push(text);
		else
			all.push([text]);
	return all.map((texts) => ({ texts, text: texts.join(" ") }));
}

const fine = (name, bad) => tally.equal(`${name}: every element is one of the page's`, bad, 0);

async function pane(page, id) {
	const panes = page.getByRole("button", { name: "Panes", exact: true });
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
	await settle(page);
}

/** Sends a change, and repeats it if the connection was closed. */
async function tell(server, path, body) {
	const key = { "Idempotency-Key": crypto.randomUUID() };
	return server.api("POST", path, body, key).catch((error) => {
		if (!(error instanceof TypeError))
			throw error;
		return server.api("POST", path, body, key);
	});
}

const entry = (id, role, content, more = {}) => ({ id, role, content, ts: "2026-11-21T20:35:40Z", ...more });

/** Entries with the text in every member of an entry. */
function entriesOf({ n, text }) {
	const picture = (data, type) => ({ type: "image", data, mimeType: type });
	return [
		entry(`a${n}`, text, text, { model: text, kind: n % 5 ? "message" : text, [text]: text, stop: text, error: text, usage: { [text]: text } }),
		entry(`b${n}`, "assistant", [
			{ type: "text", text }, { type: "thinking", thinking: text, signature: text }, { type: text, text },
			{ type: "toolCall", id: text, name: text, arguments: { [text]: text, b: { c: text } } }, { type: "tool_use", id: text, name: text, input: text },
			{ type: "tool_result", tool_use_id: text, content: text }, { type: "toolResult", toolCallId: text, content: [{ type: "text", text }], isError: true },
			picture(text, "image/png"), picture("AAAA", text), { type: "image", source: { data: "AAAA", media_type: "image/svg+xml" } }, { type: "image_url", image_url: { url: text } },
		], { thinking_segments: [text, { content: text }], tool_calls: [{ id: text, function: { name: text, arguments: text } }], partial: true }),
		entry(`c${n}`, n % 3 ? "toolResult" : "Summary", text, { kind: n % 3 ? "message" : "branch_summary", toolName: text, summary: text }),
	];
}

function projectOf(parts) {
	return {
		active: parts[0][0].text,
		discussions: parts.map((part) => {
			const entries = part.flatMap(entriesOf);
			return {
				name: part[0].text, active: part[1].text, labels: Object.fromEntries(part.map(({ n, text }) => [`a${n}`, text])), prompt: { text: part[2].text },
				takes: [{ name: part[1].text, entries }, ...part.slice(2).map(({ text }, at) => ({ name: text, entries: entries.slice(0, at + 1) }))],
			};
		}),
	};
}

// ---- static checks ----

const STRINGS_TO_HTML = /\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|parseFromString|srcdoc)\b|document\.write|\beval\s*\(|\bnew\s+Function\b|\bset(Timeout|Interval)\(\s*["'`]|javascript:/;

async function sources() {
	const web = join(ROOT, "web");
	for (const name of readdirSync(web)) {
		const text = readFileSync(join(web, name), "utf8").replace(/^\s*(\/\/|\/\*|\*).*$/gm, "");
		tally.check(`${name} makes no markup of strings`, !STRINGS_TO_HTML.test(text), text.match(STRINGS_TO_HTML)?.[0]);
		tally.check(`${name} has no handlers in markup`, !/\.html$/.test(name) || !/\son\w+=|style=/i.test(text));
	}
	const server = await new Server().start();
	try {
		const answer = await fetch(await server.loginUrl(), { redirect: "manual" });
		const cookie = answer.headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
		const home = await fetch(server.url + "/", { headers: { cookie } }), html = await home.text();
		const policy = home.headers.get("content-security-policy");
		tally.check("the policy allows nothing unsafe", /default-src 'none'/.test(policy) && /script-src 'self'(;|$)/.test(policy) && /style-src 'self'(;|$)/.test(policy) && !/unsafe|\*|https?:|strict-dynamic/.test(policy), policy);
		tally.check("and no base, form or frame", /base-uri 'none'/.test(policy) && /form-action 'none'/.test(policy) && /frame-ancestors 'none'/.test(policy), policy);
		const found = elementsOfTree(parse(html));
		tally.equal("the page itself has what a page has", judge(found.all, (url) => url.startsWith("/web/")).join("\n"), "");
		tally.equal("three scripts, which are files", found.texts.map((each) => each.tag + each.text).join(), "script,script,script");
		const files = await Promise.all(found.texts.map(async (each) => (await fetch(server.url + each.attributes.src, { headers: { cookie } })).text()));
		const script = files.join("\n");
		tally.check("the built script is there", script.length > 50000, script.length);
		// Preact can, with dangerouslySetInnerHTML, which the sources do not contain.
		tally.check("nor does it compile strings", !/\beval\s*\(|\bnew Function\b|document\.write|insertAdjacentHTML|outerHTML|createContextualFragment|DOMParser/.test(script));
		tally.check("only Preact knows innerHTML", [...script.matchAll(/innerHTML/gi)].length === [...script.matchAll(/\.innerHTML|dangerouslySetInnerHTML/g)].length && [...script.matchAll(/dangerouslySetInnerHTML/g)].length <= 2, [...script.matchAll(/.{30}innerHTML.{20}/gi)].map((each) => each[0]));
	} finally {
		await server.stop();
	}
}

// ---- the watch works: an unsafe page ----

/** A naive renderer: links and images by patterns, everything else unchanged. */
function naive(text) {
	return text.replace(/!\[([^\]]*)\]\(<?\s*([^\s>)]*)[^)]*\)/g, "<img alt=\"$1\" src=\"$2\">")
		.replace(/\[([^\]]*)\]\(<?\s*(\S*?)>?\s*("[^"]*")?\s*\)(?=\s|$)/g, "<a href=\"$2\">$1</a>").replace(/<(\w+:[^>\s]*)>/g, "<a href=\"$1\">$1</a>")
		.replace(/^\[[^\]]*\]:\s*<?(\S+?)>?$/gm, "<a href=\"$1\">x</a>");
}

async function control() {
	const host = createServer((request, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><p>x"));
	await new Promise((done) => host.listen(0, "127.0.0.1", done));
	const context = await browser.newContext(), home = `http://127.0.0.1:${host.address().port}/`;
	const seen = await watch(context, (url) => url === home);
	const page = await context.newPage();
	for (const part of chunks) {
		await page.goto(home);
		await page.evaluate(async (texts) => {
			for (const text of texts) {
				const frame = document.createElement("iframe");
				document.body.append(frame);
				frame.contentDocument.open();
				frame.contentDocument.write(`<!doctype html><body>${text}<b title="${text}">x</b><b title='${text}' data-x=${text}>x</b>`);
				frame.contentDocument.close();
			}
			await new Promise((done) => setTimeout(done, 60));
			for (const frame of [...document.querySelectorAll("iframe")])
				for (const each of frame.contentDocument?.querySelectorAll("*") ?? []) {
					for (const type of ["mouseover", "pointerenter"])
						each.dispatchEvent(new MouseEvent(type, { bubbles: type === "mouseover" }));
					if (each.localName === "a" && /^\W*j/i.test(each.getAttribute("href") ?? ""))
						each.click?.();
				}
			await new Promise((done) => setTimeout(done, 60));
		}, part.map(({ text }) => naive(text)));
	}
	const reached = new Set([...seen.fired, ...seen.asked]);
	const kinds = new Map();
	for (const each of ALL.filter(({ n }) => reached.has(n)))
		kinds.set(each.kind, (kinds.get(each.kind) ?? 0) + 1);
	console.log(`a page that does everything wrong: ${reached.size} of ${ALL.length} act (${[...kinds].map(([kind, count]) => `${count} of ${KINDS[kind].length} ${kind}`).join(", ")}), ${seen.dialogs.length} dialogs`);
	tally.check("they act in the unsafe page", reached.size >= FIRED_LEAST, reached.size);
	tally.check("scripts and requests, both", seen.fired.size >= 200 && seen.asked.size >= 40, seen.fired.size, seen.asked.size);
	await page.evaluate(() => alert("one that nobody shows by chance"));
	tally.check("and dialogs are seen", seen.dialogs.some((each) => each.includes("one that nobody")), seen.dialogs);
	const bad = judge([...elementsOfTree(parse(naive(ALL.map(({ text }) => text).join("\n")))).all], () => false);
	tally.check("the list of elements sees them, too", bad.length >= LEAST / 2, bad.length);
	await context.close();
	// violations of the policy are detected, too
	const strict = createServer((request, response) => response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": "default-src 'none'" })
		.end("<!doctype html><img src=x onerror=fired(1)><script>fired(2)</script>"));
	await new Promise((done) => strict.listen(0, "127.0.0.1", done));
	const other = await browser.newContext(), there = await watch(other, (url) => url.startsWith("http://127.0.0.1"));
	await (await other.newPage()).goto(`http://127.0.0.1:${strict.address().port}/`);
	await until(() => there.violations.length >= 2);
	tally.check("policy violations are detected", there.violations.length >= 2 && there.fired.size === 0, there.violations);
	await other.close();
	host.close();
	strict.close();
	tally.check("blocks that are wrong are seen", judgeBlocks([{ t: "p", c: [{ t: "a", href: "javascript:x", c: [] }, { t: "html", c: [] }, "\u202e"] }]).length === 3);
}

// ---- blocks rendered by the server ----

async function rendered() {
	const server = await new Server().start();
	try {
		const texts = ALL.map(({ text }) => text);
		for (const some of [texts, chunks.map((part) => part.map(({ text }) => text).join("\n\n")), [texts.join("\n")]]) {
			const { blocks } = await server.api("POST", "/render", { texts: some });
			tally.equal("one tree for each text", blocks.length, some.length);
			blocks.forEach((tree, at) => {
				const bad = judgeBlocks(tree);
				tally.check("blocks have only what blocks may have", bad.length === 0, some[at].slice(0, 300), ...bad.slice(0, 2));
			});
		}
	} finally {
		await server.stop();
	}
}

// ---- entries, in all of their forms ----

async function entries() {
	const server = new Server();
	writeFileSync(join(server.folder, "all.json"), JSON.stringify(projectOf(chunks)));
	await server.run(["import", join(server.folder, "all.json")]);
	await server.start();
	const at = await visit(server);
	try {
		const { page, seen } = at;
		const list = await server.api("GET", "/discussions"), name = "entries";
		const mine = list.filter((each) => each.entries > 0);
		tally.equal("each part is a discussion", mine.length, chunks.length);
		let bad = 0, shown = 0, edited = 0;
		for (const [nr, each] of mine.entries()) {
			await page.locator(`nav.discussions button.name[data-disc=${each.id}]`).waitFor({ state: "attached" });
			await page.evaluate((id) => document.querySelector(`nav.discussions button.name[data-disc=${id}]`).click(), each.id);
			await until(() => page.evaluate((id) => location.hash.startsWith(`#/d/${id}/`), each.id));
			await page.waitForSelector(".entry");
			// the end of a take comes first, the entries before it when all columns are loaded
			await until(() => page.evaluate((id) => {
				document.querySelector(".entries").scrollTop = 0;
				return document.querySelector(`.entries .entry[data-entry="${id}"]`) !== null;
			}, entriesOf(chunks[nr][0])[0].id));
			await settle(page);
			at.disc = nr;
			bad += await lookThrough(at, ".entries", name);
			// as source and in the editor: the exact text
			await page.setViewportSize({ width: 1280, height: 700 });
			const got = await page.evaluate(readAndEdit, chunks[nr].map(({ n }) => `a${n}`));
			bad += await look(at, name);
			await page.setViewportSize({ width: 1280, height: TALL_PX });
			for (const { n, text } of chunks[nr]) {
				const lines = text.replace(/\r\n?/g, "\n");
				shown += got[`a${n}`]?.source === text ? 1 : 0;
				edited += got[`a${n}`]?.field === lines ? 1 : 0;
			}
		}
		fine(name, bad);
		const missed = chunks.flatMap((part, nr) => part.flatMap(entriesOf).filter((each) => !at.entries.has(`${nr} ${each.id}`)).map((each) => `${nr} ${each.id}`));
		tally.equal("all entries were judged", missed.join(", "), "");
		tally.equal("each is shown as its source, sign for sign", shown, ALL.length);
		tally.equal("and is in the editor", edited, ALL.length);
		tally.check("there were links", at.links > 0, at.links);
		quiet(tally, name, seen);
		await clickLinks(at);
	} finally {
		await at.close();
		await server.stop();
	}
}

/** In the page: each entry's source, and its text in the editor. */
async function readAndEdit(ids) {
	const found = {}, box = document.querySelector(".entries");
	const channel = new MessageChannel(), told = [];
	channel.port1.onmessage = () => told.splice(0).forEach((done) => done());
	const frame = () => new Promise((done) => { told.push(done); channel.port2.postMessage(0); });
	const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	const wait = async (look) => {
		for (let i = 0; i < 5000; i++) {
			const seen = look();
			if (seen)
				return seen;
			await frame();
		}
		return null;
	};
	const press = (key) => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	const row = (id) => document.querySelector(`[data-entry="${id}"]`);
	box.scrollTop = 0;
	await drawn();
	for (const id of ids) {
		for (let i = 0; i < 400 && !row(id)?.querySelector(".entry-body > :not(.quiet)"); i++) {
			if (!row(id) || row(id).getBoundingClientRect().top > box.clientHeight)
				box.scrollTop += row(id) ? 200 : 900;
			await drawn();
		}
		if (!row(id))
			continue;
		row(id).focus();
		await frame();
		press("v");
		const source = await wait(() => row(id)?.querySelector(".plain.source"));
		found[id] = { source: source?.textContent };
		row(id)?.focus();
		press("e");
		const field = await wait(() => row(id)?.querySelector(".editor textarea"));
		found[id].field = field?.value;
		field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
		await wait(() => !document.querySelector(".editor"));
	}
	return found;
}

/** Links only work when they are clicked, and open in a new window. */
async function clickLinks(at) {
	const { page, seen } = at;
	const linking = ALL.find(isLinking);
	await page.evaluate((disc) => [...document.querySelectorAll("nav.discussions button.name")]
		.sort((a, b) => a.dataset.disc.slice(1) - b.dataset.disc.slice(1))[disc].click(), chunks.findIndex((part) => part.includes(linking)));
	await page.waitForSelector(".entry");
	for (let i = 0; i < 99 && !(await page.locator(".prose a[href^=http]").count()); i++)
		await page.evaluate(() => { document.querySelector(".entries").scrollTop -= 1500; }).then(() => settle(page));
	const before = seen.windows;
	const clicked = await page.evaluate(() => {
		const links = [...document.querySelectorAll(".prose a[href^=http]")].slice(0, 3);
		links.forEach((each) => each.click());
		return links.length;
	});
	await until(() => seen.windows >= before + clicked);
	tally.check("a link that is clicked opens a window", clicked > 0 && seen.windows - before === clicked, clicked, seen.windows - before);
	tally.equal("and no script runs there or here", [...seen.fired].join(), "");
	tally.check("this page stays", (await page.url()).startsWith("http://127.0.0.1"));
}

// ---- all other names and texts ----

async function fields() {
	const server = await new Server().start();
	const d = "?discussion=d1&take=t1";
	await server.op("entry.append", { id: "first", role: "User", content: "first" });
	const at = await visit(server);
	try {
		const { page, seen } = at;
		for (let i = 0; i < CHUNK; i++) {
			await server.op("take.branch", { at: "first", name: `t ${i}` }, d);
			await server.op("discussion.new", { name: `d ${i}` });
		}
		const idsOf = async (path) => (await server.api("GET", path)).map((each) => each.id).slice(1);
		const read = (what) => server.api("GET", `/discussions/d1/${what}`).catch(() => server.api("GET", `/discussions/d1/${what}`));
		const discs = await idsOf("/discussions"), takes = await idsOf("/discussions/d1/takes");
		await page.evaluate(() => document.querySelector("nav.discussions button.name[data-disc=d1]").click());
		await page.waitForSelector(".entry");
		let bad = 0, words = "";
		for (const [nr, part] of chunks.entries()) {
			const texts = part.map(({ text }) => text), ops = [];
			for (const [i, { n, text }] of part.entries()) {
				await tell(server, "/ops/entry.edit" + d, { entry: "first", content: text });
				ops.push({ op: "discussion.rename", discussion: discs[i], name: text }, { op: "take.rename", take: takes[i], name: text },
					{ op: "entry.append", id: `e${n}`, role: text, content: `${text}\nzq${nr}` }, { op: "label.set", entry: `e${n}`, label: text },
					...(text.trim() ? [{ op: "role.add", role: text }] : []), { op: "preset.save", name: text });
			}
			ops.push({ op: "setting.set", key: "tags", value: texts });
			for (const which of ["files", "context_files", "screenshots"])
				ops.push({ op: "files.set", which, items: which === "files" ? texts.map((path) => ({ path, name: path })) : texts });
			await tell(server, "/batch" + d, { ops });
			await until(async () => (await page.locator("nav.discussions button.name").allTextContents()).some((each) => each.includes(texts.at(-1))));
			bad += await look(at, "names");
			await pane(page, "outline");
			bad += await lookThrough(at, "#pane .pane-rows", "outline");
			await pane(page, "settings");
			await until(async () => (await page.locator("#pane .path").count()) >= 3 * part.length);
			bad += await look(at, "settings");
			words += await page.locator("#pane").textContent();
			await page.getByRole("button", { name: "The take", exact: true }).click();
			await page.waitForFunction(() => document.activeElement?.role?.startsWith("menuitem"));
			bad += await look(at, "menu of takes");
			await page.keyboard.press("Escape");
			await page.locator(".menu-list").waitFor({ state: "detached" });
			await page.keyboard.press("Control+k");
			await page.waitForSelector("#palette");
			bad += await look(at, "palette");
			await page.locator("#palette").fill(`zq${nr}`);
			await until(async () => (await page.locator("#palette-list .hit").count()) >= part.length);
			tally.equal("search finds all of a part", await page.locator("#palette-list .hit").count(), part.length);
			bad += await look(at, "search");
			await page.keyboard.press("Escape");
			await page.locator("dialog").waitFor({ state: "detached" });
			const { roles } = await read("settings"), presets = await read("presets");
			const names = Array.isArray(presets) ? presets.map((each) => each.name) : Object.keys(presets);
			await tell(server, "/batch" + d, { ops: [...names.map((name) => ({ op: "preset.delete", name })), ...roles.slice(2).map((role) => ({ op: "role.remove", role }))] });
		}
		tally.check("they were shown", ALL.every(({ text }) => words.includes(text)), ALL.filter(({ text }) => !words.includes(text)).slice(0, 3));
		fine("names, labels, roles, files, presets, search", bad);
		quiet(tally, "names, labels, roles, files, presets, search", seen);

		bad = 0;
		await pane(page, "history");
		bad += await lookThrough(at, "#pane .pane-rows", "history");
		await page.locator("[data-entry=first]").first().evaluate((row) => row.focus()).catch(() => undefined);
		await page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
		await page.waitForSelector(".entry[data-entry=first]");
		await choose(page.locator(".entry[data-entry=first]"));
		await page.keyboard.press("w");
		await until(async () => (await page.locator(".versions li").count()) > ALL.length / 2);
		tally.check("versions are all there", (await page.locator(".versions li").count()) >= LEAST, await page.locator(".versions li").count());
		bad += await look(at, "versions");
		await page.keyboard.press("Escape");
		fine("history, versions", bad);
		quiet(tally, "history, versions", seen);
	} finally {
		await at.close();
		await server.stop();
	}
}

/** Texts that exist once per discussion: model, prompts, track, draft, the name in the header. */
async function single() {
	const server = await new Server().start();
	const at = await visit(server);
	try {
		const { page, seen } = at;
		await server.op("entry.append", { id: "first", role: "User", content: "first" });
		await pane(page, "prompt");
		let bad = 0, shown = 0;
		for (const [n, { texts, text }] of together(240).entries()) {
			const d = "?discussion=d1", key = text.replaceAll("\0", "");
			await tell(server, "/batch" + d, { ops: [
				{ op: "discussion.rename", discussion: "d1", name: text }, { op: "setting.set", key: "model", value: `builtin/play:${text}` }, { op: "prompt.update", text },
				{ op: "setting.set", key: "base_system_prompt", value: text }, { op: "setting.set", key: "global_system_prompt", value: text }, { op: "setting.set", key: "project_system_prompt", value: text },
				{ op: "setting.set", key, value: text }, { op: "setting.set", key: `template.${key}`, value: `${text} {{a}}` }, { op: "setting.set", key: "role_map", value: { [text]: text } }, { op: "track.set", track: text },
			] });
			await page.waitForFunction((want) => document.querySelector("h1 .where").textContent === want, text);
			shown += texts.length;
			if (n % 4 === 1)
				await pane(page, n % 8 === 1 ? "settings" : "prompt");
			bad += await look(at, "model, prompts, track");
			if (n % 8 !== 3)
				continue;
			for (const [open, name] of [["Templates …", "Templates"], ["Ask several models …", "Ask several models"]]) {
				await page.keyboard.press("Control+k");
				await page.locator("#palette").fill(open.slice(0, -2));
				await page.locator(".palette-item", { hasText: open }).first().click();
				await page.getByRole("dialog", { name, exact: true }).waitFor();
				bad += await look(at, "templates, models");
				await page.keyboard.press("Escape");
			}
		}
		tally.check("they were shown", shown === ALL.length, shown);
		fine("model, prompts, track", bad);
		quiet(tally, "model, prompts, track", seen);
	} finally {
		await at.close();
		await server.stop();
	}
}

// ---- a hostile model server ----

/** Ollama's chat API. "ollama/part-3" streams part 3 in small pieces and then waits for a signal. */
async function modelServer() {
	const state = { end: () => undefined, error: "", status: 400, errors: 0 };
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request)
			body += piece;
		const line = (value) => response.write(JSON.stringify(value) + "\n");
		if (!request.url.endsWith("/api/chat"))
			return response.writeHead(404).end();
		const { model } = JSON.parse(body);
		if (model === "bad") {
			state.errors++;
			if (state.status !== 200)
				return response.writeHead(state.status, { "Content-Type": "application/json" }).end(JSON.stringify({ error: state.error }));
			line({ model: state.error, message: { role: "assistant", content: state.error.slice(0, 3) }, done: false });
			return response.end(JSON.stringify({ error: state.error }) + "\n");
		}
		const part = model === "all" ? ALL : chunks[Number(model.split("-")[1])];
		const say = (message) => line({ model: part[0].text, message: { role: "assistant", content: "", ...message }, done: false });
		response.writeHead(200, { "Content-Type": "application/x-ndjson" });
		for (const { text } of part) {
			say({ thinking: text + "\n" });
			for (let at = 0; at < text.length; at += 23)
				say({ content: Buffer.from(text.slice(at, at + 23).toWellFormed?.() ?? text.slice(at, at + 23)).toString() });
			say({ content: "\n\n" });
			await new Promise((done) => setTimeout(done, 8));
		}
		say({ content: "\n\nzqend" });
		for (const { text } of part.slice(0, 20))
			say({ tool_calls: [{ function: { name: text, arguments: { [text]: text } } }] });
		await new Promise((done) => { state.end = done; });
		line({ model, message: { role: "assistant", content: "" }, done: true, done_reason: part[1].text, prompt_eval_count: 1, eval_count: 1 });
		response.end();
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	server.unref();
	return { state, host: `http://127.0.0.1:${server.address().port}` };
}

async function stream() {
	const model = await modelServer(), server = new Server();
	server.env.OLLAMA_HOST = model.host;
	await server.start();
	const at = await visit(server);
	try {
		const { page, seen } = at;
		// elements far from the viewport would not be rendered
		await page.setViewportSize({ width: 1280, height: 30000 });
		await server.op("entry.append", { role: "User", content: "Go on." });
		let bad = 0, laid = 0;
		for (const [nr, part] of chunks.entries()) {
			await server.op("setting.set", { key: "model", value: `ollama/part-${nr}` });
			const { run } = await server.api("POST", "/discussions/d1/runs", { how: "ask", text: `part ${nr}` });
			await page.waitForSelector(".running .live .prose");
			while (!(await server.api("GET", `/runs/${run}`)).calls?.length)
				bad += await look(at, "stream");
			await until(async () => (await page.locator(".running .live").textContent()).includes("zqend"));
			await page.waitForTimeout(260); // completely rendered
			bad += await look(at, "stream");
			laid += await page.evaluate(() => [...document.querySelectorAll(".running .live .group")]
				// a group far from the viewport is empty
				.reduce((sum, group) => sum + (group.childElementCount || 24), 0));
			tally.check("what is thought is shown, too", (await page.locator(".running .thinking").textContent()).includes(part.at(-1).text.trim()));
			model.state.end();
			await until(async () => !(await page.locator(".running").count()) && await page.locator(".entry .prose").count() > 0);
			bad += await look(at, "stream");
		}
		tally.check("replies in flight are laid out", laid > ALL.length, laid);
		fine("stream", bad);
		quiet(tally, "stream", seen);

		// a reply that another program receives
		const other = server.run(["ask", "-m", "ollama/all", "all of them"]).catch((error) => error);
		await page.waitForSelector(".running .live .prose");
		bad = 0;
		while (!(await page.locator(".running .live").textContent()).includes("zqend"))
			bad += await look(at, "another program's stream");
		model.state.end();
		await other;
		await until(async () => !(await page.locator(".running").count()));
		fine("another program's stream", bad);
		quiet(tally, "another program's stream", seen);
	} finally {
		model.state.end();
		await at.close();
		await server.stop();
	}
}

async function failures() {
	const model = await modelServer(), server = new Server();
	server.env.OLLAMA_HOST = model.host;
	await server.start();
	const at = await visit(server);
	try {
		const { page, seen } = at;
		await server.op("setting.set", { key: "model", value: "ollama/bad" });
		await page.waitForSelector("#ask");
		let bad = 0, told = 0;
		for (const [n, { texts, text }] of together(300).entries()) {
			Object.assign(model.state, { error: text, status: n % 2 ? 400 : 200 });
			await page.evaluate(() => document.querySelector(".toast [aria-label^=Put]")?.click());
			await page.fill("#composer", "?");
			await page.click("#ask");
			await until(() => page.evaluate(() => document.querySelector(".toast.problem") !== null));
			const said = await page.locator(".toast").textContent();
			told += texts.filter((each) => said.includes(each.slice(0, 12).trim())).length;
			bad += await look(at, "failures");
			await until(async () => !(await page.locator(".running").count()));
		}
		tally.check("failures show the server's message", told >= LEAST, told);
		fine("failures", bad);
		quiet(tally, "failures", seen);
	} finally {
		await at.close();
		await server.stop();
	}
}

// ---- exported pages ----

const RETAKE = resolve(process.env.RETAKE ?? join(ROOT, "build/retake"));

async function exported() {
	const place = new Server(), db = join(place.folder, "x.db"), file = join(place.folder, "x.html");
	const run = (args) => new Promise((done, fail) => execFile(RETAKE, ["--db", db, ...args], { env: place.env, cwd: place.folder, maxBuffer: 1 << 28 },
		(error, out) => (error ? fail(error) : done(out))));
	try {
		writeFileSync(file + ".json", JSON.stringify(projectOf(chunks)));
		await run(["import", file + ".json"]);
		await run(["export", "--all-discussions", "-o", file]);
		const html = readFileSync(file, "utf8"), url = pathToFileURL(file).href;
		await parsed(html);
		const context = await browser.newContext({ viewport: { width: 1280, height: TALL_PX } });
		const own = (to) => to.split("#")[0] === url || to === "data:,";
		const seen = await watch(context, own), page = await context.newPage(), at = { page, seen, own };
		await page.goto(url);
		await page.waitForSelector(".entry");
		let bad = 0;
		for (let disc = 0; disc < chunks.length; disc++) {
			await page.locator("h1 select").selectOption(String(disc));
			at.disc = disc;
			await settle(page);
			await page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
			await settle(page);
			bad += await lookThrough(at, ".entries", "export");
			bad += await lookThrough(at, "[role=tree]", "outline of the export");
		}
		tally.equal("all entries were judged", at.entries.size, 3 * ALL.length);
		await page.locator("h1 select").selectOption("0");
		await settle(page);
		await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		tally.equal("print contains everything", await page.locator("#paper .entry").count(), 3 * CHUNK);
		bad += await look(at, "paper");
		fine("export", bad);
		quiet(tally, "export", seen);
		await context.close();
	} finally {
		await place.stop();
	}
}

/** The bytes, as a parser reads them. */
async function parsed(html) {
	const errors = [];
	const tree = parse(html, { onParseError: (error) => errors.push(`${error.code} at ${error.startLine}:${error.startCol}`), sourceCodeLocationInfo: true });
	const { all, texts } = elementsOfTree(tree);
	// control characters are not its task: they are in texts
	tally.equal("the parser finds no fault", errors.filter((each) => !/control-character|noncharacter/.test(each)).slice(0, 5).join(", "), "");
	tally.equal("and only elements of the page", judge(all, (url) => url === "data:,").slice(0, 5).join("\n"), "");
	const kinds = texts.map(({ tag, attributes }) => (attributes.type ? `${attributes.type} ${attributes.id.replace(/\d+/g, "N")}` : tag));
	tally.equal("the known scripts and no other", [...new Set(kinds)].sort().join(", "),
		"application/json retake-blocks-N-N, application/json retake-data, script, style");
	// the script of the page, and of the math library if there is math
	const scripts = kinds.filter((kind) => kind === "script").length;
	tally.check("one script or two, one style, one of data", scripts <= 2 && kinds.filter((kind) => !kind.endsWith("N-N")).length === scripts + 2, kinds);
	const policy = all.find(({ tag, attributes }) => tag === "meta" && attributes.some(([, value]) => value === "Content-Security-Policy")).attributes.find(([name]) => name === "content")[1];
	tally.check("the policy allows nothing unsafe", /^default-src 'none'; script-src 'sha256-[^']+'( 'sha256-[^']+')?; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'$/.test(policy), policy);
	for (const { tag, attributes, text } of texts)
		if (attributes.type) {
			tally.check("data is data", JSON.parse(text) !== null);
			tally.check("and cannot close its element", !/[<\u2028\u2029]/.test(text));
		} else {
			const digest = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64");
			tally.check(`the ${tag} is the one that the policy names`, new RegExp(`${tag}-src[^;]*`).exec(policy)[0].includes(`'sha256-${digest}'`));
			tally.check(`nor does it compile strings: ${tag}`, !/\beval\s*\(|\bnew Function\b|document\.write|insertAdjacentHTML|outerHTML|createContextualFragment|DOMParser/.test(text));
		}
	const blocks = texts.filter((each) => /^retake-blocks-/.test(each.attributes.id)).map((each) => JSON.parse(each.text));
	const trees = [];
	for (let nodes = blocks, node = nodes.pop(); node !== undefined; node = nodes.pop())
		if (Array.isArray(node) && node.length && typeof node[0] === "object" && node[0]?.t)
			trees.push(node);
		else if (typeof node === "object" && node !== null)
			nodes.push(...Object.values(node));
	tally.check("its blocks are there", trees.length >= LEAST, trees.length);
	for (const each of trees) {
		const bad = judgeBlocks(each);
		tally.check("blocks of the export have only what blocks may have", bad.length === 0, ...bad.slice(0, 2));
	}
}

const PARTS = [sources, control, rendered, entries, fields, single, stream, failures, exported];

for (const part of BRIEF ? [sources, rendered, entries, stream, exported] : PARTS) {
	if (process.env.ONLY && process.env.ONLY !== part.name)
		continue;
	const begun = Date.now();
	try {
		await part();
	} catch (error) {
		tally.check(`${part.name} runs to its end`, false, error.stack ?? error);
	}
	if (process.env.TIMES)
		console.log(`${part.name}: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
}
await browser.close();
process.exit(tally.end());
