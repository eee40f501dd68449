#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The web interface by keyboard alone, in Debian's chromium: keys_test.mjs. ONLY=undo runs one
# task.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/keys_test.mjs
