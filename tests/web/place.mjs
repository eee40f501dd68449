// SPDX-License-Identifier: MIT
//
// What the checks of this folder share: a server with a home of its own, a browser that is let
// in, and a tally.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const DEPS = process.env.RETAKE_DEPS ?? join(ROOT, "build/deps");
const RETAKE = resolve(process.env.RETAKE ?? join(ROOT, "build/retake"));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const PATIENCE_MS = 15000;

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

/** A store and a server of its own; nothing outside the folder is read or written. */
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
			child.on("close", (code) => (code === 0 ? done(out) : fail(new Error(`${args.join(" ")}: ${code}`))));
			child.stdin.end(stdin);
		});
	}
	async start() {
		this.child = spawn(RETAKE, ["--db", this.db, "serve", "--shared", "--port", "0", "--port-file",
			join(this.folder, "port")], { env: this.env, cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
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
	async stop() {
		if (this.child && this.child.exitCode === null) {
			const gone = new Promise((done) => this.child.on("exit", done));
			this.child.kill("SIGTERM");
			await gone;
		}
		rmSync(this.folder, { recursive: true, force: true });
	}
}

export async function openBrowser() {
	const { chromium } = await import(join(DEPS, "playwright/index.mjs"));
	return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** A window that is let in and shows the open take. What goes wrong in it is counted. */
export async function openPage(server, browser, tally, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
	context.setDefaultTimeout(PATIENCE_MS);
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

/** Until look() gives something true. */
export async function until(look) {
	const end = Date.now() + PATIENCE_MS;
	for (;;) {
		const seen = await look();
		if (seen || Date.now() > end)
			return seen;
		await new Promise((done) => setTimeout(done, 40));
	}
}
