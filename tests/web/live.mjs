// SPDX-License-Identifier: MIT
//
// Two windows: each shows the other's changes, and neither follows the other's switches.
import { choose, onTheWay, openPage, until } from "./place.mjs";

const shown = (page) => page.locator(".entry .entry-body").allTextContents();

export async function run({ server, browser, tally }) {
	await server.start();
	for (const [role, content] of [["User", "one"], ["AI", "two"], ["User", "three"]])
		await server.op("entry.append", { role, content });
	const a = await openPage(server, browser, tally), b = await openPage(server, browser, tally);
	await a.waitForSelector(".entry");
	await b.waitForSelector(".entry");

	await choose(a.locator(".entry").nth(1));
	await a.keyboard.press("e");
	await a.fill(".editor textarea", "two, edited");
	await a.keyboard.press("Control+Enter");
	tally.check("an edit is seen", await until(async () => (await shown(b))[1] === "two, edited"), await shown(b));
	tally.check("and said", await until(async () => /edited an entry/.test(await b.locator(".news").textContent())));
	tally.equal("own changes are not news", await a.locator(".news").textContent(), "");

	await choose(a.locator(".entry").nth(0));
	await a.keyboard.press("d");
	tally.check("so is a deletion", await until(async () => (await shown(b)).length === 2));
	tally.check("the message names the change", await until(async () =>
		(await a.locator(".toast").allTextContents()).join().includes("Deleted an entry")));
	await a.getByRole("button", { name: "Undo" }).last().click();
	tally.check("and its undo", await until(async () => (await shown(b)).length === 3 && (await shown(a)).length === 3));
	tally.check("which is said in a sentence", await until(async () => (await b.locator(".news").textContent()) === "Another window undid a change"), await b.locator(".news").textContent());

	await choose(a.locator(".entry").nth(1));
	await a.keyboard.press("b");
	tally.check("a new take is listed", await until(async () => (await b.locator(".take-bar [role=tab]").count()) === 2));
	await b.fill("#composer", "four");
	await b.press("#composer", "Control+Enter");
	tally.check("and writes into its own take", await until(async () => (await shown(b)).length === 4));
	tally.equal("since the other window stays where it is", await b.locator(".take-bar [aria-selected=true]").getAttribute("data-take"), "t1");
	tally.equal("not into this one", (await shown(a)).length, 2);

	await a.keyboard.press("Control+k");
	await a.locator("#palette").fill("Import files");
	await a.keyboard.press("Enter");
	const two = ["Hi", "Ho"].map((text) => JSON.stringify({ messages: [{ role: "user", content: text }, { role: "assistant", content: text }] })).join("\n");
	await a.locator("dialog input[type=file]").setInputFiles({ name: "two.jsonl", mimeType: "text/plain", buffer: Buffer.from(two) });
	await a.locator("dialog").getByText("4 new entries").waitFor();
	await a.locator("dialog").getByRole("button", { name: "Import", exact: true }).click();
	tally.check("an import of two discussions is seen", await until(async () => await b.locator(".discussions .name").count() === 3));
	tally.check("and said to others", await until(async () => /imported/.test(await b.locator(".news").textContent())), await b.locator(".news").textContent());
	await a.locator(".toast").getByText("Imported 4 entries.").waitFor();
	await a.waitForTimeout(300); // rows of an import by this page arrive as events, too
	tally.check("but not to who did it", !/imported/.test(await a.locator(".news").textContent()), await a.locator(".news").textContent());
	await a.locator(".discussions [data-disc=d1]").click();
	await a.locator(".take-bar [role=tab]").nth(1).click();
	await until(async () => (await shown(a)).length === 2);

	let isLost = false;
	await b.route(/\/discussions\/d1\/takes/, onTheWay(async (route) => {
		await (isLost ? route.continue() : route.abort());
		isLost = true;
	}));
	await server.op("take.branch", { at: ":1", name: "despite a lost request" }, "?discussion=d1&take=t1");
	tally.check("a lost request is repeated", await until(async () => await b.locator(".take-bar [role=tab]", { hasText: "despite" }).count() === 1 && isLost));
	await b.unroute(/\/discussions\/d1\/takes/);
	await server.op("take.delete", { take: "despite a lost request" }, "?discussion=d1&take=t1");

	for (let i = 0; i < 30; i++)
		await server.op("entry.append", { role: "User", content: `burst ${i}` }, "?discussion=d1&take=t1");
	tally.check("many at once", await until(async () => (await b.locator(".entry").last().textContent()).includes("burst 29")));
	const page = await b.evaluate(() => [...document.querySelectorAll(".entry")].map((row) => Number(row.getAttribute("aria-posinset"))));
	tally.check("in order, without gaps", page.every((at, i) => i === 0 || at > page[i - 1]) && page[page.length - 1] === 34, page);

	// a window that was hidden for long catches up
	const hide = (value) => b.evaluate((state) => {
		Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
		document.dispatchEvent(new Event("visibilitychange"));
	}, value);
	await b.clock.install();
	await hide("hidden");
	await b.clock.runFor(61000);
	const seen = (await shown(b)).length;
	await server.op("entry.append", { role: "User", content: "while away" }, "?discussion=d1&take=t1");
	await a.waitForTimeout(400);
	tally.equal("it receives nothing while hidden", (await shown(b)).filter((text) => text.includes("while away")).length, 0);
	await b.clock.resume();
	await hide("visible");
	tally.check("and everything afterwards", await until(async () => (await shown(b)).some((text) => text.includes("while away"))), seen);

	await server.op("take.delete", { take: "t2" }, "?discussion=d1");
	tally.check("a take that is gone is left", await until(async () =>
		(await a.locator(".take-bar [aria-selected=true]").getAttribute("data-take")) === "t1"));
	await a.context().close();
	await b.context().close();
}
