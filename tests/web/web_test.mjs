// SPDX-License-Identifier: MIT
//
// Runs the parts, each with a separate server.
import { BRIEF, openBrowser, Server, Tally } from "./place.mjs";

const ALL = ["matrix", "verbs", "seed3", "edits", "live", "hasty", "replies", "thinking", "messages", "growing", "look", "sight", "large", "shapes"];
const PARTS = process.env.ONLY ? ALL.filter((name) => name === process.env.ONLY)
	: BRIEF ? ["matrix", "seed3", "edits", "live", "hasty", "replies", "thinking", "messages"] : ALL;

const tally = new Tally();
const browser = await openBrowser();
for (const name of PARTS) {
	const server = new Server();
	try {
		const part = await import(`./${name}.mjs`);
		await part.run({ server, browser, tally });
	} catch (error) {
		tally.check(`${name} runs to its end`, false, error.stack ?? error);
	} finally {
		await server.stop();
	}
}
await browser.close();
process.exit(tally.end());
