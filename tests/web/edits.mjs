// SPDX-License-Identifier: MIT
//
// Writing: a conflicting edit with its three resolutions, drafts, Esc, model runs, the versions of
// an entry, and the first visit.
import { choose, hasSize, menuItem, onTheWay, openPage, pick, Server, settled, sizeOf, until } from "./place.mjs";
import { entriesOf } from "./matrix.mjs";
import { endlessModel } from "./models.mjs";

const texts = async (server) => entriesOf(await server.canonical()).map((entry) => entry.content);

/** Starts an edit, changes the entry from outside, and tries to save. */
async function makeConflict({ page, server }, mine, theirs) {
	await choose(page.locator(".entry").nth(1));
	await page.keyboard.press("e");
	await page.fill(".editor textarea", mine);
	await server.op("entry.edit", { entry: ":2", content: theirs }, "?discussion=d1");
	await page.keyboard.press("Control+Enter");
	await page.waitForSelector("dialog.conflict");
}

async function conflicts(t) {
	const { page, server, tally } = t;
	await makeConflict(t, "mine 1", "theirs 1");
	tally.check("overwriting is not the default", !/primary/.test(await page.getByRole("button", { name: "Overwrite" }).getAttribute("class")));
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
	await choose(page.locator(".entry").first());
	await page.keyboard.press("e");
	await page.keyboard.press("Escape");
	await page.waitForSelector(".editor", { state: "detached" });
	tally.equal("Esc asks nothing when nothing was typed", await page.locator("dialog").count(), 0);
	await page.keyboard.press("e");
	await page.fill(".editor textarea", "half a thought");
	tally.equal("nothing was typed before", await page.getByText("Your unsaved text was restored").count(), 0);
	await page.reload();
	await page.waitForSelector(".entry");
	await choose(page.locator(".entry").first());
	await page.keyboard.press("e");
	tally.equal("its field is called by the entry's number", await page.locator(".editor textarea").getAttribute("aria-label"), "Text of entry 1");
	tally.equal("and that is said", await page.getByText("Your unsaved text was restored").count(), 1);
	tally.equal("a draft is there after the page was closed", await page.inputValue(".editor textarea"), "half a thought");
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog");
	await page.keyboard.press("Enter");
	await page.waitForSelector("dialog", { state: "detached" });
	tally.equal("Esc and Enter lose nothing", await page.inputValue(".editor textarea"), "half a thought");
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Discard" }).click();
	await page.waitForSelector(".editor", { state: "detached" });
	await choose(page.locator(".entry").first());
	await page.keyboard.press("e");
	tally.check("and not after it was given up", !(await page.inputValue(".editor textarea")).includes("half"));
	await page.keyboard.press("Escape");
}

/** Another store at the same address: a draft stays with its store. */
async function otherStore({ browser, tally }) {
	const one = new Server(), other = new Server();
	try {
		await one.start();
		await one.op("entry.append", { content: "of one store" });
		const page = await openPage(one, browser, tally), { port } = new URL(one.url);
		await page.fill("#composer", "typed for the one");
		await choose(page.locator(".entry"));
		await page.keyboard.press("e");
		await page.fill(".editor textarea", "edited in the one");
		await page.goto("about:blank");
		await one.end();
		await other.start(port);
		await other.op("entry.append", { content: "of another store" });
		await page.goto(await other.loginUrl());
		await page.locator(".entry").getByText("of another store").waitFor();
		tally.equal("another store's field is empty", await page.inputValue("#composer"), "");
		await choose(page.locator(".entry"));
		await page.keyboard.press("e");
		tally.equal("an edit is the other's own", await page.inputValue(".editor textarea"), "of another store");
		await page.fill("#composer", "typed for the other");
		const window2 = await page.context().newPage();
		await page.close();
		await window2.goto(`${other.url}/`);
		await window2.locator(".left-draft").first().waitFor();
		tally.equal("what a closed window left is offered for its store alone", await window2.locator(".left-draft").allInnerTexts()
			.then((all) => all.map((text) => /typed for the (one|other)|edited/.exec(text)?.[0]).join()), "typed for the other");
		await window2.goto("about:blank");
		await other.end();
		await one.start(port);
		await window2.goto(await one.loginUrl());
		await window2.locator(".left-draft").first().waitFor();
		tally.check("and is there when its store is back", /typed for the one/.test(await window2.locator(".left-draft").first().innerText()));
		await window2.context().close();
	} finally {
		await one.stop();
		await other.stop();
	}
}

/** A message about a step disappears at the next step, and its button never undoes another one. */
async function notices({ page, server, tally }) {
	const toast = page.locator(".toast"), words = () => toast.locator("span").first().innerText();
	const before = await server.canonical();
	await choose(page.locator(".entry").first());
	await page.keyboard.press("x");
	await toast.getByText("Muted").waitFor();
	await page.locator("#undo").click();
	await toast.getByText(/^Undone: /).waitFor();
	tally.equal("undo names the step", await words(), "Undone: muted or unmuted an entry “question”.");
	await toast.getByRole("button", { name: "Redo" }).click();
	await toast.getByText(/^Redone: /).waitFor();
	const muted = await server.canonical();
	await server.op("entry.append", { role: "User", content: "from elsewhere" }, "?discussion=d1");
	tally.check("another step: the message disappears", await until(async () => (await toast.count()) === 0));
	await server.op("entry.view", { entry: ":1", collapsed: true }, "?discussion=d1");
	await page.locator("#undo").click();
	tally.check("undo at the top is about that step", await until(async () => JSON.parse(await server.canonical())
		.discussions[0].takes[0].entries.length === JSON.parse(muted).discussions[0].takes[0].entries.length));
	await toast.getByText("Undone: added the question “from elsewhere”.").waitFor();
	await server.op("entry.view", { entry: ":1", collapsed: false }, "?discussion=d1");
	await page.waitForTimeout(300);
	tally.equal("display changes are not steps: the message stays", await toast.count(), 1);
	await page.locator("#undo").click();
	tally.check("and all is as it was", await until(async () => (await server.canonical()) === before));
	await page.locator("#redo").hover();
	tally.check("the redo button names the step", await until(async () =>
		/^Redo: muted or unmuted an entry/.test(await page.locator("#redo").getAttribute("title"))), await page.locator("#redo").getAttribute("title"));
	await page.getByLabel("Role of the next entry").selectOption("User");
	await page.fill("#composer", "a third");
	await page.click("#add");
	await hasSize(page, 3);
	const three = await server.canonical();
	await choose(page.locator(".entry").nth(1));
	await page.keyboard.press("d");
	await toast.getByText("Entries 1 and 2 are now adjacent").waitFor();
	tally.check("side effects of a deletion name visible entry numbers", !/\bentries? [a-z0-9]{4}\b/i.test(await words()), await words());
	await toast.getByRole("button", { name: "Merge them" }).click();
	await toast.getByText("Merged the entries.").waitFor();
	tally.equal("and repaired as offered", await page.locator(".entry").count(), 1);
	await toast.getByRole("button", { name: "Undo" }).click();
	await toast.getByText(/^Undone: merged two entries/).waitFor();
	await page.locator("#undo").click();
	await toast.getByText(/^Undone: deleted an entry/).waitFor();
	tally.check("and both come back", await until(async () => (await server.canonical()) === three));
	await page.locator("#undo").click();
	tally.check("so nothing is left of it", await until(async () => (await server.canonical()) === before));
}

const HALF = "half a thought";

/** A draft is kept when the user leaves, and undone steps can still be redone. */
async function undoneAndLeft({ page, server, tally }) {
	const texts = async () => (await server.api("GET", "/discussions/d1/entries")).entries.map((each) => each.content).join();
	const before = await texts(), size = await sizeOf(page);
	for (const [at, content] of ["redo one", "redo two"].entries()) {
		await server.op("entry.append", { role: "User", content }, "?discussion=d1");
		await hasSize(page, size + at + 1);
	}
	await page.fill("#composer", HALF);
	for (const left of [1, 0]) {
		await page.locator("#undo").click();
		await hasSize(page, size + left);
	}
	const drafted = async () => (await server.api("GET", "/discussions/d1/settings")).settings.draft;
	const hide = () => page.evaluate(() => {
		Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
		document.dispatchEvent(new Event("visibilitychange"));
		delete document.visibilityState;
	});
	await hide();
	tally.check("leaving stores a draft", await until(async () => await drafted() === HALF), await drafted());
	await page.reload();
	await hasSize(page, size);
	tally.equal("it is there again", await page.inputValue("#composer"), HALF);
	await page.locator("#redo:not([aria-disabled])").hover();
	tally.check("redo names the step", await until(async () =>
		/redo one/.test(await page.locator("#redo").getAttribute("title"))), await page.locator("#redo").getAttribute("title"));
	await page.locator("#redo").click();
	await hasSize(page, size + 1);
	await page.locator("#redo").click();
	await hasSize(page, size + 2);
	tally.equal("everything is restored", await texts(), before + ",redo one,redo two");
	tally.equal("and the draft stays", await page.inputValue("#composer"), HALF);
	for (const left of [1, 0]) {
		await page.locator("#undo").click();
		await hasSize(page, size + left);
	}
	await page.locator("#redo").click();
	await hasSize(page, size + 1);
	await page.locator("#undo").click();
	await hasSize(page, size);
	tally.equal("and goes again", await texts(), before);
	await page.fill("#composer", "");
	await page.reload(); // no draft is stored later
	await hasSize(page, size);
	await server.op("setting.set", { key: "draft", value: null }, "?discussion=d1");
	await server.op("role.add", { role: "Nobody" });
	await server.op("undo", { scope: "project" });
}

/** Undo names what it reverts: a question, a reply, an entry and its position. */
async function named({ page, server, tally }) {
	const before = await server.canonical(), toast = page.locator(".toast"), words = async () => (await toast.locator("span").allInnerTexts())[0] ?? "";
	const open = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take");
	const at = `?discussion=d1&take=${open}`, size = await sizeOf(page);
	const steps = [
		["Undone: added the question “What of this?”.", () => server.op("entry.append", { role: "User", content: "What of **this**?" }, at)],
		[/^Undone: added the reply “You said: "What of this\?" .*…”\.$/, () => server.api("POST", "/discussions/d1/runs", { how: "ask", model: "builtin/echo", take: open })],
		["Undone: inserted entry 2 (User) “in between”.", () => server.op("entry.insert", { after: ":1", role: "User", content: "in between" }, at)],
		[`Undone: added entry ${size + 4} (AI) “a long text that says so much that no li…”.`, () => server.op("entry.append", { role: "AI", content: "a long text that says so much that no line has room for it" }, at)],
		[`Undone: added entry ${size + 5} (toolResult).`, () => server.op("entry.append", { role: "toolResult", content: "" }, at)],
	];
	for (const [i, [, act]] of steps.entries()) {
		await act();
		await hasSize(page, size + i + 1);
	}
	for (const [wanted] of steps.reverse()) {
		await page.locator("#undo").click();
		tally.check(`undo says "${wanted}"`, await until(async () => (typeof wanted === "string" ? await words() === wanted : wanted.test(await words()))), await words());
	}
	tally.check("and nothing is left of it", await until(async () => (await server.canonical()) === before));
}

/** Another client makes a step between reading the history and undo or redo: it is kept. */
async function between({ page, server, tally }) {
	const before = await server.canonical(), toast = page.locator(".toast");
	const words = async () => (await toast.allInnerTexts()).join();
	const during = async (is, others) => {
		let count = 0;
		await page.route(is, onTheWay(async (route) => {
			await others(++count);
			await route.continue();
		}));
	};
	const press = async (which) => {
		await until(async () => await page.locator(which).getAttribute("aria-disabled") === null);
		await page.locator(which).click();
	};
	const open = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take");
	// perhaps in the same tab
	const other = (await server.api("GET", "/discussions/d1/takes")).find((each) => each.id !== open).id;
	const theirs = (content) => server.op("entry.append", { role: "User", content }, `?discussion=d1&take=${open}`);
	const turn = (take) => server.op("take.switch", { take }, "?discussion=d1");
	const there = async () => (await server.api("GET", `/discussions/d1/entries?take=${open}`)).entries.map((each) => each.content);
	const has = async (...wanted) => {
		const all = await there();
		return wanted.every((each) => all.includes(each));
	};
	await page.fill("#composer", "my own");
	await page.click("#add");
	await page.locator(".entry", { hasText: "my own" }).waitFor();
	await during(/\/ops\/undo\?/, (count) => count === 1 && theirs("theirs"));
	await press("#undo");
	tally.check("a step that came in between is said", await until(async () => /Another change was made first/.test(await words())), await words());
	tally.check("and not undone, nor is anything else", await has("my own", "theirs"), await there());
	await page.unroute(/\/ops\/undo\?/);
	await press("#undo");
	tally.check("asked for again, it is", await until(async () => !(await has("theirs")) && (await has("my own"))), await there());
	await toast.getByText(/^Undone: /).waitFor();
	await during(/\/ops\/undo\?/, (count) => count === 1 && server.op("undo", {}, `?discussion=d1&take=${open}`));
	await press("#undo");
	tally.check("another client's undo is not an own step", await until(async () => /made first, so nothing was undone/.test(await words())), await words());
	await page.unroute(/\/ops\/undo\?/);
	await press("#redo");
	await toast.getByText("Redone: added ").waitFor();
	let unseen;
	await page.mouse.move(0, 0); // the tooltip of the button is checked, too
	await during(/\/history\?/, () => (unseen ??= theirs("unseen")));
	await page.locator("#undo").dispatchEvent("click");
	tally.check("nor is a step undone that was not visible", await until(async () => /made first \(added the question “unseen”\)/.test(await words())), await words());
	tally.check("and all is there", await has("my own", "unseen"), await there());
	await page.unroute(/\/history\?/);
	await press("#undo");
	await until(async () => !(await has("unseen")));
	await toast.getByText(/^Undone: /).waitFor();
	await during(/\/ops\/undo\?/, (count) => count === 1 && turn(other));
	await press("#undo");
	tally.check("a switch of others is none: it is tried again", await until(async () => !(await has("my own"))), await there());
	await page.unroute(/\/ops\/undo\?/);
	await turn(open);
	await toast.waitFor({ state: "detached" });
	const one = await theirs("one"), undone = await server.canonical();
	await page.locator(".entry", { hasText: /^.*one/ }).last().waitFor();
	await press("#undo");
	tally.check("their step is undone", await until(async () => !(await has("one"))), one);
	await during(/\/ops\/redo\?/, (count) => count === 1 && server.op("redo", {}, "?discussion=d1"));
	await press("#redo");
	tally.check("what others brought back is not brought back twice", await until(async () => /nothing was redone/.test(await words())), await words());
	tally.equal("it is there once", await server.canonical(), undone);
	await page.unroute(/\/ops\/redo\?/);
	await press("#undo");
	await until(async () => !(await has("one")));
	let switches = 0;
	await page.fill("#composer", "another of mine");
	await page.click("#add");
	await page.locator(".entry", { hasText: "another of mine" }).waitFor();
	await during(/\/ops\/undo\?/, () => turn(switches++ % 2 ? open : other));
	await press("#undo");
	tally.check("it is not tried for ever", await until(async () => /Another change was made first/.test(await words())), await words());
	tally.check("and nothing was done", await has("another of mine"));
	await page.unroute(/\/ops\/undo\?/);
	await press("#undo");
	await until(async () => !(await has("another of mine")));
	await turn(open);
	tally.check("nothing is left of it", await until(async () => (await server.canonical()) === before), await server.canonical(), before);
}

/** A late response to an added entry does not move the focus from where the user has gone. */
async function goneOn({ page, server, tally }) {
	const before = await server.canonical(), is = /\/(batch|ops\/entry\.append)\?/;
	let answer;
	const answered = new Promise((done) => { answer = done; });
	await page.route(is, onTheWay(async (route) => {
		const response = await route.fetch();
		await answered;
		await route.fulfill({ response });
	}));
	const count = entriesOf(before).length;
	await hasSize(page, count); // the undo is visible here, too
	await page.fill("#composer", "added while somebody goes on");
	await page.click("#add");
	await hasSize(page, count + 1);
	const id = await page.locator(".entry").first().getAttribute("data-entry");
	await choose(page.locator(".entry").first());
	answer();
	await page.locator(".toast").getByText("Added an entry.").waitFor();
	await page.keyboard.press("d");
	tally.check("the key is about the entry that is focused", await until(async () => await page.locator(`.entry[data-entry="${id}"]`).count() === 0), id);
	await page.unroute(is);
	await page.locator("#undo").click();
	await page.locator(".toast").getByText(/^Undone: deleted an entry/).waitFor();
	await page.locator("#undo").click();
	tally.check("and both are undone", await until(async () => (await server.canonical()) === before));
}

/** A key acts on the focused entry, also when the focus was moved by a menu. */
async function theirKeys({ page, server, tally }) {
	const before = await server.canonical(), open = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take");
	const taken = async () => JSON.parse(await server.canonical()).discussions[0].takes.find((each) => each.id === open || each.name === open) ??
		JSON.parse(await server.canonical()).discussions[0].takes[0];
	for (const content of ["k1", "k2", "k3", "k4"])
		await server.op("entry.append", { id: content, role: "User", content }, `?discussion=d1&take=${open}`);
	await page.locator(".entries [data-entry=k4]").waitFor();
	const more = (id) => page.locator(`.entries [data-entry=${id}]`).getByRole("button", { name: /^More for entry/ });
	await choose(page.locator(".entries [data-entry=k1]"));
	await more("k3").click();
	await page.keyboard.press("Escape");
	await page.keyboard.press("x");
	tally.check("after its menu a key is about that entry", await until(async () => (await server.canonical()).includes('"muted"')));
	tally.equal("which is the focused one", await page.locator(".entry[aria-current]").getAttribute("data-entry"), "k3");
	await choose(page.locator(".entries [data-entry=k1]"));
	await more("k3").click();
	await page.keyboard.press("Escape");
	await page.keyboard.press("d");
	tally.check("it is the one that is deleted", await until(async () => await page.locator(".entries [data-entry=k3]").count() === 0), JSON.stringify(await taken()));
	tally.equal("and not the one before", await page.locator(".entries [data-entry=k1]").count(), 1);
	await choose(page.locator(".entries [data-entry=k4]"));
	await more("k2").click();
	await pick(page, /^Label/);
	await page.keyboard.type("told");
	await page.keyboard.press("Enter");
	await page.locator(".entries [data-entry=k2] .label").waitFor();
	await page.locator("dialog").waitFor({ state: "detached" });
	tally.equal("a label has every letter", await page.locator(".entries [data-entry=k2] .label").innerText(), "told");
	await page.keyboard.press("d");
	tally.check("nor after it got a label", await until(async () => await page.locator(".entries [data-entry=k2]").count() === 0));
	await choose(page.locator(".entries [data-entry=k1]"));
	await page.keyboard.press("Shift+ArrowDown");
	await page.locator(".entries [data-entry=k4].selected").waitFor();
	await more("k1").click();
	tally.equal("what is selected stays so while one of it has its menu", await (await menuItem(page, "Delete 2 entries")).count(), 1);
	await page.keyboard.press("Escape");
	await page.keyboard.press("d");
	tally.check("and is deleted together", await until(async () => await page.locator(".entries [data-entry=k1], .entries [data-entry=k4]").count() === 0));
	while ((await server.canonical()) !== before) {
		const was = await server.canonical();
		await page.locator("#undo").click();
		if (!(await until(async () => (await server.canonical()) !== was)))
			break;
	}
	tally.equal("all of it can be undone", await server.canonical(), before);
}

/** Actions are found by the words of their names; destructive ones are listed separately. */
async function finding({ page, server, tally }) {
	const field = page.locator("#palette"), chosen = page.locator("[role=option][aria-selected=true]");
	const look = async (words) => {
		await page.keyboard.press("Control+k");
		await field.fill(words);
	};
	const before = await server.canonical();
	await server.op("entry.append", { id: "f1", role: "AI", content: "- the **main** detail\n- ano**th**er" }, "?discussion=d1");
	await server.op("label.set", { entry: ":1", label: "my-label" }, "?discussion=d1");
	await page.locator(".entries [data-entry=f1]").waitFor();
	await look("detail");
	await page.locator(".palette-item .hit").first().waitFor();
	tally.equal("letters here and there find no command", await page.locator(".palette-item", { hasText: "Delete" }).count(), 0);
	tally.check("the text is chosen", /main detail/.test(await chosen.innerText()), await chosen.innerText());
	tally.check("without the signs of Markdown", !/\*\*|^- /m.test(await page.locator(".palette-list").innerText()), await page.locator(".palette-list").innerText());
	await page.keyboard.press("Enter");
	await page.locator(".entries [data-entry=f1][aria-current]").waitFor();
	tally.equal("Enter goes to the text", await page.locator(".entries [data-entry=f1]").count(), 1);
	for (const words of ["de", "take", "project", "rtp"]) {
		await look(words);
		await page.waitForTimeout(400);
		tally.check(`"${words}" chooses nothing that takes away`, !/^(Delete|Clear|Truncate|Purge|Reset)/.test((await chosen.allInnerTexts()).join()), await chosen.allInnerTexts());
		await page.keyboard.press("Escape");
		await page.locator("dialog").waitFor({ state: "detached" });
	}
	const risky = page.getByRole("group", { name: "Destructive commands" });
	for (const words of ["del", "clear", "reset the project", "Delete (all selected entries)"]) {
		await look(words);
		await risky.waitFor();
		await page.waitForTimeout(400); // texts are found later
		tally.check(`"${words}" finds it, apart from the rest`, /^(Delete|Clear|Truncate|Purge|Reset)/.test(await risky.locator("[role=option]").first().innerText()));
		tally.equal("and does not choose it", await risky.locator("[aria-selected=true]").count(), 0);
		await page.keyboard.press("Escape");
	}
	await look("clear the take");
	await risky.waitFor();
	await page.keyboard.press("Enter");
	tally.equal("Enter does nothing where nothing is chosen", await page.locator("dialog[open]").count(), 1);
	await page.keyboard.press("ArrowDown");
	tally.check("an arrow goes to it", /^Clear/.test(await chosen.innerText()), await chosen.innerText());
	await page.keyboard.press("Escape");
	await look("my-label");
	await page.locator(".palette-item", { hasText: "my-label" }).waitFor();
	tally.check("a label is found, and said to be one", /my-label[^]*label of entry 1/.test(await chosen.innerText()), await chosen.innerText());
	await page.keyboard.press("Enter");
	tally.check("and gone to", await until(async () => await page.locator(".entry[aria-current]").getAttribute("aria-posinset") === "1"));
	await page.locator("#undo").click();
	await page.locator(".entry .label").waitFor({ state: "detached" });
	await page.locator("#undo").click();
	tally.check("finding changed nothing", await until(async () => (await server.canonical()) === before));
}

async function runs({ page, server, tally }) {
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	await page.waitForSelector("#ask");
	const before = await sizeOf(page);
	await page.fill("#composer", "what do you say to this?");
	await page.press("#composer", "Control+Enter");
	tally.check("what an empty field would do is said", await until(async () =>
		(await page.locator("#ask").innerText()) === "Get a reply"));
	tally.check("a question and its reply", await until(async () =>
		(await sizeOf(page)) === before + 2 && !(await page.locator(".running").count())));

	await page.fill("#composer", "one line");
	await page.press("#composer", "Shift+Enter");
	await page.locator("#composer").pressSequentially("and another");
	await page.press("#composer", "Enter");
	tally.check("Enter sends", await until(async () => (await texts(server)).includes("one line\nand another")));

	await until(async () => (await sizeOf(page)) === before + 4 && !(await page.locator(".running").count()));
	const takes = await page.locator(".take-bar [role=tab]").count();
	await choose(page.locator(".entry").last());
	await page.keyboard.press("g");
	tally.check("again: another reply is a fork", await until(async () => (await page.locator(".entry .fork").count()) > 0));
	tally.equal("and shares the tab", await page.locator(".take-bar [role=tab]").count(), takes);
	const fork = page.locator(".entry .fork").last();
	tally.check("2/2", await until(async () => (await fork.textContent()).includes("2/2")), await fork.textContent());
	await fork.getByRole("button", { name: "Previous alternative" }).click();
	tally.check("1/2", await until(async () => (await page.locator(".entry .fork").last().textContent()).includes("1/2")));
	const beside = page.locator("dialog.compare");
	// The row may be rendered again between press and release, which then are not a click.
	tally.check("the number opens the comparison", await until(async () => {
		await page.locator(".entry .fork").last().getByRole("button", { name: "1/2, compare" }).click({ timeout: 2000 }).catch(() => {});
		return beside.waitFor({ timeout: 2000 }).then(() => true, () => false);
	}));
	const name = (label) => beside.getByLabel(label).evaluate((field) => field.selectedOptions[0].textContent.replace(/ \(.*/, ""));
	const open = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("title");
	tally.check("the number between compares: the open take", open.startsWith(await name("The take on the left")), open);
	tally.check("with the other way", await name("The take on the right") !== await name("The take on the left"));
	await page.keyboard.press("Escape");
	await beside.waitFor({ state: "detached" });
	await server.op("setting.set", { key: "model", value: "ollama/slow" });
	await page.waitForSelector("text=ollama/slow");
	await page.fill("#composer", "tell me a long story");
	await page.locator(".entries").evaluate((box) => { box.scrollTop = 0; });
	await page.waitForTimeout(200);
	await page.press("#composer", "Control+Enter");
	tally.check("what came so far is shown", await until(async () =>
		(await page.locator(".running .live").allTextContents()).join().includes("It was")));
	const gap = () => page.locator(".entries").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
	tally.check("what is sent and its reply are in view", await until(async () => (await gap()) < 2), await gap());
	await page.locator(".entries").evaluate((box) => { box.scrollTop = 0; });
	await page.locator(".new-below").waitFor();
	const button = await page.locator(".new-below").boundingBox();
	await page.mouse.move(button.x + button.width / 2, button.y + button.height / 2);
	await page.mouse.down();
	await page.mouse.move(button.x, button.y - 60); // as when the page moves under the pointer
	await page.mouse.up();
	tally.check("a press that is not released on it counts", await until(async () => (await gap()) < 2), await gap());
	await page.locator(".entries").evaluate((box) => { box.scrollTop = 0; });
	await page.locator(".new-below").waitFor();
	tally.equal("scrolling away stops following the end", await page.locator(".entries").evaluate((box) => box.scrollTop), 0);
	await page.locator(".new-below").click();
	tally.check("and a button goes to the new text", await until(async () => (await gap()) < 2 && !(await page.locator(".new-below").count())), await gap());
	await page.locator(".composer .stop").click();
	tally.check("stopped, and what came is kept", await until(async () =>
		!(await page.locator(".running").count()) && (await page.locator("text=Stopped here").count()) > 0));
}

async function versions({ page, server, tally }) {
	await server.op("take.switch", { take: "t1" }, "?discussion=d1");
	await page.evaluate(() => { location.hash = "#/d/d1/t/t1"; }); // it may share the tab with another take
	await until(async () => (await page.locator(".entry").nth(1).textContent()).includes("theirs 3"));
	tally.equal("what was edited says so", await page.locator(".entry .edited").count(), 1);
	await page.locator(".entry").nth(1).getByRole("button", { name: "Edited: versions of entry 2" }).click();
	await page.waitForSelector(".versions li >> nth=1");
	await page.keyboard.press("Escape");
	await page.locator(".versions").waitFor({ state: "detached" });
	await choose(page.locator(".entry").nth(1));
	await page.keyboard.press("w");
	await page.waitForSelector(".versions li >> nth=1");
	tally.check("differences are marked", (await page.locator(".versions ins").count()) > 0);
	await page.getByRole("button", { name: "Restore" }).last().click();
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
	await page.locator("nav [data-disc=d1]").click();
	tally.check("it is there again", await until(async () => (await page.inputValue("#composer")) === "not sent yet"));
	await until(async () => JSON.parse(await server.canonical()).active === "main");
	const before = await server.canonical();
	await page.click("#add");
	await until(async () => !(await server.api("GET", "/discussions/d1/settings")).settings.draft);
	tally.equal("and gone when it is sent", (await server.api("GET", "/discussions/d1/settings")).settings.draft, undefined);
	await settled(page, server);
	await page.click("#undo");
	tally.check("in one step", await until(async () => (await server.canonical()) === before));
}

/** Typed text becomes the field "draft" after a pause; undo and redo keep it, and if nothing was typed since, changes
 * by others appear. */
async function typingIsAField({ page, server, tally }) {
	await server.op("setting.set", { key: "draft", value: null }, "?discussion=d1");
	await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
	await page.reload();
	await page.locator(".entry").first().waitFor();
	const draft = async () => (await server.api("GET", "/discussions/d1/settings")).settings.draft;
	const input = () => page.inputValue("#composer");
	await server.op("entry.append", { role: "User", content: "before the thought" }, "?discussion=d1");
	await page.getByText("before the thought").waitFor();
	await page.locator("#composer").pressSequentially("one thought", { delay: 20 });
	tally.check("a pause writes the field", await until(async () => (await draft()) === "one thought"), await draft());
	const before = await server.canonical();
	await page.click("#undo");
	tally.check("undo reverts the step before it", await until(async () => (await server.canonical()) !== before), await server.canonical());
	tally.equal("and keeps the stored text", await draft(), "one thought");
	await page.click("#redo");
	tally.check("redo restores the step", await until(async () => (await server.canonical()) === before), await server.canonical());
	tally.equal("and keeps the text in the field", await input(), "one thought");
	await page.waitForTimeout(1500);
	await server.op("setting.set", { key: "draft", value: "from a program" }, "?discussion=d1");
	tally.check("what a program writes comes in", await until(async () => (await input()) === "from a program"), await input());
	await page.fill("#composer", "typed since");
	await server.op("setting.set", { key: "draft", value: "too late" }, "?discussion=d1");
	await page.waitForTimeout(300);
	tally.equal("but it does not overwrite newer text", await input(), "typed since");
	await page.fill("#composer", "");
	await server.op("setting.set", { key: "draft", value: null }, "?discussion=d1");
}

/** A draft belongs to its window: a reload restores it, no other window shows it; drafts of closed windows are
 * offered. */
async function twoWindows({ page, server, tally }) {
	await server.op("setting.set", { key: "draft", value: null }, "?discussion=d1");
	await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
	await page.reload();
	await page.locator(".entry").first().waitFor();
	const before = await server.canonical();
	const openOther = async () => {
		const other = await page.context().newPage();
		await other.goto(page.url());
		await other.locator(".entry").first().waitFor();
		return other;
	};
	const b = await openOther(), offer = (of) => of.locator(".left-draft");
	await b.fill("#composer", "words of the other");
	await page.reload();
	await page.locator(".entry").first().waitFor();
	tally.equal("words of another window are not here", await page.inputValue("#composer"), "");
	await page.waitForTimeout(200);
	tally.equal("and not offered, while it is there", await offer(page).count(), 0);
	await page.fill("#composer", "sent from here");
	await page.click("#add");
	await b.locator(".entry").getByText("sent from here").waitFor();
	tally.equal("sending here leaves them", await b.inputValue("#composer"), "words of the other");
	await b.reload();
	await b.locator(".entry").first().waitFor();
	tally.equal("also after a reload", await b.inputValue("#composer"), "words of the other");
	const { id } = entriesOf(before)[1];
	const edit = async (of) => {
		await of.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
		await choose(of.locator(`.entries [data-entry="${id}"]`));
		await of.keyboard.press("e");
		await of.locator(".editor textarea").waitFor();
	};
	await edit(b);
	const text = await b.inputValue(".editor textarea");
	await b.fill(".editor textarea", "an edit of the other");
	await edit(page);
	tally.equal("an edit is not in another window", await page.inputValue(".editor textarea"), text);
	await page.keyboard.press("Escape");
	await page.locator(".editor").waitFor({ state: "detached" });
	await b.reload();
	await b.locator(".entry").first().waitFor();
	await edit(b);
	tally.equal("a reload finds it", await b.inputValue(".editor textarea"), "an edit of the other");
	await b.close();
	await page.reload();
	await page.locator(".entry").first().waitFor();
	await offer(page).first().waitFor();
	tally.equal("what a closed window left is not filled in", await page.inputValue("#composer"), "");
	tally.check("but offered", /words of the other/.test(await offer(page).innerText()), await offer(page).innerText());
	await page.fill("#composer", "mine");
	await offer(page).getByRole("button", { name: "Use it" }).click();
	tally.equal("and taken, it loses nothing", await page.inputValue("#composer"), "mine\nwords of the other");
	tally.equal("the offer is gone", await offer(page).count(), 0);
	await page.fill("#composer", "");
	await edit(page);
	tally.equal("an edit is not filled in, either", await page.inputValue(".editor textarea"), text);
	await page.locator(".editor .left-draft").getByRole("button", { name: "Discard it" }).click();
	await page.keyboard.press("Escape");
	await page.locator(".editor").waitFor({ state: "detached" });
	await server.op("setting.set", { key: "draft", value: "from a terminal" }, "?discussion=d1");
	await offer(page).getByText("from a terminal").waitFor();
	await page.fill("#composer", "mine alone");
	await page.click("#add");
	await page.locator(".entry").getByText("mine alone").waitFor();
	tally.equal("sending leaves what others left with the discussion", (await server.api("GET", "/discussions/d1/settings")).settings.draft, "from a terminal");
	await offer(page).getByRole("button", { name: "Discard it" }).click();
	tally.check("dropped, it is gone", await until(async () => !(await server.api("GET", "/discussions/d1/settings")).settings.draft));
	while ((await server.canonical()) !== before) {
		const was = await server.canonical();
		await page.locator("#undo").click();
		if (!(await until(async () => (await server.canonical()) !== was)))
			break;
	}
}

async function firstVisit({ page, server, tally }) {
	await server.op("project.reset");
	await page.waitForSelector("text=Load the sample");
	await page.getByRole("button", { name: "Load the sample" }).click();
	tally.check("the sample is there", await until(async () => (await sizeOf(page)) === 6));
	tally.equal("in two takes", await page.locator(".take-bar [role=tab]").count(), 2);
	await page.click("#undo");
	tally.check("and gone with one undo", await until(async () =>
		JSON.parse(await server.canonical()).discussions.length === 1 && (await page.locator("text=Load the sample").count()) > 0),
	await server.canonical());
	await page.fill("#composer", "the first again");
	await page.click("#add");
	tally.check("and an undone list can be typed over", await until(async () => (await page.locator(".entry").allInnerTexts()).join().includes("the first again")));
}

/** One press undoes the step that it names, and shows where that was; looking at other takes keeps redo. */
async function timeLeads({ page, server, tally }) {
	const toast = page.locator(".toast"), words = () => toast.locator("span").first().innerText();
	const tab = (name) => page.locator(`.take-bar [role=tab][title^="${name},"]`);
	const shown = async () => {
		const [name, size] = (await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("title")).split(", ");
		return `${name} ${parseInt(size, 10)}`;
	};
	await server.op("project.reset");
	await page.waitForSelector("text=Load the sample");
	const empty = await server.canonical();
	await page.getByRole("button", { name: "Load the sample" }).click();
	await hasSize(page, 6);
	const sample = await server.canonical();
	await tab("sample_take_1").click();
	await hasSize(page, 4);
	await page.locator(".take-bar [role=tab][aria-selected=true]", { hasText: "4" }).waitFor();
	await page.fill("#composer", "said in the other take");
	await page.click("#add");
	await hasSize(page, 5);
	const added = await server.canonical();
	await tab("sample").click();
	await hasSize(page, 6);
	await until(async () => (await server.canonical()) !== added);
	await page.locator("#undo").hover();
	tally.check("the undo button names the step", await until(async () =>
		/^Undo: added the question “said in the other take”/.test(await page.locator("#undo").getAttribute("title"))), await page.locator("#undo").getAttribute("title"));
	await page.locator("#undo").click();
	await toast.getByText(/^Undone: /).waitFor();
	tally.equal("undo names the step that it reverts", await words(), "Undone: added the question “said in the other take”.");
	tally.check("and shows where that was", await until(async () => (await shown()) === "sample_take_1 4"), await shown());
	const size = () => page.locator("nav .open .count").innerText();
	tally.check("the list counts the visible take", await until(async () => (await size()).endsWith("4 entries · 2 takes")), await size());
	await tab("sample").click();
	await hasSize(page, 6);
	tally.check("whichever take is active", await until(async () => (await size()).endsWith("6 entries · 2 takes")), await size());
	tally.equal("switching takes keeps redo", await page.locator("#redo").getAttribute("aria-disabled"), null);
	await page.locator("#redo").click();
	await toast.getByText("Redone: added the question “said in the other take”.").waitFor();
	tally.check("redo shows the affected take", await until(async () => (await shown()) === "sample_take_1 5"), await shown());

	const called = await tab("sample_take_1").locator(".name").innerText();
	await page.getByRole("button", { name: "The take", exact: true }).click();
	await pick(page, "Compare takes …");
	await page.locator("dialog[open]").waitFor();
	const options = await page.getByLabel("The take on the left").locator("option").allInnerTexts();
	await page.keyboard.press("Escape");
	await page.locator("dialog").waitFor({ state: "detached" });
	await page.getByRole("button", { name: "The take", exact: true }).click();
	await pick(page, "Delete the take");
	await toast.getByText(/^Deleted the take /).waitFor();
	tally.equal("a take that is deleted has the name of its tab", await words(), `Deleted the take “${called}”.`);
	await page.locator("#undo").click();
	await tab("sample_take_1").waitFor();
	await tab("sample_take_1").click();
	await hasSize(page, 5);
	tally.equal("a take has the same name in a list", options.join(" | "), `sample (6) | ${called} (5)`);
	const word = JSON.parse(await server.canonical()).discussions.find((each) => each.id === "sample" || each.name === "sample").takes[0].entries[0].content.split(/\W+/).find((each) => each.length > 4);
	for (const tab of [1, 0]) {
		await page.locator(".take-bar [role=tab]").nth(tab).click();
		await page.locator(`.take-bar [role=tab][aria-selected=true] >> nth=0`).waitFor();
		await page.keyboard.press("Control+k");
		await page.locator("#palette").fill(word);
		await page.locator(".palette-item", { hasText: "entry 1" }).first().waitFor();
		tally.check("what is found in the open take is said to be here", await until(async () =>
			!/take /.test(await page.locator(".palette-item", { hasText: "entry 1" }).first().innerText())), await page.locator(".palette-item", { hasText: "entry 1" }).first().innerText());
		await page.keyboard.press("Escape");
	}
	await page.locator("#to-history").click();
	await page.locator(".step.current").waitFor();
	const whole = await server.canonical();
	await page.locator(".step:not(.off)", { hasText: "created discussion" }).click();
	const seenTake = await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take");
	await page.getByRole("button", { name: "Jump here" }).click();
	await toast.getByText(/^This is the state after step/).waitFor();
	tally.equal("one step is said to be now", await page.locator(".step.current").count(), 1);
	tally.check("the one of the jump", await until(async () => /created discussion/.test(await page.locator(".step.current").innerText())), await page.locator(".step.current").innerText());
	tally.check("a jump goes there", await until(async () => (await server.canonical()) === sample));
	tally.equal("its line has no undo, which would go one further", await toast.getByRole("button", { name: "Undo" }).count(), 0);
	await toast.getByRole("button", { name: "Return to the previous state" }).click();
	tally.check("but the way back", await until(async () => (await server.canonical()) === whole), await server.canonical());
	await toast.getByText("Returned to the previous state.").waitFor();
	tally.equal("to the take that was seen", await page.locator(".take-bar [role=tab][aria-selected=true]").getAttribute("data-take"), seenTake);
	await page.locator("#to-history").click();

	await server.op("setting.set", { key: "draft", value: "half a thought" }, "?discussion=sample");
	await server.op("setting.set", { key: "draft", value: "half a thought and more" }, "?discussion=sample");
	await page.waitForTimeout(300);
	const drafted = await server.canonical();
	await page.locator("#undo").click();
	await toast.getByText(/^Undone: /).waitFor();
	tally.equal("drafts are not steps", await words(), "Undone: added the question “said in the other take”.");
	await page.locator("#redo").click();
	await toast.getByText(/^Redone: /).waitFor();
	tally.equal("and on the way forward", await words(), "Redone: added the question “said in the other take”.");
	tally.check("it comes back", await until(async () => (await server.canonical()) === drafted), await server.canonical());

	for (let i = 0; i < 9 && JSON.parse(await server.canonical()).discussions.length > 1; i++) {
		const was = await server.canonical();
		await page.locator("#undo").click();
		if (!(await until(async () => (await server.canonical()) !== was)))
			break;
	}
	await toast.getByText(/^Undone: created discussion/).waitFor();
	tally.check("undone until the sample is gone", (await server.canonical()) === empty, await server.canonical());
	tally.check("and that is said", /^Undone: created discussion "sample" with 8 entries in 2 takes\./.test(await words()), await words());
	await page.locator("#redo").click();
	await hasSize(page, 4);
	tally.equal("redo shows the restored entry", await page.locator(".where").innerText(), "sample");
	await page.locator("#redo").click();
	await toast.getByText("Redone: added the question “said in the other take”.").waitFor();
	tally.check("and continues there", await until(async () => (await server.canonical()) === drafted), await server.canonical());
	tally.equal("the deletion that was undone before the drafts can still be done again", await page.locator("#redo").getAttribute("aria-disabled"), null);
}

/** Links to missing places: this is reported, and the nearest existing place is shown. */
async function links({ page, server, tally }) {
	const toast = page.locator(".toast"), put = page.getByRole("button", { name: "Close the message" });
	const go = async (hash) => {
		await page.evaluate((to) => { location.hash = to; }, hash);
		await toast.waitFor();
		const words = await toast.locator("span").first().innerText();
		await put.click();
		return words;
	};
	await page.getByText('The link leads to a discussion that does not exist. This is “question”.').waitFor();
	await put.click();
	const { entries } = await server.api("GET", "/discussions/d1/entries?take=t1");
	await page.evaluate((to) => { location.hash = to; }, `#/d/d1/t/t1/e/${entries[1].id}`);
	await page.locator(`.entry[data-entry="${entries[1].id}"][aria-current]`).waitFor();
	tally.equal("an address that is right says nothing", await toast.count(), 0);
	tally.equal("an entry that is gone", await go("#/d/d1/t/t1/e/nobody"), 'The link leads to an entry that no longer exists. This is “main”.');
	tally.equal("a take that is gone", await go(`#/d/d1/t/t99/e/${entries[0].id}`), 'The link leads to a take that no longer exists. This is “main”.');
	const before = await server.canonical();
	await server.op("take.branch", { at: entries[0].id, name: "elsewhere", switch: false }, "?discussion=d1");
	const there = (await server.op("entry.append", { role: "AI", content: "only there" }, "?discussion=d1&take=elsewhere")).entry;
	await page.locator(".take-bar [role=tab]", { hasText: "elsewhere" }).waitFor();
	tally.equal("an entry of another take", await go(`#/d/d1/t/t1/e/${there}`), 'The linked entry is no longer in that take. This is “elsewhere”, which contains it.');
	await page.locator(`.entry[data-entry="${there}"][aria-current]`).waitFor();
	await page.goto(`${server.url}/#/d/d1/t/%00`);
	await page.reload();
	tally.check("a malformed link", await until(async () => (await page.locator(".entry").count()) > 0));
	await page.goto(`${server.url}/#/d/d1/t/t1/e/nobody`);
	await page.reload();
	tally.check("so it is when the page is opened with one", await until(async () => (await toast.allInnerTexts()).join().includes("an entry that no longer exists")));
	await server.api("POST", "/ops/undo?discussion=d1", { count: 2 });
	tally.check("nothing is left", await until(async () => (await server.canonical()) === before));
	await page.locator(".take-bar [role=tab]", { hasText: "elsewhere" }).waitFor({ state: "detached" });
	await page.evaluate(() => { location.hash = "#/d/d1/t/t1"; });
}

export async function run({ server, browser, tally }) {
	server.env.OLLAMA_HOST = (await endlessModel("It was ", { thought: "hm", again: "and so on ", every_ms: 300 })).host;
	await server.start();
	for (const [role, content] of [["User", "question"], ["AI", "answer"], ["User", "more"]])
		await server.op("entry.append", { role, content });
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry");
	const t = { server, page, tally };
	await page.goto(`${server.url}/#/d/%zz`);
	await page.getByText('The link leads to a discussion that does not exist. This is “question”.').waitFor();
	await page.reload();
	tally.check("a malformed URL opens the last place", await until(async () => await page.locator(".entry").count() > 0));
	await links(t);
	await conflicts(t);
	await drafts(t);
	await undoneAndLeft(t);
	await notices(t);
	await named(t);
	await between(t);
	await goneOn(t);
	await theirKeys(t);
	await finding(t);
	await versions(t);
	await runs(t);
	await leftDrafts(t);
	await typingIsAField(t);
	await twoWindows(t);
	await firstVisit(t);
	await timeLeads(t);
	await otherStore({ browser, tally });
	await page.context().close();
}
