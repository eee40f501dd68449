// SPDX-License-Identifier: MIT
//
// Runs the parts, each with a server of its own.
import { openBrowser, Server, Tally } from "./place.mjs";

const PARTS = ["matrix", "verbs", "seed3", "edits", "live", "growing", "look", "sight", "large", "shapes"];

const tally = new Tally();
const browser = await openBrowser();
for (const name of PARTS) {
	if (process.env.ONLY && process.env.ONLY !== name)
		continue;
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
