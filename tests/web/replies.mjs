// SPDX-License-Identifier: MIT
//
// Replies that are stopped, undone while they arrive, or requested again.
import { createServer } from "node:http";
import { modelServer } from "./models.mjs";
import { choose, onTheWay, openPage, pick, Server, until } from "./place.mjs";

/** A complete reply at once, one that never ends, or one that never begins. last: the last request. */
async function soOn() {
	const state = { isEndless: true, isSilent: false, last: "" };
	const { host } = await modelServer("m", ({ body, say, end, gone }) => {
		state.last = JSON.stringify(body);
		if (state.isSilent)
			return;
		say("It was so.");
		if (!state.isEndless)
			return end();
		const timer = setInterval(() => say(" And so on."), 50);
		gone(() => clearInterval(timer));
	});
	return { state, host };
}

/** A server that returns this status until it may answer, and refuses connections when it is stopped. */
async function refusing() {
	const state = { status: 401 };
	const server = createServer(async (request, response) => {
		for await (const piece of request)
			void piece;
		if (state.status !== 200)
			return response.writeHead(state.status, { "Content-Type": "application/json" }).end('{"error":"rate limit of the test"}');
		response.writeHead(200, { "Content-Type": "application/x-ndjson" });
		response.end(JSON.stringify({ model: "m", message: { role: "assistant", content: "Here you are." }, done: true, done_reason: "stop" }) + "\n");
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	server.unref();
	return { state, host: `http://127.0.0.1:${server.address().port}` };
}

/** Each failure has a message and a retry button. */
async function failures(browser, tally) {
	const model = await refusing(), server = new Server();
	server.env.OLLAMA_HOST = model.host;
	try {
		await server.start();
		await server.op("setting.set", { key: "model", value: "ollama/m" });
		const page = await openPage(server, browser, tally);
		const contents = async () => (await server.api("GET", "/discussions/d1/entries")).entries.map((each) => each.content);
		const toast = page.locator(".toast.problem"), again = toast.getByRole("button", { name: "Try again" });
		const failure = page.locator(".entry .failure"), retry = failure.getByRole("button", { name: "Retry" });
		await page.fill("#composer", "Are you there?");
		await page.press("#composer", "Control+Enter");
		await failure.waitFor();
		tally.check("the question says why; a URL is not capitalised", (await failure.innerText()).startsWith("Not answered. " + model.host), await failure.innerText());
		tally.equal("401: a model can be chosen", await failure.getByRole("button", { name: "Choose a model" }).count(), 1);
		model.state.status = 400;
		await retry.click();
		await failure.getByText("(400").or(failure.getByText(" 400")).first().waitFor();
		tally.equal("or asked again, and again", await retry.count(), 1);
		tally.equal("once, and not beside the page", await toast.count(), 0);
		await page.reload();
		await retry.waitFor();
		model.state.status = 200;
		await retry.click();
		tally.check("until there is a reply", await until(async () => (await contents()).at(-1) === "Here you are."), await contents());
		tally.check("which ends the failure", await until(async () => (await failure.count()) === 0));
		tally.check("with how long it took", await until(async () => /^\d+(\.\d)? m?s$/.test(await page.locator(".reply-foot [title=Duration]").innerText())));
		tally.equal("to the question, which is there once", JSON.stringify(await contents()), '["Are you there?","Here you are."]');
		await page.route(/\/discussions\/d1\/runs$/, (route) => route.abort());
		await page.fill("#composer", "And now?");
		await page.press("#composer", "Control+Enter");
		await again.waitFor();
		tally.equal("without a network the text is back", await page.inputValue("#composer"), "And now?");
		await page.unroute(/\/discussions\/d1\/runs$/);
		await again.click();
		tally.check("and is sent by the button", await until(async () => (await contents()).slice(2).join() === "And now?,Here you are."), await contents());
		tally.equal("from the field", await page.inputValue("#composer"), "");
		await page.context().close();
	} finally {
		await server.stop();
	}
}

export async function run({ server, browser, tally }) {
	await failures(browser, tally);
	const model = await soOn();
	server.env.OLLAMA_HOST = model.host;
	await server.start();
	await server.op("setting.set", { key: "model", value: "ollama/m" });
	const page = await openPage(server, browser, tally);
	const entries = async (take = "t1") => (await server.api("GET", `/discussions/d1/entries?take=${take}`)).entries;
	const says = (words) => until(async () => (await page.locator(".toast").allInnerTexts()).join().includes(words));
	const toast = () => page.locator(".toast").allInnerTexts();
	const ask = page.locator("#ask"), running = page.locator(".running");
	const asked = async (text) => {
		await page.fill("#composer", text);
		await page.press("#composer", "Control+Enter");
		await running.locator(".live", { hasText: "And so on" }).waitFor();
	};
	const widths = new Set();
	const wide = async (text) => {
		tally.equal("the button says what it does", (await ask.innerText()).trim(), text);
		widths.add((await ask.boundingBox()).width);
	};

	await wide("Get a reply");
	await page.fill("#composer", "Tell me.");
	await wide("Ask");
	await asked("Tell me.");
	tally.equal("the button to stop names the key", await page.locator(".stop").getAttribute("title"), "Stop (Esc)");
	await page.keyboard.press("Escape");
	tally.check("Escape stops a reply", await until(async () => await running.count() === 0));
	tally.check("which is not a failure", await says("Stopped. The partial reply is kept."), await toast());
	tally.equal("nor looks like one", await page.locator(".toast.problem").count(), 0);
	tally.equal("it says where it ends", await page.locator(".entry .partial").innerText(), "Stopped here. Continue");
	tally.equal("the editor keeps the focus", await page.evaluate(() => document.activeElement.id), "composer");
	const stopped = (await entries())[1].content;
	await page.locator(".entry .partial").getByRole("button", { name: "Continue" }).click();
	await running.waitFor();
	tally.check("a reply that continues no longer says where it ended", await until(async () => !(await page.locator(".entry .partial").first().isVisible())));
	tally.check("the button beside it leaves the focus at the entry", await page.evaluate(() => document.activeElement.matches(".entry")));
	await page.locator(".stop").first().click();
	await running.waitFor({ state: "detached" });
	tally.check("and continues the reply", await until(async () => (await entries()).length === 2 && (await entries())[1].content.length > stopped.length), await entries());

	model.state.isSilent = true;
	await page.fill("#composer", "Never mind.");
	await page.press("#composer", "Control+Enter");
	await running.waitFor();
	await page.keyboard.press("Escape");
	const mark = page.locator(".entry .failure");
	tally.check("a question that was stopped before the first word says so", await until(async () => (await mark.allInnerTexts()).join().includes("Stopped before the reply began.")), await mark.allInnerTexts());
	tally.check("and has the code of it", (await entries()).at(-1).failure?.code === "interrupted", (await entries()).at(-1));
	model.state.isSilent = false;
	await asked("Something else.");
	tally.check("it is not sent with the next one", !model.state.last.includes("Never mind.") && model.state.last.includes("Something else."), model.state.last);
	await page.keyboard.press("Escape");
	await until(async () => await running.count() === 0);
	await page.locator(".failure").getByRole("button", { name: "Retry" }).waitFor();
	await server.op("entry.delete", { from: ":3", to: `:${(await entries()).length}` });
	tally.check("back to the first reply", await until(async () => (await page.locator(".entry").count()) === 2));

	let refused;
	const theirs = await server.api("POST", "/discussions/d1/runs", { how: "continue" });
	await running.locator(".live", { hasText: "And so on" }).waitFor();
	await server.api("POST", "/discussions/d1/runs", { how: "continue" }).catch((error) => { refused = error.message; });
	tally.check("a reply that others continue is not continued twice", /\b409\b.*already being continued.*"hint":"follow it with GET/.test(refused ?? "") && refused.includes(theirs.run), refused);
	await page.locator(".entry").nth(1).getByRole("button", { name: /^More for entry/ }).click();
	await pick(page, "Continue this reply");
	tally.check("and the page says so", await says("This reply is already being continued."), await toast());
	tally.equal("which is not a failure of the model", await page.locator(".toast.problem").count(), 0);
	await page.keyboard.press("Escape");
	await running.waitFor({ state: "detached" });
	await page.focus("#composer");

	await wide("Continue");
	tally.equal("the button keeps its width", widths.size, 1);
	const before = (await entries())[1].content;
	await page.keyboard.press("Control+Enter");
	await running.waitFor();
	await page.keyboard.press("Escape");
	await running.waitFor({ state: "detached" });
	tally.check("it continues in the same entry", await until(async () => (await entries()).length === 2 && (await entries())[1].content.startsWith(before) &&
		(await entries())[1].content !== before), await entries());
	await page.keyboard.press("Control+z");
	tally.check("Ctrl+Z in the empty field undoes the last step", await says("Undone: "), await toast());
	tally.equal("and says so", (await entries())[1].content, before);
	await page.keyboard.press("Control+Shift+Z");
	tally.check("so does redo", await until(async () => (await entries())[1].content !== before));
	await page.keyboard.type("word");
	await page.keyboard.press("Control+z");
	tally.check("typed text is undone by the field itself", await until(async () => await page.inputValue("#composer") !== "word"));
	await page.keyboard.press("Control+z");
	tally.equal("and nothing else", (await entries())[1].content !== before && (await entries()).length, 2);

	await asked("And then?");
	await page.locator("#undo").click();
	tally.check("undo while it arrives stops it", await says("Stopped, and the question was undone."), await toast());
	tally.equal("and undoes the question with it", (await entries()).length, 2);
	tally.equal("that is not a failure", await page.locator(".toast.problem").count(), 0);
	await page.locator("#redo").click();
	await page.locator(".entry", { hasText: "And then?" }).waitFor();
	await page.locator("#undo").click();
	await page.locator(".entry", { hasText: "And then?" }).waitFor({ state: "detached" });

	const untouched = await entries();
	let release;
	const pressed = new Promise((done) => { release = done; });
	await page.route(/\/discussions\/d1\/runs$/, onTheWay(async (route) => {
		await pressed;
		await route.continue();
	}));
	await page.fill("#composer", "Too soon?");
	await page.press("#composer", "Control+Enter");
	await page.locator("#undo").click();
	await page.waitForTimeout(200); // an undo that does not wait would be finished by then
	release();
	tally.check("undo waits for a question that is on its way", await says("Stopped, and the question was undone."), await toast());
	tally.equal("and undoes only that", JSON.stringify(await entries()), JSON.stringify(untouched));
	await page.unroute(/\/discussions\/d1\/runs$/);

	await asked("And others?");
	await page.route("**/runs/*", onTheWay(async (route) => {
		await server.op("entry.append", { content: "from elsewhere", take: "t1" }, "?discussion=d1");
		await route.continue();
	}));
	await page.locator("#undo").click();
	tally.check("changes by others are kept", await says("There were other changes in the meantime"), await toast());
	tally.check("and so does the question", await until(async () => /And others.*from elsewhere|from elsewhere.*And others/.test(
		(await entries()).map((each) => each.content).join(" "))), await entries());
	await page.unroute("**/runs/*");
	await server.op("entry.delete", { from: ":3", to: `:${(await entries()).length}`, take: "t1" }, "?discussion=d1");
	tally.check("only the first two are left", await until(async () => (await page.locator(".entry").count()) === 2), await entries());

	model.state.isEndless = false;
	await choose(page.locator(".entry").nth(1));
	await page.keyboard.press("g");
	const tabs = page.locator(".take-bar [role=tab]");
	tally.check("another reply says where the one before is", await says("This is another reply. The arrows ‹ › above it lead to the others; all are kept."), await toast());
	await page.getByRole("button", { name: "Previous reply" }).click();
	tally.check("and leads back to it", await until(async () => await tabs.first().getAttribute("aria-selected") === "true" && (await page.locator(".entry").nth(1).innerText()).includes("Stopped here")));
	tally.equal("both share a tab", await tabs.count(), 1);
	tally.check("which shows the position", await until(async () => await tabs.first().locator(".replies").innerText() === "reply 1/2"), await tabs.allInnerTexts());
	tally.equal("the arrow names the other reply", await page.getByRole("button", { name: "Next alternative" }).getAttribute("title"), "“…so.”");
	await page.getByRole("button", { name: "Next alternative" }).click();
	await page.locator(".entry", { hasText: "It was so." }).waitFor();
	await page.locator("#undo").click();
	tally.check("undo takes it away", await until(async () => await tabs.count() === 1));
	await page.context().close();
}
