// SPDX-License-Identifier: MIT
//
// Findings of trials with newcomers: deleted discussions, the order of the list, dropped files, imports,
// search, models, the comparison, a phone. SHOTS=FOLDER saves screenshots.
import { join } from "node:path";
import { openBrowser, openPage, pick, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server();
await server.run(["set", "model", "builtin/echo"]);
await server.start("0");
await server.op("entry.append", { content: "The first discussion" });
for (const name of ["Bread", "Holiday"]) {
	await server.op("discussion.new", { name });
	await server.op("entry.append", { content: `About ${name}` });
}
const browser = await openBrowser();
const page = await openPage(server, browser, tally);
const field = page.locator("#composer"), toast = page.locator(".toast");
const look = (name) => process.env.SHOTS && page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
const names = () => page.locator(".discussions [data-disc] .title, .discussions [data-disc] .cut").allInnerTexts();
const sidebar = page.getByRole("navigation", { name: "Discussions" });

// a draft does not move a discussion in the list
await page.locator("[data-disc=d2]").click();
await page.locator(".entry", { hasText: "About Bread" }).waitFor();
await field.fill("A thought about bread");
tally.check("the draft is stored", await until(async () => (await server.api("GET", "/discussions/d2/settings")).settings.draft === "A thought about bread"));
await server.op("entry.append", { content: "Another first entry" }, "?discussion=d1");
tally.check("the order is that of the changes", await until(async () => (await names())[0].includes("The first")), await names());
tally.equal("a draft does not change it", (await names()).map((each) => each.split(" ")[0]).join(), "The,Holiday,Bread");

// a deleted discussion is restored from the list
await page.locator("[data-disc=d1]").click();
await sidebar.getByRole("button", { name: "More for Bread" }).click();
await pick(page, "Delete …");
await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
await until(async () => (await names()).length === 2);
await server.op("entry.append", { content: "A change after it" });
await sidebar.getByRole("button", { name: "Deleted", exact: true }).click();
await sidebar.getByRole("button", { name: "Restore Bread" }).waitFor();
await look("deleted");
await sidebar.getByRole("button", { name: "Restore Bread" }).click();
tally.check("it exists again", await until(async () => (await server.api("GET", "/discussions")).some((each) => each.name === "Bread")));
tally.check("and is open", await until(async () => (await page.locator(".entry-body").allInnerTexts()).join().includes("About Bread")));
tally.check("the list is empty now", await until(async () => (await sidebar.innerText()).includes("No deleted discussions")));
await sidebar.getByRole("button", { name: "Deleted", exact: true }).click();
tally.check("the discussions are listed again", await until(async () => (await names()).length === 3), await names());

// undo names the step
await field.fill("");
await server.op("entry.edit", { entry: ":1", content: "About rye bread" }, "?discussion=d2");
await page.locator(".entry", { hasText: "About rye bread" }).waitFor();
await page.locator("#undo").click();
tally.check("undo names the entry", await until(async () => (await toast.innerText().catch(() => "")).includes("Undone: edited an entry “About rye bread”.")), await toast.allInnerTexts());

// dropped files: an exported conversation is offered for import, other files are attached
const drop = (...files) => page.evaluate((given) => {
	const carried = new DataTransfer();
	for (const [name, type, text] of given)
		carried.items.add(new File([text], name, { type }));
	document.querySelector("#take").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
}, files);
const talk = (text) => JSON.stringify([{ role: "user", content: text }, { role: "assistant", content: `A reply to ${text}` }]);
const attached = page.getByRole("list", { name: "Attached files" }), dialog = page.getByRole("dialog");
await drop(["notes.txt", "text/plain", "Some notes about bread"], ["dot.png", "image/png", "not really"]);
tally.check("files are attached", await until(async () => /notes\.txt/.test(await attached.innerText().catch(() => "")) && /dot\.png/.test(await attached.innerText())), await attached.allInnerTexts());
tally.equal("and not offered for import", await dialog.count(), 0);
await drop(["talk.json", "application/json", talk("the first talk")]);
await dialog.getByText("2 new entries").waitFor();
await look("dropped");
await dialog.getByRole("button", { name: "Attach to the message instead" }).click();
tally.check("it can be attached as well", await until(async () => /talk\.json/.test(await attached.innerText().catch(() => ""))));
while (await attached.count() > 0)
	await attached.getByRole("button", { name: /^Remove/ }).first().click();

// the import of several files has one Undo
const before = (await server.api("GET", "/discussions")).length;
await drop(["one.json", "application/json", talk("a lighthouse")], ["two.json", "application/json", talk("a lighthouse keeper")]);
await dialog.getByRole("button", { name: "Import 2 files" }).click();
await toast.filter({ hasText: "Imported 4 entries from 2 files." }).waitFor();
tally.equal("both are imported", (await server.api("GET", "/discussions")).length, before + 2);
await toast.getByRole("button", { name: "Undo all" }).click();
tally.check("and both undone", await until(async () => (await server.api("GET", "/discussions")).length === before), (await server.api("GET", "/discussions")).length);
await page.locator("#redo").click();
await page.locator("#redo").click();
await until(async () => (await server.api("GET", "/discussions")).length === before + 2);

// search: grouped by discussion, with times to choose
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("lighthouse");
const groups = page.locator(".palette-group");
tally.check("a group for each discussion", await until(async () => (await groups.allInnerTexts()).filter((each) => /^In “/.test(each)).length === 2), await groups.allInnerTexts());
await page.getByRole("button", { name: "Last week" }).click();
tally.equal("a time is added", await page.locator("#palette").inputValue(), 'lighthouse after:"last week" before:"this week"');
tally.check("nothing is that old", await until(async () => (await groups.allInnerTexts()).every((each) => !/^In “/.test(each))));
await page.getByRole("button", { name: "Today" }).click();
tally.equal("another replaces it", await page.locator("#palette").inputValue(), "lighthouse after:today");
await look("search");
await page.keyboard.press("Escape");

// a model that would be refused is not offered
await page.locator("#to-model").click();
await page.getByRole("combobox", { name: "Find a model" }).fill("gpt-9");
tally.check("an unknown model is explained", await until(async () => /No match/.test(await dialog.innerText())), await dialog.innerText());
tally.equal("and not offered", await dialog.getByRole("option", { name: /^Use / }).count(), 0);
await look("no-model");
await page.keyboard.press("Escape");

// the comparison: one take is kept
await page.locator("[data-disc=d1]").click();
await page.locator(".entry", { hasText: "The first discussion" }).waitFor();
const { id } = (await server.api("GET", "/discussions/d1/entries")).entries[0];
await server.op("take.branch", { at: id, name: "other" }, "?discussion=d1");
await server.op("entry.append", { content: "Only in the other take" }, "?discussion=d1");
await page.locator(".tab", { hasText: "other" }).waitFor();
await page.getByRole("button", { name: "Compare", exact: true }).click();
await look("compare");
await dialog.getByRole("button", { name: "Keep only this one: other" }).click();
tally.check("the other take is deleted", await until(async () => (await server.api("GET", "/discussions/d1/takes")).map((each) => each.name).join() === "other"));
tally.check("and this one is open", await until(async () => (await page.locator(".entry-body").allInnerTexts()).join().includes("Only in the other take")));
await toast.getByRole("button", { name: "Undo" }).click();
tally.check("undo restores it", await until(async () => (await server.api("GET", "/discussions/d1/takes")).length === 2));

// buttons are called by the role and the first words of their entry; the notice of a branch names the kept take
await page.locator(".entry").first().getByRole("button", { name: "More for entry 1, User: The first discussion" }).click();
await pick(page, "Branch here");
tally.check("a branch says what is kept", await until(async () => (await toast.innerText().catch(() => "")).includes("The tab “main” has the previous one, unchanged.")), await toast.allInnerTexts());
await toast.getByRole("button", { name: "Undo" }).click();
await until(async () => (await page.locator(".take-bar [role=tab]").count()) === 2);

// the comparison shows what the replies are to
await page.getByRole("button", { name: "Compare", exact: true }).click();
tally.check("the last common entry", await until(async () => (await dialog.innerText()).includes("Both begin with the same entry, up to User: “The first discussion”.")), await dialog.allInnerTexts());
await page.keyboard.press("Escape");

// the import names well-known programs first
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("import files");
await page.keyboard.press("Enter");
tally.check("well-known programs come first", await until(async () => /Choose files …\s+ChatGPT, Claude.ai, Open WebUI/.test(await dialog.innerText().catch(() => ""))), await dialog.allInnerTexts());
await page.keyboard.press("Escape");

// a discussion is exported from the list; the export says what it leaves out
await sidebar.getByRole("button", { name: "More for The first discussion" }).click();
await pick(page, "Export …");
tally.check("the other take is not in the file", await until(async () => (await dialog.innerText().catch(() => "")).includes("The other take is not included.")), await dialog.allInnerTexts());
await dialog.getByLabel("Content", { exact: true }).selectOption("discussion");
tally.check("all takes are", !(await dialog.innerText()).includes("not included"));
await page.keyboard.press("Escape");

// a new discussion has a name of words, and a button with a name of words
await sidebar.getByRole("button", { name: "New discussion" }).filter({ hasText: "New" }).click();
tally.check("a new discussion", await until(async () => (await names())[0].startsWith("New discussion")), await names());
await page.locator(".discussions .open .name", { hasText: "New discussion" }).waitFor();
const ask = page.locator("#ask"), open = () => page.locator(".discussions .open .name").getAttribute("data-disc"), made = await open(), count = (await names()).length;
tally.check("it has no entry to answer", await until(() => ask.isDisabled()) && /no entry to answer/.test(await ask.getAttribute("title")));
await page.locator("[data-disc=d1]").click();
await page.locator(".entry", { hasText: "The first discussion" }).waitFor();
await page.goBack();
tally.check("Back returns to the previous discussion", await until(async () => await open() === made), await open());
await page.goForward();
tally.check("and Forward to the next one", await until(async () => await open() === "d1"), await open());
await page.locator(".entry", { hasText: "The first discussion" }).waitFor();
await sidebar.getByRole("button", { name: "New discussion", exact: true }).click();
tally.check("an unused discussion is opened instead of another new one", await until(async () => await open() === made) && (await names()).length === count, [await open(), made, count, await names()]);
await page.locator("#undo").click();
tally.check("undo names the discussion", await until(async () => (await toast.innerText().catch(() => "")).includes("Undone: started the discussion “New discussion”.")), await toast.allInnerTexts());
await page.locator("[data-disc=d1]").click();
await page.locator(".entry", { hasText: "The first discussion" }).waitFor();

// the mark of the head is visible in a row with many marks
const deep = [{ op: "discussion.new", name: "deep" }];
for (let n = 0; n < 5; n++)
	deep.push({ op: "entry.append", id: `x${n}`, role: "A rather long role", content: `Entry ${n} with a text` }, { op: "entry.append", id: `y${n}`, role: "AI", content: "Another one" },
		{ op: "take.branch", at: `x${n}`, name: `a-long-name-${n}` });
deep.push({ op: "entry.append", id: "end", role: "A rather long role", content: "The last text of this take" }, { op: "label.set", entry: "end", label: "a-long-label" }, { op: "entry.mute", entry: "end" },
	...[1, 2, 3].map((n) => ({ op: "take.branch", at: "end", name: `ends-here-${n}` })));
await server.api("POST", "/batch", { ops: deep });
await page.locator(".discussions .name", { hasText: "deep" }).click();
await page.locator("[data-entry=end]").first().waitFor();
await page.getByRole("button", { name: "Panes", exact: true }).click();
await page.locator("#pane-tab-outline").click();
const here = page.locator("#pane .here");
await here.waitFor();
tally.check("the mark is not clipped", await here.evaluate((mark) => {
	const box = mark.getBoundingClientRect(), pane = mark.closest(".pane-rows"), text = document.createRange();
	text.selectNodeContents(mark);
	const words = text.getBoundingClientRect();
	return words.right <= pane.getBoundingClientRect().right && pane.scrollWidth <= pane.clientWidth && [words.left + 1, words.right - 1].every((x) => document.elementFromPoint(x, (box.top + box.bottom) / 2) === mark);
}));
await look("outline");

// nor do the buttons of the takes and of the entry leave their room
tally.equal("buttons of the takes that overlap", await page.evaluate(() => {
	const all = [...document.querySelectorAll(".take-bar > :is(button, select, .more-takes)")].map((each) => each.getBoundingClientRect()).filter((box) => box.width > 0);
	return all.some((box, at) => at > 0 && box.left < all[at - 1].right - 1);
}), false);
await page.locator(".entry[data-entry=end]").hover();
tally.check("the menu of an entry with many marks is visible", await until(() => page.evaluate(() => {
	const head = document.querySelector(".entry[data-entry=end] > .entry-head");
	return head.querySelector(".acts") && head.querySelector(":scope > button.menu").getBoundingClientRect().right <= document.querySelector(".middle").getBoundingClientRect().right;
})));

// rarely used settings are under "Advanced", which says when some are set
await page.locator("#pane-tab-settings").click();
const advanced = page.locator("#pane details.advanced"), topP = page.getByLabel("Top p", { exact: true });
tally.check("the temperature is visible, top p is not", await page.locator("#pane").getByLabel("Temperature").isVisible() && !(await topP.isVisible()));
await server.op("setting.set", { key: "top_p", value: 0.5 });
tally.check("what is set is counted", await until(async () => await advanced.locator("summary").innerText() === "Advanced · 1 changed"), await advanced.locator("summary").innerText());
await page.keyboard.press("Control+k");
await page.locator("#palette").fill("set top p");
await page.locator(".palette-item", { hasText: "Set top p" }).click();
tally.check("the command opens it", await until(() => topP.isVisible()));
await look("advanced");
await page.locator("[data-disc=d1]").click();

// a small window: the header has one line
await page.setViewportSize({ width: 800, height: 600 });
tally.equal("buttons of the header that wrap", await page.evaluate(() => [...document.querySelectorAll("header.top button")].filter((each) => each.getBoundingClientRect().height > 32)
	.map((each) => each.innerText).join()), "");
tally.equal("the header fits", await page.evaluate(() => document.querySelector("header.top").scrollWidth - document.querySelector("header.top").clientWidth), 0);
await look("tablet");
await page.setViewportSize({ width: 1280, height: 800 });

// a phone: targets are large enough, and nothing is wider than the screen
await server.op("entry.append", { role: "AI", content: "```sh\nls\n```" }, "?discussion=d1");
const phone = await openPage(server, browser, tally, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true, colorScheme: "dark" });
const small = () => phone.evaluate(() => [...document.querySelectorAll("button:not(.link), select, input:not([type=checkbox])")].filter((each) => {
	const box = each.getBoundingClientRect();
	return box.width > 0 && (box.height < 44 || box.right > 390);
}).map((each) => each.getAttribute("aria-label") ?? each.innerText).join());
await phone.locator("pre.code").first().waitFor();
tally.equal("targets of the conversation", await small(), "");
await phone.locator(".search-button").click();
await phone.locator("#palette").fill("first");
await phone.locator(".palette-item").first().waitFor();
tally.equal("targets of the search", await small(), "");
await phone.keyboard.press("Escape");
await phone.locator("dialog").waitFor({ state: "detached" });
await phone.getByRole("button", { name: "More", exact: true }).click();
await phone.getByRole("menuitem", { name: "New discussion", exact: true }).click();
tally.check("a new discussion needs no drawer on a phone", await until(() => phone.title().then((title) => title.startsWith("New discussion"))), await phone.title());
tally.equal("no wider than the screen", await phone.evaluate(() => document.documentElement.scrollWidth), 390);

await browser.close();
await server.stop();
process.exit(tally.end());
