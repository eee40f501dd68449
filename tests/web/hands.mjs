// SPDX-License-Identifier: MIT
//
// Hands: simulates a keyboard user. Every key is counted, and after each there must be a visible
// focus. The page's own state tells whether a pointer was used.
import { until } from "./place.mjs";

const PATIENT_MS = 5000, NOWHERE = "nothing has the focus";

/** In the page: a problem of the focused element; "": none. */
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

/** In the page: the accessible name of the focused element. */
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
	/** Presses some keys. */
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
			// after the last and before the first element of a page, the focus is in the browser's
			// toolbar
			if (fault && !(/Tab$/.test(key) && fault === NOWHERE))
				this.#tally.check(`${this.task}: a visible focus after ${key}`, false, fault);
		}
	}
	async times(count, key) {
		for (let i = 0; i < count; i++)
			await this.press(key);
	}
	/** Counts only the keys of this function: the ones before prepare the task. */
	async counting(act) {
		const before = this.strokes;
		await act();
		this.counted = this.strokes - before;
	}
	/** Typed text does not count. */
	async type(text) {
		await this.#page.keyboard.type(text);
	}
	/** Presses Tab (or another key) until an element with this name has the focus. */
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
	/** The focused entry. */
	entry() {
		return this.#page.evaluate(() => document.activeElement?.closest("[data-entry]")?.dataset.entry ?? null);
	}
	/** Waits until a function in the page returns true, or a selector matches. */
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
	/** The next file chooser or download. */
	next(event) {
		return this.#page.waitForEvent(event);
	}
	pointers() {
		return this.#page.evaluate(() => window.pointers);
	}
}
