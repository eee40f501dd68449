// SPDX-License-Identifier: MIT
//
// Advice: what a change that is not made yet would break, as the server sees it, while it is
// being typed. Only said here; what mends it is offered when the change is made (actions.ts).
import { useEffect, useState } from "preact/hooks";
import { advise, sentence } from "./actions";
import type { Advice } from "./types";

type Op = { op: string } & Record<string, unknown>;
const PAUSE_MS = 500;

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
	if (!found || (found.advice.length === 0 && !found.resent_tokens))
		return null;
	return (
		<ul class="advice" aria-live="polite">
			{found.advice.map((each) => <li>{sentence(each.text)}</li>)}
			{found.resent_tokens > 0 && (
				<li class="quiet">About {found.resent_tokens.toLocaleString()} tokens that a provider may have cached are sent anew.</li>
			)}
		</ul>
	);
}
