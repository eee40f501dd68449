// SPDX-License-Identifier: MIT
//
// Statistics in the page: the same counts as `retake stats --json`, by every grouping; the calendar
// with the keyboard and the pointer; ways to open it; wide and on a phone.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, pick, Server, Tally, until } from "./place.mjs";

const tally = new Tally(), server = new Server(), PICTURES = process.env.PICTURES;
const entry = (role, ts, more = {}) => server.op("entry.append", { role, content: "text", ts, ...more });

await server.start("0");
await entry("User", "2025-12-31T10:00:00Z");
await entry("User", "2026-03-20T10:00:00Z");
await entry("AI", "2026-03-20T10:01:00Z", { model: "model-b", usage: { input_tokens: 1200, output_tokens: 34 }, cost: 0.5 });
await entry("AI", "2026-03-21T10:01:00Z", { model: "model-c", usage: { input_tokens: 1, output_tokens: 2 } });
for (let day = 1; day <= 28; day++)
	for (let n = 0; n < day % 7; n++)
		await entry("User", `2026-09-${String(day).padStart(2, "0")}T10:00:00Z`);
await server.op("discussion.new", { name: "other" });
await server.op("entry.append", { discussion: "other", content: "there", ts: "2026-11-01T12:00:00Z" }, "?discussion=other");
await server.op("discussion.switch", { discussion: "main" });
const browser = await openBrowser();

for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [360, "light"]]) {
	const name = `${width} px, ${colorScheme}`, isPhone = width < 700;
	const page = await openPage(server, browser, tally, { viewport: { width, height: 800 }, colorScheme });
	const rows = () => page.locator(".stats-table tbody tr").evaluateAll((all) => all.map((row) => [...row.children].filter((cell) => cell.checkVisibility()).map((cell) => cell.textContent).join("|")));
	const total = () => page.locator(".stats-table tfoot tr").innerText();
	const close = async () => {
		await page.keyboard.press("Escape");
		await page.locator("dialog").waitFor({ state: "detached" });
	};
	const counts = (wanted) => until(async () => await page.locator(".stats-table tfoot td").first().textContent().catch(() => "") === String(wanted));
	await page.locator("[data-entry]").first().waitFor();
	// ways to open it
	if (isPhone)
		await page.locator("#to-discussions").click();
	await page.getByRole("button", { name: "Discussions", exact: true }).last().click();
	await pick(page, "Statistics …");
	await page.locator(".stats-table").waitFor();
	await close();
	if (isPhone)
		await page.keyboard.press("Escape");
	await page.fill("#composer", "/stats");
	await page.press("#composer", "Control+Enter");
	await page.locator(".stats-table tbody tr").first().waitFor();
	tally.equal(`/stats leaves the field empty, ${name}`, await page.inputValue("#composer"), "");

	const known = await server.api("GET", "/stats?by=day");
	tally.check(`the total, ${name}`, await counts(known.entries), known.entries, await total());
	tally.equal(`a row for each day, ${name}`, (await rows()).length, known.rows.length);
	if (PICTURES) {
		mkdirSync(PICTURES, { recursive: true });
		await page.screenshot({ path: join(PICTURES, `stats-${width}-${colorScheme}.png`) });
	}
	// by model, program, discussion, project
	const kind = page.getByLabel("By", { exact: true });
	await kind.selectOption("model");
	await until(async () => (await rows())[0]?.startsWith("model-"));
	tally.equal(`by model, ${name}`, (await rows())[0], isPhone ? "model-b|1|1,200|34|$0.50" : "model-b|1|1|1,200|34|$0.50");
	tally.check(`a reply without a price is named, ${name}`, await page.getByText("1 reply has no known price").isVisible());
	await kind.selectOption("program");
	tally.check(`by program, ${name}`, await until(async () => (await rows())[0]?.startsWith("retake|")), await rows());
	await kind.selectOption("project");
	tally.check(`by project, ${name}`, await until(async () => (await rows())[0]?.startsWith("default|")), await rows());
	await kind.selectOption("discussion");
	tally.check(`by discussion, ${name}`, await until(async () => (await rows())[1]?.startsWith("other|1|")), await rows());
	if (PICTURES)
		await page.screenshot({ path: join(PICTURES, `stats-discussions-${width}-${colorScheme}.png`) });
	// one discussion, one year
	await page.getByLabel("Count", { exact: true }).selectOption("here");
	tally.check(`one discussion, ${name}`, await counts(known.entries - 1), await total());
	await page.getByLabel("Period", { exact: true }).selectOption("2025");
	tally.check(`one year, ${name}`, await counts(1), await total());
	await page.getByRole("grid", { name: "Entries per day in 2025" }).waitFor();
	await page.getByLabel("Count", { exact: true }).selectOption("");
	await page.getByLabel("Period", { exact: true }).selectOption("2026");
	await page.getByRole("grid", { name: "Entries per day in 2026" }).waitFor();
	// the calendar
	const focused = () => page.evaluate(() => document.activeElement.dataset.day);
	tally.equal(`the busiest day is the darkest, ${name}`, await page.locator("[data-day='2026-09-06']").getAttribute("data-level"), "4");
	tally.equal(`a day without entries, ${name}`, await page.locator("[data-day='2026-09-07']").getAttribute("data-level"), "0");
	tally.equal(`one day can be reached, ${name}`, await page.locator("[data-day][tabindex='0']").count(), 1);
	await page.locator("[data-day='2026-11-01']").focus();
	await page.keyboard.press(isPhone ? "ArrowUp" : "ArrowLeft");
	tally.equal(`a week before, ${name}`, await focused(), "2026-10-25");
	await page.keyboard.press(isPhone ? "ArrowRight" : "ArrowDown");
	tally.equal(`a day after, ${name}`, await focused(), "2026-10-26");
	await page.keyboard.press("End");
	tally.equal(`the last day, ${name}`, await focused(), "2026-12-31");
	await page.keyboard.press("ArrowDown");
	tally.equal(`nothing after it, ${name}`, await focused(), "2026-12-31");
	tally.equal(`a day in words, ${name}`, await page.locator("[data-day='2026-03-20']").getAttribute("aria-label"),
		"Friday, March 20, 2026: 2 entries, 1,200 tokens sent, 34 received, $0.50");
	await page.locator("[data-day='2026-03-20']").focus();
	await page.keyboard.press("Enter");
	tally.check(`only this day is counted, ${name}`, await counts(2), await total());
	tally.equal(`it is marked, ${name}`, await page.locator("[aria-selected=true][data-day]").getAttribute("data-day"), "2026-03-20");
	await page.locator("[data-day='2026-03-20']").click();
	tally.check(`and the year again, ${name}`, await counts(known.entries - 1), await total());
	await page.locator("[data-day='2026-07-01']").click();
	await page.getByText("No entries in this period.").waitFor();
	await close();
	await page.context().close();
}
await browser.close();
await server.stop();
process.exit(tally.end());
