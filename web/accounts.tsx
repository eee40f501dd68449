// SPDX-License-Identifier: MIT
//
// Accounts: the members and share links of the project, the user's access tokens and limits. Secrets are shown once,
// right after they are made.
import { useState } from "preact/hooks";
import { sentence } from "./actions";
import { get, path, post, request } from "./api";
import { CopyButton } from "./copy";
import { Dialog } from "./dialog";
import { useLoaded } from "./pane_data";
import { addPane, openOverlay } from "./panes";
import { state } from "./state";
import { discussionOf } from "./store";
import { bytesWords, titleOf, whenFull } from "./words";
import type { Account } from "./types";

interface Member {
	user?: string;
	team?: string;
	role: string;
}

interface Expiring {
	id: number;
	until?: string;
}

interface Link extends Expiring {
	discussion?: number;
}

interface Token extends Expiring {
	name?: string;
	scope: string;
	projects: string[];
	used?: string;
}

const ROLES: [string, string][] = [["reader", "Reader"], ["commenter", "Commenter"], ["editor", "Editor"], ["owner", "Owner"]];
const DAYS: [number, string][] = [[7, "7 days"], [30, "30 days"], [365, "1 year"], [0, "Never"]];
const SCOPES: [string, string][] = [["read", "Read"], ["write", "Read and write"], ["admin", "All your rights"]];

function Choice(props: { label: string; value: string | number; all: [string | number, string][]; onChange: (value: string) => void }) {
	return (
		<select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
			{props.all.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
		</select>
	);
}

/** A list of the server that is read again after each change, and the message of the last failure. */
function useList<T>(where: string) {
	const [count, setCount] = useState(0), [failure, setFailure] = useState("");
	const { data, problem } = useLoaded(() => get<T[]>(where), [count], 0);
	const change = (work: Promise<unknown>) => work.then(() => setFailure(""), (error: Error) => setFailure(error.message)).then(() => setCount((n) => n + 1));
	return { all: data ?? [], isRead: !!data, problem: failure || problem, change };
}

function Trouble(props: { text: string | null | undefined }) {
	return props.text ? <p class="trouble" role="alert">{sentence(props.text)}</p> : null;
}

function endOf(item: Expiring): string {
	return item.until ? `until ${whenFull(item.until)}` : "does not expire";
}

/** What was made, shown once. */
function Made(props: { label: string; text: string }) {
	return (
		<div class="made" role="status">
			<p>Copy it now: it will not be shown again.</p>
			<p class="inline"><input class="line" readOnly aria-label={props.label} value={props.text} onFocus={(event) => event.currentTarget.select()} />
				<CopyButton text={() => Promise.resolve(props.text)} label={`Copy: ${props.label}`} /></p>
		</div>
	);
}

// ---- members ----

function Members() {
	const members = useList<Member>("/members");
	const [name, setName] = useState(""), [role, setRole] = useState("reader");
	const setMember = (who: string, to: string) => members.change(request("PUT", path("members", who), { body: { role: to } }));
	const add = (event: Event) => {
		event.preventDefault();
		if (name.trim())
			void setMember(name.trim(), role).then(() => setName(""));
	};
	return (
		<Dialog title="Members" class="accounts" onClose={() => openOverlay(null)}>
			<p class="quiet">A reader can read the project, a commenter can also add entries, an editor can change everything, and an owner can also manage members and links.</p>
			<ul class="roles" aria-label="Members">
				{members.all.map((each) => {
					const who = each.user ?? `@${each.team}`;
					return (
						<li key={who}><span>{who}{each.team && <span class="quiet"> (team)</span>}</span>
							<Choice label={`Role of ${who}`} value={each.role} all={ROLES} onChange={(to) => void setMember(who, to)} />
							<button type="button" class="icon" aria-label={`Remove ${who}`} title="Remove" onClick={() => void members.change(request("DELETE", path("members", who)))}>×</button></li>
					);
				})}
			</ul>
			{members.isRead && members.all.length === 0 && <p>No members: only administrators may open this project.</p>}
			<Trouble text={members.problem} />
			<form class="inline" onSubmit={add}>
				<input class="line" aria-label="Name of a user, or of a team with @" placeholder="user or @team" value={name} autoFocus autocomplete="off" spellcheck={false}
					onInput={(event) => setName(event.currentTarget.value)} />
				<Choice label="Role of the new member" value={role} all={ROLES} onChange={setRole} />
				<button type="submit" class="primary">Add</button>
			</form>
		</Dialog>
	);
}

// ---- share links ----

function nameOfLink(link: Link): string {
	return link.discussion ? titleOf(discussionOf(`d${link.discussion}`)) || `Discussion ${link.discussion}` : "The whole project";
}

function Share() {
	const links = useList<Link>("/links");
	const [what, setWhat] = useState("discussion"), [days, setDays] = useState("7"), [made, setMade] = useState("");
	const create = (event: Event) => {
		event.preventDefault();
		void links.change(post<{ link: string }>("/links", { days: Number(days), ...(what === "discussion" ? { discussion: state.disc } : {}) })
			.then(({ link }) => setMade(`${location.origin}/shared#${link}`)));
	};
	return (
		<Dialog title="Share" class="accounts" onClose={() => openOverlay(null)}>
			<p class="quiet">Anyone with the link can read without an account, until it expires or is revoked.</p>
			<form class="inline" onSubmit={create}>
				<Choice label="Scope of the link" value={what} all={[["discussion", "This discussion"], ["project", "The whole project"]]} onChange={setWhat} />
				<Choice label="Expiry" value={days} all={DAYS} onChange={setDays} />
				<button type="submit" class="primary">Create a link</button>
			</form>
			{made && <Made label="Link" text={made} />}
			<Trouble text={links.problem} />
			<ul class="roles" aria-label="Links">
				{links.all.map((each) => (
					<li key={each.id}><span>{nameOfLink(each)} <span class="quiet">{endOf(each)}</span></span>
						<button type="button" aria-label={`Revoke link ${each.id}: ${nameOfLink(each)}`} onClick={() => void links.change(request("DELETE", path("links", each.id)))}>Revoke</button></li>
				))}
			</ul>
			{links.isRead && links.all.length === 0 && <p>There are no links.</p>}
		</Dialog>
	);
}

// ---- tokens ----

function Tokens() {
	const tokens = useList<Token>("/tokens");
	const [name, setName] = useState(""), [scope, setScope] = useState("read"), [days, setDays] = useState("30"), [made, setMade] = useState("");
	const create = (event: Event) => {
		event.preventDefault();
		void tokens.change(post<{ token: string }>("/tokens", { name: name.trim(), scope, days: Number(days) }).then(({ token }) => {
			setMade(token);
			setName("");
		}));
	};
	return (
		<Dialog title="Access tokens" class="accounts" onClose={() => openOverlay(null)}>
			<p class="quiet">Programs send a token in the Authorization: Bearer header. A token never has more rights than you.</p>
			<form class="inline" onSubmit={create}>
				<input class="line" aria-label="Name of the token" placeholder="name, such as laptop" value={name} maxLength={60} autoFocus autocomplete="off"
					onInput={(event) => setName(event.currentTarget.value)} />
				<Choice label="Rights of the token" value={scope} all={SCOPES} onChange={setScope} />
				<Choice label="Expiry" value={days} all={DAYS} onChange={setDays} />
				<button type="submit" class="primary">Create</button>
			</form>
			{made && <Made label="Token" text={made} />}
			<Trouble text={tokens.problem} />
			<ul class="roles" aria-label="Tokens">
				{tokens.all.map((each) => (
					<li key={each.id}><span><span dir="auto">{each.name || `Token ${each.id}`}</span> <span class="quiet">{SCOPES.find(([scope]) => scope === each.scope)?.[1] ?? each.scope}, {endOf(each)}
						{each.projects.length > 0 && `, only ${each.projects.join(", ")}`}{each.used ? `, last used ${each.used}` : ""}</span></span>
						<button type="button" aria-label={`Revoke ${each.name || `token ${each.id}`}`} onClick={() => void tokens.change(request("DELETE", path("tokens", each.id)))}>Revoke</button></li>
				))}
			</ul>
			{tokens.isRead && tokens.all.length === 0 && <p>You have no tokens.</p>}
		</Dialog>
	);
}

// ---- limits ----

const KINDS: [string, string][] = [["requests", "Requests to models today (UTC)"], ["tokens", "Model tokens today (UTC)"], ["entries", "Entries added"],
	["bytes", "Stored data"], ["projects", "Projects owned"]];

/** The limits and their use. The limit of each user applies where the user has none of the same kind. */
function Limits() {
	const { data, problem } = useLoaded(() => get<Account>("/account"), [], 0);
	const quotas = data?.quotas ?? [], own = quotas.find((each) => each.user);
	const rows = quotas.flatMap((each) => KINDS.filter(([kind]) => each.limits[kind] !== undefined && !(each.each_user && own?.limits[kind] !== undefined))
		.map(([kind, name]) => ({ of: each.team ? `team ${each.team}` : each.project ? `project ${each.project}` : "", kind, name, limit: each.limits[kind], used: each.use?.[kind] ?? 0 })));
	const words = (kind: string, n: number) => (kind === "bytes" ? bytesWords(n) : n.toLocaleString());
	return (
		<Dialog title="Limits" class="accounts" onClose={() => openOverlay(null)}>
			<p class="quiet">A request that would exceed a limit is refused. Only an administrator can change limits.</p>
			<Trouble text={problem} />
			<ul class="roles limits" aria-label="Limits">
				{rows.map((row) => (
					<li key={`${row.of} ${row.kind}`} class={row.used >= row.limit ? "is-full" : ""}><span>{row.name}{row.of && <span class="quiet"> of the {row.of}</span>}</span>
						<meter aria-label={`${row.name}${row.of && `, ${row.of}`}`} min={0} max={Math.max(row.limit, 1)} value={row.used} />
						<span class="used">{words(row.kind, row.used)} of {words(row.kind, row.limit)}</span></li>
				))}
			</ul>
			{data && rows.length === 0 && <p>No limits apply to this account.</p>}
		</Dialog>
	);
}

addPane({ id: "limits", title: "Limits", place: "overlay", view: Limits });
addPane({ id: "members", title: "Members", place: "overlay", view: Members });
addPane({ id: "share", title: "Share", place: "overlay", view: Share });
addPane({ id: "tokens", title: "Access tokens", place: "overlay", view: Tokens });
