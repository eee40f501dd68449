#!/bin/sh
# SPDX-License-Identifier: MIT
#
# 26 keys, each planted in a place of its own: none of them is in any file that comes of it,
# in what is printed, or in what hooks are given.
set -u
cd "$(dirname "$0")/../.." || exit 1
retake=${RETAKE:-$PWD/build/retake}
if [ ! -x "$retake" ]; then
	echo "$retake is not built: make build"
	exit 77
fi
exec python3 tests/llm/keys_checks.py "$retake"
