// SPDX-License-Identifier: MIT
//
// The example of seed 3 in the page: user and model write a prompt together; the user edits it; the
// model is notified, and receives the current prompt. Requests are checked at the model's server.
// The same, request by request, is in src/chat/prompt_test.c.
import { modelServer } from "./models.mjs";
import { openPage, until } from "./place.mjs";

const SYSTEM = "You help users create images... (system prompt)";
const FIRST = "a tabby cat wearing a wizard hat, fantasy style";
const EDITED = "a tabby cat wearing a sparkly wizard hat, fantasy style";
const REPLIES = ["A cat in a hat! Let me ask...", "Purple it is."];
const GOT_IT = `Got it! Here's what I have:\n\nPrompt: ${FIRST}`;

/** Gives the next scripted reply, and records the request. */
async function model() {
	const sent = [];
	const { host } = await modelServer("cat", ({ body, say, end }) => {
		const content = REPLIES[sent.length] ?? "Yes.";
		sent.push(body);
		for (const piece of content.match(/.{1,7}/gs))
			say(piece);
		end();
	});
	return { sent, host };
}

const said = (request) => request?.messages.map((each) => `[${each.role}] ${each.content}`);

export async function run({ server, browser, tally }) {
	const cat = await model();
	server.env.OLLAMA_HOST = cat.host;
	await server.start();
	const page = await openPage(server, browser, tally);
	const disc = async () => JSON.parse(await server.canonical()).discussions[0];
	const talk = async () => ((await disc()).takes[0].entries ?? []).map((each) => `[${each.role}] ${each.content}`);
	const becomes = async (name, look, wanted) => {
		let got;
		await until(async () => JSON.stringify(got = await look()) === JSON.stringify(wanted));
		tally.equal(name, JSON.stringify(got), JSON.stringify(wanted));
	};
	const mark = page.locator("#pane .chip", { hasText: "edited" });
	const tell = page.getByRole("button", { name: "Notify the model" });
	const ask = async (text, replies) => {
		await page.fill("#composer", text);
		await page.click("#ask");
		await until(async () => cat.sent.length === replies && !(await page.locator(".running").count()));
	};

	// sets the model and the system prompt in the page
	await page.locator(".composer .model").click();
	await page.fill("dialog input", "ollama/cat");
	await page.press("dialog input", "Enter");
	await page.locator("#ask").waitFor();
	await page.getByRole("button", { name: "Panes", exact: true }).click();
	await page.locator("#pane-tab-prompt").click();
	await page.fill("#project_system_prompt", SYSTEM);
	await page.press("#project_system_prompt", "Control+Enter");
	await becomes("the system prompt", async () => JSON.parse(await server.canonical()).settings.project_system_prompt, SYSTEM);

	await ask("I want a cat in a hat", 1);
	await becomes("the first reply", talk, ["[User] I want a cat in a hat", `[AI] ${REPLIES[0]}`]);
	await becomes("what was sent for it: no prompt yet", () => said(cat.sent[0]), [`[system] ${SYSTEM}`, "[user] I want a cat in a hat"]);

	// AddAssistantMessage(content, prompt): the program around the model gives both
	await page.fill("#composer", "Make it a tabby cat with a wizard hat");
	await page.click("#add");
	await until(async () => (await talk()).length === 3);
	await server.op("entry.append", { role: "AI", content: GOT_IT, prompt: FIRST });
	await becomes("the prompt is the model's", () => page.inputValue("#working-prompt"), FIRST);
	await page.getByText("Got it!").first().waitFor();
	tally.equal("and not edited", await mark.count(), 0);
	tally.check("so there is nothing to tell", await tell.isDisabled());
	const before = await server.canonical();

	// UpdatePrompt
	await page.fill("#working-prompt", EDITED);
	await page.press("#working-prompt", "Control+Enter");
	await mark.waitFor();
	await becomes("it is edited", async () => (await disc()).prompt, { edited: true, text: EDITED });
	const edited = await server.canonical();
	await page.click("#undo");
	await becomes("undo takes text and mark back", () => server.canonical(), before);
	await becomes("here, too", () => page.inputValue("#working-prompt"), FIRST);
	tally.check("the mark is gone", await until(async () => (await mark.count()) === 0));
	await page.click("#redo");
	await becomes("redo", () => server.canonical(), edited);
	await mark.waitFor();

	// NotifyPromptEdited, and the next request
	await tell.click();
	await becomes("the notice", async () => (await talk()).at(-1), `[system] [user edited prompt to: "${EDITED}"]`);
	tally.check("the mark is cleared", await until(async () => (await mark.count()) === 0));
	tally.check("a second time does nothing", await tell.isDisabled());
	await ask("Now make the background purple", 2);
	await becomes("the whole request of the seed", () => said(cat.sent[1]), [
		`[system] ${SYSTEM}`, "[user] I want a cat in a hat", `[assistant] ${REPLIES[0]}`,
		"[user] Make it a tabby cat with a wizard hat", `[assistant] ${GOT_IT}`,
		`[system] [user edited prompt to: "${EDITED}"]`, "[user] Now make the background purple",
		`[system] [current prompt: "${EDITED}"]`,
	]);
	await becomes("what the page shows", () => page.locator(".entries .entry:not(.running)").count(), 7);

	// without the button: the next question notifies the model once
	await page.fill("#working-prompt", "a dog");
	await page.press("#working-prompt", "Control+Enter");
	await mark.waitFor();
	await ask("And now?", 3);
	await becomes("told before the question", () => said(cat.sent[2])?.slice(-3),
		['[system] [user edited prompt to: "a dog"]', "[user] And now?", '[system] [current prompt: "a dog"]']);
	tally.check("the mark is cleared by that", await until(async () => (await mark.count()) === 0));
	await ask("Still?", 4);
	tally.equal("and not told twice", said(cat.sent[3]).filter((each) => each.includes('prompt to: "a dog"')).length, 1);
	await becomes("the prompt goes with every request", () => said(cat.sent[3]).at(-1), '[system] [current prompt: "a dog"]');

	// setting it to the same text is not an edit; another discussion has a separate one
	await page.fill("#working-prompt", "a dog ");
	await page.fill("#working-prompt", "a dog");
	tally.check("nothing to save", await page.locator("#pane .field", { has: page.locator("#working-prompt") }).getByRole("button", { name: "Save" }).count() === 0);
	await page.getByRole("button", { name: "New discussion" }).click();
	await becomes("another discussion has none", () => page.inputValue("#working-prompt"), "");
	await page.context().close();
}
