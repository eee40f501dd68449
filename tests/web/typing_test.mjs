// SPDX-License-Identifier: MIT
//
// Typing blindly: wherever the focus is, every character goes to the composer, and nothing else
// changes, in every view of the page.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endlessModel } from "./models.mjs";
import { openBrowser, openPage, ROOT, Server, Tally, until } from "./place.mjs";

const SAMPLE = Number(process.env.TYPING_SAMPLE ?? 1); // use every n-th sentence
const SENTENCES = readFileSync(join(ROOT, "tests/sentences.txt"), "utf8").trim().split("\n").filter((_, at) => at % SAMPLE === 0);
const PER_VIEW = SAMPLE > 1 ? 2 : 4;
const tally = new Tally();
let next = 0;

function someSentences() {
	return Array.from({ length: PER_VIEW }, () => SENTENCES[next++ % SENTENCES.length]);
}

/** The whole project except the draft. */
async function project(server) {
	const all = JSON.parse(await server.canonical());
	for (const each of all.discussions) {
		delete each.settings?.draft;
		if (each.settings && Object.keys(each.settings).length === 0)
			delete each.settings;
	}
	return JSON.stringify(all);
}

async function steps(server) {
	const { steps: all } = await server.api("GET", "/discussions/main/history");
	return JSON.stringify(all.filter((each) => each.setting !== "draft").map((each) => [each.seq, each.undone]));
}

const typed = (page) => page.inputValue("#composer");

/** go() opens the view, and is called before each sentence. */
async function view(t, name, go, sentences = someSentences()) {
	const { page, server } = t, before = await project(server), was = await steps(server);
	try {
		await go();
		const unchanged = { project: await project(server), steps: await steps(server) };
		for (const sentence of sentences) {
			await page.fill("#composer", "");
			await go();
			await page.keyboard.type(sentence);
			tally.check(`${name}: all of "${sentence}" is written`, await until(async () => (await typed(page)) === sentence), await typed(page));
			tally.equal(`${name}: it opens no dialog`, await page.locator("dialog[open], .menu-list").count(), 0);
		}
		tally.equal(`${name}: nothing else changes`, await project(server), unchanged.project);
		tally.equal(`${name}: no step is made or undone`, await steps(server), unchanged.steps);
		tally.equal(`${name}: getting there was no change`, JSON.stringify([unchanged.project, unchanged.steps]), JSON.stringify([before, was]));
	} catch (error) {
		tally.check(`${name} runs to its end`, false, error.stack);
	}
	await page.fill("#composer", "");
}

const blur = (page) => page.evaluate(() => document.activeElement.blur());

async function openPane(page, id) {
	const panes = page.locator("#to-panes");
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
}

/** A single character is enough to do harm. */
async function characters(t) {
	const { page, server } = t, before = await project(server), was = await steps(server);
	let wanted = "";
	for (let code = 33; code < 127; code++) {
		await blur(page);
		await page.keyboard.type(String.fromCharCode(code));
		wanted += String.fromCharCode(code);
	}
	tally.check("each character is written that is typed where nothing has the focus", await until(async () => (await typed(page)) === wanted), await typed(page));
	tally.equal("and does nothing else", await project(server) + await steps(server), before + was);
	await page.fill("#composer", "");
}

/** Buttons and rows keep their keys that are not text. */
async function others(t) {
	const { page } = t;
	await page.locator(".discussions .name").first().focus();
	await page.locator(".entry .fold").last().focus();
	await page.keyboard.press("Space");
	tally.check("Space presses the button that has the focus", await until(async () => await page.locator(".entry.collapsed").count() === 1));
	await page.keyboard.press("Enter");
	tally.check("so does Enter", await until(async () => await page.locator(".entry.collapsed").count() === 0));
	tally.equal("and neither is written", await typed(page), "");
	await page.locator(".entry .entry-body").first().click();
	await page.keyboard.press("ArrowDown");
	tally.check("an arrow goes to the next entry", await until(() => page.evaluate(() => document.activeElement.matches(".entry[aria-posinset='2']"))));
	tally.check("which has a frame then", await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle) !== "none");
	await page.keyboard.press("c");
	tally.check("where a letter is a command", await until(async () => await page.locator(".entry.collapsed").count() === 1));
	await page.keyboard.press("c");
	await until(async () => await page.locator(".entry.collapsed").count() === 0);
	await page.keyboard.press("Q");
	tally.equal("one that is none is written", await typed(page), "Q");
	await page.keyboard.press("Control+k");
	await page.locator("#palette").waitFor();
	await page.keyboard.type("undo");
	tally.equal("a dialog has its own field", await page.inputValue("#palette"), "undo");
	await page.keyboard.press("Escape");
	await page.fill("#composer", "");
}

const browser = await openBrowser();
const server = new Server();
const model = await endlessModel("And so ", { again: "on ", every_ms: 100 });
server.env.OLLAMA_HOST = model.host;
try {
	await server.start();
	let page = await openPage(server, browser, tally);
	tally.equal("the page opens with the focus in the field", await page.evaluate(() => document.activeElement.id), "composer");
	let t = { page, server };
	await view(t, "an empty project", () => blur(page));
	await page.locator(".welcome").waitFor();
	await page.context().close();

	for (const [id, role, content] of [["e1", "User", "Which database?"], ["e2", "AI", "SQLite.\n\n```\ncode\n```"], ["e3", "User", "Why?"], ["e4", "AI", "One file."]])
		await server.op("entry.append", { id, role, content });
	await server.op("take.branch", { at: "e2", name: "other" });
	await server.op("entry.append", { content: "Elsewhere" });
	await server.op("take.switch", { take: "main" });
	await server.op("discussion.new", { name: "second" });
	await server.op("discussion.switch", { discussion: "main" });
	await server.op("entry.append", { id: "e5", content: "undone" });
	await server.op("undo");

	page = await openPage(server, browser, tally);
	t = { page, server };
	await page.locator(".entries [data-entry=e4]").waitFor();
	tally.equal("so it does with entries", await page.evaluate(() => document.activeElement.id), "composer");
	await characters(t);
	await view(t, "nothing has the focus", () => blur(page), SENTENCES);
	await view(t, "after a click on the page", () => page.mouse.click(640, 60));
	await view(t, "after a click on a discussion", () => page.locator(".discussions [data-disc=d1]").click());
	await view(t, "after a click on the take", () => page.locator(".take-bar [role=tab][aria-selected=true]").click());
	await view(t, "after a click on an entry", () => page.locator(".entries [data-entry=e2] .entry-body").click({ position: { x: 5, y: 5 } }));
	await view(t, "after a button of an entry", async () => {
		for (const collapsed of [1, 0]) {
			await page.locator(".entries [data-entry=e3] .fold").click();
			await until(async () => await page.locator(".entry.collapsed").count() === collapsed);
		}
	});
	await view(t, "after a menu", async () => {
		await page.locator(".entries [data-entry=e3]").getByRole("button", { name: /^More for entry/ }).click();
		await page.mouse.click(640, 60);
	});
	await view(t, "after a search that was closed", async () => {
		await page.locator("#composer").click();
		await page.keyboard.press("Control+k");
		await page.locator("#palette").waitFor();
		await page.keyboard.press("Escape");
		await page.locator("dialog").waitFor({ state: "detached" });
	});
	await view(t, "on Undo", () => page.locator("#undo").focus());
	await view(t, "after the panes were opened", async () => {
		await page.locator("#to-panes").click();
		if (await page.locator(".side").count() === 0)
			await page.locator("#to-panes").click();
	});
	for (const id of ["outline", "history", "prompt", "files", "settings"])
		if (await page.locator(`#pane-tab-${id}`).count())
			await view(t, `on the tab ${id}`, () => openPane(page, id));
	await openPane(page, "outline");
	await view(t, "on a row of the outline", () => page.locator("#pane [role=treeitem]").nth(1).focus());
	await openPane(page, "history");
	await view(t, "on a row of the history", () => page.locator("#pane [role=option]").nth(2).click());
	await view(t, "on an entry of the past", () => page.locator("#pane .past-row").first().focus());
	await page.locator("#to-panes").click();
	await others(t);

	await page.fill("#composer", "half a thought");
	const [before, was] = [await project(server), await steps(server)];
	await page.reload();
	await page.locator(".entries [data-entry=e4]").waitFor();
	await page.keyboard.type(" and more");
	tally.check("after a reload typing continues", await until(async () => (await typed(page)) === "half a thought and more"), await typed(page));
	tally.equal("and nothing else changed", await project(server) + await steps(server), before + was);
	await page.fill("#composer", "");

	await server.op("setting.set", { key: "model", value: "ollama/slow" });
	await page.locator("#ask").waitFor();
	await page.fill("#composer", "Go on.");
	await page.press("#composer", "Control+Enter");
	await page.locator(".running .live", { hasText: "And so" }).waitFor();
	await view(t, "while a reply arrives", () => blur(page));
	tally.equal("which continues", await page.locator(".running").count(), 1);
	tally.equal("there is one button that stops it", await page.getByRole("button", { name: "Stop", exact: true }).count(), 1);
	await page.locator(".stop").click();
	await page.locator(".running").waitFor({ state: "detached" });
	await view(t, "after a click on a button that went away", () => undefined);
	await page.context().close();

	page = await openPage(server, browser, tally, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	await page.locator(".entries [data-entry=e4]").waitFor();
	tally.check("a touch device does not show its keyboard by itself", await page.evaluate(() => document.activeElement.id !== "composer"));
	await view({ page, server }, "on a phone with a keyboard", () => blur(page));
} catch (error) {
	tally.check("runs to its end", false, error.stack);
} finally {
	await browser.close();
	await server.stop();
}
process.exit(tally.end());
