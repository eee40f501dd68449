// SPDX-License-Identifier: MIT
//
// The HTML export: an outline on the left, one take on the right. It shows only the data in the
// page itself, makes no requests, and keeps the position in the URL fragment: #d=…&t=…&e=… In a
// very large export the end of a take precedes the rest, and is shown while the rest is being read.
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Cut } from "./cut";
import { headSpot, resolveLink, linkOf, readFirst, readPage, startSpot, titlesOf, treeFor, wordsOf } from "./export_data";
import { Entries, entryAt } from "./export_entries";
import { Tree } from "./export_tree";
import { markWords } from "./found";
import { Guard } from "./guard";
import { takeAt } from "./pane_tree";
import type { PageData, PageDiscussion, Spot } from "./export_data";

const MOST_TABS = 8, MOST_LISTED = 100, MOST_PRINTED = 5000, LARGE = 5000;

/** Number and kinds of redacted secrets. */
function Redacted(props: { of: PageDiscussion["redacted"] }) {
	if (!props.of)
		return null;
	const { entries, places, kinds } = props.of;
	const what = kinds.map(([kind, count]) => `${kind}: ${count}`).join(", ");
	return (
		<span class="chip page-redacted" title={places ? what : "No secrets were found"}>
			{places ? `${entries} ${entries === 1 ? "entry" : "entries"} redacted` : "Redacted"}
			<span class="page-wide quiet">{what && ` · ${what}`}</span>
		</span>
	);
}

const rowOf = (disc: PageDiscussion, spot: Spot) => (spot.at < 0 ? -1 : treeFor(disc).rows[spot.take]?.[spot.at] ?? -1);

function Outline(props: { disc: PageDiscussion; head: Spot; spot: Spot; onGo: (row: number, words: string[]) => void }) {
	const { disc, head, spot } = props;
	return <Tree tree={treeFor(disc)} head={rowOf(disc, head)} at={rowOf(disc, spot)} onGo={props.onGo} />;
}

/** What an import of the file adds. */
function contentsOf(discussions: PageDiscussion[], disc: PageDiscussion): string {
	if (discussions.length > 1)
		return `${discussions.length.toLocaleString()} discussions with their takes and labels`;
	return disc.takes.length > 1 ? `this discussion with its ${disc.takes.length.toLocaleString()} takes and their labels` : "this take with its labels";
}

interface PageProps extends PageData {
	onSpot: (spot: Spot) => void;
}

function Takes(props: { disc: PageDiscussion; take: number; onTake: (take: number) => void }) {
	const { takes } = props.disc, titles = titlesOf(props.disc);
	const pick = (text: string) => {
		const at = takes.findIndex((take) => take.name === text.trim());
		if (at >= 0)
			props.onTake(at);
	};
	if (takes.length > MOST_LISTED)
		return (
			<label class="page-takes">Take <input type="text" class="line" key={props.take} value={takes[props.take].name}
				title="Enter the name of another take" onChange={(event) => pick(event.currentTarget.value)} /> of {takes.length.toLocaleString()}</label>
		);
	if (takes.length > MOST_TABS)
		return (
			<label class="page-takes">Take <select value={String(props.take)} onChange={(event) => props.onTake(Number(event.currentTarget.value))}>
				{takes.map((_, at) => <option value={String(at)}>{titles[at]}</option>)}
			</select></label>
		);
	return (
		<div class="page-tabs" role="group" aria-label="Takes">
			{takes.map((take, at) => (
				<button type="button" aria-pressed={at === props.take} aria-label={`${titles[at]} ${take.count.toLocaleString()}`} title={take.name} onClick={() => props.onTake(at)}>
					<Cut text={titles[at]} title={take.name} /> <span class="count">{take.count.toLocaleString()}</span>
				</button>
			))}
		</div>
	);
}

function Page(props: PageProps) {
	const { discussions } = props, isWhole = props.read === "whole";
	const [begin] = useState(() => resolveLink(props, location.hash));
	const [spot, setSpot] = useState(begin.spot), [missing, setMissing] = useState(begin.missing);
	const found = useRef<string[]>([]), shown = useRef<PageData>(props);
	shown.current = props;
	const [turn, setTurn] = useState(0), [hasTree, setTree] = useState(false);
	const disc = discussions[spot.disc];
	const [of, setOf] = useState({ discussions, read: props.read });
	if (of.discussions !== discussions || of.read !== props.read) {
		setOf({ discussions, read: props.read });
		const now = resolveLink(props, location.hash);
		setSpot(now.spot);
		setMissing(now.missing);
		if (missing)
			setTurn((n) => n + 1); // it was missing until now
	}
	const [isReady, setReady] = useState(() => isWhole && disc.pool.length < LARGE);
	useEffect(() => {
		// the entries first: an outline of very many entries takes a while
		if (!isReady && isWhole)
			requestAnimationFrame(() => setTimeout(() => setReady(true)));
	}, [isWhole]);
	const head = headSpot(discussions, spot.disc);
	const go = (next: Spot) => {
		setSpot(next);
		setMissing("");
		setTurn((n) => n + 1);
		setTree(false);
		const link = linkOf(discussions, next);
		if (location.hash !== link)
			history.pushState(null, "", link);
	};
	useLayoutEffect(() => {
		const moved = () => {
			const next = resolveLink(shown.current, location.hash);
			setSpot(next.spot);
			setMissing(next.missing);
			setTurn((n) => n + 1);
		};
		addEventListener("popstate", moved);
		return () => removeEventListener("popstate", moved);
	}, []);
	useLayoutEffect(() => {
		if (found.current.length > 0)
			markWords(`.entries [data-at="${spot.at}"]`, found.current);
		found.current = [];
	}, [turn]);
	useEffect(() => { document.title = `${disc.title} - Retake`; }, [disc.title]);
	props.onSpot(spot);
	const goRow = (row: number, words: string[]) => {
		found.current = words;
		const tree = treeFor(disc);
		const take = Number(takeAt(tree.columns, row, String(spot.take)) ?? 0);
		go({ disc: spot.disc, take, at: tree.depth[row] });
	};
	/** Goes to the same entry in another take, or to its end. */
	const goTake = (take: number) => {
		const row = rowOf(disc, spot), rows = treeFor(disc).rows[take];
		go({ disc: spot.disc, take, at: row >= 0 && rows[spot.at] === row ? spot.at : rows.length - 1 });
	};
	const sizes = useMemo(() => disc.takes[spot.take]?.numbers.map((number) => (number < 0 ? 0 : wordsOf(disc.pool[number]).length)) ?? [], [disc, spot.take]);
	const isAtHead = spot.take === head.take && spot.at === head.at;
	return (
		<div class={"app page" + (hasTree ? " with-tree" : "")}>
			<header class="top">
				<button type="button" class="icon page-narrow" aria-expanded={hasTree} aria-label="Outline" onClick={() => setTree(!hasTree)}>☰</button>
				<h1>{discussions.length === 1 ? <span class="where">{disc.title}</span> : (
					<select aria-label="Discussion" value={String(spot.disc)} onChange={(event) => go(startSpot(discussions, Number(event.currentTarget.value)))}>
						{discussions.map((each, at) => <option value={String(at)}>{each.title}</option>)}
					</select>
				)}</h1>
				<Guard key={spot.disc}><Redacted of={disc.redacted} /></Guard>
				<span class="space" />
				<button type="button" disabled={!isWhole || spot.at <= 0} onClick={() => go({ ...spot, at: 0 })}>To the beginning</button>
				<button type="button" disabled={isAtHead} onClick={() => go(head)}>To the end</button>
			</header>
			<div class="page-columns">
				<nav class="page-left" aria-label="All entries">{isReady ? <Guard key={spot.disc}><Outline disc={disc} head={head} spot={spot} onGo={goRow} /></Guard> : <p class="quiet pane-note">{props.read === "cut" ? "The outline could not be read." : "Reading …"}</p>}</nav>
				<div class="shade" onClick={() => setTree(false)} />
				<main class="page-middle">
					{missing && (
						<p class="page-missing"><span role="status">{missing}</span>
							<button type="button" class="icon" aria-label="Close the message" onClick={() => setMissing("")}>×</button></p>
					)}
					<Takes disc={disc} take={spot.take} onTake={goTake} />
					<Entries discussions={discussions} spot={spot} turn={turn} sizes={sizes} onGo={go} />
					<p class="page-foot">Exported from Retake. To continue this conversation, import this file in Retake.{isWhole && ` It contains ${contentsOf(discussions, disc)}.`}</p>
				</main>
			</div>
		</div>
	);
}

function Paper(props: { page: PageData; spot: Spot }) {
	const { discussions, read } = props.page, { spot } = props;
	const take = discussions[spot.disc].takes[spot.take], all = take?.count ?? 0, before = take?.before ?? 0;
	const from = Math.max(before, Math.floor(Math.max(0, spot.at) / MOST_PRINTED) * MOST_PRINTED), count = Math.min(all - from, MOST_PRINTED);
	const why = read === "begun" ? "earlier entries are missing because they were still being loaded. Print again when the outline is complete."
		: read === "cut" ? "the earlier ones are missing, because the file is incomplete."
			: `at most ${MOST_PRINTED.toLocaleString()} entries around the selected one are printed. Select another entry to print the others.`;
	return (
		<>
			<h1>{discussions[spot.disc].name}</h1>
			{count < all && <p class="part">Entries {(from + 1).toLocaleString()} to {(from + count).toLocaleString()} of {all.toLocaleString()}: {why}</p>}
			{Array.from({ length: count }, (_, at) => entryAt(discussions, { ...spot, at: -1 }, from + at))}
		</>
	);
}

function begin(): void {
	const app = document.createElement("div"), paper = document.createElement("main");
	app.id = "app";
	paper.id = "paper";
	let page: PageData | null = null, spot: Spot | null = null;
	const show = (data: PageData) => {
		page = data;
		if (data.discussions.length === 0)
			return;
		// elements must be in the document to be measured, and lose their scroll position when they are moved
		if (!app.isConnected)
			document.body.prepend(app, paper);
		render(<Page {...data} onSpot={(now) => { spot = now; }} />, app);
	};
	// Only a few entries are rendered on screen; for printing, the whole take is rendered, or of a very long one
	// some thousands around the current entry. Printing cannot wait for data that is still being read.
	addEventListener("beforeprint", () => {
		if (page && spot)
			render(<Paper page={page} spot={spot} />, paper);
		else if (!page) {
			document.body.prepend(paper);
			render(<p class="part">This page is still being loaded. Print it again when its entries are shown.</p>, paper);
		}
	});
	addEventListener("afterprint", () => render(null, paper));
	document.addEventListener("DOMContentLoaded", () => {
		try {
			show(readPage());
		} catch {
			const message = document.createElement("p");
			message.setAttribute("role", "alert");
			message.className = "page-missing";
			message.textContent = "This file is incomplete: its end is missing or damaged. The readable part is below.";
			if (page)
				show({ ...page, read: "cut" });
			document.body.prepend(message);
		}
	});
	const first = readFirst();
	if (first)
		show(first);
}

begin();
