// SPDX-License-Identifier: MIT
//
// Words: numbers, times and beginnings of texts as they are shown in a line.

export function count(n: number, one: string, many = one + "s"): string {
	return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

/** What a discussion is called where people read it. */
export function titleOf(disc: { name: string; title?: string } | undefined): string {
	return disc?.title ?? disc?.name ?? "";
}

// Made when they are needed: that takes as long as drawing some entries.
const formats = new Map<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>();
const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
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

/** A short time: today only the hour, else the day with it; "": that is no time. */
export function when(at: string): string {
	const isToday = new Date(at).toDateString() === new Date().toDateString();
	return isToday ? formatted(at, TIME) : `${formatted(at, DAY)} ${formatted(at, TIME)}`.trim();
}

/** The day of an entry where it is another than that of the one before; null: none is before. "": no line for it. */
export function dayBetween(before: string | null | undefined, at: string | undefined): string {
	if (before === undefined || !at)
		return "";
	const day = new Date(at), now = new Date(), last = before === null ? now : new Date(before);
	if (isNaN(day.getTime()) || isNaN(last.getTime()) || day.toDateString() === last.toDateString())
		return "";
	return formatted(at, day.getFullYear() === now.getFullYear() ? DATE : DATE_OF_YEAR);
}

/** "840 ms", "3.2 s", "2 min 5 s" */
export function lasted(ms: number): string {
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

/** Markdown as it is read, about: for previews, without the signs. Code stays as it is. */
export function withoutSigns(text: string): string {
	let isCode = false;
	return text.split("\n").flatMap((line) => {
		if (/^\s*(```|~~~)/.test(line)) {
			isCode = !isCode;
			return [];
		}
		if (isCode)
			return [line];
		return [line.replace(/^(\s*)(#{1,6}|>) /, "$1").replace(/^(\s*)[-*+] /, "$1• ").replace(/\*\*|`/g, "")
			.replace(/!?\[([^[\]]{0,200})\]\([^()\s]{0,2000}\)/g, "$1")];
	}).join("\n");
}

/** The beginning of a text of which the lines are one already, as it is read. A tool's is no Markdown. */
export function beginning(text: string, role: string): string {
	if (/tool|bash|function/i.test(role))
		return text;
	const read = withoutSigns(text.replace(/^\s*(```|~~~)\w*/, ""));
	return read.trim() ? read : text;
}

/** The size of a text: "340 characters", "12 kB". */
export function sizeWords(size: number): string {
	if (size < 1000)
		return count(size, "character");
	return size < 1e6 ? `${(size / 1000).toFixed(size < 10000 ? 1 : 0)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** How a reply ended that is not complete; "": it is. Of a pi session its own record says so. */
export function endWords(entry: { partial?: unknown; stop_reason?: unknown; pi?: unknown }): string {
	const record = (entry.pi as { message?: { stopReason?: unknown; errorMessage?: unknown } } | undefined)?.message;
	const reason = record?.stopReason === "aborted" ? "Aborted" : record?.stopReason === "error" ? "Error" : "";
	if (reason)
		return typeof record?.errorMessage === "string" && record.errorMessage ? `${reason}: ${record.errorMessage}` : `${reason}.`;
	if (entry.partial !== true)
		return entry.stop_reason === "length" ? "The reply reached its maximum length." : "";
	return entry.stop_reason === "stopped" ? "Stopped here." : "The reply ended before it was complete.";
}

/** Is it a reply that could go on? */
export function isUnfinished(entry: { partial?: unknown; stop_reason?: unknown }): boolean {
	return entry.partial === true || entry.stop_reason === "length";
}

/** The first argument of a call, which mostly says what it is about. */
export function gist(value: unknown): string {
	const fields = typeof value === "object" && value ? Object.values(value) : [value];
	const first = fields.find((each) => typeof each === "string" || typeof each === "number");
	return first === undefined ? "" : String(first).replace(/\s+/g, " ").slice(0, 80);
}

/** "812 bytes", "9 KiB", "1.2 MiB". */
export function bytesWords(bytes: number): string {
	return bytes < 1024 ? count(bytes, "byte") : bytes < 1 << 20 ? `${Math.round(bytes / 1024).toLocaleString()} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
