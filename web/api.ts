// SPDX-License-Identifier: MIT
//
// The HTTP client: JSON out, JSON or a Problem back. Does not depend on the rest of the page.
import type { ProblemBody } from "./types";

const API = "/retake/v1";

/** The project in the page's address; null: the server's default project. */
export const PROJECT = new URLSearchParams(location.search).get("project");

/** The share link with which the page was opened; null: none. */
export const SHARED = new URLSearchParams(location.search).get("shared");

/** An error that the server explained; status 0: the server could not be reached. */
export class Problem extends Error {
	readonly status: number;
	readonly code: string;
	readonly body: ProblemBody;

	constructor(status: number, body: ProblemBody) {
		super(body.detail ?? body.title ?? "The server gave no reason.");
		this.status = status;
		this.code = body.code ?? "";
		this.body = body;
	}
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface Ask {
	query?: Query;
	body?: unknown;
	/** A file, sent verbatim. */
	raw?: BodyInit;
	ifMatch?: string;
	/** Read an earlier state: no tag, no changes. */
	atOp?: number;
	/** Idempotency key; generated if omitted. */
	key?: string;
	signal?: AbortSignal;
}

export interface Answer<T> {
	data: T;
	tag: string | null;
	status: number;
}

/** A path of pieces, each percent-encoded: path("discussions", id, "takes"). */
export function path(...pieces: (string | number)[]): string {
	return "/" + pieces.map((piece) => encodeURIComponent(String(piece))).join("/");
}

export function address(where: string, query: Query = {}): string {
	const given = Object.entries({ ...query, project: PROJECT, shared: SHARED } as Query).filter(([, value]) => value !== undefined && value !== null);
	const text = given
		.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
		.join("&");
	return API + where + (text ? "?" + text : "");
}

function randomKey(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function problemOf(response: Response): Promise<Problem> {
	let body: ProblemBody = { title: response.statusText };
	try {
		body = (await response.json()) as ProblemBody;
	} catch {
		// no JSON body: only the status is known
	}
	return new Problem(response.status, body);
}

declare global {
	interface Window {
		/** A request started by early.ts; null: it failed and must be repeated. */
		retakeEarly?: { where: string; answer: Promise<Early | null> };
	}
}

interface Early {
	text: string;
	tag: string | null;
	status: number;
}

/** Takes the answer of a request that early.ts started; each is used once. */
async function early(where: string): Promise<Early | null> {
	const asked = window.retakeEarly;
	if (asked?.where !== where)
		return null;
	window.retakeEarly = undefined;
	return asked.answer;
}

async function send(method: string, full: string, ask: Ask): Promise<Response> {
	const headers: Record<string, string> = { Accept: "application/json" };
	const isWrite = method !== "GET";
	if (isWrite) {
		headers["Content-Type"] = ask.raw === undefined ? "application/json" : "application/octet-stream";
		headers["Idempotency-Key"] = ask.key ?? randomKey();
	}
	if (ask.ifMatch)
		headers["If-Match"] = ask.ifMatch;
	const body = ask.raw ?? (isWrite ? JSON.stringify(ask.body ?? {}) : undefined);
	try {
		return await fetch(full, {
			method, headers, body, signal: ask.signal, credentials: "same-origin",
		});
	} catch (error) {
		if ((error as Error).name === "AbortError")
			throw error;
		throw new Problem(0, { code: "unreachable", detail: "The server cannot be reached." });
	}
}

/** General request. Throws a Problem. */
export async function request<T>(method: string, where: string, ask: Ask = {}): Promise<Answer<T>> {
	const full = address(where, ask.atOp === undefined ? ask.query : { ...ask.query, at_op: ask.atOp });
	const known = method === "GET" && window.retakeEarly ? await early(full) : null;
	if (known)
		return { data: JSON.parse(known.text) as T, tag: known.tag, status: known.status };
	const response = await send(method, full, ask);
	if (!response.ok)
		throw await problemOf(response);
	const text = await response.text();
	return {
		data: (text ? JSON.parse(text) : null) as T,
		tag: response.headers.get("ETag"),
		status: response.status,
	};
}

export async function get<T>(where: string, query?: Query, more: Ask = {}): Promise<T> {
	return (await request<T>("GET", where, { ...more, query })).data;
}

export async function post<T>(where: string, body?: unknown, more: Ask = {}): Promise<T> {
	return (await request<T>("POST", where, { ...more, body })).data;
}
