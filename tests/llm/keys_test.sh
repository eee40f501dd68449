#!/bin/sh
# SPDX-License-Identifier: MIT
#
# 26 keys, each configured in a different place: none of them occurs in any resulting file, in
# output, or in the input of hooks.
set -u
cd "$(dirname "$0")/../.." || exit 1
retake=${RETAKE:-$PWD/build/retake}
if [ ! -x "$retake" ]; then
	echo "$retake is not built: make build"
	exit 77
fi
exec python3 tests/llm/keys_checks.py "$retake"
