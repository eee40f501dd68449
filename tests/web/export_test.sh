#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exported pages, in Debian's chromium: what a conversation says never runs, nothing is fetched,
# the page does what docs/formats.md says, accessibility, 100,000 entries.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs" "$deps/axe/axe.min.js" \
	"$deps/esbuild/bin/esbuild"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/export_test.mjs
