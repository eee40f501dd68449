// SPDX-License-Identifier: MIT
//
// Guard: an error boundary. If a child fails, it is left out and the rest of the page stays. For
// optional parts.
import { Component } from "preact";
import type { ComponentChildren } from "preact";

export class Guard extends Component<{ children: ComponentChildren }, { isBroken: boolean }> {
	state = { isBroken: false };

	static getDerivedStateFromError(): { isBroken: boolean } {
		return { isBroken: true };
	}
	render() {
		return this.state.isBroken ? <span class="quiet">This part cannot be displayed.</span> : this.props.children;
	}
}
