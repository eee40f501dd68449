// SPDX-License-Identifier: MIT
//
// A guard: what breaks within it is left out, and what stands around it stays. For parts that
// one can do without.
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
