// SPDX-License-Identifier: MIT
//
// The page around the conversation: focus, Enter, projects, settings, help, menus, touch targets,
// notifications, and what works without the server.
import { modelServer } from "./models.mjs";
import { openBrowser, openPage, pick, Server, sizeOf, Tally, until } from "./place.mjs";

const tally = new Tally();
const focusIs = (page, selector) => until(() => page.evaluate((wanted) => document.activeElement?.matches(wanted), selector));

async function writing(server, browser) {
	const page = await openPage(server, browser, tally);
	tally.check("the field has the focus when the page opens", await focusIs(page, "#composer"));
	await page.keyboard.type("one");
	await page.keyboard.press("Shift+Enter");
	await page.keyboard.type("two");
	tally.equal("Shift+Enter inserts a line break", await page.inputValue("#composer"), "one\ntwo");
	await page.keyboard.press("Enter");
	tally.check("Enter sends", await until(async () => (await server.canonical()).includes('"one\\ntwo"')));
	tally.check("the focus is in the field afterwards", await focusIs(page, "#composer"));
	const size = await sizeOf(page);
	await page.keyboard.press("Enter");
	await page.waitForTimeout(200);
	tally.equal("Enter with nothing written does nothing", [await sizeOf(page), await page.inputValue("#composer")].join(), [size, ""].join());
	await page.keyboard.type("three");
	await page.locator("#add").click();
	await until(async () => (await sizeOf(page)) === size + 1);
	tally.check("also after a click on a button", await focusIs(page, "#composer"));
	await server.op("discussion.new", { name: "second" });
	await page.locator(".discussions [data-disc=d1]").click();
	await page.locator(".discussions .name", { hasText: "second" }).click();
	tally.check("also after a discussion was opened", await until(() => page.evaluate(() =>
		document.activeElement?.id === "composer" && document.querySelector(".discussions .open .name")?.textContent.includes("second"))));
	await page.getByRole("button", { name: "Appearance and keys" }).click();
	await page.getByRole("menuitemcheckbox", { name: "Enter sends" }).click();
	await page.fill("#composer", "a");
	await page.press("#composer", "Enter");
	tally.equal("where Enter does not send, it is a line break", await page.inputValue("#composer"), "a\n");
	await page.press("#composer", "Control+Enter");
	tally.check("Ctrl+Enter always sends", await until(async () => (await page.inputValue("#composer")) === ""));
	await page.context().close();
}

async function projects(server, browser) {
	await server.run(["-p", "a & b", "add", "in the other project"]);
	const page = await openPage(server, browser, tally);
	tally.check("the project is named", (await page.locator("#projects").innerText()).includes("default"));
	await page.fill("#composer", "a draft of the default project");
	await page.locator("#projects").click();
	await page.getByRole("menuitemradio", { name: "a & b" }).click();
	await page.locator(".entry", { hasText: "in the other project" }).waitFor();
	tally.check("another project is another address", page.url().includes("project=a%20%26%20b"), page.url());
	tally.equal("it has its own drafts", await page.inputValue("#composer"), "");
	await page.fill("#composer", "written here");
	await page.press("#composer", "Enter");
	tally.check("changes go there", await until(async () => (await server.run(["-p", "a & b", "show"])).includes("written here")));
	await server.run(["-p", "a & b", "add", "from the terminal"]);
	tally.check("events come from there", await until(async () => (await page.locator(".entry", { hasText: "from the terminal" }).count()) === 1));
	await page.reload();
	tally.check("a reload stays there", await until(async () => (await page.locator(".entry", { hasText: "written here" }).count()) === 1));
	await page.locator("#projects").click();
	await page.getByRole("menuitem", { name: "New project" }).click();
	await page.fill("dialog input", "made here");
	await page.press("dialog input", "Enter");
	tally.check("a new project is opened", await until(async () => page.url().includes("project=made%20here") &&
		(await page.locator("#projects").innerText().catch(() => "")).includes("made here")));
	tally.check("and is in the store", (await server.run(["projects"])).includes("made here"));
	await page.locator("#projects").click();
	await page.getByRole("menuitemradio", { name: "default" }).click();
	tally.check("and back", await until(async () => (await page.inputValue("#composer").catch(() => "")) === "a draft of the default project"));
	await page.context().close();
}

/** The role of an entry is visible before it is added, and it is never the model's unless that was chosen. */
async function withoutModel(browser) {
	const server = new Server();
	server.env.OLLAMA_HOST = "http://127.0.0.1:9";
	await server.start();
	const page = await openPage(server, browser, tally), add = page.locator("#add"), hint = page.locator(".composer .hint");
	const texts = async () => (await server.api("GET", "/discussions/main/entries")).entries.map((each) => `${each.role}: ${each.content}`).join();
	await page.locator(".welcome").getByRole("button", { name: "Choose a model" }).click();
	tally.check("an empty project offers to choose a model", await until(async () => await page.getByRole("dialog", { name: "Model" }).count() === 1));
	await page.keyboard.press("Escape");
	tally.equal("the button names the role", await add.innerText(), "Add as User");
	for (const text of ["one", "two"]) {
		await page.locator("#composer").fill(text);
		await page.locator("#composer").press("Enter");
		await until(async () => (await texts()).includes(text));
	}
	tally.equal("both entries are by the user", await texts(), "User: one,User: two");
	await hint.getByRole("button", { name: "write the reply yourself" }).click();
	tally.check("the focus is in the field", await focusIs(page, "#composer"));
	tally.equal("the button names the chosen role", await add.innerText(), "Add as AI");
	await page.keyboard.type("three");
	await page.keyboard.press("Enter");
	tally.check("an entry by AI", await until(async () => (await texts()).endsWith("AI: three")), await texts());
	tally.check("then the user's turn", await until(async () => await add.innerText() === "Add as User"));
	tally.check("the hint leads to the models", await hint.getByRole("button", { name: "Choose a model" }).count() === 1);
	await page.context().close();
	await server.stop();
}

async function signOut(server, browser) {
	const page = await openPage(server, browser, tally);
	await page.locator("#page-settings").click();
	await pick(page, "Sign out …");
	await page.locator("dialog").getByRole("button", { name: "Sign out" }).click();
	tally.check("the sign-in page follows", await until(async () => (await page.title()) === "Sign in to Retake"));
	await page.goto(server.url);
	tally.equal("this browser stays signed out", await page.title(), "Sign in to Retake");
	await page.context().close();
}

async function settings(server, browser) {
	const page = await openPage(server, browser, tally, { colorScheme: "light" });
	const look = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).fontSize].join(" "));
	const light = await look();
	const choose = async (name) => {
		await page.getByRole("button", { name: "Appearance and keys" }).click();
		await page.getByRole("menuitemradio", { name }).click();
	};
	await choose("Dark theme");
	const dark = await look();
	tally.check("the theme changes at once", dark !== light && dark.startsWith("rgb(23, 24, 26)"), light, dark);
	await choose("Large text");
	const large = await look();
	tally.check("so does the size of the text", parseFloat(large.split(" ").at(-1)) > parseFloat(dark.split(" ").at(-1)), large);
	await page.reload();
	await page.waitForSelector("[role=tablist] [role=tab]");
	tally.equal("both are kept", await look(), large);
	await page.emulateMedia({ colorScheme: "dark" });
	await choose("Light theme");
	tally.check("light is light where the system is dark", (await look()).startsWith(light.split(" 1")[0]), await look());
	await choose("System theme");
	tally.check("and the system's choice is followed again", (await look()).startsWith("rgb(23, 24, 26)"), await look());
	await page.context().close();
}

async function help(server, browser) {
	const page = await openPage(server, browser, tally);
	await page.getByRole("button", { name: "Help and keys" }).click();
	await page.locator(".topics").waitFor();
	const all = await page.locator(".topics dt, .keys dd").count();
	await page.keyboard.type("undo");
	const found = await until(async () => { const count = await page.locator(".topics dt, .keys dd").count(); return count < all ? count : 0; });
	const texts = await page.locator(".topics div, .keys dl > div").evaluateAll((each) => each.map((one) => one.textContent + one.closest("section, dl")?.textContent));
	tally.check("the help is searched", found > 1 && texts.every((text) => /undo/i.test(text)), texts);
	await page.fill(".help-field", "theme");
	const menu = await page.locator("#page-settings").getAttribute("aria-label");
	tally.check("it names the menu of the page as it is", (await page.locator(".topics dd", { hasText: "whether Enter sends" }).innerText()).includes(`“${menu}”`), menu);
	await page.fill(".help-field", "xyzzy");
	tally.check("and says when nothing matches", await until(async () => (await page.locator("dialog [role=status]").innerText()).includes("No matches")));
	await page.context().close();
}

/** Commands of the palette that open a dialog, and its title. */
const DIALOGS = [
	["Help and keys", "Help"], ["Templates …", "Templates"], ["Edit the roles …", "Roles"], ["Ask several models …", "Ask several models"],
	["Compare takes …", "Compare takes"], ["Compare the last request with the next one …", "Last and next request"], ["Compact or compress …", "Compact or compress"],
	["Truncate the take …", "Truncate"], ["Import files …", "Import"], ["Export …", "Export"], ["Purge a secret …", "Purge a secret"], ["Reset the project …", "Reset the project"],
	["New take …", "New take"], ["Rename the take …", "Rename the take"], ["Make the take a discussion …", "Make it a discussion"], ["New discussion with a name …", "New discussion"],
];

/** Every dialog by keyboard: the focus is inside, Tab reaches each of its controls and does not leave it, and Esc
 * closes it and leads back. */
async function dialogs(server, browser) {
	await server.op("discussion.new", { name: "of dialogs" });
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	for (const content of ["one", "two", "three"])
		await server.op("entry.append", { content });
	await server.op("take.branch", { at: ":2", name: "aside" });
	await server.op("entry.append", { content: "four" });
	const page = await openPage(server, browser, tally);
	await page.locator(".discussions .name", { hasText: "of dialogs" }).click();
	await page.locator(".entry", { hasText: "four" }).waitFor();
	for (const [command, title] of DIALOGS) {
		await page.locator("#composer").focus();
		await page.keyboard.press("Control+k");
		await page.locator("#palette").fill(command);
		await page.locator(".palette-item", { hasText: command }).first().click();
		const dialog = page.locator(`dialog[aria-label="${title}"]`);
		if (!tally.check(`${title}: opens`, await dialog.waitFor({ timeout: 15000 }).then(() => true, () => false))) {
			await page.keyboard.press("Escape");
			await page.keyboard.press("Escape");
			continue;
		}
		tally.check(`${title}: has the focus`, await until(() => page.evaluate(() => document.activeElement?.closest("dialog") !== null)));
		await page.waitForTimeout(300); // until its lists have arrived
		await dialog.evaluate((each) => {
			window.missed = new Set([...each.querySelectorAll("button, input, select, textarea, summary, a[href]")].filter((one) =>
				!one.disabled && one.tabIndex >= 0 && one.checkVisibility({ checkVisibilityCSS: true }) && (one.type !== "radio" || one.checked)));
			window.missed.delete(document.activeElement);
		});
		let outside = 0;
		for (let i = 0; i < 60 && await page.evaluate(() => window.missed.size) > 0; i++) {
			await page.keyboard.press("Tab");
			outside += await page.evaluate(() => {
				window.missed.delete(document.activeElement);
				return document.activeElement !== document.body && document.activeElement.closest("dialog") === null ? 1 : 0;
			});
		}
		tally.equal(`${title}: Tab reaches each control`, await page.evaluate(() => [...window.missed].map((each) => each.outerHTML.slice(0, 100)).join("\n")), "");
		tally.equal(`${title}: and nothing outside`, outside, 0);
		await page.keyboard.press("Escape");
		tally.check(`${title}: Esc closes it`, await dialog.waitFor({ state: "detached", timeout: 15000 }).then(() => true, () => false));
		tally.check(`${title}: the focus is back`, await focusIs(page, "#composer"), await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
	}
	await page.context().close();
}

/** The row of a discussion that moves to another group is the same element: its menu stays open and keeps the focus. */
async function movingRows(server, browser) {
	await server.op("discussion.new", { name: "moving" });
	await server.op("entry.append", { content: "of the discussion that moves" });
	await server.op("discussion.new", { name: "empty" });
	const page = await openPage(server, browser, tally);
	const names = () => page.locator(".discussions button.name").evaluateAll((all) => all.map((each) => each.dataset.disc).join(" "));
	const before = await names();
	await page.locator(".discussions .name", { hasText: "moving" }).click();
	await until(async () => /moving/.test(await page.locator(".discussions .open .name").textContent()));
	tally.equal("opening a discussion moves no row, also if an empty one was open", await names(), before);
	await page.getByRole("button", { name: "More for moving" }).click();
	await page.locator(".menu-list").waitFor();
	await server.op("setting.set", { key: "pinned", value: true }, "?discussion=moving");
	await until(async () => (await page.locator(".discussions h3").first().innerText()) === "Pinned");
	tally.check("the row is the first", (await names()) !== before, before);
	tally.check("its menu is still open", await page.locator(".menu-list").count() === 1);
	tally.check("and has the focus", await page.evaluate(() => document.activeElement.matches(".menu-item")));
	await page.keyboard.press("Enter");
	await page.locator("dialog input").waitFor();
	await page.keyboard.press("Escape");
	await page.context().close();
	await server.op("setting.set", { key: "pinned", value: null }, "?discussion=moving");
}

async function menus(server, browser) {
	await server.op("entry.append", { content: "an entry" }, "?discussion=main");
	const page = await openPage(server, browser, tally);
	await page.locator(".discussions [data-disc=d1]").click();
	await page.locator(".entry").last().getByRole("button", { name: /^More for entry/ }).click();
	tally.check("a menu has eight items and More", await page.locator(".menu-item").count() <= 9, await page.locator(".menu-item").allInnerTexts());
	await page.keyboard.press("End");
	await page.keyboard.press("Enter");
	tally.check("More shows the rest", await until(async () => await page.locator(".menu-item").count() > 9));
	tally.check("with the focus on the first of it", await page.evaluate(() => [...document.querySelectorAll(".menu-item")].indexOf(document.activeElement) === 8));
	tally.equal("in groups", (await page.getByRole("menu").getByRole("group").evaluateAll((all) => all.map((each) => `${each.getAttribute("aria-label")} ${each.querySelectorAll("[role=menuitem]").length}`))).join(),
		"Entry 7,Replies and branches 5,Position 5");
	const boxes = await page.locator(".menu-item").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));
	tally.check("no item covers another", !boxes.some((a, at) => boxes.some((b, other) => at < other && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)));
	await page.keyboard.press("Escape");
	await page.locator(".entry").last().getByRole("button", { name: /^More for entry/ }).click();
	await pick(page, "Delete");
	tally.check("an item after More works", await until(async () => !(await page.locator(".entry", { hasText: "an entry" }).count())));
	await page.context().close();
}

async function fingers(server, browser) {
	await server.op("entry.append", { content: "an entry" }, "?discussion=main");
	const page = await openPage(server, browser, tally, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	const small = () => page.locator("button:visible:not(.link), select:visible, .menu-item:visible").evaluateAll((all) => all.map((each) => {
		const { width, height } = each.getBoundingClientRect();
		return [each.getAttribute("aria-label") ?? each.textContent, Math.round(width), Math.round(height)];
	}).filter(([, width, height]) => height < 44 || width < 44).map((each) => each.join(" ")).join(", "));
	tally.equal("every target is 44 px", await small(), "");
	tally.check("nothing is wider than the window", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	await page.getByRole("button", { name: "More", exact: true }).tap();
	await page.locator(".menu-list").waitFor();
	tally.equal("also in a menu", await small(), "");
	tally.equal("which has the buttons that the bar has no room for", (await page.locator(".menu-item > span").allInnerTexts()).slice(0, 3).join(), "New discussion,Redo,Export …");
	await page.getByRole("menuitem", { name: "Export …" }).tap();
	await page.getByRole("dialog", { name: "Export" }).waitFor();
	await page.keyboard.press("Escape");
	await page.locator("dialog").waitFor({ state: "detached" });
	await page.locator("#to-discussions").tap();
	await page.waitForTimeout(400);
	tally.equal("and in the drawer", await small(), "");
	await page.context().close();
}

/** The list of discussions, and the pane that stays open. */
async function lists(server, browser) {
	const page = await openPage(server, browser, tally), names = () => page.locator(".discussions button.name").allInnerTexts();
	const begin = page.getByRole("button", { name: "New discussion", exact: true });
	await begin.click();
	tally.check("a new discussion is the first one", await until(async () => /^New discussion\s+empty/.test((await names())[0])), await names());
	await server.op("entry.append", { role: "Vendor API", content: "Rate limit reached" }, "?discussion=" + (await server.api("GET", "/discussions")).at(-1).id);
	tally.check("also with an entry that is not a question", await until(async () => (await names()).some((each) => /^New discussion\s+.*1 entry/.test(each))), await names());
	await page.locator(".entry").first().waitFor();
	tally.equal("whose role is understood", await page.locator(".entry .role-picker").first().evaluate((each) => `${each.value}: ${each.selectedOptions[0].text}`), "Vendor API: Provider");
	tally.check("in its name, too", /, Provider/.test(await page.locator(".entry").first().getByRole("button", { name: /^More for/ }).getAttribute("aria-label")));
	await page.locator(".discussions li.open").hover();
	await page.locator(".discussions li.open").getByRole("button", { name: /^More for/ }).click();
	await pick(page, "Archive");
	tally.check("an archived one that is open says so", await until(async () => (await names()).some((each) => each.includes("archived"))), await names());
	await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
	await page.locator("#to-panes").click();
	await page.locator("#pane-tab-prompt").click();
	await page.reload();
	tally.check("an open pane stays open", await until(() => page.locator("#pane-tab-prompt[aria-selected=true]").isVisible()));
	await page.locator("#to-panes").click();
	await page.reload();
	await page.waitForSelector("[role=tablist] [role=tab]");
	tally.equal("a closed one stays closed", await page.locator("#pane").count(), 0);
	await page.context().close();

	const phone = await openPage(server, browser, tally, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	await phone.locator("#to-discussions").tap();
	await phone.getByRole("button", { name: "New discussion", exact: true }).tap();
	tally.check("on a phone a new discussion closes the drawer", await until(async () => (await phone.locator(".drawer-none").count()) === 1 && (await phone.locator("h1").innerText()).startsWith("New discussion")));
	await phone.context().close();

	const keyboard = await openPage(server, browser, tally, { init: [() => {
		const media = matchMedia.bind(window);
		window.matchMedia = (query) => (/none/.test(query) ? Object.assign(new EventTarget(), { matches: true, media: query }) : media(query));
	}] });
	tally.check("without a pointer there is a keyboard", await until(async () => (await keyboard.locator("#composer").getAttribute("placeholder"))?.includes("(Enter sends)")));
	await keyboard.context().close();
	await server.op("discussion.switch", { discussion: "main" });
}

async function notifications(server, browser, slow) {
	const page = await openPage(server, browser, tally, { init: [() => {
		window.shown = [];
		window.Notification = class {
			static permission = "default";
			static async requestPermission() { return (this.permission = "granted"); }
			constructor(title, options) { window.shown.push(`${title}: ${options.body}`); }
			close() { }
		};
	}] });
	const ask = async () => {
		await page.fill("#composer", "the secret of the question");
		const begun = page.waitForResponse((response) => response.url().endsWith("/runs") && response.request().method() === "POST" || /\/runs\?/.test(response.url()));
		await page.press("#composer", "Control+Enter");
		await begun;
		await until(() => slow.end);
		await page.waitForTimeout(300); // the page has recorded when its reply started
		await page.evaluate(() => { // eleven seconds later, in the background
			const now = Date.now() + 11000;
			Date.now = () => now;
			Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
		});
		slow.end();
		slow.end = null;
		await until(async () => !(await page.locator(".running").count()));
		await page.evaluate(() => delete document.visibilityState);
	};
	await page.locator("#ask").waitFor();
	await ask();
	tally.equal("no notification unless it is wanted", await page.evaluate(() => window.shown.length), 0);
	await page.getByRole("button", { name: "Appearance and keys" }).click();
	await page.getByRole("menuitemcheckbox", { name: /^Notify/ }).click();
	await ask();
	tally.check("one when a long reply ends", await until(async () => (await page.evaluate(() => window.shown.join())).endsWith(": The reply is complete.")), await page.evaluate(() => window.shown));
	tally.check("which has no text of it", !(await page.evaluate(() => window.shown.join())).includes("secret"));
	await page.context().close();
}

async function imports(server, browser) {
	const page = await openPage(server, browser, tally);
	await page.locator(".discussions header").getByRole("button", { name: "Discussions" }).click();
	await page.getByRole("menuitem", { name: /^Import/ }).click();
	const lines = Array.from({ length: 400 }, (_, at) => JSON.stringify({ messages: [{ role: "user", content: `question ${at}` }] })).join("\n");
	await page.locator("dialog input[type=file]").setInputFiles({ name: "many.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(lines) });
	await page.locator("dialog footer .primary:enabled").click();
	await page.locator("dialog").waitFor({ state: "detached" });
	await page.waitForTimeout(1500);
	tally.equal("an import by this page is not news", await page.locator(".news").innerText(), "");
	await page.context().close();
}

/** Installed as an app, and the server is not available. */
async function offline(server, browser) {
	const page = await openPage(server, browser, tally, { serviceWorkers: "allow" });
	const state = await page.evaluate(async () => (await navigator.serviceWorker.ready).active?.scriptURL);
	tally.check("a service worker is registered", state?.endsWith("/sw.js"), state);
	await page.reload();
	await page.waitForSelector("[role=tablist] [role=tab]");
	tally.equal("it stores nothing", await page.evaluate(async () => (await caches.keys()).length), 0);
	await server.end();
	await page.goto(server.url, { waitUntil: "load" }).catch(() => undefined);
	tally.check("without the server the page says so", await until(async () => (await page.locator("h1").innerText().catch(() => "")) === "Retake is not running"));
	await page.context().close();
}

const server = new Server(), browser = await openBrowser();
const slow = { end: null };
const { host } = await modelServer("slow", ({ say, end }) => { say("A reply."); slow.end = end; });
server.env.OLLAMA_HOST = host;
await server.start();
try {
	const only = process.argv[2];
	const parts = [["writing", writing], ["projects", projects], ["without a model", (_, all) => withoutModel(all)], ["sign out", signOut], ["settings", settings], ["help", help], ["moving rows", movingRows], ["menus", menus], ["dialogs", dialogs], ["fingers", fingers], ["imports", imports], ["lists", lists],
		["notifications", async (...given) => {
			await server.op("setting.set", { key: "model", value: "ollama/slow" });
			await notifications(...given, slow);
		}], ["offline", offline]];
	for (const [name, part] of parts)
		if (!only || only === name)
			await part(server, browser).catch((error) => tally.check(`${name} runs to its end`, false, error.stack));
} finally {
	await browser.close();
	await server.stop();
}
process.exit(tally.end());
