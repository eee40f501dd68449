// SPDX-License-Identifier: MIT
//
// Words: formats numbers, times and previews of texts.

export function count(n: number, one: string, many = one + "s"): string {
	return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

/** The displayed name of a discussion. A generated name says nothing about its content. */
export function titleOf(disc: { name: string; title?: string } | undefined): string {
	return disc?.title ?? (disc && isGeneratedName(disc.name) ? "New discussion" : disc?.name ?? "");
}

/** Is it the name of a discussion for which none was chosen? As rt_disc_name_is_generated(). */
export function isGeneratedName(name: string): boolean {
	return /^(main|discussion-\d+)$/.test(name);
}

/** The beginning of the first line, cut at a number of characters. */
export function firstWords(text: string, most: number): string {
	const line = text.trim().split("\n", 1)[0].trim(), letters = [...line.slice(0, most * 4)];
	return letters.length > most ? letters.slice(0, most - 1).join("").trim() + "…" : line;
}

/** The displayed name of a take: the words in which it differs if its name is generated, except that of the first one. */
export function takeTitle(take: { name: string; title?: string }): string {
	return take.title && /_take_\d+$|^discussion-\d+$/.test(take.name) ? withoutSigns(take.title).trim() || take.name : take.name;
}

// Created on first use: that takes as long as rendering some entries.
const formats = new Map<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>();
const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
const DAY_OF_YEAR: Intl.DateTimeFormatOptions = { ...DAY, year: "numeric" };
const TIME: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
const DATE: Intl.DateTimeFormatOptions = { weekday: "long", day: "numeric", month: "long" };
const DATE_OF_YEAR: Intl.DateTimeFormatOptions = { ...DATE, year: "numeric" };
const FULL: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "medium" };

function formatted(at: string, options: Intl.DateTimeFormatOptions): string {
	let format = formats.get(options);
	if (!format)
		formats.set(options, format = new Intl.DateTimeFormat(undefined, options));
	const date = new Date(at);
	return isNaN(date.getTime()) ? "" : format.format(date);
}

function isToday(at: string): boolean {
	return new Date(at).toDateString() === new Date().toDateString();
}

/** A short time: of today without the date, of another year without the hour; "": not a valid time. */
export function when(at: string): string {
	return isToday(at) || new Date(at).getFullYear() !== new Date().getFullYear() ? shortDate(at) : `${formatted(at, DAY)} ${formatted(at, TIME)}`.trim();
}

/** The hour of today, or the date. */
export function shortDate(at: string): string {
	return formatted(at, isToday(at) ? TIME : new Date(at).getFullYear() === new Date().getFullYear() ? DAY : DAY_OF_YEAR);
}

/** The day of an entry, if it differs from the one before; null: no entry before. "": no day line. */
export function dayBetween(before: string | null | undefined, at: string | undefined): string {
	if (before === undefined || !at)
		return "";
	const day = new Date(at), now = new Date(), last = before === null ? now : new Date(before);
	if (isNaN(day.getTime()) || isNaN(last.getTime()) || day.toDateString() === last.toDateString())
		return "";
	return formatted(at, day.getFullYear() === now.getFullYear() ? DATE : DATE_OF_YEAR);
}

/** A day, "2026-11-27": by default with the weekday and the year. */
export function dateWords(day: string, options = DATE_OF_YEAR): string {
	return formatted(`${day}T12:00`, options);
}

/** "840 ms", "3.2 s", "2 min 5 s" */
export function durationWords(ms: number): string {
	if (ms < 1000)
		return `${Math.round(ms)} ms`;
	if (ms < 60000)
		return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
	return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

/** "$0.0123", "$1.20" */
export function costWords(cost: number): string {
	return `$${cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

export function whenFull(at: string): string {
	return formatted(at, FULL);
}

export function oneLine(text: string, most = 160): string {
	const line = text.slice(0, most * 2).replace(/\s+/g, " ").trim();
	return line.length > most ? line.slice(0, most) + "…" : line;
}

/** Text with Markdown syntax removed, approximately, for previews. Code is unchanged. */
export function withoutSigns(text: string): string {
	let isCode = false;
	return text.split("\n").flatMap((line) => {
		if (/^\s*(```|~~~)/.test(line)) {
			isCode = !isCode;
			return [];
		}
		if (isCode)
			return [line];
		return [line.replace(/\|(?: {0,3}:?-{2,60}:? {0,3}\|)+/g, "|").replace(/^(\s*)(#{1,6}|>) /, "$1").replace(/^(\s*)[-*+] /, "$1• ").replace(/\*\*|`/g, "")
			.replace(/(^|[^\w*])\*([^\s*](?:[^*\n]{0,200}[^\s*])?)\*(?![\w*])/g, "$1$2")
			.replace(/!?\[([^[\]]{0,200})\]\([^()\s]{0,2000}\)/g, "$1")];
	}).join("\n");
}

/** The preview of a text whose lines are already joined. A tool's text is not Markdown. */
export function beginning(text: string, role: string): string {
	if (/tool|bash|function/i.test(role))
		return text;
	const read = withoutSigns(text.replace(/^\s*(```|~~~)\w*/, "")).replace(/ #{2,6} /g, " ");
	return read.trim() ? read : text;
}

const FORMATS: Record<string, string> = {
	html: "Web page", markdown: "Markdown", text: "Plain text", canonical: "Everything, for Retake", openai: "OpenAI messages",
	toml: "Manual Slop project", "config-toml": "Manual Slop configuration",
};

/** The displayed name of a format: that of its program, where the description begins with one. */
export function formatName(format: { name: string; about: string }): string {
	return FORMATS[format.name] ?? /^[^:]{1,20}(?=: )/.exec(format.about)?.[0] ?? format.name;
}

/** The size of a text: "340 characters", "12 kB". */
export function sizeWords(size: number): string {
	if (size < 1000)
		return count(size, "character");
	return size < 1e6 ? `${(size / 1000).toFixed(size < 10000 ? 1 : 0)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** How an incomplete reply ended; "": complete. For pi sessions from pi's own record. */
export function endWords(entry: { partial?: unknown; stop_reason?: unknown; pi?: unknown }): string {
	const record = (entry.pi as { message?: { stopReason?: unknown; errorMessage?: unknown } } | undefined)?.message;
	const reason = record?.stopReason === "aborted" ? "Aborted" : record?.stopReason === "error" ? "Error" : "";
	if (reason)
		return typeof record?.errorMessage === "string" && record.errorMessage ? `${reason}: ${record.errorMessage}` : `${reason}.`;
	if (entry.partial !== true)
		return entry.stop_reason === "length" ? "The reply reached its maximum length." : "";
	return entry.stop_reason === "stopped" ? "Stopped here." : "The reply ended before it was complete.";
}

/** Can the reply be continued? */
export function isUnfinished(entry: { partial?: unknown; stop_reason?: unknown }): boolean {
	return entry.partial === true || entry.stop_reason === "length";
}

/** The first argument of a call, which usually says what it is about. */
export function gist(value: unknown): string {
	const fields = typeof value === "object" && value ? Object.values(value) : [value];
	const first = fields.find((each) => typeof each === "string" || typeof each === "number");
	return first === undefined ? "" : String(first).replace(/\s+/g, " ").slice(0, 80);
}

/** "812 bytes", "9 KiB", "1.2 MiB". */
export function bytesWords(bytes: number): string {
	return bytes < 1024 ? count(bytes, "byte") : bytes < 1 << 20 ? `${Math.round(bytes / 1024).toLocaleString()} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
