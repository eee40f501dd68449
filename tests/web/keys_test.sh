#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The web interface with the keyboard only, in Debian's chromium: keys_test.mjs. ONLY=undo runs one
# task.
[ "${RETAKE_BROWSER-}" != brief ] || { echo "skipped: make browser runs it"; exit 77; }
exec "$(dirname "$0")/in_browser.sh" keys_test.mjs
