// SPDX-License-Identifier: MIT
//
// 100,000 replies to one question, each in a separate take, and a chain of as many entries: few
// elements whatever is open, and everything can be reached.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, until } from "./place.mjs";

const COUNT = Number(process.env.COUNT ?? 100000), MOST_NODES = 490, TRUNK = 400;

const all = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** A pi session. */
async function imported(server, name, parentOf, count = COUNT) {
	const id = (at) => at.toString(16).padStart(8, "0"), timestamp = "2026-01-01T00:00:00.000Z";
	const lines = [JSON.stringify({ type: "session", version: 3, id: `0197a000-0000-7000-8000-${Buffer.from(name.padEnd(6).slice(0, 6)).toString("hex")}`, timestamp, cwd: "/" })];
	for (let at = 0; at < count; at++) {
		const up = parentOf(at), text = `${name} number ${at} ` + "says something ".repeat(at % 17);
		const message = { role: at === 0 || (name !== "siblings" && at % 2 === 0) ? "user" : "assistant", content: [{ type: "text", text }], timestamp: 1767225600000 + at };
		lines.push(JSON.stringify({ type: "message", id: id(at), parentId: up < 0 ? null : id(up), timestamp, message }));
	}
	const file = join(server.folder, `${name}.jsonl`);
	writeFileSync(file, lines.join("\n") + "\n");
	await server.run(["import", file]);
}

const inView = (page) => page.evaluate(() => {
	const box = document.querySelector(".entries").getBoundingClientRect();
	const rows = [...document.querySelectorAll(".entries .entry")].filter((row) => {
		const at = row.getBoundingClientRect();
		return at.bottom > box.top && at.top < box.bottom;
	});
	return rows.length > 2 && rows.every((row) => /number/.test(row.textContent));
});

async function outline(page, tally, name, wanted) {
	await page.getByRole("button", { name: "Panes" }).click();
	await page.getByRole("tab", { name: "Outline" }).click();
	await page.waitForSelector("[role=treeitem]");
	tally.check(`${name}: few elements with the outline`, (await all(page)) < MOST_NODES, await all(page));
	await page.locator("[role=treeitem][tabindex='0']").focus();
	await page.keyboard.press("Home");
	tally.check(`${name}: the first row`, await until(() => page.evaluate(() => /number 0\b/.test(document.activeElement.textContent))));
	await page.keyboard.press("End");
	tally.check(`${name}: the last row`, await until(() => page.evaluate((n) => document.activeElement.textContent.includes(`number ${n} `), COUNT - 1)));
	await page.getByRole("searchbox", { name: "Search the outline" }).fill(`number ${wanted}`);
	tally.check(`${name}: one is found`, await until(async () => (await page.locator("[role=treeitem]").count()) === 1 &&
		(await page.locator("[role=treeitem]").textContent()).includes(`number ${wanted} `)));
	await page.getByRole("searchbox", { name: "Search the outline" }).fill("");
	await until(async () => (await page.locator("[role=treeitem]").count()) > 5);
	tally.check(`${name}: few elements then`, (await all(page)) < MOST_NODES, await all(page));
}

async function siblings({ server, page, tally }) {
	tally.check("siblings: which of how many", await until(async () =>
		(await page.locator(".entry .fork").textContent()).includes(`${COUNT - 1}/${COUNT - 1}`)));
	tally.check("siblings: few tabs", (await page.locator(".take-bar [role=tab]").count()) < 10);
	tally.check("siblings: and how many more", /99,99\d more|\d+ more/.test(await page.locator(".more-takes").textContent()));
	tally.check("siblings: few elements", (await all(page)) < MOST_NODES, await all(page));
	await page.locator(".entry .fork").getByRole("button", { name: "Previous alternative" }).click();
	tally.check("siblings: the one before", await until(async () =>
		(await page.locator(".entry").last().textContent()).includes(`number ${COUNT - 2} `)));
	tally.check("siblings: in its place", await until(async () =>
		(await page.locator(".entry .fork").textContent()).includes(`${COUNT - 2}/${COUNT - 1}`)));
	await outline(page, tally, "siblings", Math.floor(COUNT * 0.7));
	const name = (await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("title")).split(",")[0];
	tally.check("siblings: a take has its name where it ends", await until(() => page.evaluate((wanted) =>
		[...document.querySelectorAll("[role=treeitem][aria-current] .tip")].some((tip) => tip.textContent === wanted), name)), name);
	const forks = await server.api("GET", "/discussions/siblings/forks");
	tally.equal("siblings: the server says the same", forks.forks[0].count, COUNT - 1);
}

async function chain({ page, tally }) {
	for (const part of [0.5, 0.25, 0.75]) {
		await page.evaluate((at) => { const box = document.querySelector(".entries"); box.scrollTop = (box.scrollHeight - box.clientHeight) * at; }, part);
		tally.check(`chain: texts at ${part}`, await until(() => inView(page)));
		tally.check(`chain: few elements at ${part}`, (await all(page)) < MOST_NODES, await all(page));
	}
	await outline(page, tally, "chain", Math.floor(COUNT * 0.7));
}

/** The maximum number of elements while scrolling through the entries, one screen at a time. */
const mostWhileScrolled = (page) => page.evaluate(async () => {
	const box = document.querySelector(".entries");
	let most = 0;
	for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight / 2) {
		const at = box.scrollTop;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		most = Math.max(most, document.querySelectorAll("*").length);
		if (at + box.clientHeight >= box.scrollHeight - 5)
			return most;
	}
});

/** Nested forks: rows have many vertical lines. */
async function forks({ page, tally }) {
	await page.getByRole("button", { name: "Panes" }).click();
	await page.getByRole("tab", { name: "Outline" }).click();
	await page.waitForSelector("[role=treeitem] .rails");
	await page.locator("[role=treeitem][tabindex='0']").focus();
	for (const key of ["End", "Home", "PageDown"]) {
		await page.keyboard.press(key);
		await page.waitForTimeout(200);
		tally.check(`forks: few elements after ${key}`, (await all(page)) < MOST_NODES, await all(page));
	}
	const most = await mostWhileScrolled(page);
	tally.check("forks: few elements while the entries go by", most < MOST_NODES, most);
}

export async function run({ server, browser, tally }) {
	await imported(server, "forks", (at) => (at < TRUNK ? at - 1 : Math.floor(((at - TRUNK + 1) * TRUNK) / 31)), TRUNK + 30);
	await imported(server, "chain", (at) => at - 1);
	await imported(server, "siblings", (at) => (at === 0 ? -1 : 0));
	await server.start();
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry .entry-body");
	await siblings({ server, page, tally });
	await page.context().close();
	await server.op("discussion.switch", { discussion: "chain" });
	const other = await openPage(server, browser, tally);
	await other.waitForSelector(".entry .entry-body");
	await chain({ page: other, tally });
	await other.context().close();
	await server.op("discussion.switch", { discussion: "forks" });
	const third = await openPage(server, browser, tally);
	await third.waitForSelector(".entry .entry-body");
	await forks({ page: third, tally });
	await third.context().close();
}
