// SPDX-License-Identifier: MIT
//
// The operations on entries (A1 to A7) and on discussions (B1 to B11), done in the page. After each
// the project's canonical export is compared: undo restores the previous state byte for byte, and
// redo the new one.
import { choose, hasSize, openPage, pick, settled, shownAndThere, until } from "./place.mjs";

const TALK = [
	["User", "first question"], ["AI", "first **answer**"], ["User", "second question"],
	["AI", "second answer"], ["User", "third question"], ["AI", "third answer"],
];

/** Entries of the active take, from an export. */
export function entriesOf(text) {
	const project = JSON.parse(text);
	const disc = project.discussions.find((each) => each.name === project.active) ?? project.discussions[0];
	const take = disc.takes.find((each) => each.name === disc.active) ?? disc.takes[0];
	return take.entries ?? [];
}

/** Runs act(), and waits until the export changes. */
async function changed(server, act) {
	const before = await server.canonical();
	await act();
	let after = before;
	await until(async () => (after = await server.canonical()) !== before);
	return [before, after];
}

export async function step(t, name, act, holds) {
	const [before, after] = await changed(t.server, act);
	if (!t.tally.check(`${name}: something is done`, before !== after, await t.page.locator(".toast").allTextContents()))
		return;
	t.tally.check(`${name}: the right thing`, holds(after, before), after);
	const [, undone] = await changed(t.server, () => t.page.click("#undo"));
	t.tally.equal(`${name}: undo`, undone, before);
	const [, redone] = await changed(t.server, () => t.page.click("#redo"));
	t.tally.equal(`${name}: redo`, redone, after);
	t.tally.check(`${name}: in view`, await settled(t.page, t.server), await shownAndThere(t.page, t.server));
}

/** The row with this text. */
const row = (page, text) => page.locator(".entry", { hasText: text }).first();

async function focusRow(page, text) {
	await choose(row(page, text));
}

async function answer(page, text) {
	await page.fill("dialog input", text);
	await page.press("dialog input", "Enter");
}

async function menu(page, label, item) {
	await page.getByRole("button", { name: label, exact: true }).first().click();
	await pick(page, item);
}

const texts = (text) => entriesOf(text).map((entry) => entry.content);

async function entryOperations(t) {
	const { page, server } = t;
	await step(t, "A1 edit in place", async () => {
		await focusRow(page, "first question");
		await page.keyboard.press("e");
		await page.fill(".editor textarea", "first question, better");
		await page.keyboard.press("Control+Enter");
	}, (after) => texts(after)[0] === "first question, better" && texts(after).length === 6);
	const edited = () => page.locator(".entry .edited").count();
	t.tally.check("what was edited says so", await until(async () => (await edited()) === 1));
	await page.click("#undo");
	t.tally.check("and no longer after undo", await until(async () => (await edited()) === 0));
	await page.click("#redo");
	t.tally.check("and again after redo", await until(async () => (await edited()) === 1 &&
		(await row(page, "first question, better").locator(".edited").count()) === 1));
	await step(t, "A4 another role", async () => {
		await row(page, "second answer").hover();
		await row(page, "second answer").locator(".role-picker").selectOption("System");
	},
		(after) => entriesOf(after)[3].role === "System");
	await step(t, "A4 any role", async () => {
		await focusRow(page, "second question");
		await page.keyboard.press("r");
		await answer(page, "Reviewer");
	}, (after) => entriesOf(after)[2].role === "Reviewer");
	await step(t, "A5 insert before", async () => {
		await row(page, "second question").hover();
		await row(page, "second question").getByRole("button", { name: "Insert", exact: true }).click();
		await page.fill(".inserting textarea", "in between");
		await page.keyboard.press("Control+Enter");
	}, (after) => texts(after)[2] === "in between" && texts(after).length === 7);
	await step(t, "A6 delete", async () => {
		await focusRow(page, "in between");
		await page.keyboard.press("d");
	}, (after) => texts(after).length === 6);
	await step(t, "delete a run", async () => {
		await focusRow(page, "third question");
		await page.keyboard.press("Shift+J");
		await page.keyboard.press("d");
	}, (after) => texts(after).length === 4);
	await page.click("#undo");
	await until(async () => texts(await server.canonical()).length === 6);
	const all = texts(await server.canonical());
	await choose(page.locator(".entry").nth(1));
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("d");
	t.tally.check("three keys, three entries", await until(async () =>
		texts(await server.canonical()).join() === [all[0], ...all.slice(4)].join()), await server.canonical());
	t.tally.check("and the focus is on the next", await until(async () =>
		(await page.evaluate(() => document.activeElement.textContent)).includes(all[4]) && (await page.locator(".entry").count()) === all.length - 3));
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("u");
	t.tally.check("and back", await until(async () => texts(await server.canonical()).join() === all.join()));
	await settled(page, server);
	await step(t, "move up", async () => {
		await focusRow(page, "third answer");
		await page.keyboard.press("Alt+ArrowUp");
	}, (after) => texts(after)[4] === "third answer");
	await step(t, "move by drag", () => row(page, "second answer").hover().then(() => page.dragAndDrop(
		'.entry:has-text("second answer") .grip', '.entry:has-text("first question")', { targetPosition: { x: 200, y: 4 } })),
	(after) => texts(after)[0] === "second answer");
	await page.click("#undo");
	await until(async () => texts(await server.canonical())[0] === "first question, better");
	await settled(page, server);
	await step(t, "mute", async () => {
		await focusRow(page, "second question");
		await page.keyboard.press("x");
	}, (after) => entriesOf(after).find((entry) => entry.content === "second question").muted === true);
	await step(t, "label", async () => {
		await focusRow(page, "second question");
		await page.keyboard.press("m");
		await answer(page, "here");
	}, (after) => after.includes('"here"'));
	await step(t, "merge", () => menu(page, /^More for entry 1, /, "Merge with the next"),
		(after) => texts(after).length === 5);
	await step(t, "split", async () => {
		await choose(page.locator(".entry").first());
		await page.keyboard.press("e");
		await page.locator(".editor textarea").evaluate((field) => field.setSelectionRange(5, 5));
		await page.getByRole("button", { name: "Split at the cursor" }).click();
	}, (after) => texts(after).length === 6 && texts(after)[0] === "first");
	await step(t, "edit as a new take", async () => {
		await focusRow(page, "second answer");
		await page.keyboard.press("e");
		await page.fill(".editor textarea", "another second answer");
		await page.getByRole("button", { name: "Save as new take" }).click();
		await page.waitForSelector("[role=tab] >> nth=1");
	}, (after) => JSON.parse(after).discussions[0].takes.length === 2);
	await step(t, "A7 branch", async () => {
		await choose(page.locator(".entry").nth(1));
		await page.keyboard.press("b");
		await page.waitForSelector(".take-bar [role=tab] >> nth=2");
	}, (after) => JSON.parse(after).discussions[0].takes.length === 3 && texts(after).length === 2);
}

/** Not steps: how an entry is displayed is not undone. */
async function views(t) {
	const { page, server, tally } = t;
	await focusRow(page, "first");
	await page.keyboard.press("c");
	tally.check("A3 collapsed", await until(async () => entriesOf(await server.canonical())[0].collapsed === true));
	await page.waitForSelector(".entry.collapsed .preview");
	await page.keyboard.press("c");
	tally.check("A3 expanded", await until(async () => !entriesOf(await server.canonical())[0].collapsed));
	await page.keyboard.press("v");
	await page.waitForSelector(".entry .source");
	await page.keyboard.press("v");
	tally.check("A2 read mode", await until(async () => entriesOf(await server.canonical())[0].read_mode === true));
	await menu(page, "The take", "Collapse all");
	tally.check("B2 all collapsed", await until(async () => entriesOf(await server.canonical()).every((entry) => entry.collapsed)));
	await menu(page, "The take", "Expand all");
	tally.check("B2 all expanded", await until(async () => entriesOf(await server.canonical()).every((entry) => !entry.collapsed)));
}

/** B6: with its tab; it becomes the active take for others. */
async function showTake({ page, server, tally }, at) {
	const tab = page.locator(".take-bar [role=tab]").nth(at);
	const id = await tab.getAttribute("data-take");
	await tab.click();
	tally.check("B6 the take is the active one", await until(async () =>
		(await server.api("GET", "/discussions/d1")).take.id === id && await tab.getAttribute("aria-selected") === "true"),
	id, (await server.api("GET", "/discussions/d1")).take.id, await page.locator(".take-bar").innerHTML());
	await settled(page, server);
}

async function takeOperations(t) {
	const { page, server, tally } = t;
	await showTake(t, 0);
	await step(t, "B1 append with the first role", () => menu(page, "The take", "Add an entry"),
		(after) => texts(after).length === 7 && entriesOf(after)[6].role === "User");
	await step(t, "B1 append the typed text", async () => {
		await page.fill("#composer", "written below");
		await page.press("#composer", "Control+Enter");
	}, (after) => texts(after)[7] === "written below");
	await step(t, "B5 add a role", async () => {
		await menu(page, "The take", "Roles");
		await page.fill("dialog input", "Architect");
		await page.locator("dialog").getByRole("button", { name: "Add" }).click();
		await page.waitForSelector("dialog >> text=Architect");
		await page.keyboard.press("Escape");
	}, (after) => JSON.parse(after).roles.includes("Architect"));
	await step(t, "B5 remove a role", async () => {
		await menu(page, "The take", "Roles");
		await page.getByRole("button", { name: "Remove Architect" }).click();
		await until(async () => !(await page.getByRole("button", { name: "Remove Architect" }).count()));
		await page.keyboard.press("Escape");
	}, (after) => !(JSON.parse(after).roles ?? []).includes("Architect"));
	await page.selectOption(".role-filter", "System");
	tally.check("B9 only a role and User", await until(async () =>
		(await page.locator(".entry .role-picker").evaluateAll((all) => all.every((each) => /^(System|User)$/.test(each.value))))));
	await page.selectOption(".role-filter", "");
	await step(t, "B10 truncate", async () => {
		await menu(page, "The take", "Truncate");
		await answer(page, "1");
	}, (after, before) => texts(after).length < texts(before).length);
	await step(t, "B3 clear", () => menu(page, "The take", "Clear"), (after) => texts(after).length === 0);
	await page.click("#undo");
	await page.waitForSelector(".entry");
	await step(t, "rename a take", async () => {
		await menu(page, "The take", "Rename");
		await answer(page, "best");
	}, (after) => after.includes('"best"'));
	await showTake(t, 1);
	await step(t, "delete a take", () => menu(page, "The take", "Delete the take"),
		(after, before) => JSON.parse(after).discussions[0].takes.length === JSON.parse(before).discussions[0].takes.length - 1);
	await showTake(t, 1);
	await step(t, "B8 promote", async () => {
		await menu(page, "The take", "Make it a discussion");
		await answer(page, "promoted");
		await page.waitForSelector("nav >> text=promoted");
	}, (after) => JSON.parse(after).discussions.length === 2);
}

async function discussionOperations(t) {
	const { page, server, tally } = t;
	await step(t, "a new discussion", async () => {
		await page.getByRole("button", { name: "New discussion" }).click();
		await page.locator("nav li.open .name", { hasText: "New discussion" }).waitFor();
	}, (after) => after.includes('"discussion-2"'));
	await step(t, "B7 rename a discussion", async () => {
		await menu(page, "More for New discussion", "Rename");
		await answer(page, "renamed");
		await page.waitForSelector("nav >> text=renamed");
	}, (after) => JSON.parse(after).active === "renamed");
	await step(t, "B7 delete a discussion", async () => {
		await menu(page, "More for renamed", "Delete");
		await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
	}, (after) => !after.includes('"renamed"'));
	await page.locator("nav [data-disc=d1]").click();
	tally.check("B6 the other discussion", await until(async () =>
		JSON.parse(await server.canonical()).active === "main" &&
		(await page.locator(".top .where").textContent()) === "written below"));
	const kept = await server.canonical();
	await page.keyboard.press("Control+s");
	tally.check("B4 save says that all is on disk", await until(async () =>
		(await page.locator(".toast").allInnerTexts()).join().includes("Everything is already saved")));
	await page.reload();
	await page.waitForSelector(".entry");
	tally.equal("B4 everything is stored, and reading changes nothing", await server.canonical(), kept);
}

/** C13: the conclusion of another take becomes an entry that links to its sources. */
async function mergeTake(t) {
	const { page, server, tally } = t;
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	for (const [role, content] of TALK)
		await server.op("entry.append", { role, content });
	const ids = texts(await server.canonical()).length;
	await server.op("take.branch", { at: ":1", name: "aside" });
	// another reply would share the tab
	await server.op("entry.append", { role: "User", content: "SQLite is enough" });
	await page.locator(".take-bar [role=tab]", { hasText: "aside" }).waitFor();
	await page.locator(".take-bar [role=tab]").first().click();
	await hasSize(page, ids);
	await step(t, "C13 merge a take", async () => {
		await menu(page, "The take", "Merge a take");
		await page.locator(".entry", { hasText: "SQLite is enough" }).waitFor();
	}, (after) => after.includes('"from_take":"aside"'));
	await page.getByRole("button", { name: "from “aside”" }).click();
	tally.check("its sources are a click away", await until(async () => /aside/.test(await page.locator(".take-bar [role=tab][aria-selected=true]").innerText())));
	await page.locator(".take-bar [role=tab]").first().click();
	await hasSize(page, ids + 1);
}

/** Pins, tags and the archive, in the list on the left. */
async function listing(t) {
	const { page, server, tally } = t, rows = page.locator(".discussions button.name"), names = () => rows.allInnerTexts();
	await server.op("discussion.new", { name: "organised" });
	await page.locator(".discussions button.name", { hasText: "organised" }).waitFor();
	await menu(page, "More for organised", "Tags");
	await answer(page, "work/db, urgent");
	await page.locator(".discussions .tags button", { hasText: "work" }).click();
	tally.check("C7 filtered by a tag", await until(async () => (await names()).length === 1 && (await names())[0].includes("organised")));
	await page.locator(".discussions .tags button[aria-pressed=true]", { hasText: /^#work$/ }).click();
	await menu(page, "More for organised", "Pin");
	tally.check("C7 pinned", await until(async () => (await page.locator(".discussions h3").first().innerText()) === "Pinned" && (await names())[0].includes("organised")));
	await menu(page, "More for organised", "Archive");
	await page.getByRole("button", { name: "Archived (1)" }).waitFor();
	await rows.filter({ hasNotText: "organised" }).first().click();
	tally.check("C7 archived: hidden", await until(async () => !(await names()).some((each) => each.includes("organised"))));
	await page.getByRole("button", { name: "Archived (1)" }).click();
	tally.check("C7 archived: shown on request", await until(async () => (await names()).some((each) => each.includes("organised"))));
	await page.getByRole("button", { name: "Archived (1)" }).click();
	tally.equal("in the store", JSON.stringify((await server.api("GET", "/discussions")).find((each) => each.name === "organised").tags), '["work/db","urgent"]');
}

async function compress(t) {
	const { page, server } = t;
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	for (const [role, content] of TALK)
		await server.op("entry.append", { role, content: content + " and so on, at some length".repeat(20) });
	await page.waitForSelector("#ask");
	await step(t, "B11 compress", async () => {
		await menu(page, "The take", "Compress");
		await answer(page, "");
		await until(async () => !(await page.locator(".running").count()));
	}, (after, before) => texts(after).length < texts(before).length);
}

export async function run({ server, browser, tally }) {
	await server.start();
	for (const [role, content] of TALK)
		await server.op("entry.append", { role, content });
	const page = await openPage(server, browser, tally);
	await page.waitForSelector(".entry");
	const t = { server, page, tally };
	await entryOperations(t);
	await views(t);
	await takeOperations(t);
	await discussionOperations(t);
	await mergeTake(t);
	await compress(t);
	await listing(t);
	await page.context().close();
}
