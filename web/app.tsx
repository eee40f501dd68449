// SPDX-License-Identifier: MIT
//
// App: the layout. Discussions on the left, the open take in the middle, the panes (panes.ts) on
// the right, a header above. On a narrow page the sides are drawers, and everything under an open
// drawer is inert.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import * as act from "./actions";
import { Composer } from "./composer";
import { ConflictDialog } from "./conflict";
import { Questions } from "./dialog";
import { Discussions } from "./discussions";
import { CloseDrawer, toggleDrawer } from "./drawer";
import { Entries } from "./entries";
import { ExportButton } from "./export";
import { focusTake, list } from "./focus";
import { NoticeLine } from "./notice_line";
import { PageSettings } from "./page_settings";
import { isNarrow, openOverlay, panesAt, togglePane, useNarrow, usePhone } from "./panes";
import { isOfOne, may, whyReadOnly } from "./rights";
import { set, useStore } from "./state";
import { discussionOf } from "./store";
import { SelectionBar } from "./selection";
import { Definitions } from "./symbols";
import { TakeBar } from "./tabs";
import { Welcome } from "./welcome";
import { titleOf } from "./words";

interface TimeButtonProps {
	id: string;
	label: string;
	sign: string;
	keys: string;
	isOff: boolean;
	run: () => Promise<void>;
}

/** The undo or redo button. It stays focusable when disabled, so that the focus is not lost with the last step. */
function TimeButton(props: TimeButtonProps) {
	const what = props.label.toLowerCase() as "undo" | "redo";
	const [next, setNext] = useState("");
	useEffect(() => setNext(""), [useStore((from) => from.version)]);
	const look = () => {
		if (!props.isOff)
			void act.nextStepWords(what).then(setNext, () => undefined);
	};
	return (
		<button type="button" class="icon text" id={props.id} aria-label={props.label} aria-disabled={props.isOff || undefined}
			title={props.isOff ? `There is nothing to ${what}` : `${props.label}${next && `: ${next}`} (${props.keys})`} onPointerEnter={look} onFocus={look}
			onClick={() => { if (!props.isOff || act.isBusy()) void props.run(); }}>
			<span aria-hidden="true">{props.sign}</span><span class="wide-only"> {props.label}</span></button>
	);
}

function TopBar(props: { isCovered: boolean }) {
	const disc = useStore((from) => from.disc);
	useStore((from) => from.discussions);
	useStore((from) => from.account);
	const pane = useStore((from) => from.pane), drawer = useStore((from) => from.drawer);
	const canUndo = useStore((from) => from.canUndo), canRedo = useStore((from) => from.canRedo);
	const isDraft = useStore((from) => from.editing !== null || from.unsaved.size > 0);
	const name = titleOf(discussionOf(disc)), isPhone = usePhone();
	document.title = name ? `${name} – Retake` : "Retake";
	const side = panesAt("side");
	return (
		<header class="top" inert={props.isCovered}>
			<button type="button" class="icon narrow-only" id="to-discussions" aria-label="Discussions" aria-expanded={drawer === "left"}
				onClick={() => toggleDrawer("left", "to-discussions")}>☰</button>
			<h1><span class="brand">Retake</span><span class="where">{name}</span></h1>
			<span class="space" />
			{panesAt("top").map((each) => <each.view key={each.id} />)}
			{may("edit") && <TimeButton id="undo" label="Undo" sign="↶" keys="Ctrl+Z" isOff={!canUndo} run={() => act.undo()} />}
			{!isPhone && may("edit") && <TimeButton id="redo" label="Redo" sign="↷" keys="Ctrl+Shift+Z" isOff={!canRedo} run={() => act.redo()} />}
			{side.some((each) => each.id === "history") && (
				<button type="button" class="icon text" id="to-history" aria-label="History" title="History" aria-pressed={pane === "history" && (drawer === "right" || !isNarrow())}
					onClick={() => (isNarrow() ? toggleDrawer("right", "to-history", "history") : togglePane("history"))}>
					<span class="wide-only">History</span><span class="phone-only" aria-hidden="true">◷</span></button>
			)}
			{may("edit") && <button type="button" class={"icon text wide-only" + (isDraft ? " unseen" : "")} id="save" title="Each change is saved at once (Ctrl+S)" onClick={act.save}>Saved</button>}
			{!isPhone && !isOfOne() && <ExportButton />}
			<PageSettings />
			<button type="button" class="icon wide-only" aria-label="Help and keys" title="Help and keys" onClick={() => openOverlay("help")}>?</button>
			{side.length > 0 && (
				<button type="button" class="icon text" id="to-panes" aria-label="Panes" title={side.map((each) => each.title).join(", ")} aria-expanded={isNarrow() ? drawer === "right" : pane !== null}
					onClick={() => (isNarrow() ? toggleDrawer("right", "to-panes") : set({ pane: pane ? null : side[0].id }))}>
					<span aria-hidden="true">◫</span></button>
			)}
		</header>
	);
}

function SidePanes() {
	const pane = useStore((from) => from.pane);
	const side = panesAt("side"), open = side.find((each) => each.id === pane);
	if (!open)
		return null;
	const onKeyDown = (event: KeyboardEvent) => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (!by)
			return;
		const next = side[(side.indexOf(open) + by + side.length) % side.length];
		set({ pane: next.id });
		document.getElementById(`pane-tab-${next.id}`)?.focus();
	};
	return (
		<aside class="side" aria-label="Panes">
			<div class="pane-head">
				<div class="pane-tabs" role="tablist" aria-label="Panes" onKeyDown={onKeyDown}>
					{side.map((each) => (
						<button type="button" role="tab" class="tab" id={`pane-tab-${each.id}`} aria-controls="pane"
							aria-selected={each === open} tabIndex={each === open ? 0 : -1}
							onClick={() => set({ pane: each.id })}>{each.title}</button>
					))}
				</div>
				<CloseDrawer />
			</div>
			<div class="pane" id="pane" role="tabpanel" aria-labelledby={`pane-tab-${open.id}`}><open.view /></div>
		</aside>
	);
}

function StatusLine() {
	const overlay = useStore((from) => from.overlay), news = useStore((from) => from.news);
	const connection = useStore((from) => from.connection), trouble = useStore((from) => from.trouble);
	useLayoutEffect(() => list.makeRoom());
	return (
		<div class="status">
			{overlay !== "compare" /* shown in the dialog */ && <NoticeLine />}
			<p class="news quiet" role="status">{news}</p>
			{trouble && <p class="trouble" role="alert">{trouble}</p>}
			{connection === "lost" && !trouble && <p class="trouble" role="status">Not connected to Retake. Reconnecting …</p>}
		</div>
	);
}

function Middle(props: { isCovered: boolean }) {
	const outline = useStore((from) => from.outline);
	const discussions = useStore((from) => from.discussions);
	const runs = useStore((from) => from.runs), editing = useStore((from) => from.editing);
	useStore((from) => from.account);
	const isEmpty = outline !== null && outline.id.length === 0 && runs.size === 0 && editing === null;
	const isFirst = discussions.length === 1 && discussions[0].takes === 1;
	return (
		<main class="middle" inert={props.isCovered}>
			<TakeBar />
			<div class="take" id="take" role="tabpanel" aria-label="The take" tabIndex={isEmpty ? 0 : -1}>
				{isEmpty && may("edit") ? <Welcome isFirst={isFirst} /> : <Entries />}
			</div>
			<div id="bars">
				<SelectionBar />
				<StatusLine />
			</div>
			{whyReadOnly() && <p class="read-only" role="status">{whyReadOnly()}</p>}
			{may("comment") && <Composer />}
		</main>
	);
}

export function App() {
	const overlay = useStore((from) => from.overlay), drawer = useStore((from) => from.drawer);
	const pane = useStore((from) => from.pane), isNarrowNow = useNarrow(), isEditing = useStore((from) => from.editing !== null);
	const isCovered = isNarrowNow && drawer !== null;
	const Over = panesAt("overlay").find((each) => each.id === overlay)?.view;
	return (
		<div class={`app drawer-${drawer ?? "none"} ${pane ? "with-pane" : ""} ${isEditing ? "is-editing" : ""}`}>
			<a class="skip" href="#take" inert={isCovered} onClick={(event) => { event.preventDefault(); focusTake(); }}>Skip to the entries</a>
			<TopBar isCovered={isCovered} />
			<div class="columns">
				<div class="left" inert={isCovered && drawer !== "left"}><Discussions /></div>
				<Middle isCovered={isCovered} />
				<div class="right" inert={isCovered && drawer !== "right"}><SidePanes /></div>
			</div>
			{drawer && <div class="shade" onClick={() => set({ drawer: null })} />}
			{Over && <Over />}
			<ConflictDialog />
			<Definitions />
			<Questions />
		</div>
	);
}
