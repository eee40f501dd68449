// SPDX-License-Identifier: MIT
//
// The judge of hostile texts (payloads.mjs): a watch over everything that a window does, a list of
// what a page may contain, for the browser's DOM and a parser's tree alike, and the grammar of
// blocks.

// ---- activity of a window ----

const MINE = /^(data:image\/(png|jpeg|gif|webp);base64,|data:,$|blob:http:\/\/127\.0\.0\.1)/;

/** Records the activity of a context from now on. own(url): requests that are allowed. */
export async function watch(context, own) {
	const seen = { fired: new Set(), asked: new Set(), dialogs: [], requests: [], violations: [], errors: [], windows: 0 };
	await context.exposeFunction("fired", (n) => { seen.fired.add(Number(n)); });
	await context.exposeFunction("violated", (text) => { seen.violations.push(text); });
	await context.addInitScript(() => {
		addEventListener("securitypolicyviolation", (event) => globalThis.violated(
			`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
	});
	await context.route((url) => !own(url.href) && !MINE.test(url.href), (route) => route.abort());
	context.on("request", (request) => {
		const url = request.url();
		if (own(url) || MINE.test(url))
			return;
		seen.requests.push(url);
		const found = /hit\.invalid\/(\d+)/.exec(url);
		if (found)
			seen.asked.add(Number(found[1]));
	});
	context.on("dialog", (dialog) => {
		seen.dialogs.push(`${dialog.type()}: ${dialog.message()}`);
		if (dialog.type() === "alert" && /^\d+$/.test(dialog.message()))
			seen.fired.add(Number(dialog.message()));
		void dialog.dismiss().catch(() => undefined);
	});
	context.on("page", () => { seen.windows++; });
	context.on("weberror", (error) => seen.errors.push(error.error().stack ?? String(error.error())));
	return seen;
}

export function quiet(tally, name, seen) {
	tally.equal(`${name}: no script ran`, [...seen.fired].join(" "), "");
	tally.equal(`${name}: no dialog`, seen.dialogs.join(" | "), "");
	tally.equal(`${name}: nothing was asked for`, seen.requests.slice(0, 5).join(" | "), "");
	tally.equal(`${name}: the policy was not needed`, seen.violations.slice(0, 5).join(" | "), "");
	tally.equal(`${name}: no error`, seen.errors.slice(0, 2).join(" | "), "");
}

// ---- contents of a page ----

const TAGS = new Set(("html head meta title link body noscript script style div p span header footer main nav section article aside h1 h2 h3 h4 h5 h6 " +
	"button a sup math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd menclose ul ol li details summary pre code em strong del ins mark br hr blockquote table thead tbody tr th td img input textarea select option " +
	"datalist label fieldset legend form dialog kbd meter small time dl dt dd svg path circle").split(" "));
const ATTRIBUTES = new Set(("class crossorigin id role tabindex title lang type value placeholder for rows list min max step open start reversed checked disabled readonly selected " +
	"dir draggable spellcheck autocomplete autofocus width height viewBox d cx cy r alt href src target rel label charset name content defer hidden style inert " +
	"colspan scope multiple http-equiv datetime").split(" "));
const STYLES = new Set(["padding-bottom", "height", "top", "width", "left", "transform", "padding-left", "min-height", "max-height", "margin-left", "--depth"]);
const META = new Set(["viewport", "color-scheme", "referrer", "generator", "retake-math", "retake-store"]);
const CLOBBERED = new Set(["cookie", "forms", "location", "body", "head", "fired", "attributes", "parentNode", "nodeName", "innerHTML", "defaultView"]);
const SPACES = new Set(["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"]);

function badUrl(tag, name, value, own) {
	if (name === "href" && tag === "a")
		return !/^(https?:\/\/[^\s"'<>\\`]+|mailto:[^\s"'<>\\`]*|#[^\s"<>\\`]*)$/.test(value);
	if (tag === "img")
		return !/^data:image\/(png|jpeg|gif|webp);base64,/.test(value);
	return !own(value);
}

function badStyle(value) {
	return value.split(";").filter((each) => each.trim()).some((each) => {
		const [name, ...rest] = each.split(":");
		return !STYLES.has(name.trim()) || !/^[\w .,%()+-]*$/.test(rest.join(":")) || /url|expression|image/i.test(rest.join(":"));
	});
}

function badAttribute(tag, name, value, own) {
	if (/^on/i.test(name))
		return true;
	if (/^(aria|data)-[a-z-]+$/.test(name))
		return false;
	if (!ATTRIBUTES.has(name))
		return true;
	switch (name) {
	case "href":
	case "src":
		return badUrl(tag, name, value, own);
	case "style":
		return badStyle(value);
	case "name":
		return !(tag === "meta" && META.has(value)) && !(tag === "details");
	case "http-equiv":
		return value !== "Content-Security-Policy";
	case "id":
		return !/^[\w][\w -]*$/.test(value) || CLOBBERED.has(value) || /fired|hit\.invalid/.test(value);
	case "datetime":
		return !/^[\d:.TZ+-]+$/.test(value);
	case "target":
		return value !== "_blank";
	case "for":
	case "list":
	case "class":
	case "rel":
	case "type":
	case "lang":
	case "role":
		return /fired|hit\.invalid|[<>"'(]/.test(value);
	default:
		return false;
	}
}

/** What is wrong with these elements: [{ tag, space, attributes: [[name, value], …] }, …]. */
export function judge(elements, own) {
	const bad = [];
	for (const { tag, space, attributes } of elements) {
		const said = () => `<${tag} ${attributes.map(([name, value]) => `${name}=${JSON.stringify(value).slice(0, 120)}`).join(" ")}>`;
		if (!TAGS.has(tag) || !SPACES.has(space))
			bad.push(`element: ${said()}`);
		for (const [name, value] of attributes)
			if (badAttribute(tag, name, value, own))
				bad.push(`${name}: ${said()}`);
		if (tag === "a" && attributes.some(([name, value]) => name === "href" && !value.startsWith("#")) &&
		    !attributes.some(([name, value]) => name === "rel" && /noopener/.test(value)))
			bad.push(`opens with us behind it: ${said()}`);
	}
	return bad;
}

/** The elements of a page, including templates and shadow trees; each kind once per page. */
export function elementsOf(page) {
	return page.evaluate(() => {
		const all = [], roots = [document], judged = (globalThis.judged ??= new Set());
		for (let root = roots.pop(); root; root = roots.pop())
			for (const each of root.querySelectorAll("*")) {
				if (each.shadowRoot)
					roots.push(each.shadowRoot);
				if (each.content instanceof DocumentFragment)
					roots.push(each.content);
				let key = each.namespaceURI + " " + each.localName;
				for (const at of each.attributes)
					key += `\u0001${at.name}\u0002${at.value}`;
				if (judged.has(key))
					continue;
				judged.add(key);
				all.push({ tag: each.localName, space: each.namespaceURI, attributes: [...each.attributes].map((at) => [at.name, at.value]) });
			}
		return all;
	});
}

/** The same for a tree from parse5; texts: contents of elements of a kind. */
export function elementsOfTree(tree) {
	const all = [], texts = [], nodes = [tree];
	for (let node = nodes.pop(); node; node = nodes.pop()) {
		nodes.push(...(node.childNodes ?? []), ...(node.content ? [node.content] : []));
		if (!node.tagName)
			continue;
		all.push({ tag: node.tagName, space: node.namespaceURI, attributes: node.attrs.map((at) => [at.prefix ? `${at.prefix}:${at.name}` : at.name, at.value]) });
		if (node.tagName === "script" || node.tagName === "style")
			texts.push({ tag: node.tagName, attributes: Object.fromEntries(node.attrs.map((at) => [at.name, at.value])), text: node.childNodes.map((each) => each.value).join("") });
	}
	return { all, texts };
}

// ---- blocks ----

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
const LINK = /^(https?:\/\/|mailto:|#)[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]*$/, IMAGE = /^https?:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]*$/;
const MEMBERS = {
	p: "c", h: "n c", pre: "lang c", quote: "c", ul: "tight c", ol: "start tight c", li: "task done c", table: "head align rows", hr: "",
	em: "c", strong: "c", del: "c", code: "c", a: "href title c", img: "src title alt", br: "", math: "display c", ref: "id c", note: "id c", ctl: "cp",
};

/** What is wrong with a tree of blocks (src/markup/markup.h). */
export function judgeBlocks(tree) {
	const bad = [], nodes = [tree];
	for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
		if (Array.isArray(node)) {
			nodes.push(...node);
			continue;
		}
		if (typeof node === "string") {
			if (UNSEEN.test(node))
				bad.push(`a character that changes others: ${JSON.stringify(node)}`);
			continue;
		}
		const members = MEMBERS[node?.t]?.split(" ");
		if (!members) {
			bad.push(`kind: ${JSON.stringify(node)}`);
			continue;
		}
		for (const [name, value] of Object.entries(node)) {
			const isFine = name === "t" || name === "at" ||
				(members.includes(name) && (name !== "href" || LINK.test(value)) && (name !== "src" || IMAGE.test(value)) &&
				 (name !== "lang" || /^[A-Za-z0-9_+.#-]{1,32}$/.test(value)) && (name !== "cp" || /^[0-9A-F]{4,5}$/.test(value)) &&
				 (name !== "align" || value.every((each) => [null, "left", "center", "right"].includes(each))));
			if (!isFine)
				bad.push(`${name}: ${JSON.stringify(node).slice(0, 300)}`);
			if (typeof value === "object" && value !== null && name !== "at" && name !== "align")
				nodes.push(value);
		}
	}
	return bad;
}
