// SPDX-License-Identifier: MIT
//
// Parts of an entry besides its text: code with its language and a copy button, folded long texts,
// tool calls with results in one row, records of agents in a line, the cost of a reply, the day.
// And a question that is rephrased and asked again.
import { choose, hasSize, openPage, sizeOf, until } from "./place.mjs";

const day = (n, more) => ({ timestamp: `2026-01-0${n}T09:00:00.000Z`, ...more });
let id = 0;
const record = (n, more) => JSON.stringify(day(n, { id: `aaaa${String(++id).padStart(4, "0")}`, parentId: id > 1 ? `aaaa${String(id - 1).padStart(4, "0")}` : null, ...more }));
const message = (n, role, content, more = {}) => record(n, { type: "message", message: { role, content, timestamp: 1, ...more } });
const text = (said) => [{ type: "text", text: said }];
const call = (name, given, at) => ({ type: "toolCall", id: at, name, arguments: given });
const result = (n, at, said, isError) => message(n, "toolResult", text(said), { toolCallId: at, toolName: "x", isError });

const OUTPUT = Array.from({ length: 120 }, (_, at) => `line ${at}`).join("\n");
const CODE = Array.from({ length: 60 }, (_, at) => `step_${at} = ${at}`).join("\n");

function session() {
	id = 0;
	return [
		JSON.stringify({ type: "session", version: 3, id: "s", cwd: "/x", ...day(1) }),
		record(1, { type: "model_change", provider: "anthropic", modelId: "claude-x" }),
		message(1, "user", text("List the files")),
		message(1, "assistant", [...text("I look."), call("bash", { command: "ls -la" }, "c1"), call("read", { path: "gone.c" }, "c2")],
			{ model: "claude-x", stopReason: "toolUse", usage: { input: 1200, output: 34, cacheRead: 5, cost: { total: 0.0123 } } }),
		result(1, "c1", OUTPUT, false),
		result(1, "c2", "ENOENT", true),
		message(2, "assistant", [call("bash", { command: "sleep" }, "c3")], { model: "claude-x", stopReason: "aborted", errorMessage: "Request was aborted." }),
		message(2, "user", text("word ".repeat(1200))),
		message(2, "assistant", text("Here:\n\n```python\n" + CODE + "\n```\n\n```\nplain\n```\n")),
	].join("\n") + "\n";
}

async function tools({ server, page, tally }) {
	const rows = page.locator("details.tool"), outcome = (at) => rows.nth(at).locator(".tool-outcome").innerText();
	await page.evaluate(() => { document.querySelector(".entries").scrollTop = 0; });
	await rows.first().waitFor();
	tally.equal("a change of the model is a line", await page.locator(".entry.is-event .event").first().innerText(), "model: anthropic/claude-x");
	tally.check("and nothing says that it is empty", !(await page.locator(".entry.is-event").first().innerText()).includes("Empty"));
	tally.check("a call is a row", /^bash\s+ls -la/.test((await rows.nth(0).innerText()).replaceAll("\n", " ")), await rows.nth(0).innerText());
	tally.equal("with how it ended", await outcome(0), "ok 969 characters");
	tally.equal("or failed", await outcome(1), "error 6 characters");
	tally.equal("or did not end", await outcome(2), "no result");
	tally.equal("results have no separate rows", await page.locator(".entry.is-tool:visible").count(), 0);
	const foot = await page.locator(".entry", { hasText: "I look." }).locator(".reply-foot").innerText();
	tally.equal("the cost of a reply", foot.replace(/\s+/g, " "), "claude-x 1,200 → 34 tokens $0.0123");
	await page.mouse.move(0, 0);
	const opacity = (of) => page.locator(".entry", { hasText: "I look." }).locator(`.reply-foot ${of}`).evaluate((each) => getComputedStyle(each).opacity);
	tally.equal("its model is always shown", await opacity("[title=Model]"), "1");
	tally.equal("the rest on hover", await opacity("[title=Cost]"), "0");
	tally.check("who stopped it", (await page.locator(".entry", { hasText: "Aborted:" }).innerText()).includes("Aborted: Request was aborted."));
	const days = page.locator(".day");
	tally.check("each day has a line", await days.count() === 2 && /1/.test(await days.nth(0).innerText()) && /2/.test(await days.nth(1).innerText()), await days.allInnerTexts());
	await rows.nth(0).locator("summary").click();
	const shown = rows.nth(0).locator("pre.code").last();
	// the result is rendered after the row has opened
	tally.check("it expands to arguments and result", await until(async () => (await rows.nth(0).innerText()).includes('"command": "ls -la"') && (await shown.innerText()).includes("line 119")));
	tally.check("long output is folded", await shown.evaluate((each) => each.scrollHeight > each.clientHeight + 100));
	await rows.nth(0).getByRole("button", { name: "Show all 120 lines" }).click();
	tally.check("and unfolds", await shown.evaluate((each) => each.scrollHeight <= each.clientHeight + 1));
	await choose(page.locator(".entry", { hasText: "I look." }));
	await page.keyboard.press("ArrowDown");
	tally.check("the keys lead to a result", await until(async () => (await page.locator(".entry.is-tool:visible").count()) === 1));
}

async function codes({ page, tally }) {
	const copied = () => page.evaluate(() => navigator.clipboard.readText());
	await page.evaluate(() => { const list = document.querySelector(".entries"); list.scrollTop = list.scrollHeight; });
	const box = page.locator(".prose .code-box").first();
	await box.waitFor();
	tally.equal("code says what it is", await box.locator(".code-name").innerText(), "python");
	tally.check("and is copied, without its fences", await until(async () => {
		await box.getByRole("button", { name: "Copy the code, python" }).click(); // again if the list was still scrolling
		return (await copied()).trim() === CODE;
	}), (await copied()).slice(0, 80));
	tally.equal("which the button says", await box.locator(".copy").innerText(), "Copied");
	tally.check("long code is folded", await box.locator("pre.folded").count() === 1);
	const last = page.locator(".entry").last();
	await last.hover();
	await last.getByRole("button", { name: /^Copy the text of entry/ }).first().click();
	tally.check("a message is copied as it was written", await until(async () => (await copied()).startsWith("Here:\n\n```python\n")), (await copied()).slice(0, 80));
	const long = page.locator(".entry", { hasText: "word word" }), lines = long.locator(".folded-text");
	tally.equal("what was pasted is folded", await lines.count(), 1);
	await long.getByRole("button", { name: /^Show all/ }).click();
	tally.equal("and unfolds", await lines.count(), 0);
}

const MATH = "Euler: $e^{i\\pi}+1=0$, $5 and $6.[^1]\n\n$$\n\\frac{1}{2}\n- x\n$$\n\nRefused: $\\nosuch{$ $\\href{javascript:alert(1)}{x}$ `$a$`\n\n- [x] done\n\n[^1]: Because of *it*.\n";

/** Math is MathML; formulas that the library rejects are shown as source; the library is loaded when there is
 * math. */
async function formulas({ server, browser, tally }) {
	await server.op("discussion.new", { name: "math" });
	await server.op("entry.append", { role: "User", content: "no math" });
	const page = await openPage(server, browser, tally), files = [];
	page.on("request", (request) => { if (request.url().includes("math_lib")) files.push(request.url()); });
	await page.locator(".entry").first().waitFor();
	tally.equal("no math, no library", files.length, 0);
	await server.op("entry.append", { role: "AI", content: MATH });
	const reply = page.locator(".entry").last();
	await reply.locator("math").first().waitFor();
	tally.equal("else it comes once", files.length, 1);
	tally.check("in a sentence", await reply.locator("p math").first().evaluate((each) => each.namespaceURI.endsWith("MathML") && each.querySelector("msup") !== null));
	tally.check("and as separate lines", await reply.locator(".formula.display math[display=block] mfrac").count() === 1 && await reply.locator("ul li", { hasText: "x" }).locator("math").count() === 0);
	tally.check("prices are none", (await reply.innerText()).includes("$5 and $6."));
	tally.equal("what is refused is text", (await reply.locator(".tex").allInnerTexts()).join(" "), "$\\nosuch{$ $\\href{javascript:alert(1)}{x}$");
	tally.equal("and leads nowhere", await reply.locator("a, math [href], [style*=url]").count(), 0);
	tally.equal("code stays code", await reply.locator("code").innerText(), "$a$");
	tally.check("a task has its box", await reply.locator("li.task input").isChecked());
	await reply.getByRole("button", { name: "Footnote 1" }).click();
	tally.check("a footnote is found", await page.evaluate(() => document.activeElement?.matches("li.footnote") && document.activeElement.textContent.includes("Because of it.")));
	await page.context().close();
}

/** In place at the end of the take, otherwise in a new take; one Undo reverts both steps. */
async function asksAgain({ server, browser, tally }) {
	await server.op("discussion.new", { name: "asked" });
	await server.op("setting.set", { key: "model", value: "builtin/echo" });
	for (const [role, content] of [["User", "What is a heap?"], ["AI", "A tree."], ["User", "And a stack?"]])
		await server.op("entry.append", { role, content });
	const page = await openPage(server, browser, tally), takes = page.locator(".take-bar [role=tab]");
	const edit = async (entry, said) => {
		await choose(entry);
		await page.keyboard.press("e");
		await page.locator(".editor textarea").fill(said);
		await page.getByRole("button", { name: "Save and ask again" }).click();
		await page.locator(".toast", { hasText: "Saved the message and asked again." }).waitFor();
	};
	await edit(page.locator(".entry").last(), "And a queue?");
	await hasSize(page, 4);
	tally.equal("the last question is changed in place", await takes.count(), 1);
	tally.check("and answered", /queue/.test(await page.locator(".entry").nth(2).innerText()) && /is-model/.test(await page.locator(".entry").nth(3).getAttribute("class")));
	await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
	await hasSize(page, 3);
	tally.check("one Undo reverts both", await until(async () => /stack/.test(await page.locator(".entry").nth(2).innerText())), await page.locator(".entry").nth(2).innerText());
	await edit(page.locator(".entry").first(), "What is a trie?");
	await hasSize(page, 2);
	tally.equal("one that others follow begins a take", await takes.count(), 2);
	await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
	tally.check("which one Undo takes away", await until(async () => await takes.count() === 1 && await sizeOf(page) === 3), await takes.count());
	await choose(page.locator(".entry").nth(1));
	await page.keyboard.press("e");
	tally.equal("a reply is not asked again by its editor", await page.getByRole("button", { name: "Save and ask again" }).count(), 0);
	await page.context().close();
}

export async function run({ server, browser, tally }) {
	await server.start();
	await fetch(`${server.url}/retake/v1/import`, {
		method: "POST", body: session(), headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" },
	});
	const page = await openPage(server, browser, tally, { permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 1280, height: 2000 } });
	await tools({ server, page, tally });
	await codes({ page, tally });
	await page.context().close();
	const phone = await openPage(server, browser, tally, { permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	await phone.locator(".entry").last().getByRole("button", { name: /^Copy the text of entry/ }).tap();
	tally.check("copying works by touch, too", await until(async () => (await phone.evaluate(() => navigator.clipboard.readText())).startsWith("Here:")));
	await phone.context().close();
	await formulas({ server, browser, tally });
	await asksAgain({ server, browser, tally });
}
