#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The web interface, in Debian's chromium: every operation with undo and redo, two windows,
# conflicting edits, accessibility, narrow screens, 100,000 entries. ONLY=live runs one part.
exec "$(dirname "$0")/in_browser.sh" web_test.mjs axe/axe.min.js
