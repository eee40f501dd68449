// SPDX-License-Identifier: MIT
//
// Finished: where the user wants it, the system shows a notification when a long reply that this page
// asked for ends while nobody sees the page. It contains the discussion's name and no text of it.
import { say } from "./actions";
import { set, state } from "./state";
import { discussionOf } from "./store";
import type { Run } from "./types";

const KEY = "retake.notify", LONG_MS = 10000;
const began = new Map<string, number>();

export function doesNotify(): boolean {
	return localStorage.getItem(KEY) === "on" && "Notification" in window && Notification.permission === "granted";
}

export async function switchNotify(on: boolean): Promise<void> {
	const isAllowed = !on || ("Notification" in window && await Notification.requestPermission() === "granted");
	if (!isAllowed)
		say("This browser does not allow notifications from this page. Allow them in its settings for this site.", false);
	localStorage.setItem(KEY, on && isAllowed ? "on" : "");
	set({});
}

/** Is something to be reported when it ends, so that the page has to keep listening? */
export function isAwaited(): boolean {
	return began.size > 0 && doesNotify();
}

export function replyBegan(run: string): void {
	began.set(run, Date.now());
}

export function replyEnded(run: Run): void {
	const at = began.get(run.run);
	if (!began.delete(run.run) || at === undefined || Date.now() - at < LONG_MS || document.visibilityState !== "hidden" || !doesNotify())
		return;
	const name = discussionOf(run.discussion)?.name ?? "Retake";
	const text = { done: "The reply is complete.", failed: "The reply failed.", stopped: "The reply was stopped.", running: "" }[run.state];
	try {
		const shown = new Notification(name, { body: text, icon: "/web/icon.svg", tag: `retake.${state.disc}` });
		shown.onclick = () => { window.focus(); shown.close(); };
	} catch {
		// a system where only service workers may show one: the page has it when it is seen again
	}
}
