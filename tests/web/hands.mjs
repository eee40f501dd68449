// SPDX-License-Identifier: MIT
//
// Hands: somebody who has a keyboard and eyes. Every key is counted, and after
// each there has to be a focus that can be seen. The page itself says whether a pointer was used.
import { until } from "./place.mjs";

const PATIENT_MS = 5000, NOWHERE = "nothing has the focus";

/** In the page: what has the focus, and what is wrong with that; "": nothing. */
function focusFault() {
	const at = document.activeElement;
	if (!at || at === document.body)
		return "nothing has the focus";
	if (at.matches(":disabled"))
		return "what has the focus is disabled: " + at.outerHTML.slice(0, 200);
	const box = at.getBoundingClientRect(), style = getComputedStyle(at);
	if (box.width === 0 || box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth)
		return "the focus is out of sight: " + at.outerHTML.slice(0, 200);
	if (!at.matches(":focus-visible") || style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1)
		return "the focus is not shown: " + at.outerHTML.slice(0, 200);
	return "";
}

/** In the page: the name of what has the focus. */
function focusName() {
	const at = document.activeElement;
	return at?.getAttribute("aria-label") ?? at?.labels?.[0]?.innerText ?? at?.innerText ?? "";
}

export class Hands {
	#page;
	#tally;
	task = "";
	strokes = 0;
	counted = null;
	constructor(page, tally) {
		this.#page = page;
		this.#tally = tally;
	}
	static async of(page, tally) {
		await page.evaluate(() => {
			window.pointers = 0;
			for (const type of ["pointerdown", "mousedown", "touchstart", "wheel", "dragstart"])
				addEventListener(type, () => { window.pointers++; }, true);
			addEventListener("click", (event) => { window.pointers += event.detail > 0 ? 1 : 0; }, true);
		});
		return new Hands(page, tally);
	}
	/** A few keys, one after the other. */
	async press(...keys) {
		for (const key of keys) {
			await this.#page.keyboard.press(key);
			this.strokes++;
			await this.#page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
			const end = Date.now() + PATIENT_MS;
			let fault = await this.#page.evaluate(focusFault);
			while (fault && Date.now() < end && !(/Tab$/.test(key) && fault === NOWHERE)) {
				await this.#page.waitForTimeout(20);
				fault = await this.#page.evaluate(focusFault);
			}
			// behind the last and before the first thing of a page is the browser's own bar
			if (fault && !(/Tab$/.test(key) && fault === NOWHERE))
				this.#tally.check(`${this.task}: a visible focus after ${key}`, false, fault);
		}
	}
	async times(count, key) {
		for (let i = 0; i < count; i++)
			await this.press(key);
	}
	/** Only these keys are the task's: what comes before makes the place for it. */
	async counting(act) {
		const before = this.strokes;
		await act();
		this.counted = this.strokes - before;
	}
	/** What is typed is no cost of the page's. */
	async type(text) {
		await this.#page.keyboard.type(text);
	}
	/** On with Tab (or another key) until something has the focus that is called so. */
	async to(name, key = "Tab", most = 40) {
		for (let i = 0; i < most; i++) {
			if (name.test(await this.focused()))
				return true;
			await this.press(key);
		}
		return this.#tally.check(`${this.task}: ${key} leads to ${name}`, name.test(await this.focused()), await this.focused());
	}
	focused() {
		return this.#page.evaluate(focusName);
	}
	typed() {
		return this.#page.inputValue("#composer");
	}
	/** The entry that has the focus. */
	entry() {
		return this.#page.evaluate(() => document.activeElement?.closest("[data-entry]")?.dataset.entry ?? null);
	}
	/** Looks at the page until it is so; a function that runs there, or a selector. */
	async see(what, ...more) {
		const seen = await until(() => (typeof what === "string"
			? this.#page.evaluate((selector) => document.querySelector(selector) !== null, what)
			: this.#page.evaluate(what, ...more)));
		return this.#tally.check(`${this.task}: ${what} is to be seen`, seen, await this.focused());
	}
	async gone(selector) {
		return this.#tally.check(`${this.task}: ${selector} goes away`,
			await until(() => this.#page.evaluate((wanted) => document.querySelector(wanted) === null, selector)));
	}
	/** A file that the browser asks for, or saves. */
	next(event) {
		return this.#page.waitForEvent(event);
	}
	pointers() {
		return this.#page.evaluate(() => window.pointers);
	}
}
