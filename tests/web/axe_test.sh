#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every view, pane, dialog and menu of the web interface, and the exported page, in light and
# dark, wide and on a phone: axe-core finds nothing, and nothing goes sideways. axe_test.mjs.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs" "$deps/axe/axe.min.js"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/axe_test.mjs
