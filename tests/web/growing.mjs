// SPDX-License-Identifier: MIT
//
// Incremental rendering of a streaming reply: complete blocks keep their elements, new text appears
// at once after them, and the final result looks like the entry.
import { modelServer } from "./models.mjs";
import { openPage, until } from "./place.mjs";

const PIECES = [
	"# He", "ading\n\nSome **bo", "ld** and `co", "de` words.\n\n", "- one\n- two *th", "ree*\n\n```js\nconst a", " = 1;\nreturn a", ";\n```\n\n",
	"> quoted \u202e", "text\n\n| a | b |\n|---|---|\n| 1 | 2", " |\n\n[x](javascript:y) <b>raw</b> ünï 😀 ", "[here](https://example.org/) end.\n",
];

/** A model that sends each piece on request. */
async function pieceByPiece() {
	const state = { next: null, whole: PIECES };
	const { host } = await modelServer("m", async ({ say, end }) => {
		for (const piece of state.whole) {
			say(piece);
			if (state.whole === PIECES)
				await new Promise((done) => { state.next = done; });
		}
		await new Promise((done) => { state.next = done; });
		end();
	});
	return { state, host };
}

export async function run({ server, browser, tally }) {
	const model = await pieceByPiece();
	server.env.OLLAMA_HOST = model.host;
	await server.start();
	await server.op("setting.set", { key: "model", value: "ollama/m" });
	const page = await openPage(server, browser, tally);
	const renders = [];
	page.on("request", (request) => { if (request.url().endsWith("/render")) renders.push(request.postData().length); });
	await page.fill("#composer", "Write.");
	await page.press("#composer", "Control+Enter");
	const live = page.locator(".running .live"), html = () => live.innerHTML();
	const has = (selector) => until(async () => (await live.locator(selector).count()) > 0);
	const next = async (text) => {
		await until(() => model.state.next);
		const go = model.state.next;
		model.state.next = null;
		go();
		tally.check(`"${text}" is there`, await until(async () => (await live.textContent()).includes(text)), await live.textContent());
	};
	tally.check("a heading is one at once", await has(".prose h3.level-1"));
	await next("ading");
	tally.check("new text is appended in place", await until(async () => (await live.locator("h3").textContent()) === "Heading"), await html());
	await live.locator("h3").evaluate((heading) => { heading.dataset.mine = "1"; });
	await next("ld");
	tally.check("strong when it is complete", await has("strong"));
	await next("de");
	tally.check("and code", await has("p code"));
	await next("two");
	tally.check("a list", await has("ul li"));
	await next("const a");
	tally.check("code that is not complete is code", await has("pre.code"));
	await next("return a");
	tally.equal("whose lines continue where they stopped", (await live.locator("pre.code").textContent()).trim(), "const a = 1;\nreturn a");
	await next("return a;");
	tally.check("and that has its colours when it is complete", await has("pre.code .hl-keyword"));
	await next("quoted");
	tally.check("a character that changes others is shown", await has("blockquote .control"), await html());
	await next("2");
	tally.check("a table", await has("table td"));
	await next("raw");
	tally.check("raw HTML is text", await until(async () => (await live.textContent()).includes("<b>raw</b> ünï 😀")) && (await live.locator("b").count()) === 0);
	tally.equal("a link to a script is none", await live.locator("a").count(), 0);
	await next("end.");
	tally.check("a link", await has("a[href='https://example.org/']"));
	tally.equal("complete blocks keep their elements", await live.locator("h3").getAttribute("data-mine"), "1");
	const before = await until(async () => {
		const seen = await html();
		await page.waitForTimeout(200);
		return seen === await html() && seen;
	});
	const codeWidth = (where) => page.locator(`${where} .code-box`).last().evaluate((box) => box.offsetWidth);
	const liveWidth = await codeWidth(".running");
	model.state.next();
	model.state.next = null;
	await until(() => model.state.next);
	model.state.next();
	tally.check("the reply is an entry", await until(async () => !(await page.locator(".running").count()) && (await page.locator(".entry .prose table").count()) > 0));
	tally.equal("which looks the same", (await page.locator(".entry .prose").last().innerHTML()).replace(/ data-mine="1"/, ""), before.replace(/^<div class="prose"><div class="group">|<\/div><\/div>$/g, "").replace(/ data-mine="1"/, ""));

	tally.equal("with code as wide as before", await codeWidth(".entry"), liveWidth);

	// a long reply: only its end is rendered again
	renders.length = 0;
	model.state.next = null;
	model.state.whole = Array.from({ length: 4000 }, (_, i) => `Paragraph ${i} says *something* of ${i * i}.\n\n`);
	await page.fill("#composer", "At length.");
	await page.press("#composer", "Control+Enter");
	tally.check("a long reply is laid out to its end", await until(async () => (await live.locator("p").last().textContent()) === `Paragraph 3999 says something of ${3999 * 3999}.`));
	const all = () => page.evaluate(() => document.querySelectorAll("*").length);
	tally.check("and has few elements", await until(async () => (await all()) < 500), await all());
	const tall = () => page.evaluate(() => document.querySelector(".running").offsetHeight);
	const height = await tall();
	await page.evaluate(() => { document.querySelector(".entries").scrollTop = document.querySelector(".running").offsetHeight / 2; });
	tally.check("blocks that become visible are rendered again", await until(() => page.evaluate(() => {
		const box = document.querySelector(".entries").getBoundingClientRect();
		return /^Paragraph [12]\d\d\d /.test(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest("p")?.textContent ?? "");
	})));
	tally.check("as tall as it was", Math.abs((await tall()) - height) < 2, await tall(), height);
	tally.check("with few elements then", await until(async () => (await all()) < 500), await all());
	await page.evaluate(() => { const box = document.querySelector(".entries"); box.scrollTop = box.scrollHeight; });
	const size = model.state.whole.join("").length, sent = renders.reduce((sum, each) => sum + each, 0);
	tally.check("and each part is sent about once", sent < 2 * size, sent, size, renders.length);
	tally.check("it stays in view", await page.evaluate(() => { const box = document.querySelector(".entries"); return box.scrollHeight - box.scrollTop - box.clientHeight < 100; }));
	await until(() => model.state.next);
	model.state.next();
	tally.check("and ends", await until(async () => !(await page.locator(".running").count())));
	await page.context().close();
}
