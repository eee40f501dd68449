// SPDX-License-Identifier: MIT
//
// The page begins here.
import { render } from "preact";
import { App } from "./app";
import { keepFocus } from "./keeper";
import { onKey } from "./keys";
import { listen, rest } from "./live";
import { linkedPlace, open, state } from "./store";
import { showEntry } from "./entry_acts";
import { set } from "./state";
import "./help";
import "./roles";
import "./versions";
import "./pane_list";

listen(); // what it asks is answered while the page is drawn
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
document.addEventListener("keydown", onKey);
addEventListener("hashchange", () => {
	const place = linkedPlace();
	if (place.disc && (place.disc !== state.disc || place.take !== state.take))
		void open(place.disc, place.take, place.entry);
	else if (place.entry) {
		set({ focus: place.entry });
		showEntry(place.entry);
	}
});
document.addEventListener("visibilitychange", rest);
keepFocus();
