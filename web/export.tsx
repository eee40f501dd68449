// SPDX-License-Identifier: MIT
//
// Export: the button in the header; the overlay is in pane_export.tsx.
import { openOverlay } from "./panes";

export function ExportButton() {
	return (
		<button type="button" class="icon text" aria-label="Export" title="Export" aria-haspopup="dialog" onClick={() => openOverlay("export")}>
			Export</button>
	);
}
