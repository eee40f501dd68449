// SPDX-License-Identifier: MIT
//
// Menu: a button that opens a list of things to do, with the keys that menus have (arrows,
// Home, End, first letters, Esc).
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
	text: string;
	run: () => void;
	/** What is shown at its right: a key. */
	hint?: string;
	isOff?: boolean;
	isDanger?: boolean;
	isOn?: boolean;
	/** A line above it. */
	isFirstOfGroup?: boolean;
}

export interface MenuProps {
	label: string;
	children: ComponentChildren;
	/** Asked when it opens. */
	items: () => MenuItem[];
	class?: string;
	tabIndex?: number;
	buttonId?: string;
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
	const button = useRef<HTMLButtonElement>(null), list = useRef<HTMLDivElement>(null);
	const close = (toButton: boolean) => {
		setItems(null);
		if (toButton)
			button.current?.focus();
	};
	// before anybody can press a key: those are the menu's from now on
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
	const onKey = (event: KeyboardEvent) => {
		const moves: Record<string, number | "first" | "last"> =
			{ ArrowDown: 1, ArrowUp: -1, Home: "first", End: "last" };
		if (event.key.length === 1 && (event.ctrlKey || event.metaKey))
			return close(true); // Ctrl+K: that is for the page
		if (event.key in moves)
			step(list.current!, moves[event.key]);
		else if (event.key === "Escape")
			close(true);
		else if (event.key === "Tab")
			return close(false);
		else if (event.key.length === 1 && event.key !== " ")
			toLetter(list.current!, event.key.toLowerCase());
		else
			return event.stopPropagation();
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<span class={"menu " + (props.class ?? "")}>
			<button ref={button} id={props.buttonId} type="button" class="icon" aria-label={props.label} title={props.label}
				aria-haspopup="menu" aria-expanded={items !== null} tabIndex={props.tabIndex}
				onClick={() => (items ? close(true) : setItems(props.items()))}>{props.children}</button>
			{items && (
				<div ref={list} class="menu-list" role="menu" aria-label={props.label} onKeyDown={onKey}>
					{items.map((item) => (
						<div class={"menu-item" + (item.isDanger ? " danger" : "") + (item.isFirstOfGroup ? " first" : "")}
							role={item.isOn === undefined ? "menuitem" : "menuitemcheckbox"}
							aria-checked={item.isOn} aria-disabled={item.isOff || undefined} tabIndex={-1}
							onKeyDown={(event) => {
								if (event.key === "Enter" || event.key === " ") {
									event.preventDefault();
									event.currentTarget.click();
								}
							}}
							onClick={() => { if (!item.isOff) { close(true); item.run(); } }}>
							<span>{item.text}</span>{item.hint && <kbd>{item.hint}</kbd>}
						</div>
					))}
				</div>
			)}
		</span>
	);
}

/** Below the button, or above it, always within the window. */
function place(button: HTMLElement, list: HTMLElement): void {
	const at = button.getBoundingClientRect(), size = list.getBoundingClientRect();
	const below = at.bottom + size.height + 8 < innerHeight || at.top < size.height;
	const top = below ? Math.min(at.bottom + 4, innerHeight - size.height - 4) : at.top - size.height - 4;
	const left = Math.min(Math.max(4, at.right - size.width), innerWidth - size.width - 4);
	list.style.top = `${Math.max(4, top)}px`;
	list.style.left = `${Math.max(4, left)}px`;
}
