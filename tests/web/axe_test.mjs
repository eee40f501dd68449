// SPDX-License-Identifier: MIT
//
// axe-core on every view, pane, dialog and menu, in light and dark, wide and on a phone; and no
// horizontal overflow. The list of what must be visited is read from the sources in web/, so a new
// pane, dialog or menu that is not tested here fails.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { endlessModel } from "./models.mjs";
import { BRIEF, choose, DEPS, openBrowser, openPage, pick, ROOT, Server, Tally, until } from "./place.mjs";

const AXE = readFileSync(join(DEPS, "axe/axe.min.js"), "utf8");
const WIDE = 1280, PHONE = 360;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const tally = new Tally();

/** Does symbol lookup work on this machine? ctags must be built with its sandbox. */
function hasSymbols() {
	try {
		return /^sandbox /m.test(execFileSync("ctags", ["--list-features"], { encoding: "utf8" }));
	} catch {
		return false;
	}
}
const HAS_SYMBOLS = hasSymbols();

// ---- inventory ----

const sources = readdirSync(join(ROOT, "web")).filter((name) => name.endsWith(".tsx"))
	.map((name) => readFileSync(join(ROOT, "web", name), "utf8")).join("\n");

/** A pattern for a name in a source: `Versions of ${entry}` is /^Versions of .*$/. */
function pattern(source) {
	if (/^{[^`]/.test(source))
		return /^/; // the name is not a literal
	const text = source.startsWith("{") ? source.slice(2, -2) : source.slice(1, -1);
	return new RegExp("^" + text.split(/\$\{[^}]*\}/).map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*") + "$");
}

const named = (what) => [...sources.matchAll(what)].map((found) => found[1]);
/** For a server with accounts, see shared_test.mjs. */
const OF_ACCOUNTS = ['"Members"', '"Share"', '"Access tokens"', '"Limits"'];
const DIALOGS = named(/<Dialog title=("[^"]*"|\{`[^`]*`\}|\{[^}]*\})/g);
const MENUS = named(/<Menu label=("[^"]*"|\{`[^`]*`\}|\{[^}]*\})/g);
const PANES = [...sources.matchAll(/addPane\(\{ id: "([\w-]+)",[^}]*place: "side"/g)].map((found) => found[1]);

tally.check("the inventory is found in the sources", DIALOGS.length >= 12 && MENUS.length >= 4 && PANES.length >= 4, DIALOGS, MENUS, PANES);
tally.equal("and every dialog, menu and pane is recognised",
	`${sources.match(/<Dialog\b/g).length} ${sources.match(/<Menu\b/g).length} ${sources.match(/place: "side"/g).length}`,
	`${DIALOGS.length} ${MENUS.length} ${PANES.length}`);

// ---- checks ----

/** In the page: elements that overflow horizontally. */
function sideways() {
	const wide = [];
	if (document.documentElement.scrollWidth > innerWidth)
		wide.push(`the page: ${document.documentElement.scrollWidth}`);
	const boxes = "dialog[open], #pane, .pane-body, .discussions, .entries, .middle, .composer, .top, .status, .welcome, .page, .page-left";
	for (const box of document.querySelectorAll(boxes))
		if (box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
			wide.push(`${box.tagName}.${box.className}: ${box.scrollWidth} in ${box.clientWidth}`);
	for (const each of document.querySelectorAll("dialog[open] button, dialog[open] input, dialog[open] select, #pane button, .top button, .composer button, [role=menu]")) {
		const at = each.getBoundingClientRect();
		if (each.checkVisibility() && at.width && (at.right > innerWidth + 1 || at.left < -1) && getComputedStyle(each.closest(".app") ?? each).display !== "none" &&
		    !each.closest(".tabs, .pane-tabs, .left, .right"))
			wide.push(`out of sight: ${each.outerHTML.slice(0, 120)}`);
	}
	return wide;
}

class Look {
	dialogs = [];
	menus = [];
	panes = [];
	views = 0;
	constructor(page, name) {
		this.page = page;
		this.name = name;
	}
	async at(view) {
		await this.page.waitForTimeout(250); // transitions have ended
		if (!await this.page.evaluate(() => "axe" in globalThis))
			await this.page.evaluate(AXE + ";0");
		const found = await this.page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
		tally.check(`axe: ${view}, ${this.name}`, found.violations.length === 0, ...found.violations.map((each) =>
			`${each.id} (${each.impact}): ${each.nodes.slice(0, 3).map((node) => node.html + " " + node.any.map((why) => why.message)).join(" | ")}`));
		const wide = await this.page.evaluate(sideways);
		tally.check(`no horizontal overflow: ${view}, ${this.name}`, wide.length === 0, wide);
		const seen = await this.page.evaluate(() => ({
			dialogs: [...document.querySelectorAll("dialog[open]")].map((each) => each.getAttribute("aria-label")),
			menus: [...document.querySelectorAll("[role=menu]")].map((each) => each.getAttribute("aria-label")),
			panes: [...document.querySelectorAll(".pane-tabs [aria-selected=true]")].filter((each) => each.checkVisibility()).map((each) => each.id.replace("pane-tab-", "")),
		}));
		this.dialogs.push(...seen.dialogs);
		this.menus.push(...seen.menus);
		this.panes.push(...seen.panes);
		this.views++;
	}
	/** Was the whole inventory visited? */
	end() {
		for (const each of DIALOGS.filter((each) => !OF_ACCOUNTS.includes(each)).filter((each) => HAS_SYMBOLS || !each.includes("Definition of")))
			tally.check(`the dialog ${each} is tested, ${this.name}`, this.dialogs.some((name) => pattern(each).test(name)), this.dialogs);
		for (const each of MENUS)
			tally.check(`the menu ${each} is tested, ${this.name}`, this.menus.some((name) => pattern(each).test(name)), this.menus);
		for (const each of PANES)
			tally.check(`the pane ${each} is tested, ${this.name}`, this.panes.includes(each), this.panes);
	}
}

// ---- visiting ----

async function palette(page, text) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill(text);
	await page.locator(".palette-item", { hasText: text }).first().click();
	await page.locator("dialog:not(.palette)").waitFor();
}

async function escape(page) {
	await page.keyboard.press("Escape");
	await page.locator("dialog").waitFor({ state: "detached" });
}

const row = (page, id) => page.locator(`.entries [data-entry="${id}"]`);

async function entries(page, look) {
	await choose(row(page, "a2"));
	await look.at("entries");
	await page.keyboard.press("Shift+K");
	await look.at("a selected run");
	await choose(row(page, "a2"));
	await page.keyboard.press("e");
	await page.locator(".editor textarea").fill("Another text");
	await page.locator(".advice, .editor-bar").first().waitFor();
	await look.at("editing");
	await page.keyboard.press("Escape");
	await look.at("is it given up?");
	await page.getByRole("button", { name: "Discard" }).click();
	await page.locator(".editor").waitFor({ state: "detached" });
	await choose(row(page, "a2"));
	await page.keyboard.press("i");
	await look.at("inserting");
	await page.keyboard.press("Escape");
	await page.locator(".editor").waitFor({ state: "detached" });
	await choose(row(page, "a2"));
	await page.keyboard.press("v");
	await look.at("the source");
	await page.keyboard.press("v");
	await choose(row(page, "a2"));
	await page.keyboard.press("c");
	await page.locator(".entry.collapsed").first().waitFor();
	await look.at("collapsed");
	await page.keyboard.press("c");
	if (await page.locator(".role-filter").isVisible()) { // beside several takes a phone has no room for it
		await page.selectOption(".role-filter", "AI");
		await look.at("one role only");
		await page.selectOption(".role-filter", "");
	}
	await choose(row(page, "a2"));
	await page.keyboard.press("m");
	await look.at("a line is asked for");
	await escape(page);
	await page.keyboard.press("r");
	await look.at("with suggestions");
	await escape(page);
}

async function menus(page, look, isNarrow) {
	await row(page, "a2").getByRole("button", { name: /^More for entry/ }).click();
	await look.at("the menu of an entry");
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "The take", exact: true }).click();
	await look.at("the menu of the take");
	await page.keyboard.press("Escape");
	await page.locator("#page-settings").click();
	await look.at("the settings of the page");
	await page.keyboard.press("Escape");
	if (isNarrow) {
		await page.locator(".top").getByRole("button", { name: "Discussions" }).click();
		await look.at("the discussions");
	}
	await page.locator("#projects").click();
	await look.at("the menu of the projects");
	await page.keyboard.press("Escape");
	await page.locator("nav").getByRole("button", { name: "Discussions", exact: true }).click();
	await look.at("the menu of all discussions");
	await page.keyboard.press("Escape");
	await page.locator(".discussions li.open").getByRole("button", { name: /^More for/ }).click();
	await look.at("the menu of a discussion");
	await pick(page, "Delete");
	await look.at("really delete?");
	await escape(page);
	if (isNarrow)
		await page.keyboard.press("Escape");
}

async function openPane(page, id) {
	const panes = page.getByRole("button", { name: "Panes", exact: true });
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
	await page.locator("#pane .pane-body").waitFor();
}

async function sides(page, look) {
	const open = (id) => openPane(page, id);
	for (const id of PANES) {
		await open(id);
		await page.waitForTimeout(300);
		await look.at(`the pane ${id}`);
	}
	await open("settings");
	await page.locator("#pane .advanced > summary").click();
	await look.at("the advanced settings");
	await open("outline");
	const at = page.locator("#pane [role=treeitem]").first();
	await at.focus();
	await page.keyboard.press("Space");
	await look.at("the outline, one marked");
	await page.getByLabel("Search the outline").fill("nothing at all");
	await page.getByText("No matches.").waitFor();
	await look.at("the outline, nothing found");
	await page.getByLabel("Search the outline").fill("");
	await open("history");
	await page.locator("#pane [data-step]").nth(1).click();
	await page.locator("#pane .past-row").first().waitFor();
	await look.at("a past state");
	await open("prompt");
	await page.locator("#pane details summary").first().click();
	await look.at("the request");
	await page.locator("#pane-tab-prompt").focus();
	await page.keyboard.press("Escape");
}

async function dialogs(page, look, server) {
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("text");
	await page.locator(".palette-item .hit").first().waitFor();
	await look.at("the palette");
	await escape(page);
	await choose(row(page, "a2"));
	await page.keyboard.press("?");
	await look.at("help");
	await escape(page);
	await choose(row(page, "a2"));
	await page.keyboard.press("w");
	await page.locator(".versions li").nth(1).waitFor();
	await look.at("versions");
	await escape(page);
	await page.locator(".composer .model").click();
	await page.getByRole("dialog", { name: "Model" }).getByRole("option").first().waitFor();
	await look.at("the model");
	await page.getByLabel("Ask several models at once").check();
	await look.at("several models");
	await page.getByRole("option", { name: "Add a provider …" }).click();
	await look.at("the lines of a provider");
	await escape(page);
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("Use the template review");
	await page.locator(".palette-item", { hasText: "Use the template review" }).first().click();
	await page.getByRole("dialog", { name: "Template “review”" }).waitFor();
	await look.at("a template");
	await escape(page);
	await page.getByRole("button", { name: "The take", exact: true }).click();
	await pick(page, "Roles");
	await look.at("roles");
	await escape(page);
	for (const text of ["Compare takes …", "Compact or compress …", "Export …", "Import files …", "Statistics …", "Purge a secret …", "Reset the project …"]) {
		await palette(page, text);
		if (text.startsWith("Compact"))
			await page.getByRole("radio", { name: /A range of entries/ }).check();
		if (text.startsWith("Statistics"))
			await page.locator("dialog .stats-table tbody tr").first().waitFor();
		await look.at(text);
		if (text.startsWith("Import")) {
			await page.locator("dialog input[type=file]").setInputFiles(join(server.folder, "talk.json"));
			await page.getByText("2 new entries").waitFor();
			await look.at("a file to import");
		}
		await escape(page);
	}
	await choose(row(page, "a2"));
	await page.keyboard.press("o");
	await page.locator("#pane .tree-row.head").waitFor();
	await page.locator('#pane .tree-row[data-entry="a1"]').first().press("Enter");
	await page.getByRole("dialog", { name: "Continue from there?" }).waitFor();
	await look.at("leaving a branch");
	await escape(page);
	await page.locator("#pane-tab-outline").focus();
	await page.keyboard.press("Escape");
	if (HAS_SYMBOLS) {
		await row(page, "q3").locator("button.symbol").click();
		await page.getByRole("dialog", { name: "Definition of compute_sum" }).getByText("return a + b;").waitFor();
		await look.at("the definition of a symbol");
		await escape(page);
	}
	// a conflicting change
	await choose(row(page, "a2"));
	await page.keyboard.press("e");
	await page.locator(".editor textarea").fill("mine");
	await server.op("entry.edit", { entry: "a2", content: `theirs, ${look.name}` }, "?discussion=d1&take=t1");
	await until(async () => /edited an entry/.test(await page.locator(".news").textContent()));
	await page.keyboard.press("Control+Enter");
	await page.locator("dialog.conflict").waitFor();
	await look.at("changed since you looked");
	await page.getByRole("button", { name: "Discard mine" }).click();
	await page.locator(".editor").waitFor({ state: "detached" });
}

async function status(page, look, server) {
	await choose(row(page, "a2"));
	await page.keyboard.press("x");
	await page.locator(".toast").waitFor();
	await look.at("what was done");
	await page.keyboard.press("x");
	await page.waitForTimeout(200);
	await server.op("setting.set", { key: "model", value: "ollama/slow" });
	await page.locator("text=ollama/slow >> visible=true").first().waitFor();
	await page.fill("#composer", "tell me a long story");
	await page.press("#composer", "Control+Enter");
	await page.locator(".running .live").waitFor();
	await until(async () => (await page.locator(".running").textContent()).includes("It was"));
	await look.at("a reply that arrives");
	await page.locator(".composer .stop").click();
	await page.locator(".running").waitFor({ state: "detached" });
	await look.at("stopped");
	await openPane(page, "prompt");
	await page.getByRole("button", { name: "Compare with the next request" }).click();
	await page.locator("dialog .compare-row").first().waitFor();
	await look.at("what was sent last");
	await escape(page);
	await page.locator("#pane-tab-prompt").focus();
	await page.keyboard.press("Escape");
	await server.op("setting.set", { key: "model", value: "openai/none" });
	await page.locator("text=openai/none >> visible=true").first().waitFor();
	await page.fill("#composer", "and?");
	await page.press("#composer", "Control+Enter");
	await page.locator(".toast.problem, .failure").first().waitFor();
	await look.at("a failure");
	await server.op("setting.set", { key: "model", value: null });
	await page.fill("#composer", "");
	await page.locator("[data-attach]").setInputFiles({ name: "shot.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
	await page.locator(".attached .file-chip", { hasText: "bytes" }).waitFor();
	await look.at("an attached file");
	await page.locator("#add").click();
	await page.locator(".entries .picture-frame").last().click();
	await page.locator(".entries .picture-frame.large").waitFor();
	await look.at("a picture, enlarged");
}

async function empty(page, look, server) {
	await server.op("discussion.new", { name: "empty" });
	await until(async () => (await server.api("GET", "/discussions")).some((each) => each.name === "empty"));
	await page.keyboard.press("Control+k");
	await page.locator("#palette").fill("empty");
	await page.locator(".palette-item", { hasText: "empty" }).first().click();
	await page.locator(".welcome").waitFor();
	await look.at("an empty take");
	for (const id of PANES) {
		await page.evaluate(() => document.activeElement.blur());
		const panes = page.getByRole("button", { name: "Panes", exact: true });
		if (await panes.getAttribute("aria-expanded") !== "true")
			await panes.click();
		await page.locator(`#pane-tab-${id}`).click();
		await page.waitForTimeout(200);
		await look.at(`${id}, empty`);
	}
}

async function firstVisit(browser, options, name) {
	const server = new Server();
	await server.start();
	const page = await openPage(server, browser, tally, options);
	await page.locator("text=Load the sample").waitFor();
	const look = new Look(page, name);
	await look.at("the first visit");
	await page.getByRole("button", { name: "Load the sample" }).click();
	await page.locator(".entry").first().waitFor();
	await look.at("the sample");
	await page.context().close();
	await server.stop();
}

// ---- the exported page ----

async function exported(server, browser) {
	const file = join(server.folder, "page.html");
	await server.run(["export", "--format", "html", "-o", file]);
	for (const colorScheme of ["light", "dark"])
		for (const width of [WIDE, PHONE]) {
			const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
			const page = await context.newPage(), look = new Look(page, `export, ${colorScheme}, ${width} px`);
			await page.goto(pathToFileURL(file).href);
			await page.locator(".entry").first().waitFor();
			await look.at("entries");
			if (width === PHONE) {
				await page.getByRole("button", { name: "Outline" }).click();
				await look.at("its outline");
			}
			await page.getByRole("searchbox").fill("nothing at all");
			await look.at("nothing found");
			await page.getByRole("searchbox").fill("");
			for (const filter of await page.getByLabel("Filter entries").locator("option").evaluateAll((all) => all.map((each) => each.value))) {
				await page.getByLabel("Filter entries").selectOption(filter);
				await look.at(`filter ${filter}`);
			}
			await page.emulateMedia({ media: "print", colorScheme });
			await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
			await look.at("paper");
			await context.close();
			const bare = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, javaScriptEnabled: false });
			const still = await bare.newPage();
			await still.goto(pathToFileURL(file).href);
			const fits = await still.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
			tally.check(`nothing sideways without script, ${look.name}`, fits);
			await bare.close();
		}
}

const TEXT = "**This** one, see [there](https://example.org):\n\n```python\nprint('yes')  # a comment\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n- [x] done\n\n" +
	"https://example.org/" + "a_very_long_word_without_any_blank_".repeat(8);

const slow = await endlessModel("It was **a** `dark` ", { thought: "hm" }), browser = await openBrowser();
for (const colorScheme of ["light", "dark"])
	for (const width of [WIDE, PHONE]) {
		const name = `${colorScheme}, ${width} px`;
		if (!name.startsWith(process.env.ONLY ?? (BRIEF ? "light, 360" : "")))
			continue;
		const server = new Server();
		server.env.OLLAMA_HOST = slow.host;
		try {
			writeFileSync(join(server.folder, "sum.c"), "int compute_sum(int a, int b)\n{\n\treturn a + b;\n}\n");
			await server.start("0", "--files", server.folder);
			await server.op("files.set", { which: "context_files", items: ["sum.c"] });
			for (const [id, role, content] of [["q1", "User", "Which one?"], ["a1", "AI", TEXT], ["q3", "User", "And @compute_sum?"], ["q2", "User", "a_very_long_word_without_any_blank_".repeat(12)],
				["tool", "toolResult", "rows: 3"], ["a2", "AI", "Good text."]])
				await server.op("entry.append", { id, role, content });
			await server.op("setting.set", { key: "template.review", value: "Review {{file}} as {{who}}." });
			await server.op("entry.append", { id: "calls", role: "AI", content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Look." },
				{ type: "toolCall", id: "c1", name: "search", arguments: { q: "x".repeat(200) } }] });
			await server.op("entry.edit", { entry: "a2", content: "Good text, better." });
			await server.op("entry.mute", { entry: "q1" });
			await server.op("label.set", { entry: "a1", label: "the answer" });
			await server.op("take.branch", { at: "q2", name: "a take with quite a long name" });
			await server.op("entry.append", { role: "AI", content: "Another." });
			await server.op("take.switch", { take: "t1" });
			await server.op("discussion.new", { name: "other" });
			await server.op("discussion.switch", { discussion: "main" });
			writeFileSync(join(server.folder, "talk.json"), JSON.stringify([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hello." }]));
			if (width === WIDE && colorScheme === "light")
				await exported(server, browser);
			const options = { colorScheme, viewport: { width, height: 800 } };
			const page = await openPage(server, browser, tally, options), look = new Look(page, name);
			await row(page, "a2").waitFor();
			await entries(page, look);
			await menus(page, look, width === PHONE);
			await sides(page, look);
			await dialogs(page, look, server);
			await status(page, look, server);
			await empty(page, look, server);
			look.end();
			await page.context().close();
			await firstVisit(browser, options, name);
		} catch (error) {
			tally.check(`${name} runs to its end`, false, error.stack ?? error);
		} finally {
			await server.stop();
		}
	}
await browser.close();
process.exit(tally.end());
