#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The panes of the web interface, in Debian's chromium: panes_test.mjs. ONLY=outline runs one part.
[ "${RETAKE_BROWSER-}" != brief ] || { echo "skipped: make browser runs it"; exit 77; }
exec "$(dirname "$0")/in_browser.sh" panes_test.mjs axe/axe.min.js
