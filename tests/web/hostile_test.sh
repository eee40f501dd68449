#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nearly a thousand hostile texts in every field that is shown: in the live page, in replies that
# are streamed, in exported pages. ONLY=stream runs one part.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "${CHROMIUM:-/usr/bin/chromium}" "$deps/playwright/index.mjs" "$deps/parse5/package.json" \
	"$deps/esbuild/bin/esbuild"; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/packages.sh test; setup/deps.sh browser)"
		exit 77
	fi
done
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
exec node tests/web/hostile_test.mjs
