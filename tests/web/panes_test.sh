#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The panes of the web interface, in Debian's chromium: panes_test.mjs. ONLY=outline runs one
# part.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs" "$deps/axe/axe.min.js"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/panes_test.mjs
