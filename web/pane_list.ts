// SPDX-License-Identifier: MIT
//
// Imports all parts that register themselves in the page (panes.ts).
import "./pane_outline";
import "./pane_history";
import "./pane_prompt";
import "./pane_settings";
import "./pane_compare";
import "./pane_palette";
import "./model_picker";
import "./templates";
import "./pane_compact";
import "./pane_export";
import "./pane_import";
import "./pane_purge";
import "./pane_stats";
import "./accounts";
