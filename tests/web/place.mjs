// SPDX-License-Identifier: MIT
//
// Shared by the tests of this directory: a server with a home directory, a signed-in browser, and a
// tally.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const DEPS = process.env.RETAKE_DEPS ?? join(ROOT, "build/deps");
const RETAKE = resolve(process.env.RETAKE ?? join(ROOT, "build/retake"));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";
/** Runs only a part, as in `make test`: a minute instead of several. */
export const BRIEF = process.env.RETAKE_BROWSER === "brief";
export const PATIENCE_MS = BRIEF ? 60000 : 15000;

/** Servers are stopped when a test is aborted. */
const servers = new Set();
process.on("exit", () => servers.forEach((each) => each.kill()));

export class Tally {
	passed = 0;
	failed = 0;
	check(name, ok, ...detail) {
		if (ok) {
			this.passed++;
			return true;
		}
		this.failed++;
		console.log("FAILED:", name);
		for (const line of detail)
			console.log("   ", String(typeof line === "string" ? line : JSON.stringify(line)).slice(0, 1500));
		return false;
	}
	equal(name, got, wanted) {
		return this.check(name, got === wanted, "got    " + JSON.stringify(got), "wanted " + JSON.stringify(wanted));
	}
	end() {
		console.log(`${this.passed} passed, ${this.failed} failed`);
		return this.failed || !this.passed ? 1 : 0;
	}
}

/** A separate store and server; nothing outside the folder is read or written. */
export class Server {
	constructor() {
		this.folder = mkdtempSync(join(tmpdir(), "retake-web-"));
		this.db = join(this.folder, "test.db");
		const env = {};
		for (const [name, value] of Object.entries(process.env))
			if (!/^RETAKE|_API_KEY$|proxy/i.test(name))
				env[name] = value;
		this.env = {
			...env, HOME: this.folder, XDG_DATA_HOME: this.folder + "/data", LC_ALL: "C.UTF-8",
			XDG_STATE_HOME: this.folder + "/state", XDG_CONFIG_HOME: this.folder + "/config",
			XDG_RUNTIME_DIR: this.folder, NO_COLOR: "1",
		};
	}
	run(args, stdin = "") {
		return new Promise((done, fail) => {
			const child = spawn(RETAKE, ["--db", this.db, ...args], { env: this.env, cwd: this.folder });
			let out = "";
			child.stdout.on("data", (data) => { out += data; });
			child.on("error", fail);
			child.stdin.on("error", () => undefined); // it may exit without reading its input
			child.on("close", (code) => (code === 0 ? done(out) : fail(new Error(`${args.join(" ")}: ${code}`))));
			child.stdin.end(stdin);
		});
	}
	async start(wanted = "0", ...more) {
		this.child = spawn(RETAKE, ["--db", this.db, "serve", "--shared", "--port", wanted, "--port-file",
			join(this.folder, "port"), ...more], { env: this.env, cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
		servers.add(this.child);
		await new Promise((done, fail) => {
			let out = "";
			this.child.on("exit", () => fail(new Error("the server did not start")));
			this.child.stdout.on("data", (data) => {
				out += data;
				if (out.includes("listening"))
					done();
			});
		});
		const port = readFileSync(join(this.folder, "port"), "ascii").trim();
		this.url = `http://127.0.0.1:${port}`;
		this.token = readFileSync(join(this.folder, "state/retake/token"), "ascii").trim();
		return this;
	}
	async api(method, path, body, headers = {}) {
		const answer = await fetch(`${this.url}/retake/v1${path}`, {
			method, body: body === undefined ? undefined : JSON.stringify(body),
			headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json", ...headers },
		});
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(`${method} ${path}: ${answer.status} ${text}`);
		return text ? JSON.parse(text) : null;
	}
	async canonical() {
		const answer = await fetch(`${this.url}/retake/v1/export?format=canonical`,
			{ headers: { Authorization: `Bearer ${this.token}` } });
		return answer.text();
	}
	op(name, fields = {}, query = "") {
		return this.api("POST", `/ops/${name}${query}`, fields);
	}
	async loginUrl() {
		return (await this.api("POST", "/codes", {})).url;
	}
	/** Stops the server; the store stays. */
	async end() {
		if (this.child && this.child.exitCode === null) {
			const gone = new Promise((done) => this.child.on("exit", done));
			this.child.kill("SIGTERM");
			await gone;
		}
	}
	async stop() {
		await this.end();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** Features that the driver disables (if a list is given twice, the last one counts), and the browser's own pages
 * below its toolbar: each new window would load hundreds of files for them. */
const OFF = ["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay",
	"MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints",
	"NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch", "CDPScreenshotNewSurface", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

/** Handles an intercepted request; the page may abort it or be closed in the meantime. */
export function onTheWay(act) {
	return (route) => act(route).catch(() => undefined);
}

export async function openBrowser() {
	const { chromium } = await import(join(DEPS, "playwright/index.mjs"));
	return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", `--disable-features=${OFF.join(",")}`] });
}

/** Opens a signed-in window that shows the open take. Errors in it are counted. init: a function that runs in the
 * page before all others, and its argument. */
export async function openPage(server, browser, tally, { init, ...options } = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: "block", ...options });
	context.setDefaultTimeout(PATIENCE_MS);
	if (init)
		await context.addInitScript(...init);
	const page = await context.newPage();
	page.on("pageerror", (error) => tally.check("no error in the page", false, error.stack ?? error.message));
	page.on("console", (message) => {
		if (/Content.Security.Policy/i.test(message.text()))
			tally.check("the policy holds", false, message.text());
	});
	await page.goto(await server.loginUrl());
	await page.waitForSelector("[role=tablist] [role=tab]");
	return page;
}

/** Waits until look() returns a true value. Polls less often with time, as polling costs time, too. */
export async function until(look) {
	const end = Date.now() + PATIENCE_MS, asked = new Error();
	for (let pause_ms = 10; ; pause_ms = Math.min(pause_ms * 1.5, 150)) {
		const seen = await look();
		if (seen)
			return seen;
		if (Date.now() > end) {
			console.log("waited in vain" + asked.stack.split("\n").slice(2, 4).join(""));
			return seen;
		}
		await new Promise((done) => setTimeout(done, pause_ms));
	}
}

/** An item of the open menu, including those after "More". */
export async function menuItem(page, name, { exact = false, how = "click" } = {}) {
	const item = page.getByRole("menuitem", { name, exact }).first();
	await page.locator(".menu-list").waitFor();
	if (await item.count() === 0)
		await page.getByRole("menuitem", { name: /^More \(/ })[how]();
	return item;
}

export async function pick(page, name, { exact = false, how = "click" } = {}) {
	await (await menuItem(page, name, { exact, how }))[how]();
}

/** Chooses an entry with the keyboard: after a click, letters would be text. Insert has no other effect. */
export async function choose(entry) {
	await entry.focus();
	await entry.page().keyboard.press("Insert");
}

/** Number of entries of the open take; only the visible ones are rendered. */
export function sizeOf(page) {
	return page.evaluate(() => Number(document.querySelector(".entry:not(.running)")?.getAttribute("aria-setsize") ?? 0));
}

/** Waits until the open take has this number of entries. */
export function hasSize(page, size) {
	return page.locator(`.entry:not(.running)[aria-setsize="${size}"]`).first().waitFor();
}

/** Replies to one question share a tab: that of the open one, or of the first. */
export function tabsOf(takes, open) {
	const find = (id) => takes.find((each) => each.id === id);
	let origin = find(open);
	while (origin?.another_reply)
		origin = find(origin.another_reply);
	return takes.filter((each) => each.id === open || (!each.another_reply && each !== origin));
}

/** The takes and entries that a window shows, and those of the server. */
export async function shownAndThere(page, server) {
	const [, disc, take] = /^#\/d\/(\w+)\/t\/(\w+)/.exec(await page.evaluate(() => location.hash));
	const ids = (all) => all.map((each) => each.id);
	const there = await Promise.all([server.api("GET", `/discussions/${disc}/takes`), server.api("GET", `/discussions/${disc}/entries?take=${take}`)])
		.then(([takes, { entries }]) => ({ takes: ids(tabsOf(takes, take)).sort().join(" "), entries: ids(entries).join(" "), size: entries.length }), (error) => error.message);
	const shown = await page.evaluate(() => {
		const rows = [...document.querySelectorAll(".entry:not(.running)")];
		return {
			takes: [...document.querySelectorAll(".take-bar [role=tab]")].map((each) => each.dataset.take).sort().join(" "),
			entries: rows.map((each) => each.dataset.entry).join(" "), size: Number(rows[0]?.getAttribute("aria-setsize") ?? 0),
		};
	});
	return [shown, there];
}

/** Waits until the window shows the server's state, for a few takes; of the entries, the rendered ones. */
export async function settled(page, server) {
	return until(async () => {
		const [shown, there] = await shownAndThere(page, server);
		return shown.takes === there.takes && shown.size === there.size && there.entries.includes(shown.entries);
	});
}
