// SPDX-License-Identifier: MIT
//
// Live: the server's event stream (src/server/feed.h), open as long as the page. The browser
// reconnects by itself and sends the id of the last event; "reset" means that everything must be
// read again.
import { address, Problem, SHARED } from "./api";
import { readAccount } from "./rights";
import { set, state } from "./state";
import { refreshAll, reload, take } from "./store";
import { isAwaited, replyEnded } from "./finished";
import { noticeChange } from "./notice";
import { isOurs, reportNews } from "./news";
import { leaveUnknownProject } from "./projects";
import { runAsked, runDelta, runEnded, runFlight, runFlightEnded, runSeen, forgetRuns } from "./runs";
import type { Change, Run } from "./types";

let source: EventSource | null = null;
let epoch = "", lastId = "";
let hideTimer: number | undefined;

type Told = MessageEvent<string>;

function onEvent(name: string, act: (data: never) => void): void {
	source!.addEventListener(name, (event) => {
		lastId = (event as Told).lastEventId || lastId;
		act(JSON.parse((event as Told).data) as never);
	});
}

async function readAll(): Promise<void> {
	try {
		await reload();
		set({ trouble: null });
	} catch (error) {
		const isUnknown = error instanceof Problem && error.status === 404 && state.info === null;
		set({ trouble: isUnknown && SHARED === null ? await leaveUnknownProject().catch(() => error.message) : (error as Error).message });
	}
}

/** Was the share link revoked, or has it expired? Then nothing is tried any more. */
async function hasEnded(): Promise<boolean> {
	const problem = SHARED === null ? null : await readAccount().catch((error: Error) => error);
	const is = problem instanceof Problem && problem.status === 401;
	if (is)
		set({ connection: "connecting", trouble: "This share link no longer works: it was revoked or has expired." });
	return is;
}

const HIDDEN_MS = 60000;

/** A hidden window closes its connection after a while: browsers allow few per server. */
export function closeIfHidden(): void {
	clearTimeout(hideTimer);
	if (document.visibilityState === "hidden") {
		hideTimer = window.setTimeout(() => {
			if (isAwaited())
				return closeIfHidden(); // its end is to be reported
			source?.close();
			source = null;
		}, HIDDEN_MS);
	} else if (source === null) {
		listen();
	}
}

/** Opens the event stream and reads everything once, or resumes after the last event. */
export function listen(): void {
	source?.close();
	const early = state.outline === null && epoch === "" ? readAll() : null;
	source = new EventSource(address("/events", { last_event_id: lastId || undefined }));
	source.onopen = () => set({ connection: "live" });
	source.onerror = () => {
		set({ connection: "lost" });
		if (source?.readyState === EventSource.CLOSED)
			void hasEnded().then((is) => { if (!is) setTimeout(listen, 4000); });
	};
	onEvent("hello", (data: { seq: number; epoch: string }) => {
		forgetRuns();
		const isKnown = epoch === data.epoch && state.outline !== null, isFirst = epoch === "";
		epoch = data.epoch;
		if (isFirst && early)
			void early.then(() => {
				// changes between our reading and the start of the stream
				if ((state.outline?.seq ?? -1) < data.seq)
					void readAll();
				else
					refreshAll();
			});
		else if (isKnown) {
			void readAccount().catch(() => undefined); // a changed role ends the stream
			refreshAll();
		}
		else
			void readAll();
	});
	onEvent("reset", (data: { epoch: string }) => {
		epoch = data.epoch;
		void readAll();
	});
	onEvent("newer", (data: { detail: string }) => set({ trouble: data.detail }));
	onEvent("op", (change: Change) => {
		take(change);
		noticeChange(change);
		if (!isOurs(change))
			reportNews(change);
	});
	onEvent("run.started", (run: Run) => runSeen(run));
	onEvent("run.snapshot", (run: Run) => runSeen(run));
	onEvent("run.asked", (data: { run: string; question: string }) => runAsked(data.run, data.question));
	onEvent("run.notice", (data: { run: string; text: string }) => runDelta(data.run, { notice: data.text }));
	onEvent("run.delta", (data: { run: string; reply?: number; text?: string; thinking?: string }) =>
		runDelta(data.run, data));
	onEvent("run.ended", (run: Run) => {
		runEnded(run);
		replyEnded(run);
	});
	onEvent("flight", (data: never) => runFlight(data));
	onEvent("flight.ended", (data: { flight: string }) => runFlightEnded(data.flight));
}
