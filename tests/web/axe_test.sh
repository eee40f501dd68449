#!/bin/sh
# SPDX-License-Identifier: MIT
#
# axe-core on every view, pane, dialog and menu of the web interface, and the exported page, in
# light and dark, wide and on a phone; no horizontal overflow. axe_test.mjs.
exec "$(dirname "$0")/in_browser.sh" axe_test.mjs axe/axe.min.js
