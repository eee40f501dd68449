// SPDX-License-Identifier: MIT
//
// Entry point of the page.
import { render } from "preact";
import { App } from "./app";
import { keepFocus } from "./keeper";
import { onKey } from "./keys";
import { followLinks } from "./links";
import { listen, closeIfHidden } from "./live";
import { keepPane } from "./panes";
import { queueKey } from "./pane_verbs";
import "./help";
import "./roles";
import "./versions";
import "./pane_list";

followLinks();
listen(); // starts the requests before rendering
const root = document.getElementById("app")!;
root.textContent = "";
keepPane();
render(<App />, root);
document.addEventListener("keydown", queueKey, true);
document.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", closeIfHidden);
keepFocus();
// after everything that the page needs; if it fails, the page cannot be installed
addEventListener("load", () => setTimeout(() => void navigator.serviceWorker?.register("/sw.js").catch(() => undefined), 2000));
