// SPDX-License-Identifier: MIT
//
// Advice: side effects of a change that is being typed, as predicted by the server. Only shown
// here; a repair is offered after the change (actions.ts).
import { useEffect, useState } from "preact/hooks";
import { advise, adviceText } from "./actions";
import type { Advice } from "./types";

type Op = { op: string } & Record<string, unknown>;
const PAUSE_MS = 500;
/** Below this number of tokens there is no message. */
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
			{found.advice.map((each) => <li>{adviceText(each)}</li>)}
			{isMuch && (
				<li class="quiet">About {found.resent_tokens.toLocaleString()} tokens of this conversation will be sent and charged again, because they follow your change.</li>
			)}
		</ul>
	);
}
