// SPDX-License-Identifier: MIT
//
// The focus is visible, and covered elements are not reachable: entries that get the focus or an
// editor at any scroll position, text that is edited in its place, drawers on a phone, menus and keys
// of the page.
import { choose, openPage, pick, until } from "./place.mjs";

const COUNT = 40;

/** In the page: the visible part of an element in the list; null: none. */
function seen(selector) {
	const element = document.querySelector(selector), box = document.querySelector(".entries").getBoundingClientRect();
	if (!element)
		return null;
	const at = element.getBoundingClientRect();
	return at.bottom > box.top && at.top < box.bottom ? [Math.round(at.top - box.top), Math.round(at.bottom - box.top)] : null;
}

const frames = (page) => page.waitForTimeout(250); // rows have been measured, and the list is stable

/** The list is scrolled to its end, and the focus is far above. */
async function atEnd(page, id) {
	await frames(page);
	await choose(page.locator(".entry").last());
	await page.keyboard.press("Home");
	await until(() => page.evaluate(seen, `[data-entry=${id}]`));
	await page.evaluate(() => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight; });
	await frames(page);
	return page.evaluate(seen, `[data-entry=${id}]`);
}

async function editors({ server, browser, tally }) {
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(`[data-entry=e${COUNT}]`);
	tally.equal("the entry with the focus is out of view", await atEnd(page, "e1"), null);
	await page.keyboard.press("e");
	await page.waitForSelector(".editor textarea");
	await frames(page);
	const place = await page.evaluate(seen, ".editor textarea");
	tally.check("its editor is in view", place !== null && place[0] >= 0, place);
	await page.keyboard.press("Escape");
	await page.waitForSelector(".editor", { state: "detached" });

	tally.equal("out of view again", await atEnd(page, "e1"), null);
	await page.keyboard.press("a");
	await page.waitForSelector(".inserting textarea");
	await frames(page);
	const field = await page.evaluate(seen, ".inserting textarea");
	tally.check("the field of a new entry is in view", field !== null && field[0] >= 0, field);
	await page.keyboard.press("Escape");
	await page.waitForSelector(".editor", { state: "detached" });

	tally.equal("and again", await atEnd(page, "e1"), null);
	await page.evaluate(() => { document.activeElement.blur(); document.querySelector("[data-entry=e1]").focus(); });
	await frames(page);
	tally.check("what gets the focus is in view", await page.evaluate(seen, "[data-entry=e1]") !== null);
	tally.equal("and has it", await page.evaluate(() => document.activeElement.dataset.entry), "e1");

	await choose(page.locator(".entry").last());
	await page.keyboard.press("End");
	await frames(page);
	// only the end of an entry is visible
	const half = await page.evaluate(() => [...document.querySelectorAll(".entry")].find((each) => {
		const box = document.querySelector(".entries").getBoundingClientRect(), at = each.getBoundingClientRect();
		return at.top < box.top && at.bottom > box.top;
	})?.dataset.entry);
	if (half) {
		await page.evaluate((id) => document.querySelector(`[data-entry=${id}]`).focus(), half);
		await frames(page);
		const all = await page.evaluate(seen, `[data-entry=${half}]`);
		tally.check("one that was half in view is so as a whole", all !== null && all[0] >= 0, all);
		await page.keyboard.press("End");
		await frames(page);
	}
	await server.op("entry.append", { id: "late", role: "AI", content: "One more." });
	tally.check("at the end the list follows new text", await until(() => page.evaluate(seen, "[data-entry=late]")));
	await page.context().close();
}

/** In the page: the place of the first line of an entry's text, rendered or in its editor. */
function lineOf(id) {
	const row = document.querySelector(`.entries [data-entry=${id}]`), field = row.querySelector(".editor textarea");
	const box = (field ?? row.querySelector(".entry-body .prose > *")).getBoundingClientRect();
	const style = field && getComputedStyle(field), inner = (side) => (style ? parseFloat(style[`padding${side}`]) + parseFloat(style[`border${side}Width`]) : 0);
	return [box.left + inner("Left"), box.top + inner("Top"), box.width - inner("Left") - inner("Right"), box.height - inner("Top") - inner("Bottom")].map(Math.round).join();
}

/** Editing does not move the text of an entry, and only one button in view saves. */
async function inPlace({ server, browser, tally }) {
	const page = await openPage(server, browser, tally), save = page.getByRole("button", { name: /^Saved?$/ }).filter({ visible: true });
	await server.op("entry.insert", { id: "long", after: "e20", role: "User", content: "A text that is longer than a line of prose, so that its editor has to wrap it at the same words. ".repeat(4).trim() });
	const row = page.locator("[data-entry=long]");
	await choose(page.locator(".entry").last());
	for (let i = 0; i < COUNT && await row.count() === 0; i++)
		await page.keyboard.press("ArrowUp");
	await choose(row);
	await frames(page);
	tally.equal("the project is saved", (await save.allInnerTexts()).join(), "Saved");
	const before = await page.evaluate(lineOf, "long");
	await page.keyboard.press("e");
	await page.locator(".editor textarea").waitFor();
	await frames(page);
	tally.equal("the edited text stays in its place", await page.evaluate(lineOf, "long"), before);
	tally.equal("one button saves", (await save.allInnerTexts()).join(), "Save");
	tally.equal("and is the main action", await page.evaluate(() => {
		const accent = getComputedStyle(document.querySelector(".editor .primary")).backgroundColor;
		return [...document.querySelectorAll("button")].filter((each) => getComputedStyle(each).backgroundColor === accent).map((each) => each.innerText).join();
	}), "Save");
	await page.context().close();
}

/** In the page: the top of the last entry, and the space between its end and that of the list. */
function endOfList() {
	const last = [...document.querySelectorAll(".entry")].pop().getBoundingClientRect();
	return { top: Math.round(last.top), rest: document.querySelector(".entries").getBoundingClientRect().bottom - last.bottom };
}

/** A notice and the bar of a selection neither move nor cover the end of the list. */
async function bars({ server, browser, tally }) {
	const page = await openPage(server, browser, tally), notice = page.locator(".toast"), last = page.locator(".entry").last();
	await page.waitForSelector(`[data-entry=e${COUNT}]`);
	await page.evaluate(() => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight; });
	await choose(last);
	await frames(page);
	const before = await page.evaluate(endOfList);
	await page.keyboard.press("x");
	await notice.filter({ hasText: "Muted" }).waitFor();
	await frames(page);
	const under = await page.evaluate(endOfList);
	tally.equal("a notice does not move the entries", under.top, before.top);
	tally.check("nor cover them", under.rest >= 0, under);
	await notice.getByRole("button", { name: "Close the message" }).click();
	await frames(page);
	tally.equal("nor does its end move them", (await page.evaluate(endOfList)).top, before.top);
	await last.hover();
	await last.getByRole("button", { name: /^More for/ }).click();
	await pick(page, "Select from here …");
	await page.locator(".selection").waitFor();
	await frames(page);
	tally.equal("the bar of a selection does not move them", (await page.evaluate(endOfList)).top, before.top);
	await page.keyboard.press("Escape");
	await frames(page);
	tally.equal("nor does its end", (await page.evaluate(endOfList)).top, before.top);
	await page.context().close();

	const phone = await openPage(server, browser, tally, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	await phone.waitForSelector(`[data-entry=e${COUNT}]`);
	await phone.evaluate(() => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight; });
	await choose(phone.locator(".entry").last());
	await phone.keyboard.press("x");
	await phone.locator(".toast", { hasText: "Unmuted" }).waitFor();
	await frames(phone);
	const there = await phone.evaluate(endOfList);
	tally.check("on a phone it does not cover them", there.rest >= 0, there);
	await phone.locator(".toast").getByRole("button", { name: "Close the message" }).click();
	await frames(phone);
	tally.equal("and its end does not move them", (await phone.evaluate(endOfList)).top, there.top);
	await phone.context().close();
}

async function drawers({ server, browser, tally }) {
	const page = await openPage(server, browser, tally, { viewport: { width: 390, height: 800 } });
	await page.waitForSelector(".entry .entry-body");
	for (const [name, inside] of [["Discussions", ".left"], ["Panes", ".right"], ["History", ".right"]]) {
		const opener = page.getByRole("button", { name, exact: true });
		await opener.click();
		await until(() => page.evaluate((where) => document.activeElement.closest(where) !== null, inside));
		const outside = [];
		for (let i = 0; i < 60; i++) {
			await page.keyboard.press("Tab");
			const where = await page.evaluate((drawer) => document.activeElement === document.body || document.activeElement.closest(drawer)
				? "" : document.activeElement.outerHTML.slice(0, 120), inside);
			if (where)
				outside.push(where);
		}
		tally.equal(`${name}: Tab stays in the drawer`, outside[0], undefined);
		const close = page.locator(inside).getByRole("button", { name: "Close", exact: true });
		tally.equal(`${name}: it has a button to close it`, await close.count(), 1);
		await close.click();
		tally.check(`${name}: closed`, await until(async () => !(await page.locator(inside).isVisible())));
		tally.check(`${name}: what opened it has the focus`, await until(() =>
			page.evaluate((label) => document.activeElement.getAttribute("aria-label") === label, name)));
		await opener.click();
		await until(() => page.evaluate((where) => document.activeElement.closest(where) !== null, inside));
		await page.keyboard.press("Escape");
		tally.check(`${name}: after Esc the focus is in the take`, await until(() =>
			page.evaluate(() => document.activeElement.closest("#take") !== null)));
	}
	await page.context().close();
}

async function menus({ server, browser, tally }) {
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry .entry-body");
	// as soon as it exists, and before anything was painted
	await page.evaluate(async () => {
		const button = document.querySelector(".discussions header [aria-haspopup=menu]");
		button.focus();
		button.click();
		while (!document.querySelector("[role=menu]"))
			await Promise.resolve();
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
	});
	tally.check("Esc closes a menu that has only just come", await until(async () => (await page.locator("[role=menu]").count()) === 0));
	await page.getByRole("button", { name: "Discussions", exact: true }).last().click();
	await page.waitForSelector("[role=menu]");
	await until(() => page.evaluate(() => document.activeElement.closest("[role=menu]") !== null));
	await page.keyboard.press("Control+k");
	tally.check("Ctrl+K is heard from within a menu", await until(() => page.evaluate(() => document.activeElement.id === "palette")));
	tally.equal("which is gone", await page.locator("[role=menu]").count(), 0);
	await page.context().close();
}

export async function run(t) {
	await t.server.start();
	await t.server.api("POST", "/batch", { atomic: false, ops: Array.from({ length: COUNT }, (_, at) =>
		({ op: "entry.append", id: `e${at + 1}`, role: at % 2 ? "AI" : "User", content: `Entry ${at + 1}.\n\n- one\n- two\n- three` })) });
	await editors(t);
	await bars(t);
	await inPlace(t);
	await drawers(t);
	await menus(t);
}
