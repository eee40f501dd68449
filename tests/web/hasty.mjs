// SPDX-License-Identifier: MIT
//
// Hasty: keys that are faster than the page. In one window animation frames and timers are late, as
// on a slow machine; in another the server's responses are. Text and keys in the meantime must
// still arrive where they were meant to.
import { modelServer } from "./models.mjs";
import { choose, onTheWay, openPage, Server, settled, until } from "./place.mjs";

const LATE_MS = 250;

/** In the page. */
function late(by_ms) {
	const frame = window.requestAnimationFrame.bind(window), pause = window.setTimeout.bind(window);
	window.requestAnimationFrame = (act) => pause(() => frame(act), by_ms);
	window.cancelAnimationFrame = (id) => clearTimeout(id);
	window.setTimeout = (act, wait_ms = 0, ...more) => pause(act, Math.max(wait_ms, by_ms), ...more);
}

/** Waits for everything that the page deferred to the next frame. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => setTimeout(done)))));

/** The server handles the request, but its response is delayed until the end of this. */
async function unheard(page, is, act) {
	let hear;
	const heard = new Promise((done) => { hear = done; });
	await page.route(is, onTheWay(async (route) => {
		const response = await route.fetch();
		await heard;
		await route.fulfill({ response });
	}));
	try {
		await act();
	} finally {
		hear();
		await page.unroute(is, { behavior: "wait" });
	}
}

const row = (page, id) => page.locator(`.entries [data-entry="${id}"]`);
const typed = (page) => page.inputValue("#composer");
const focused = (page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.className || document.activeElement?.tagName);

async function openPane(page, id) {
	const panes = page.locator("#to-panes");
	if (await panes.getAttribute("aria-expanded") !== "true")
		await panes.click();
	await page.locator(`#pane-tab-${id}`).click();
}

async function giveUp(page) {
	await page.locator(".editor textarea").press("Escape");
	await page.getByRole("button", { name: "Discard", exact: true }).click();
	await page.locator(".editor").waitFor({ state: "detached" });
}

const settings = async (server) => (await server.api("GET", "/discussions/d1/settings")).settings;
const entries = async (server, take = "main") => (await server.api("GET", `/discussions/d1/entries?take=${take}`)).entries;
const ids = async (server) => (await entries(server)).map((each) => each.id).join(" ");

/** Text typed at the moment when a field appears. */
async function fields({ page, server, tally }) {
	await openPane(page, "prompt");
	await page.fill("#project_system_prompt", "Be brief.");
	await drawn(page);
	tally.equal("a new field keeps text that is typed at once", await page.inputValue("#project_system_prompt"), "Be brief.");
	await page.press("#project_system_prompt", "Control+Enter");
	tally.check("and it is saved", await until(async () => (await settings(server)).project_system_prompt === "Be brief."), await settings(server));
	await openPane(page, "settings");
	await page.getByLabel("Temperature", { exact: true }).fill("0.5");
	await page.getByLabel("Temperature", { exact: true }).press("Enter");
	tally.check("so does a line", await until(async () => (await settings(server)).temperature === 0.5), await settings(server));
	await openPane(page, "prompt");
	await page.fill("#working-prompt", "mine");
	await server.op("prompt.update", { text: "theirs" }, "?discussion=d1");
	await page.locator("#pane .chip", { hasText: "edited" }).waitFor();
	await drawn(page);
	tally.equal("changes saved by others do not overwrite it", await page.inputValue("#working-prompt"), "mine");
	await page.locator("#to-panes").click();
}

/** Keys belong to a dialog as soon as it is requested, and to the page as soon as it is closed. */
async function dialogs({ page, server, tally }) {
	await choose(row(page, "e2"));
	await page.keyboard.press("m");
	await page.keyboard.type("todo");
	await page.keyboard.press("Enter");
	await row(page, "e2").locator(".label").waitFor();
	tally.equal("a dialog gets every letter", await row(page, "e2").locator(".label").innerText(), "todo");
	tally.equal("and the page none of them", await page.locator(".side").count(), 0);
	await page.keyboard.press("x");
	tally.check("the next key is the entry's", await until(async () => (await entries(server))[1].muted));
	await page.keyboard.press("Control+k");
	await page.keyboard.type("label");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Control+a");
	await page.keyboard.type("done");
	await page.keyboard.press("Enter");
	tally.check("so it is with what the palette does", await until(async () =>
		(await row(page, "e2").locator(".label").allInnerTexts()).join() === "done"), await row(page, "e2").innerText());
	await page.keyboard.press("x");
	tally.check("and the key after it", await until(async () => !(await entries(server))[1].muted));
}

/** Two presses toggle twice, even if the page does not show the first result yet. */
async function twice({ page, server, tally }) {
	const steps = async () => (await server.api("GET", "/discussions/d1/history?limit=1")).steps[0].seq;
	await choose(row(page, "e4"));
	const before = await steps();
	await page.keyboard.press("x");
	await page.keyboard.press("x");
	tally.check("muted and unmuted", await until(async () => await steps() > before && !(await entries(server))[3].muted &&
		(await page.locator(".toast").allInnerTexts()).join().includes("Unmuted")), await page.locator(".toast").allInnerTexts());
	await page.keyboard.press("c");
	await page.keyboard.press("c");
	await page.keyboard.press("c");
	tally.check("collapsed, expanded, collapsed", await until(async () => (await entries(server))[3].collapsed));
	await page.keyboard.press("c");
	tally.check("expanded", await until(async () => !(await entries(server))[3].collapsed));
	await page.keyboard.press("Alt+ArrowUp");
	await page.keyboard.press("Alt+ArrowUp");
	tally.check("moved up by two", await until(async () => await ids(server) === "e1 e4 e2 e3"), await ids(server));
	await page.locator(".entries .entry:nth-child(2)[data-entry=e4]").waitFor();
	await page.keyboard.press("Alt+ArrowDown");
	await page.locator(".entries .entry:nth-child(3)[data-entry=e4]").waitFor();
	await page.keyboard.press("Alt+ArrowDown");
	tally.check("and down, a key for each", await until(async () => await ids(server) === "e1 e2 e3 e4"), await ids(server));
	await page.locator("#undo").click();
	await page.locator("#redo").click();
	tally.check("undo and redo by their buttons", await until(async () =>
		(await page.locator(".toast").allInnerTexts()).join().includes("Redone")), await page.locator(".toast").allInnerTexts());
	tally.equal("lead back", await ids(server), "e1 e2 e3 e4");
	await unheard(page, /\/discussions\/d1$/, async () => {
		await choose(row(page, "e4"));
		await page.keyboard.press("x");
		await page.keyboard.press("Shift+K");
		await page.keyboard.press("d");
		await until(async () => (await entries(server))[3].muted);
	});
	tally.check("two deleted right after an own change", await until(async () => await ids(server) === "e1 e2" || await page.locator("dialog[open]").count() > 0));
	tally.equal("which is not reported as another client's", await page.locator("dialog[open]").count(), 0);
	await page.keyboard.press("Control+z");
	await page.keyboard.press("Control+z");
	tally.check("and are back", await until(async () => await ids(server) === "e1 e2 e3 e4" && !(await entries(server))[3].muted));
	for (const name of ["second", "third"])
		await server.op("take.branch", { at: "e4", name, switch: false }, "?discussion=d1&take=t1");
	await page.locator(".take-bar [role=tab] >> nth=2").waitFor();
	const tabs = page.locator(".take-bar [role=tab]");
	await choose(row(page, "e1"));
	await page.keyboard.press("[");
	await page.keyboard.press("[");
	await page.locator(".take-bar [role=tab]:first-child[aria-selected=true]").waitFor();
	await choose(row(page, "e1"));
	await page.keyboard.press("]");
	await page.keyboard.press("]");
	tally.check("two takes on", await until(async () => await tabs.nth(2).getAttribute("aria-selected") === "true"),
		await tabs.evaluateAll((all) => all.map((each) => each.getAttribute("aria-selected"))));
	await unheard(page, /\/discussions\/d1\/tree/, async () => {
		await tabs.nth(0).click();
		await choose(row(page, "e2"));
	});
	await page.locator(".take-bar [role=tab]:first-child[aria-selected=true]").waitFor();
	await page.keyboard.press("x");
	tally.check("a key is about the entry that got the focus while its take came in", await until(async () => (await entries(server))[1].muted));
}

/** A past state: the chosen row stays chosen. */
async function past({ page, tally }) {
	await openPane(page, "history");
	await page.locator("#pane [data-step]").first().click();
	await page.locator("#pane .past-row").first().waitFor();
	await page.locator("#pane .past-row").first().press("End");
	await drawn(page);
	tally.equal("at the chosen row", await page.locator("#pane .past-row[tabindex='0']").getAttribute("data-row"),
		String(await page.locator("#pane .past-row").count() - 1));
	await page.locator("#to-panes").click();
}

/** Keys right after the one that opens a pane go to the pane. */
async function toPane({ page, server, tally }) {
	const before = await server.canonical();
	await choose(row(page, "e2"));
	await page.keyboard.press("h");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	tally.check("they move in the pane", await until(() => page.evaluate(() => document.activeElement?.id === "history-2")), await focused(page));
	await page.keyboard.press("Escape");
	tally.check("Escape leads back to the entry", await until(() => page.evaluate(() => document.activeElement.matches(".entry"))), await focused(page));
	await page.keyboard.press("h");
	await page.locator(".side").waitFor({ state: "detached" });
	await choose(row(page, "e2"));
	await page.keyboard.press("o");
	await page.keyboard.press("Escape");
	await drawn(page);
	tally.equal("Escape cancels it", await page.evaluate(() => document.activeElement.className.split(" ")[0]), "entry");
	tally.equal("and the entry under it is unchanged", await server.canonical(), before);
	await page.locator("#to-panes").click();
	await choose(row(page, "e2"));
	await page.keyboard.press("h");
	await page.keyboard.type("hello");
	tally.check("all letters are typed text", await until(async () => await typed(page) === "hello"), await typed(page));
	await page.fill("#composer", "");
	await page.locator("#to-panes").click();
}

/** A late response does not move the focus from where the user has gone. */
async function elsewhere({ page, server, tally }) {
	const last = page.locator(".entries .entry").last();
	const add = async (id) => {
		await server.op("entry.append", { id, role: "User", content: id }, "?discussion=d1&take=t1");
		await row(page, id).waitFor();
	};
	await add("x1");
	await unheard(page, /\/ops\/entry\.delete/, async () => {
		await choose(row(page, "x1"));
		await page.keyboard.press("d");
		await page.keyboard.press("n");
		await page.keyboard.type("edit d");
		await row(page, "x1").waitFor({ state: "detached" });
	});
	await page.locator(".toast").getByText("Deleted an entry").waitFor();
	await page.keyboard.type(" de");
	tally.equal("typing continues during a deletion", await typed(page), "edit d de");
	tally.equal("and nothing else happens", await ids(server), "e1 e2 e3 e4");
	await page.fill("#composer", "");

	await unheard(page, /\/ops\/entry\.edit/, async () => {
		await choose(row(page, "e1"));
		await page.keyboard.press("e");
		await page.fill(".editor textarea", "one, edited");
		await page.keyboard.press("Control+Enter");
		await page.keyboard.press("Control+Enter");
		await page.focus("#composer");
		await page.keyboard.type("de");
	});
	await page.locator(".editor").waitFor({ state: "detached" });
	await page.keyboard.type(" de");
	tally.equal("or while something is saved", await typed(page), "de de");
	await page.fill("#composer", "");

	await unheard(page, /\/ops\/entry\.insert/, async () => {
		await choose(row(page, "e4"));
		await page.keyboard.press("a");
		await page.fill(".inserting textarea", "once");
		await page.keyboard.press("Control+Enter");
		await page.keyboard.press("Control+Enter");
		await last.getByText("once").waitFor();
		await choose(row(page, "e2"));
		await page.keyboard.press("e");
		await page.fill(".editor:not(.inserting *) textarea", "two, being edited");
	});
	tally.check("a key pressed twice inserts once", await until(async () =>
		(await entries(server)).filter((each) => each.content === "once").length === 1 && (await page.locator(".inserting").count()) === 0));
	await page.locator(".toast").getByText("Inserted").waitFor();
	tally.equal("another editor stays open", (await page.locator(".editor textarea").evaluateAll((all) => all.map((each) => each.value))).join(), "two, being edited");
	await giveUp(page);

	await page.route(/\/ops\/entry\.append/, (route) => setTimeout(() => void route.abort(), 300));
	await page.fill("#composer", "first");
	await page.keyboard.press("Control+Enter");
	await page.keyboard.type("second");
	await page.locator(".toast.problem").waitFor();
	tally.equal("an unsent text returns with later text", await typed(page), "first\nsecond");
	await page.unroute(/\/ops\/entry\.append/);
	await page.fill("#composer", "");

	await openPane(page, "settings");
	await page.locator("#pane .advanced > summary").click();
	await unheard(page, /\/ops\/role\.add/, async () => {
		await page.fill("[aria-label='Name of a new role']", "Critic");
		await page.keyboard.press("Enter");
		await page.locator("#pane").getByLabel("Critic is sent as").waitFor();
		await page.fill("[aria-label='Name of a new role']", "Poet");
	});
	await page.locator(".toast").getByText("Added a role").waitFor();
	tally.equal("the next role is being typed", await page.inputValue("[aria-label='Name of a new role']"), "Poet");
	await page.locator("#to-panes").click();
}

/** Redo opens what it restores, but does not move the user away later. */
async function afterRedo({ page, server, tally }) {
	await server.op("discussion.new", { name: "other" });
	const main = page.locator("nav [data-disc=d1]");
	await page.locator("nav .name", { hasText: "other" }).click();
	await page.locator("#undo").click();
	await page.locator("nav .name", { hasText: "other" }).waitFor({ state: "detached" });
	await unheard(page, /\/ops\/redo/, async () => {
		await page.locator("#redo").click();
		await page.locator("nav .name", { hasText: "other" }).waitFor();
		await main.click();
	});
	tally.check("others hear of it", await until(async () => (await server.api("GET", "/discussions")).find((each) => each.active).name === "main"));
	tally.equal("navigation after redo works", await page.locator("nav li.open").locator("xpath=descendant-or-self::*[@data-disc='d1']").count(), 1);
}

/** A question is edited again while something else was being written, and others add to the tree. */
async function question({ page, server, tally }) {
	await openPane(page, "outline");
	await page.fill("#composer", "half a thought");
	const tree = page.locator("#pane .tree-row[data-entry=e3]").first();
	await tree.press("Enter");
	await page.getByRole("button", { name: "Without a summary" }).click();
	await page.locator("#composer:focus").waitFor();
	tally.equal("what was being written stays", await typed(page), "three\nhalf a thought");
	await server.op("entry.append", { id: "x2", role: "User", content: "x2" }, "?discussion=d1&take=t1");
	await page.locator("#pane .tree-row[data-entry=x2]").waitFor();
	tally.equal("the focus stays with it", await focused(page), "composer");
	await page.fill("#composer", "");
	await page.locator("#to-panes").click();
}

/** Keys before the data is loaded. */
async function early({ page, tally }) {
	await page.evaluate(() => sessionStorage.clear());
	await unheard(page, /\/retake\/v1\/(discussions|info)/, async () => {
		await page.reload();
		await page.focus("#composer");
		await page.keyboard.type("de ");
	});
	await page.locator(".entry").first().waitFor();
	await page.keyboard.type("de");
	tally.equal("what is typed at once is there when the page is", await typed(page), "de de");
	await page.fill("#composer", "");
}

/** A reply in a separate take ends: the user's editor stays open. */
async function reply({ page, server, tally, slow }) {
	await server.op("setting.set", { key: "model", value: "ollama/slow" }, "?discussion=d1");
	await page.locator("#ask").waitFor();
	await choose(row(page, "e2"));
	await page.keyboard.press("g");
	await page.locator(".running .live", { hasText: "At" }).waitFor();
	await choose(row(page, "e1"));
	await page.keyboard.press("e");
	await page.fill(".editor textarea", "one, again");
	slow.end();
	await page.locator(".running").waitFor({ state: "detached" });
	await page.locator(".toast").getByRole("button", { name: "Show it" }).waitFor();
	tally.equal("the editor stays", await page.inputValue(".editor textarea"), "one, again");
	await giveUp(page);
	await page.locator(".toast").getByRole("button", { name: "Show it" }).click();
	tally.check("and the reply is shown for the asking", await until(async () =>
		(await page.locator(".entry").allInnerTexts()).join().includes("At last")), await page.locator(".entry").allInnerTexts());
}

/** The outline shows the current position before its rows are read again. */
async function where({ page, server, tally }) {
	await openPane(page, "outline");
	await page.locator(".outline .pane-row", { hasText: "four" }).waitFor();
	await page.evaluate(() => {
		window.said = [];
		new MutationObserver(() => window.said.push(document.querySelector(".outline .pane-note")?.innerText ?? "",
			`${document.querySelectorAll(".outline .tree-row:not(.off)").length > 0}`)).observe(document.querySelector(".outline"), { childList: true, subtree: true, attributes: true });
	});
	await page.fill("#composer", "said with the outline open");
	await page.click("#add");
	await page.locator(".outline .pane-row", { hasText: "said with" }).waitFor();
	const said = await page.evaluate(() => [...new Set(window.said)]);
	tally.equal("the head is not before the first entry", said.sort().join(), ",true");
	await settled(page, server);
	await server.run(["undo"]);
	await page.locator(".entry", { hasText: "said with" }).waitFor({ state: "detached" });
	await openPane(page, "outline");
}

/** Scrolling while the rows are being rendered again is kept. */
async function scrolled({ page, server, tally }) {
	const lines = Array.from({ length: 400 }, (_, n) => JSON.stringify({ op: "entry.append", role: "User", content: `number ${n}` }));
	await server.run(["apply", "--atomic"], lines.join("\n") + "\n");
	const last = page.locator(".entry", { hasText: "number 399" });
	await last.waitFor();
	await last.focus();
	await page.keyboard.press("Shift+ArrowUp");
	await until(async () => (await page.locator(".entry.selected, .entry[aria-selected=true]").count()) > 1);
	await page.evaluate(() => {
		const box = document.querySelector(".entries");
		// the selection disappears and the rows are rendered at once; the scroll event follows later
		box.scrollTop = box.scrollHeight * 0.3;
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
	});
	const seen = () => page.evaluate(() => {
		const box = document.querySelector(".entries").getBoundingClientRect();
		return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest(".entry")?.innerText ?? "nothing";
	});
	tally.check("what was scrolled to is there", await until(async () => /number 1/.test(await seen())), await seen());
	await server.run(["undo"]);
}

/** A model that sends a few words, and ends on request. */
async function slowModel() {
	const open = new Set();
	const { host } = await modelServer("slow", ({ say, end }) => {
		say("At ");
		open.add(end);
	});
	return { host, end: () => open.forEach((each) => each("last")) };
}

/** Runs parts in a separate window with a separate server. */
async function play(browser, tally, parts, init) {
	const slow = await slowModel(), server = new Server();
	server.env.OLLAMA_HOST = slow.host;
	try {
		await server.start();
		for (const [id, role, content] of [["e1", "User", "one"], ["e2", "AI", "two"], ["e3", "User", "three"], ["e4", "AI", "four"]])
			await server.op("entry.append", { id, role, content });
		const page = await openPage(server, browser, tally, { init });
		await row(page, "e4").waitFor();
		for (const part of parts) {
			await part({ page, server, tally, slow }).catch((error) =>
				tally.check(`${part.name} runs to its end`, false, error.stack));
			await settled(page, server);
		}
		await page.context().close();
	} finally {
		await server.stop();
	}
}

export async function run({ browser, tally }) {
	await Promise.all([
		play(browser, tally, [fields, dialogs, twice, past, toPane], [late, LATE_MS]),
		play(browser, tally, [elsewhere, afterRedo, question, early, reply, where, scrolled]),
	]);
}
