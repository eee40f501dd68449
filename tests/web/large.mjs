// SPDX-License-Identifier: MIT
//
// A conversation of 100,000 entries: few elements, fast navigation, and the visible text does not
// move when other clients write above it.
import { choose, openPage, until } from "./place.mjs";

const COUNT = Number(process.env.COUNT ?? 100000), MOST_NODES = 490;

const nodes = (page) => page.evaluate(() => document.querySelectorAll(".entries *").length);
const all = (page) => page.evaluate(() => document.querySelectorAll("*").length);
const firstShown = (page) => page.evaluate(() => {
	const top = document.querySelector(".entries").getBoundingClientRect().top;
	const row = [...document.querySelectorAll(".entry")].find((each) => each.getBoundingClientRect().bottom > top + 5);
	return row ? [row.dataset.entry, Math.round(row.getBoundingClientRect().top)] : null;
});

export async function run({ server, browser, tally }) {
	let lines = "";
	for (let i = 0; i < COUNT; i++) {
		const text = `entry number ${i} ` + "says something ".repeat(i % 17);
		lines += JSON.stringify({ op: "entry.append", role: i % 2 ? "AI" : "User", content: text }) + "\n";
	}
	await server.run(["apply", "--atomic"], lines);
	await server.start();
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry .entry-body");
	tally.check("the end is shown", await until(async () =>
		(await page.locator(".entry").last().textContent()).includes(`number ${COUNT - 1} `)));
	tally.equal("of all", await page.locator(".entry").last().getAttribute("aria-setsize"), String(COUNT));
	tally.check("few elements", (await all(page)) < MOST_NODES, await all(page), await nodes(page));

	for (const part of [0, 0.25, 0.5, 0.77]) {
		await page.evaluate((at) => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight * at; }, part);
		tally.check(`texts at ${part}`, await until(() => page.evaluate(() => {
			const box = document.querySelector(".entries").getBoundingClientRect();
			const rows = [...document.querySelectorAll(".entry")].filter((row) => {
				const at = row.getBoundingClientRect();
				return at.bottom > box.top && at.top < box.bottom;
			});
			return rows.length > 2 && rows.every((row) => /number/.test(row.textContent));
		})));
		tally.check(`few elements at ${part}`, (await all(page)) < MOST_NODES, await all(page));
	}
	await page.waitForTimeout(500);
	const before = await firstShown(page);
	await server.op("entry.insert", { before: ":1", role: "User", content: "above\n\nall\n\nof it" });
	await server.op("entry.delete", { from: ":10", to: ":30" });
	await until(async () => (await page.locator(".entry").last().getAttribute("aria-setsize")) === String(COUNT - 20));
	await page.waitForTimeout(300);
	const after = await firstShown(page);
	tally.check("the visible text does not move", after[0] === before[0] && Math.abs(after[1] - before[1]) <= 2, before, after);

	await choose(page.locator(".entry").nth(3));
	const id = await page.evaluate(() => document.activeElement.dataset.entry);
	await page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
	await page.waitForTimeout(500);
	tally.equal("the row with the focus stays", await page.evaluate(() => document.activeElement.dataset.entry), id);
	await page.keyboard.press("End");
	tally.check("End", await until(async () => (await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"))) === String(COUNT - 20)));
	await page.keyboard.press("Home");
	tally.check("Home", await until(async () => (await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"))) === "1"));
	await page.context().close();
	await earlyEnd({ server, browser, tally });
}

/** The end is shown before the columns of all entries are loaded. */
async function earlyEnd({ server, browser, tally }) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	const page = await context.newPage();
	let go;
	const gate = new Promise((done) => { go = done; });
	await page.route(/\/tree\?columns=1/, async (route) => { await gate; await route.continue(); });
	await page.goto(await server.loginUrl());
	await page.waitForSelector(".entry .entry-body");
	const last = page.locator(".entry").last(), count = String(COUNT - 20);
	const seen = async () => [await last.getAttribute("data-entry"), await last.getAttribute("aria-posinset"), await last.getAttribute("aria-setsize"),
		await last.locator(".number").textContent(), Math.round((await last.boundingBox()).y)];
	const early = await seen();
	tally.equal("the end before the columns: which", early.slice(1, 4).join(), [count, count, count].join());
	tally.check("it is inert", await page.evaluate(() => document.querySelector(".rows").inert));
	tally.check("few elements", (await all(page)) < MOST_NODES, await all(page));
	go();
	await until(() => page.evaluate(() => !document.querySelector(".rows").inert));
	await page.waitForTimeout(300);
	const late = await seen();
	tally.equal("the same when they come", late.slice(0, 4).join(), early.slice(0, 4).join());
	tally.check("and nothing moves", Math.abs(late[4] - early[4]) <= 2, early, late);
	await askedOnce({ page, tally });
	await context.close();
}

/** A second visit: the end is requested once, by early.ts, and shown before the columns are requested. */
async function askedOnce({ page, tally }) {
	await page.unroute(/\/tree\?columns=1/);
	const asked = [];
	page.on("request", (request) => { asked.push(request.url()); });
	let isShown = null;
	await page.route(/\/tree\?columns=1/, async (route) => {
		isShown ??= await page.evaluate(() => /number/.test(document.querySelector(".entry .entry-body")?.textContent));
		await route.continue();
	});
	await page.reload();
	await page.waitForSelector(".entry .entry-body");
	await until(() => page.evaluate(() => !document.querySelector(".rows").inert));
	const ends = asked.filter((url) => /\/entries\?.*last=/.test(url)).length;
	tally.equal("the end is asked for once", ends, 1);
	tally.check("before the page's program looked", asked.findIndex((url) => /last=/.test(url)) < asked.findIndex((url) => /\/discussions$/.test(url)));
	tally.equal("and shown before the columns are asked for", isShown, true);
}
