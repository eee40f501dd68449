// SPDX-License-Identifier: MIT
//
// Model problem: the error of a model, as a message with actions that may help.
import { sentence, setSetting } from "./actions";
import { openOverlay } from "./panes";
import type { Toast } from "./state";

type Action = NonNullable<Toast["action"]>;

/** The model that the server suggests instead of an unknown one. */
export function meantModel(detail: string): string | undefined {
	return /did you mean ([^\s?]+\/[^\s?]+)\?/.exec(detail)?.[1];
}

/** detail: the server's message; code: its error code; retry: repeats the request. */
export function modelProblem(detail: string, code: string, retry: Action): Toast {
	const toast: Toast = { text: sentence(detail), isProblem: true, repair: retry };
	const meant = meantModel(detail);
	if (meant)
		toast.action = { label: `Use ${meant}`, run: () => void setSetting("model", meant) };
	else if (code === "credentials" || /\bmodel\b|\bprovider\b/.test(detail))
		toast.action = { label: "Choose a model", run: () => openOverlay("model") };
	return toast;
}
