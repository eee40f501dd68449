// SPDX-License-Identifier: MIT
//
// Left: offers drafts from other windows above the field.
import { useEffect, useState } from "preact/hooks";
import { dropLeft, otherDrafts } from "./drafts";
import { oneLine } from "./words";
import type { Left } from "./drafts";

const SHOWN = 60;

export interface LeftDraftsProps {
	/** Key of the drafts (drafts.ts), and the key of this window's own. */
	of: string;
	own: string;
	/** Current text of the field, which is not offered. */
	now: string;
	/** A draft that is stored elsewhere; "": none. */
	more?: string;
	/** isMore: the text equals "more". */
	onUse: (text: string, isMore: boolean) => void;
	onDropMore?: () => void;
}

export function LeftDrafts(props: LeftDraftsProps) {
	const [others, setOthers] = useState<Left[] | null>(null);
	useEffect(() => {
		let isOld = false;
		void otherDrafts(props.of, props.own).then((found) => { if (!isOld) setOthers(found); });
		return () => { isOld = true; };
	}, [props.of, props.own, props.more]);
	if (!others)
		return null;
	const more = props.more && !others.some((each) => each.text === props.more) ? [{ name: "", text: props.more, isHeld: false }] : [];
	const offered = [...others, ...more].filter((each) => !each.isHeld && each.text !== props.now);
	const end = (left: Left, button: HTMLElement) => {
		button.closest(".editor, .composer, .field")?.querySelector("textarea")?.focus();
		if (left.name !== "")
			dropLeft(left);
		setOthers(others.filter((each) => each !== left));
	};
	return (
		<>{offered.map((left) => (
			<p class="left-draft quiet" key={left.name}>
				Earlier unsent text: <q>{oneLine(left.text, SHOWN)}</q>{" "}
				<button type="button" class="link" onClick={(event) => { props.onUse(left.text, left.text === props.more); end(left, event.currentTarget); }}>Use it</button>{" "}
				<button type="button" class="link" onClick={(event) => { if (left.text === props.more) props.onDropMore?.(); end(left, event.currentTarget); }}>Discard it</button>
			</p>
		))}</>
	);
}
