#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/web/in_browser.sh TEST.mjs [NEEDED ...]
#
# Runs a test of this directory if Debian's chromium, its driver and NEEDED (in build/deps) exist
# and the browser starts; otherwise prints the missing parts and exits with 77: skipped.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-$PWD/build/deps}
chromium=${CHROMIUM:-/usr/bin/chromium-headless-shell}
test=$1
shift
skip() {
	echo "skipped: $1"
	exit 77
}
[ -e "$chromium" ] || skip "$chromium is not there (setup/packages.sh test)"
for needed in playwright/index.mjs "$@"; do
	[ -e "$deps/$needed" ] || skip "build/deps/$needed is not there (setup/deps.sh browser)"
done
node=$(command -v node)
if [ -z "$node" ] || ! "$node" -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'; then
	node=$deps/node/node
	[ -x "$node" ] || skip 'there is no Node 20 (setup/deps.sh browser)'
fi
"$chromium" --headless --no-sandbox --disable-gpu --dump-dom about:blank >/dev/null 2>&1 ||
	skip "$chromium does not start here"
exec "$node" "tests/web/$test"
