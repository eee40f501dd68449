// SPDX-License-Identifier: MIT
//
// Found: highlights search terms in the entry that was opened from a search, until the next key or
// click. CSS highlights leave the page's elements unchanged.

const NAME = "found", TRIES = 20, PAUSE_MS = 50, MOST_MARKS = 200;

let turn = 0;

function clear(): void {
	turn++;
	CSS.highlights?.delete(NAME);
	removeEventListener("keydown", clear, true);
	removeEventListener("pointerdown", clear, true);
}

function rangesOf(box: Element, words: string[]): Range[] {
	const ranges: Range[] = [];
	const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
	while (walker.nextNode() && ranges.length < MOST_MARKS) {
		const node = walker.currentNode, text = node.nodeValue!.toLowerCase();
		if (text.length !== node.nodeValue!.length)
			continue; // lower case has another length: positions would be wrong
		for (const word of words)
			for (let at = text.indexOf(word); at >= 0 && ranges.length < MOST_MARKS; at = text.indexOf(word, at + word.length)) {
				const range = document.createRange();
				range.setStart(node, at);
				range.setEnd(node, at + word.length);
				ranges.push(range);
			}
	}
	return ranges;
}

/** Highlights words (in lower case) in the element of this selector. The text may still be loading. */
export function markWords(selector: string, words: string[]): void {
	clear();
	const mine = turn;
	const look = (tries: number) => {
		if (mine !== turn || !CSS.highlights || words.length === 0)
			return;
		const box = document.querySelector(selector);
		const ranges = box ? rangesOf(box, words) : [];
		if (ranges.length > 0) {
			CSS.highlights.set(NAME, new Highlight(...ranges));
			addEventListener("keydown", clear, true);
			addEventListener("pointerdown", clear, true);
		} else if (tries > 0) {
			setTimeout(() => look(tries - 1), PAUSE_MS);
		}
	};
	look(TRIES);
}
