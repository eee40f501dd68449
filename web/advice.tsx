// SPDX-License-Identifier: MIT
//
// Advice: what a change that is not made yet would break, as the server sees it, while it is
// being typed. Only said here; what mends it is offered when the change is made (actions.ts).
import { useEffect, useState } from "preact/hooks";
import { advise, told } from "./actions";
import type { Advice } from "./types";

type Op = { op: string } & Record<string, unknown>;
const PAUSE_MS = 500;
/** Less is not worth a word. */
const MUCH_TOKENS = 1000;

export function Advices(props: { ops: (text: string) => Op[]; text: string }) {
	const [found, setFound] = useState<{ advice: Advice[]; resent_tokens: number } | null>(null);
	useEffect(() => {
		let isGone = false;
		const timer = setTimeout(() => {
			advise(props.ops(props.text))
				.then((answer) => { if (!isGone) setFound(answer); })
				.catch(() => undefined);
		}, PAUSE_MS);
		return () => { isGone = true; clearTimeout(timer); };
	}, [props.text]);
	const isMuch = (found?.resent_tokens ?? 0) > MUCH_TOKENS;
	if (!found || (found.advice.length === 0 && !isMuch))
		return null;
	return (
		<ul class="advice" aria-live="polite">
			{found.advice.map((each) => <li>{told(each)}</li>)}
			{isMuch && (
				<li class="quiet">About {found.resent_tokens.toLocaleString()} tokens of this conversation will be sent and charged again, because they follow your change.</li>
			)}
		</ul>
	);
}
