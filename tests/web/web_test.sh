#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The web interface, in Debian's chromium: every operation with undo and redo, two windows at
# once, stale edits, accessibility, narrow screens, 100,000 entries. ONLY=live runs one part.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs" "$deps/axe/axe.min.js"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/web_test.mjs
