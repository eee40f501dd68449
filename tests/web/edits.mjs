// SPDX-License-Identifier: MIT
//
// Writing: a stale edit with its three answers, drafts, what Esc asks, models at work, the
// versions of an entry, and the first visit.
import { createServer } from "node:http";
import { openPage, until } from "./place.mjs";
import { entriesOf } from "./matrix.mjs";

const texts = async (server) => entriesOf(await server.canonical()).map((entry) => entry.content);

/** Begin an edit, let somebody else change the entry, and try to save. */
async function makeConflict({ page, server }, mine, theirs) {
	await page.locator(".entry").nth(1).focus();
	await page.keyboard.press("e");
	await page.fill(".editor textarea", mine);
	await server.op("entry.edit", { entry: ":2", content: theirs }, "?discussion=d1");
	await page.waitForTimeout(300);
	await page.keyboard.press("Control+Enter");
	await page.waitForSelector("dialog.conflict");
}

async function conflicts(t) {
	const { page, server, tally } = t;
	await makeConflict(t, "mine 1", "theirs 1");
	tally.equal("a stale edit writes nothing", (await texts(server))[1], "theirs 1");
	await page.getByRole("button", { name: "Overwrite" }).click();
	tally.check("overwrite", await until(async () => (await texts(server))[1] === "mine 1"));
	await page.waitForSelector(".editor", { state: "detached" });
	await makeConflict(t, "mine 2", "theirs 2");
	await page.getByRole("button", { name: "Discard mine" }).click();
	await page.waitForSelector("dialog.conflict", { state: "detached" });
	tally.equal("discard", (await texts(server))[1], "theirs 2");
	await page.waitForSelector(".editor", { state: "detached" });
	await makeConflict(t, "mine 3", "theirs 3");
	await page.getByRole("button", { name: "Keep both" }).click();
	tally.check("keep both", await until(async () => {
		const takes = JSON.parse(await server.canonical()).discussions[0].takes;
		return takes.length === 2 && takes[0].entries[1].content === "theirs 3" && takes[1].entries[1].content === "mine 3";
	}));
	await page.waitForSelector(".editor", { state: "detached" });
	tally.check("and the new take is shown", await until(async () =>
		(await page.locator(".entry").nth(1).textContent()).includes("mine 3")));
}

async function drafts({ page, tally }) {
	await page.locator(".entry").first().focus();
	await page.keyboard.press("e");
	await page.keyboard.press("Escape");
	await page.waitForSelector(".editor", { state: "detached" });
	tally.equal("Esc asks nothing when nothing was typed", await page.locator("dialog").count(), 0);
	await page.keyboard.press("e");
	await page.fill(".editor textarea", "half a thought");
	await page.waitForTimeout(100);
	tally.equal("nothing was typed before", await page.getByText("what you had typed before").count(), 0);
	await page.reload();
	await page.waitForSelector(".entry");
	await page.locator(".entry").first().focus();
	await page.keyboard.press("e");
	tally.equal("and that is said", await page.getByText("what you had typed before").count(), 1);
	tally.equal("a draft is there after the page was closed", await page.inputValue(".editor textarea"), "half a thought");
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Discard" }).click();
	await page.waitForSelector(".editor", { state: "detached" });
	await page.keyboard.press("e");
	tally.check("and not after it was given up", !(await page.inputValue(".editor textarea")).includes("half"));
	await page.keyboard.press("Escape");
}

/** What is said of a step goes with the next one, and its button never undoes another. */
async function notices({ page, server, tally }) {
	const toast = page.locator(".toast"), words = () => toast.locator("span").first().innerText();
	const before = await server.canonical();
	await page.locator(".entry").first().focus();
	await page.keyboard.press("x");
	await toast.getByText("Muted").waitFor();
	await page.locator("#undo").click();
	await toast.getByText(/^Undone: /).waitFor();
	tally.equal("it says what was undone", await words(), "Undone: muted or unmuted an entry.");
	await toast.getByRole("button", { name: "Redo" }).click();
	await toast.getByText(/^Done again: /).waitFor();
	const muted = await server.canonical();
	await server.op("entry.append", { role: "User", content: "from elsewhere" }, "?discussion=d1");
	tally.check("another step: the line goes away", await until(async () => (await toast.count()) === 0));
	await server.op("entry.view", { entry: ":1", collapsed: true }, "?discussion=d1");
	await page.locator("#undo").click();
	tally.check("undo at the top is about that step", await until(async () => JSON.parse(await server.canonical())
		.discussions[0].takes[0].entries.length === JSON.parse(muted).discussions[0].takes[0].entries.length));
	await toast.getByText("Undone: added an entry.").waitFor();
	await server.op("entry.view", { entry: ":1", collapsed: false }, "?discussion=d1");
	await page.waitForTimeout(300);
	tally.equal("how it is shown is no step: the line stays", await toast.count(), 1);
	await page.locator("#undo").click();
	tally.check("and all is as it was", await until(async () => (await server.canonical()) === before));
	await page.locator("#redo").hover();
	tally.check("redo says beforehand what it brings back", await until(async () =>
		/^Redo: muted or unmuted an entry/.test(await page.locator("#redo").getAttribute("title"))), await page.locator("#redo").getAttribute("title"));
	await page.getByLabel("Role of the next entry").selectOption("User");
	await page.fill("#composer", "a third");
	await page.click("#add");
	await page.locator(".entry").nth(2).waitFor();
	const three = await server.canonical();
	await page.locator(".entry").nth(1).focus();
	await page.keyboard.press("d");
	await toast.getByText("Entries 1 and 2 now follow each other").waitFor();
	tally.check("what a deletion breaks is said with numbers that are seen", !/\bentries? [a-z0-9]{4}\b/i.test(await words()), await words());
	await toast.getByRole("button", { name: "Merge them" }).click();
	await toast.getByText("Merged them.").waitFor();
	tally.equal("and mended as it says", await page.locator(".entry").count(), 1);
	await toast.getByRole("button", { name: "Undo" }).click();
	await toast.getByText("Undone: merged two entries.").waitFor();
	await page.locator("#undo").click();
	await toast.getByText("Undone: deleted an entry.").waitFor();
	tally.check("and both come back", await until(async () => (await server.canonical()) === three));
	await page.locator("#undo").click();
	tally.check("so nothing is left of it", await until(async () => (await server.canonical()) === before));
}

async function runs({ page, server, tally }) {
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	await page.waitForSelector("#ask");
	const before = await page.locator(".entry").count();
	await page.fill("#composer", "what do you say to this?");
	await page.press("#composer", "Control+Enter");
	tally.check("what an empty field would do is said", await until(async () =>
		(await page.locator("#ask").innerText()) === "Get a reply"));
	tally.check("a question and its reply", await until(async () =>
		(await page.locator(".entry:not(.running)").count()) === before + 2 && !(await page.locator(".running").count())));
	await page.evaluate(() => localStorage.setItem("retake.enter", "sends"));
	await page.fill("#composer", "one line");
	await page.press("#composer", "Shift+Enter");
	await page.locator("#composer").pressSequentially("and another");
	await page.press("#composer", "Enter");
	tally.check("Enter sends, where people want it", await until(async () => (await texts(server)).includes("one line\nand another")));
	await page.evaluate(() => localStorage.removeItem("retake.enter"));
	await until(async () => (await page.locator(".entry:not(.running)").count()) === before + 4 && !(await page.locator(".running").count()));
	const takes = await page.locator(".take-bar [role=tab]").count();
	await page.locator(".entry").last().focus();
	await page.keyboard.press("g");
	tally.check("again: another take", await until(async () =>
		(await page.locator(".take-bar [role=tab]").count()) === takes + 1));
	tally.check("and it is a fork", await until(async () => (await page.locator(".entry .fork").count()) > 0));
	const fork = page.locator(".entry .fork").last();
	tally.check("2/2", await until(async () => (await fork.textContent()).includes("2/2")), await fork.textContent());
	await fork.getByRole("button", { name: "Previous alternative" }).click();
	tally.check("1/2", await until(async () => (await page.locator(".entry .fork").last().textContent()).includes("1/2")));
	await server.op("setting.set", { key: "model", value: "ollama/slow" });
	await page.waitForSelector("text=ollama/slow");
	await page.fill("#composer", "tell me a long story");
	await page.press("#composer", "Control+Enter");
	tally.check("what came so far is shown", await until(async () =>
		(await page.locator(".running .live").allTextContents()).join().includes("It was")));
	await page.locator(".running .stop").click();
	tally.check("stopped, and what came is kept", await until(async () =>
		!(await page.locator(".running").count()) && (await page.locator("text=The reply ended before").count()) > 0));
}

/** A model's server that begins a reply and never ends it. */
async function slowModel() {
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(200, { "Content-Type": "application/x-ndjson" });
		for (const message of [{ thinking: "hm", content: "" }, { content: "It was " }])
			response.write(JSON.stringify({ model: "slow", message: { role: "assistant", ...message }, done: false }) + "\n");
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	server.unref();
	return server;
}

async function versions({ page, server, tally }) {
	await page.locator(".take-bar [role=tab]").first().click();
	await until(async () => (await page.locator(".entry").nth(1).textContent()).includes("theirs 3"));
	await page.locator(".entry").nth(1).focus();
	await page.keyboard.press("w");
	await page.waitForSelector(".versions li >> nth=1");
	tally.check("differences are marked", (await page.locator(".versions ins").count()) > 0);
	await page.getByRole("button", { name: "Bring back" }).last().click();
	tally.check("the first version is back", await until(async () => (await texts(server))[1] === "answer"), await texts(server));
}

async function leftDrafts({ page, server, tally }) {
	await server.op("setting.set", { key: "model", value: null });
	await page.fill("#composer", "not sent yet");
	await server.op("discussion.new", { name: "elsewhere" });
	await page.locator("nav .name", { hasText: "elsewhere" }).click();
	tally.check("what is left unsent is kept with its discussion", await until(async () =>
		(await server.api("GET", "/discussions/d1/settings")).settings.draft === "not sent yet"));
	tally.equal("and is not in the other", await page.inputValue("#composer"), "");
	await page.evaluate(() => localStorage.clear());
	await page.locator("nav .name", { hasText: "main" }).click();
	tally.check("it is there again", await until(async () => (await page.inputValue("#composer")) === "not sent yet"));
	await until(async () => JSON.parse(await server.canonical()).active === "main");
	const before = await server.canonical();
	await page.click("#add");
	await until(async () => !(await server.api("GET", "/discussions/d1/settings")).settings.draft);
	tally.equal("and gone when it is sent", (await server.api("GET", "/discussions/d1/settings")).settings.draft, undefined);
	await page.waitForTimeout(200);
	await page.click("#undo");
	tally.check("in one step", await until(async () => (await server.canonical()) === before));
}

async function firstVisit({ page, server, tally }) {
	await server.op("project.reset");
	await page.waitForSelector("text=Load the sample");
	await page.getByRole("button", { name: "Load the sample" }).click();
	tally.check("the sample is there", await until(async () => (await page.locator(".entry").count()) === 6));
	tally.equal("in two takes", await page.locator(".take-bar [role=tab]").count(), 2);
	await page.waitForTimeout(200);
	await page.click("#undo");
	tally.check("and gone with one undo", await until(async () =>
		JSON.parse(await server.canonical()).discussions.length === 1 && (await page.locator("text=Load the sample").count()) > 0),
	await server.canonical());
}

export async function run({ server, browser, tally }) {
	const slow = await slowModel();
	server.env.OLLAMA_HOST = `http://127.0.0.1:${slow.address().port}`;
	await server.start();
	for (const [role, content] of [["User", "question"], ["AI", "answer"], ["User", "more"]])
		await server.op("entry.append", { role, content });
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry");
	const t = { server, page, tally };
	await conflicts(t);
	await drafts(t);
	await notices(t);
	await versions(t);
	await runs(t);
	await leftDrafts(t);
	await firstVisit(t);
	await page.context().close();
}
