// SPDX-License-Identifier: MIT
//
// A server with accounts in the browser: share links of a project and of a discussion, pages of readers and
// commenters without the actions that they may not use, the dialogs of members, links and tokens, also with axe and
// with hostile names, and signing out of a server whose users a proxy signs in. SHOTS=FOLDER saves screenshots.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { DEPS, menuItem, onTheWay, openBrowser, PATIENCE_MS, Server, Tally, until } from "./place.mjs";

const AXE = readFileSync(join(DEPS, "axe/axe.min.js"), "utf8");
const HOSTILE = `"><img src=x onerror="window.hit=1"><b>`;
const tally = new Tally(), server = new Server(), browser = await openBrowser();
await server.run(["-p", "work", "add", "The first question"]);
await server.run(["-p", "work", "add", "Its reply", "-r", "AI"]);
await server.run(["-p", "work", "new", "second"]);
await server.run(["-p", "work", "add", "Not for everybody", "-d", "second"]);
for (const [name, role] of [["ann", "owner"], ["eve", "commenter"], ["rob", "reader"]]) {
	await server.run(["user", "new", name]);
	await server.run(["-p", "work", "member", name, role]);
}
const log = join(server.folder, "access.log");
await server.start("0", "--accounts", "--access-log", log);

/** A window; errors in it are counted. */
async function open(url, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: "block", ...options });
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	page.on("pageerror", (error) => tally.check("no error in the page", false, error.stack));
	page.on("console", (message) => {
		if (/Content.Security.Policy/i.test(message.text()))
			tally.check("the policy holds", false, message.text());
	});
	await page.goto(url);
	return page;
}

const texts = (page) => page.locator(".entry-body").allInnerTexts();

async function signIn(user, options) {
	const { url } = await server.api("POST", "/codes", { user });
	const page = await open(url, options);
	await page.waitForURL(/project=work/); // the only one that the user may open
	await page.waitForSelector("[role=tablist] [role=tab]");
	return page;
}

async function axe(page, view) {
	await page.evaluate(AXE);
	const { violations } = await page.evaluate(() => window.axe.run());
	tally.equal(`axe: ${view}`, violations.map((each) => `${each.id} ${each.nodes[0].html.slice(0, 200)}`).join("\n"), "");
}

async function shot(page, name) {
	if (process.env.SHOTS)
		await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
}

const EDITS = ["#undo", "#save", "#ask", ".grip", "[aria-label='New take']", "[aria-label='New discussion']", ".discussions li .menu"];

/** No control of a change is visible, also on a focused entry and in its menu. */
async function readsOnly(page, name, words, hasComposer) {
	tally.check(`${name}: says so`, await until(async () => (await page.locator(".read-only").innerText().catch(() => "")).includes(words)));
	await page.locator(".entry").first().hover();
	const seen = [];
	for (const each of EDITS)
		if (await page.locator(each).filter({ visible: true }).count() > 0)
			seen.push(each);
	tally.equal(`${name}: nothing to edit with`, seen.join(), "");
	tally.equal(`${name}: the composer`, await page.locator("#composer").filter({ visible: true }).count(), hasComposer ? 1 : 0);
	await page.locator(".entry").first().dblclick();
	tally.equal(`${name}: a double click does not edit`, await page.locator(".entry textarea").count(), 0);
	await page.locator(".entry").first().focus();
	for (const key of ["e", "d", "x"])
		await page.keyboard.press(key);
	tally.equal(`${name}: nor do keys`, await page.locator(".entry textarea").count(), 0);
	await page.getByLabel(/^More for entry 1, /).click();
	const items = (await page.getByRole("menuitem").allInnerTexts()).join("\n");
	tally.check(`${name}: nor the menu`, !/Edit|Delete|Branch|Insert|Mute|Move/.test(items) && /Copy the text/.test(items), items);
	await page.keyboard.press("Escape");
	await axe(page, name);
}

// ---- a user without access to the default project ----

const stranger = await open((await server.api("POST", "/codes", { user: "rob" })).url);
tally.check("is taken to a project of theirs", await until(() => new URL(stranger.url()).searchParams.get("project") === "work"), stranger.url());
tally.check("which is shown", await until(async () => (await texts(stranger)).join().includes("Not for everybody")));
// its answers may come in any order
await stranger.route(/\/discussions\?/, onTheWay(async (route) => { await new Promise((done) => setTimeout(done, 500)); await route.continue(); }));
await stranger.goto(`${server.url}/?project=gone`);
tally.check("an unknown project is named", await until(async () => (await stranger.locator(".trouble").innerText().catch(() => "")).includes("no project “gone” that you can open")));
await shot(stranger, "unknown-project");
await stranger.getByRole("button", { name: "Choose a project" }).click();
await stranger.getByRole("menuitemradio", { name: "work" }).click();
await stranger.waitForSelector("[role=tablist] [role=tab]");
await server.run(["user", "new", "zoe"]);
const newcomer = await open((await server.api("POST", "/codes", { user: "zoe" })).url);
tally.check("without any project", await until(async () => (await newcomer.locator(".trouble").innerText().catch(() => "")).includes("not a member of a project yet")));
await newcomer.getByRole("button", { name: "Choose a project" }).click();
await newcomer.getByRole("menuitem", { name: "New project" }).click();
await newcomer.locator("dialog[open] input").press("End");
await newcomer.locator("dialog[open] input").pressSequentially("first");
await newcomer.keyboard.press("Enter");
tally.check("one can be created", await until(() => new URL(newcomer.url()).searchParams.get("project") === "zoe/first"), newcomer.url());
await newcomer.waitForSelector("[role=tablist] [role=tab]");

// ---- the owner makes links ----

const owner = await signIn("ann");
async function overlay(page, name, menu = "Discussions") {
	await page.getByRole("button", { name: menu, exact: true }).last().click();
	await (await menuItem(page, name)).click();
	await page.locator("dialog[open]").waitFor();
}

async function makeLink(what) {
	await overlay(owner, /^Share/);
	await owner.getByLabel("Scope of the link").selectOption(what);
	await owner.getByRole("button", { name: "Create a link" }).click();
	const link = await owner.getByLabel("Link", { exact: true }).inputValue();
	await owner.keyboard.press("Escape");
	return link;
}

await owner.locator("[data-disc=d1]").click();
const ofProject = await makeLink("project"), ofOne = await makeLink("discussion");
tally.check("the secret is in the fragment", /\/shared#rtl_[\w-]{43}$/.test(ofProject) && ofProject !== ofOne, ofProject);

// ---- a link of the project ----

const guest = await open(ofProject);
await guest.waitForSelector("[role=tablist] [role=tab]");
tally.check("it opens the project", await until(async () => (await texts(guest)).join().includes("The first question")), await texts(guest));
tally.check("the secret is no longer in the address", !guest.url().includes("rtl_"), guest.url());
await readsOnly(guest, "a link of the project", "Read-only: share link", false);
await shot(guest, "shared");
await server.api("POST", "/discussions/d1/entries", { content: "Added meanwhile" }, { "Retake-Project": "work" });
tally.check("it follows changes", await until(async () => (await texts(guest)).join().includes("Added meanwhile")));

// ---- a link of one discussion ----

const visitor = await open(ofOne);
await visitor.waitForSelector("[role=tablist] [role=tab]");
tally.check("it opens the discussion", await until(async () => (await texts(visitor)).join().includes("The first question")), await texts(visitor));
tally.equal("and shows no other", await visitor.locator("[data-disc]").count(), 1);
await readsOnly(visitor, "a link of a discussion", "Read-only: share link", false);
await server.api("POST", "/discussions/d1/entries", { content: "Once more" }, { "Retake-Project": "work" });
tally.check("it follows changes, too", await until(async () => (await texts(visitor)).join().includes("Once more")));
tally.check("without contents of others", !(await visitor.content()).includes("Not for everybody"));

// ---- two roles ----

const reader = await signIn("rob");
await readsOnly(reader, "a reader", "your role is reader", false);
const commenter = await signIn("eve");
await readsOnly(commenter, "a commenter", "You can add entries", true);
await commenter.locator("#composer").fill("A comment");
await commenter.locator("#add").click();
tally.check("a commenter adds an entry", await until(async () => (await texts(commenter)).join().includes("A comment")));

// ---- revoking ----

await overlay(owner, /^Share/);
await until(async () => await owner.getByRole("button", { name: /^Revoke link/ }).count() === 2);
await shot(owner, "share");
await axe(owner, "share");
for (let left = 2; left > 0; left--) {
	await owner.getByRole("button", { name: /^Revoke link/ }).first().click();
	await until(async () => await owner.getByRole("button", { name: /^Revoke link/ }).count() === left - 1);
}
await owner.keyboard.press("Escape");
for (const [name, page] of [["the project's page", guest], ["the discussion's page", visitor]])
	tally.check(`${name} ends`, await until(async () => (await page.locator(".trouble").innerText().catch(() => "")).includes("no longer works")));
await guest.reload();
tally.check("and is not opened again", (await guest.locator("body").innerText()).includes("no longer works"), await guest.locator("body").innerText());
const late = await open(ofProject);
tally.check("nor with the link", await until(async () => (await late.locator("body").innerText()).includes("does not work")), await late.locator("body").innerText());
const lines = readFileSync(log, "utf8");
tally.check("the access log has no secret", lines.includes("link.open") && !lines.includes("rtl_"), lines.slice(-500));

// ---- members and tokens ----

await overlay(owner, /^Members/);
await owner.getByLabel("Name of a user, or of a team with @").fill("nobody");
await owner.keyboard.press("Enter");
tally.check("an unknown user", await until(async () => (await owner.locator("dialog .trouble").innerText().catch(() => "")).includes("no user")));
await owner.getByLabel("Role of rob").selectOption("editor");
tally.check("a role is changed", await until(async () => (await server.api("GET", "/members", undefined, { "Retake-Project": "work" })).find((each) => each.user === "rob").role === "editor"));
await owner.getByLabel("Role of ann").selectOption("reader");
tally.check("the last owner stays", await until(async () => (await owner.locator("dialog .trouble").innerText().catch(() => "")).includes("owner")));
await shot(owner, "members");
await axe(owner, "members");
await owner.getByLabel("Remove rob").click();
tally.check("a member is removed", await until(async () => await owner.getByLabel("Remove rob").count() === 0));
await owner.keyboard.press("Escape");
await overlay(owner, /^Access tokens/, "Appearance and keys");
await owner.getByLabel("Name of the token").fill(HOSTILE);
await owner.keyboard.press("Enter");
const token = await owner.getByLabel("Token", { exact: true }).inputValue();
tally.check("a token is shown", /^rtk_/.test(token), token);
tally.check("its name is text", await until(async () => (await owner.locator("dialog .roles").innerText()).includes(HOSTILE)));
tally.equal("and runs nothing", await owner.evaluate(() => (window.hit ?? 0) + document.querySelectorAll("dialog .roles img, dialog .roles b").length), 0);
await shot(owner, "tokens");
await axe(owner, "tokens");
await owner.keyboard.press("Escape");
await overlay(owner, /^Access tokens/, "Appearance and keys");
tally.check("it is not shown again", await until(async () => await owner.getByRole("button", { name: /^Revoke/ }).count() === 1) && !(await owner.content()).includes(token));
await owner.keyboard.press("Escape");

// ---- limits ----

await server.run(["quota", "users", "bytes=2M", "entries=2"]);
await server.run(["quota", "project", "work", "requests=100"]);
await server.api("POST", "/ops/entry.append", { content: "Counted" }, { "Retake-Project": "work" });
const limited = await signIn("ann");
await overlay(limited, /^Limits/, "Appearance and keys");
const limits = limited.getByRole("list", { name: "Limits" });
tally.check("what is used of each limit", await until(async () => /Entries added\s+\d of 2\n/.test(await limits.innerText()) && /Stored data\s+[\d.]+ (bytes|KiB) of 1\.9 MiB/.test(await limits.innerText()) &&
	/Requests to models today \(UTC\) of the project work\s+0 of 100/.test(await limits.innerText())), await limits.innerText());
tally.equal("as a meter", await limits.getByRole("meter", { name: "Entries added" }).count(), 1);
await shot(limited, "limits");
await axe(limited, "limits");
await limited.context().close();

// ---- a phone, in the dark ----

const phone = await signIn("ann", { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
for (const [id, name] of [["share", "Share"], ["members", "Members"], ["tokens", "Access tokens"]]) {
	await phone.keyboard.press("Control+k");
	await phone.locator("#palette").fill(name);
	await phone.keyboard.press("Enter");
	await phone.locator(`dialog[open][aria-label='${name}']`).waitFor();
	await phone.waitForTimeout(400);
	tally.equal(`${name} is not wider than a phone`, await phone.evaluate(() => document.querySelector("dialog[open]").scrollWidth - document.querySelector("dialog[open]").clientWidth), 0);
	await axe(phone, `${name} on a phone in the dark`);
	await shot(phone, `${id}-phone-dark`);
	await phone.keyboard.press("Escape");
}
await phone.context().close();

// ---- a user whom a proxy signs in ----

await server.end();
const secret = "a secret of the proxy and this server", secretFile = join(server.folder, "proxy-secret"), service = createServer((_, answer) => answer.end("Signed out."));
writeFileSync(secretFile, secret, { mode: 0o600 });
await new Promise((done) => service.listen(0, "127.0.0.1", done));
const signOutAt = `http://127.0.0.1:${service.address().port}/out?a=1&b=2`;
await server.start("0", "--accounts", "--proxy-user", "X-Forwarded-User", "--proxy-secret-file", secretFile, "--proxy-sign-out", signOutAt);
const proxied = await open(`${server.url}/?project=work`, { extraHTTPHeaders: { "X-Forwarded-User": "ann", "Retake-Proxy-Secret": secret } });
await proxied.waitForSelector("[role=tablist] [role=tab]");
tally.check("a proxy signs a user in", await until(async () => (await texts(proxied)).join().includes("The first question")));
await proxied.getByRole("button", { name: "Appearance and keys" }).click();
await (await menuItem(proxied, "Sign out …")).click();
await proxied.locator("dialog[open]").getByRole("button", { name: "Sign out" }).click();
await proxied.waitForURL(`${server.url}/sign-out`);
tally.check("who is told where to sign out", (await proxied.locator("body").innerText()).includes("A service that this server trusts has signed you in"), await proxied.locator("body").innerText());
tally.equal("at the address of the service", await proxied.getByRole("link", { name: signOutAt }).getAttribute("href"), signOutAt);
await axe(proxied, "the page to sign out");
await shot(proxied, "sign-out");
await proxied.getByRole("link", { name: "Back to your discussions" }).click();
await proxied.waitForSelector("[role=tablist] [role=tab], .trouble");
tally.equal("and can return", new URL(proxied.url()).pathname, "/");
await proxied.goto(`${server.url}/sign-out`);
await proxied.getByRole("link", { name: signOutAt }).click();
await proxied.waitForURL(signOutAt);
tally.equal("the link leads there", await proxied.locator("body").innerText(), "Signed out.");
service.closeAllConnections();
service.close();
await browser.close();
await server.stop();
process.exit(tally.end());
