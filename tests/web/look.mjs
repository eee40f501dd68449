// SPDX-License-Identifier: MIT
//
// Accessibility: axe-core in light and dark, no horizontal scrolling on narrow screens, and
// everything works with the keyboard.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { choose, DEPS, openPage, pick, until } from "./place.mjs";

const AXE = readFileSync(join(DEPS, "axe/axe.min.js"), "utf8");

async function axe(page, tally, name) {
	// the page's policy forbids foreign scripts, so it is injected by the driver
	await page.evaluate(AXE + ";0");
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	tally.check(`axe: ${name}`, found.violations.length === 0, ...found.violations.map((each) =>
		`${each.id} (${each.impact}): ${each.nodes.slice(0, 3).map((node) => node.html + " " + node.any.map((why) => why.message)).join(" | ")}`));
}

async function views(server, browser, tally, colorScheme, width) {
	const name = `${colorScheme}, ${width} px`;
	const page = await openPage(server, browser, tally, { colorScheme, viewport: { width, height: 800 } });
	await page.waitForSelector(".entry .entry-body");
	await page.waitForTimeout(200);
	await axe(page, tally, `entries, ${name}`);
	await choose(page.locator(".entry").last());
	const arrow = (entry) => entry.locator(".role-picker").evaluate((each) => parseFloat(getComputedStyle(each).backgroundSize) > 0);
	tally.check(`the role of the chosen entry looks like a menu, ${name}`, await arrow(page.locator(".entry").last()) && !(await arrow(page.locator(".entry").first())));
	await page.keyboard.press("e");
	await page.waitForSelector(".editor textarea");
	await axe(page, tally, `editing, ${name}`);
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	await page.waitForSelector("dialog");
	await axe(page, tally, `help, ${name}`);
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: /More for entry/ }).last().click();
	await axe(page, tally, `a menu, ${name}`);
	await page.keyboard.press("Escape");
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	tally.check(`nothing sideways, ${name}`, wide <= 0, wide);
	const cut = await page.evaluate(() => [...document.querySelectorAll(".top button, .composer button, .take-bar button, .take-bar select")]
		.filter((each) => each.offsetParent && !each.closest(".tabs") && each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML));
	tally.check(`nothing cut off, ${name}`, cut.length === 0, cut);
	await page.context().close();
}

/** On a phone by touch: nothing moves under the finger, and controls are within reach. */
async function phone(server, browser, tally) {
	const page = await openPage(server, browser, tally, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
	await page.waitForSelector(".entry .entry-body");
	await page.waitForTimeout(200);
	const tops = () => page.locator(".entry").evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().top)).join());
	const before = await tops();
	await page.locator(".entry .entry-body").last().tap();
	await page.locator(".entry[aria-current]").waitFor();
	await page.waitForTimeout(100);
	tally.equal("a tap moves no text", await tops(), before);
	tally.equal("no key is named in the field", await page.getAttribute("#composer", "placeholder"), "Write an entry by User …");
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	await page.locator("#ask").waitFor();
	const controls = await page.locator(".composer-bar > :is(button, select)").evaluateAll((all) => all.filter((each) => each.offsetWidth).map((each) => [each.offsetTop, each.scrollWidth <= each.offsetWidth || each.classList.contains("model")].join()));
	tally.equal("the controls of the composer are in one row, none cut", [...new Set(controls)].join(" | "), controls.find((each) => each.endsWith("true")));
	await server.op("setting.set", { key: "model", value: null });
	await page.locator("#ask").waitFor({ state: "detached" });
	await server.op("setting.set", { key: "title", value: "A trip to Rome" });
	await page.locator(".top .where", { hasText: "A trip to Rome" }).waitFor();
	tally.check("the title is not cut", await page.locator(".top .where").evaluate((each) => each.scrollWidth <= each.clientWidth));
	await server.op("setting.set", { key: "title", value: null });
	const bar = page.getByRole("toolbar", { name: "Selected entries" });
	await page.getByRole("button", { name: /More for entry/ }).last().tap();
	tally.equal("menus show no keys", await page.locator(".menu-item kbd:visible").count(), 0);
	await pick(page, /^Select from here/, { how: "tap" });
	const rows = await page.locator(".entry").count();
	await page.locator(".entry .entry-body").nth(rows - 2).tap();
	tally.check("two are selected by touch", await until(async () => (await bar.innerText()).includes("2 entries selected")), await bar.innerText());
	await axe(page, tally, "a selection on a phone");
	await bar.getByRole("button", { name: "Cancel" }).tap();
	tally.check("and none", await until(async () => (await bar.count()) === 0));
	await page.getByRole("button", { name: /More for entry/ }).last().tap();
	await pick(page, "Edit", { how: "tap" });
	await page.locator(".editor textarea").waitFor();
	const save = page.getByRole("button", { name: "Save", exact: true });
	tally.check("while editing, the composer is hidden", await page.locator("#composer").isHidden());
	await page.fill(".editor textarea", "a line\n".repeat(60));
	const box = await until(async () => { const at = await save.boundingBox(); return at && at.y + at.height <= 800 ? at : null; });
	tally.check("Save stays in view", box !== null, box);
	const colours = await page.evaluate(() => {
		const [bar, entry] = [".editor-bar", ".entry[aria-current]"].map((each) => getComputedStyle(document.querySelector(each)).backgroundColor);
		return bar !== getComputedStyle(document.body).backgroundColor && entry !== "rgba(0, 0, 0, 0)";
	});
	tally.check("its background is that of the entry", colours);
	const reached = await save.evaluate((button) => {
		const at = button.getBoundingClientRect();
		return button.contains(document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2));
	});
	tally.check("and nothing covers it", reached);
	await page.context().close();
}

/** A touch device is shown no keys anywhere. */
async function touched(server, browser, tally) {
	const page = await openPage(server, browser, tally, { viewport: { width: 1180, height: 800 }, hasTouch: true, isMobile: true });
	await page.waitForSelector(".entry .entry-body");
	const told = async (where) => {
		const words = await page.evaluate(() => [
			...[...document.querySelectorAll("kbd")].filter((each) => each.checkVisibility()).map((each) => each.textContent || each.dataset.keys),
			...[...document.querySelectorAll("[placeholder]")].map((each) => each.placeholder).filter((text) => /Ctrl|⌘|Enter/.test(text)),
			.../(Ctrl\+|⌘|Enter (goes|shows|continues)|\bEsc\b|Press )[^\n]*/.exec(document.body.innerText) ?? [],
		].join(" | "));
		tally.equal(`no key is named: ${where}`, words, "");
	};
	await told("the page");
	await page.getByRole("button", { name: /More for entry/ }).last().tap();
	await page.locator(".menu-list").waitFor();
	await told("a menu");
	await page.keyboard.press("Escape");
	for (const where of ["commands", "the help"]) {
		await page.getByRole("button", { name: where === "commands" ? "Search and commands" : "Help and keys" }).tap();
		await page.locator("dialog[open]").waitFor();
		await told(where);
		await page.locator("dialog").getByRole("button", { name: "Close" }).tap();
	}
	for (const pane of ["outline", "history"]) {
		if (pane === "outline")
			await page.locator("#to-panes").tap();
		await page.locator(`#pane-tab-${pane}`).tap();
		await page.locator("#pane .pane-row").first().waitFor();
		await told(pane);
	}
	await page.context().close();
}

/** In a low window and on a phone: a menu never covers its button, and indicates that it can be scrolled. */
async function menus(server, browser, tally) {
	for (const viewport of [{ width: 1280, height: 560 }, { width: 390, height: 640 }]) {
		const page = await openPage(server, browser, tally, { viewport }), name = `${viewport.width} × ${viewport.height}`;
		await page.waitForSelector(".entry .entry-body");
		const before = await server.canonical(), list = page.locator(".menu-list");
		for (const at of await page.getByRole("button", { name: /^More for entry/ }).all()) {
			await at.scrollIntoViewIfNeeded();
			await page.waitForTimeout(100); // until the list has positioned its rows
			const box = await at.boundingBox();
			await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
			await page.mouse.down();
			await page.mouse.up();
			await list.waitFor();
			const over = await list.boundingBox(), now = await at.boundingBox();
			tally.check(`the menu is beside its button, ${name}`, over.y >= now.y + now.height || over.y + over.height <= now.y || over.x >= now.x + now.width || over.x + over.width <= now.x, over, now);
			tally.check(`within the window, ${name}`, over.x >= 0 && over.y >= 0 && over.x + over.width <= viewport.width && over.y + over.height <= viewport.height, over);
			const rest = await list.evaluate((menu) => menu.scrollHeight - menu.clientHeight);
			tally.equal(`it says whether there is more, ${name}`, await list.evaluate((menu) => menu.hasAttribute("data-more")), rest > 8);
			await page.mouse.down({ clickCount: 2 });
			await page.mouse.up({ clickCount: 2 });
			tally.equal(`the second of two clicks leaves it open, ${name}`, await list.count(), 1);
			await page.keyboard.press("End");
			tally.check(`and at its end there is no more, ${name}`, await until(async () => !(await list.evaluate((menu) => menu.hasAttribute("data-more")))));
			await page.keyboard.press("Escape");
			await list.waitFor({ state: "detached" });
		}
		tally.equal(`two clicks choose nothing, ${name}`, await server.canonical(), before);
		await page.context().close();
	}
}

async function keysAlone(server, browser, tally) {
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry");
	const has = (selector) => page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector);
	tally.check("the composer is focused at the start", await has("#composer"));
	await page.locator(".skip").focus();
	await page.keyboard.press("Enter");
	tally.check("an entry has the focus", await has(".entry"));
	await page.keyboard.press("k");
	await page.keyboard.press("k");
	const at = await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"));
	await page.keyboard.press("j");
	tally.equal("j and k", await page.evaluate(() => document.activeElement.getAttribute("aria-posinset")), String(Number(at) + 1));
	await page.keyboard.press("Tab");
	tally.check("Tab goes into the entry", await has(".entry *"));
	await page.keyboard.press("?");
	await page.waitForSelector("dialog");
	for (let i = 0; i < 12; i++)
		await page.keyboard.press("Tab");
	tally.check("a dialog keeps the focus", await page.evaluate(() =>
		document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement)));
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog", { state: "detached" });
	tally.check("and gives it back", await has(".entry *"));
	await page.keyboard.press("n");
	tally.check("n writes", await until(() => has("#composer")));
	await page.keyboard.type("jjkdu");
	tally.equal("letters are letters in a text field", await page.inputValue("#composer"), "jjkdu");
	await page.fill("#composer", "");
	await page.evaluate(() => localStorage.setItem("retake.keys", "off"));
	await choose(page.locator(".entry").first());
	const count = await page.locator(".entry").count();
	await page.keyboard.press("d");
	tally.equal("single keys can be disabled: they are typed text", await page.inputValue("#composer"), "d");
	tally.equal("and nothing else", await page.locator(".entry").count(), count);
	await page.context().close();
}

/** The check itself: axe reports a violation if there is one. */
async function axeSees(server, browser, tally) {
	const page = await openPage(server, browser, tally);
	await page.evaluate(AXE + ";document.querySelector('main').append(new Image());0");
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	tally.check("axe sees a picture without words", found.violations.some((each) => each.id === "image-alt"));
	await page.context().close();
}

const PAYLOADS = [
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>",
	"[x](javascript:alert(1))", "![x](javascript:alert(1))", "<a href=javascript:alert(1)>x</a>",
	"[x](data:text/html,<script>alert(1)</script>)", "<iframe srcdoc='<script>alert(1)</script>'>",
	"[x]: javascript:alert(1)\n\n[x]", "<details open ontoggle=alert(1)>", "<style>*{display:none}</style>",
	"```\"><script>alert(1)</script>\nx\n```", "[a](https://example.org \"onmouseover=alert(1)\")",
];

/** Texts are never executed. */
async function hostile(server, browser, tally) {
	await server.op("discussion.new", { name: "hostile <b>name</b>" });
	for (const content of PAYLOADS) {
		await server.op("entry.append", { role: "<img src=x onerror=alert(1)>", content });
		await server.op("entry.append", { role: "AI", content: [{ type: "text", text: content }, { type: content, x: content }, { type: "toolCall", name: content, arguments: { content } }] });
	}
	const page = await openPage(server, browser, tally);
	let dialogs = 0;
	page.on("dialog", (dialog) => { dialogs++; void dialog.dismiss(); });
	await page.waitForSelector(".entry .entry-body");
	for (const at of [0, 0.3, 0.6, 1]) {
		await page.evaluate((part) => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight * part; }, at);
		await page.waitForTimeout(200);
		for (const link of await page.locator(".entry-body a").all())
			await link.hover({ timeout: 500 }).catch(() => undefined);
		const bad = await page.evaluate(() => [...document.querySelectorAll(".entries script, .entries img, .entries svg, .entries iframe, .entries style")].map((each) => each.outerHTML)
			.concat([...document.querySelectorAll(".entries a")].map((each) => each.href).filter((href) => !/^(https?|mailto):/.test(href))));
		tally.check(`nothing of a text is markup of the page, at ${at}`, bad.length === 0, bad);
	}
	tally.equal("and nothing runs", dialogs, 0);
	await page.context().close();
}

/** Long names are shortened in their middle: they differ at their ends. */
async function longNames(server, browser, tally) {
	const names = [2, 3].map((n) => `a question about storage that goes on and on (${n})`);
	for (const name of names) {
		await server.op("discussion.new", { name });
		await server.op("entry.append", { content: "x" }, `?discussion=${encodeURIComponent(name)}`);
		await server.op("take.branch", { at: ":1", name, switch: false }, "?discussion=d1");
	}
	await server.op("discussion.switch", { discussion: "d1" });
	const page = await openPage(server, browser, tally);
	await page.goto(`${server.url}/#/d/d1`);
	await page.locator(".take-bar [role=tab] >> nth=3").waitFor();
	/** Is the end of this name visible in its container? */
	const seen = (selector, name) => page.evaluate(([where, text]) => {
		const box = [...document.querySelectorAll(where)].find((each) => each.textContent.includes(text));
		if (!box)
			return "not there";
		const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), range = document.createRange();
		let node = null;
		while (walker.nextNode())
			if (walker.currentNode.data.endsWith(text.slice(-3)))
				node = walker.currentNode;
		range.setStart(node, node.length - 3);
		range.setEnd(node, node.length);
		const at = range.getBoundingClientRect(), outer = box.getBoundingClientRect();
		const isTitled = box.closest("[title]")?.title.includes(text) || [...box.querySelectorAll("[title]")].some((each) => each.title.includes(text));
		return `${at.right <= outer.right + 1 && at.left >= outer.left ? "seen" : "cut off"}, ${isTitled ? "titled" : "no title"}`;
	}, [selector, name]);
	for (const name of names) {
		tally.equal("the end of a long name in a tab", await seen(".take-bar [role=tab] .name", name), "seen, titled");
		tally.equal("and in the list", await seen(".discussions button.name > span:first-child", name), "seen, titled");
	}
	const family = "\u{1F469}\u200d\u{1F469}\u200d\u{1F467}", hebrew = "\u05e9\u05d0\u05dc\u05d4 ".repeat(5) + "\u05d0\u05d1\u05d2";
	for (const name of [`all of the family ${family}1234567`, hebrew])
		await server.op("take.rename", { take: "t3", name }, "?discussion=d1").then(() => page.locator(".take-bar [role=tab]", { hasText: name }).waitFor());
	const first = (part) => page.locator(".take-bar [role=tab]", { hasText: hebrew }).locator(part).boundingBox().then(({ x }) => x);
	tally.check("a name that goes to the left has its end there", await first(".cut-tail") < await first(".cut-head"));
	await server.op("undo", { count: 1 }, "?discussion=d1");
	tally.equal("graphemes are not split", await page.locator(".take-bar [role=tab]", { hasText: family }).locator(".cut-tail").innerText(), `${family}1234567`);
	await server.op("undo", { count: 1 }, "?discussion=d1");
	await page.locator(".take-bar [role=tab]", { hasText: names[1] }).waitFor();
	await page.keyboard.press("Escape");
	await page.locator("#to-panes").click();
	await page.getByRole("tab", { name: "Outline" }).click();
	await page.locator("#pane .tip", { hasText: names[0] }).waitFor();
	tally.equal("and at the end of its take in the outline", await seen("#pane .tip", names[0]), "seen, titled");
	tally.equal("a tab is called by all of it", await page.getByRole("tab", { name: `${names[1]}, 1 entry` }).count(), 1);
	await axe(page, tally, "long names");
	await page.context().close();
	const older = await openPage(server, browser, tally, { init: [() => { delete Intl.Segmenter; }] });
	tally.equal("without Intl.Segmenter names are shortened, too", await older.locator(".take-bar [role=tab]", { hasText: names[1] }).locator(".cut-tail").innerText(), names[1].slice(-8));
	await older.context().close();
}

export async function run({ server, browser, tally }) {
	await server.start();
	const talk = [
		["User", "Which one?"],
		["AI", "**This** one, see [there](https://example.org):\n\n```python\nprint('yes')  # a comment\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"],
		["User", "a_very_long_word_without_any_blank_".repeat(12)],
		["AI", "Good."],
	];
	for (const [role, content] of talk)
		await server.op("entry.append", { role, content });
	await server.op("entry.mute", { entry: ":1" });
	await server.op("label.set", { entry: ":2", label: "the answer" });
	await server.op("take.branch", { at: ":3", name: "a take with quite a long name" });
	await server.op("take.switch", { take: "t1" });
	for (const scheme of ["light", "dark"])
		for (const width of [1280, 360])
			await views(server, browser, tally, scheme, width);
	await phone(server, browser, tally);
	await touched(server, browser, tally);
	await menus(server, browser, tally);
	await keysAlone(server, browser, tally);
	await axeSees(server, browser, tally);
	await hostile(server, browser, tally);
	await longNames(server, browser, tally);
}
