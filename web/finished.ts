// SPDX-License-Identifier: MIT
//
// Finished: shows a system notification, if the user enabled it, when a long reply that this page
// requested ends while the page is not visible. It contains the discussion's name, but none of its
// text.
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

/** Must the page keep listening because a reply's end is to be reported? */
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
		// on some systems only service workers may show notifications; the page shows the reply when it is
		// visible again
	}
}
