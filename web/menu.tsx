// SPDX-License-Identifier: MIT
//
// Menu: a button that opens a list of actions, with the usual keys (arrows, Home, End, first
// letters, Esc).
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const GAP_PX = 4, NEAR_PX = 24, TWICE_MS = 500;
/** Further items are shown after "More", unless it is just one, which takes the same space. */
const MOST = 8;

export interface MenuItem {
	text: string;
	run: () => void;
	/** Shown on the right: a key. */
	hint?: string;
	/** Disabled, optionally with the reason. */
	isOff?: boolean | string;
	isDanger?: boolean;
	/** The right that it needs (rights.ts); "open": none. Default: to edit. */
	needs?: "open" | "read" | "comment";
	isOn?: boolean;
	/** A radio item: one of several is on. */
	isOne?: boolean;
	/** Has a separator above. */
	isFirstOfGroup?: boolean;
	/** Begins a group with this heading, which is shown with the items after "More". */
	heading?: string;
}

export interface MenuProps {
	label: string;
	children: ComponentChildren;
	/** Called when the menu opens. */
	items: () => MenuItem[];
	class?: string;
	tabIndex?: number;
	buttonId?: string;
}

function groupsOf(items: MenuItem[]): MenuItem[][] {
	const groups: MenuItem[][] = [];
	for (const item of items)
		if (item.heading || groups.length === 0)
			groups.push([item]);
		else
			groups[groups.length - 1].push(item);
	return groups;
}

function Group(props: { heading?: string; children: ComponentChildren }) {
	return props.heading ? (
		<div class="menu-group" role="group" aria-label={props.heading}>
			<div class="menu-heading" aria-hidden="true">{props.heading}</div>
			{props.children}
		</div>
	) : <div class="menu-group" role="presentation">{props.children}</div>;
}

function step(list: HTMLElement, by: number | "first" | "last"): void {
	const all = [...list.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])")];
	const now = all.indexOf(document.activeElement as HTMLElement);
	const next = by === "first" ? 0 : by === "last" ? all.length - 1 : (now + by + all.length) % all.length;
	all[next]?.focus();
}

function toLetter(list: HTMLElement, letter: string): void {
	const all = [...list.querySelectorAll<HTMLElement>("[role^=menuitem]")];
	const now = all.indexOf(document.activeElement as HTMLElement);
	const after = [...all.slice(now + 1), ...all.slice(0, now + 1)];
	after.find((item) => item.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
}

export function Menu(props: MenuProps) {
	const [items, setItems] = useState<MenuItem[] | null>(null);
	const [isWhole, setWhole] = useState(false);
	const shown = items && !isWhole && items.length > MOST + 1 ? items.slice(0, MOST) : items;
	const groups = shown ? groupsOf(shown) : [];
	const button = useRef<HTMLButtonElement>(null), list = useRef<HTMLDivElement>(null);
	const opened = useRef({ at: -Infinity, x: 0, y: 0 });
	const close = (toButton: boolean) => {
		setItems(null);
		if (toButton)
			button.current?.focus();
	};
	// a layout effect, because the next key already belongs to the menu
	useLayoutEffect(() => {
		if (!items)
			return;
		place(button.current!, list.current!);
		step(list.current!, "first");
		const away = (event: Event) => {
			const target = event.target as Node;
			if (!list.current?.contains(target) && !button.current?.contains(target))
				setItems(null);
		};
		document.addEventListener("pointerdown", away, true);
		return () => document.removeEventListener("pointerdown", away, true);
	}, [items]);
	// focuses the first of the items that "More" revealed
	useLayoutEffect(() => {
		if (!isWhole || !list.current)
			return;
		place(button.current!, list.current);
		list.current.querySelectorAll<HTMLElement>(".menu-item")[MOST]?.focus();
	}, [isWhole]);
	/** The second click of a double click was meant for the button, whatever is under the pointer by then. */
	const isTwice = (event: MouseEvent) => event.detail > 1 || (event.detail > 0 && event.timeStamp - opened.current.at < TWICE_MS &&
		Math.hypot(event.clientX - opened.current.x, event.clientY - opened.current.y) < NEAR_PX);
	const onButton = (event: MouseEvent) => {
		if (items && !isTwice(event))
			return close(true);
		if (items)
			return step(list.current!, "first"); // the button took the focus
		opened.current = { at: event.timeStamp, x: event.clientX, y: event.clientY };
		setWhole(false);
		setItems(props.items());
	};
	/** Focuses the next item with this first letter, also one after "More". */
	const byLetter = (letter: string) => {
		const begins = (item: MenuItem) => item.text.toLowerCase().startsWith(letter);
		if (shown!.length < items!.length && !shown!.some(begins) && items!.some(begins)) {
			setWhole(true);
			setTimeout(() => list.current && toLetter(list.current, letter));
		} else {
			toLetter(list.current!, letter);
		}
	};
	const onKey = (event: KeyboardEvent) => {
		const moves: Record<string, number | "first" | "last"> =
			{ ArrowDown: 1, ArrowUp: -1, Home: "first", End: "last" };
		if (event.key.length === 1 && (event.ctrlKey || event.metaKey))
			return close(true); // Ctrl+K: handled by the page
		if (event.key in moves)
			step(list.current!, moves[event.key]);
		else if (event.key === "Escape")
			close(true);
		else if (event.key === "Tab")
			return close(false);
		else if (event.key.length === 1 && event.key !== " ")
			byLetter(event.key.toLowerCase());
		else
			return event.stopPropagation();
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<>
			<button ref={button} id={props.buttonId} type="button" class={"icon menu " + (props.class ?? "")} aria-label={props.label} title={props.label}
				aria-haspopup="menu" aria-expanded={items !== null} tabIndex={props.tabIndex}
				onClick={onButton}>{props.children}</button>
			{items && (
				<div ref={list} class={"menu-list" + (groups.length > 2 ? " columns" : "")} role="menu" aria-label={props.label} onKeyDown={onKey}
					onScroll={(event) => showMore(event.currentTarget)}>
					{groups.map((group) => <Group key={group[0].heading} heading={group[0].heading}>{group.map((item) => (
						<div class={"menu-item" + (item.isDanger ? " danger" : "") + (item.isFirstOfGroup ? " first" : "")}
							role={item.isOn === undefined ? "menuitem" : item.isOne ? "menuitemradio" : "menuitemcheckbox"}
							aria-checked={item.isOn} aria-disabled={item.isOff ? true : undefined} title={typeof item.isOff === "string" ? item.isOff : undefined}
							tabIndex={-1}
							onKeyDown={pressed}
							onClick={(event) => { if (!item.isOff && !isTwice(event)) { close(true); item.run(); } }}>
							<span>{item.text}</span>{item.hint && <kbd>{item.hint}</kbd>}
						</div>
					))}</Group>)}
					{shown!.length < items.length && (
						<div class="menu-item first" role="menuitem" tabIndex={-1} onKeyDown={pressed} onClick={() => setWhole(true)}>
							<span>More ({items.length - MOST})</span></div>
					)}
				</div>
			)}
		</>
	);
}

function pressed(event: KeyboardEvent): void {
	if (event.key !== "Enter" && event.key !== " ")
		return;
	event.preventDefault();
	(event.currentTarget as HTMLElement).click();
}

/** Shows an indicator at the end if the list can be scrolled. */
function showMore(list: HTMLElement): void {
	list.toggleAttribute("data-more", list.scrollTop + list.clientHeight < list.scrollHeight - 2 * GAP_PX);
}

/** Places the list below the button, above or beside it: never over it, and always within the viewport. */
function place(button: HTMLElement, list: HTMLElement): void {
	const at = button.getBoundingClientRect(), size = list.getBoundingClientRect();
	const under = innerHeight - at.bottom - 2 * GAP_PX, over = at.top - 2 * GAP_PX;
	let left = Math.min(at.right - size.width, innerWidth - size.width - GAP_PX);
	let top = at.bottom + GAP_PX;
	if (size.height > under && size.height <= over) {
		top = at.top - GAP_PX - size.height;
	} else if (size.height > under) {
		const isLeft = at.left >= size.width + 2 * GAP_PX;
		if (isLeft || innerWidth - at.right >= size.width + 2 * GAP_PX) {
			left = isLeft ? at.left - GAP_PX - size.width : at.right + GAP_PX;
			top = Math.min(at.top, innerHeight - size.height - GAP_PX);
		} else {
			list.style.maxHeight = `${Math.max(under, over)}px`;
			top = under >= over ? top : at.top - GAP_PX - Math.min(size.height, over);
		}
	}
	list.style.top = `${Math.max(GAP_PX, top)}px`;
	list.style.left = `${Math.max(GAP_PX, left)}px`;
	showMore(list);
}
