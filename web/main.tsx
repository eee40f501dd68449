// SPDX-License-Identifier: MIT
//
// The page begins here.
import { render } from "preact";
import { App } from "./app";
import { keepFocus } from "./keeper";
import { onKey } from "./keys";
import { followLinks } from "./links";
import { listen, rest } from "./live";
import { holdKey } from "./pane_verbs";
import "./help";
import "./roles";
import "./versions";
import "./pane_list";

followLinks();
listen(); // what it asks is answered while the page is drawn
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
document.addEventListener("keydown", holdKey, true);
document.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", rest);
keepFocus();
// after everything that the page needs itself; where it is refused, the page is not installable
addEventListener("load", () => setTimeout(() => void navigator.serviceWorker?.register("/sw.js").catch(() => undefined), 2000));
