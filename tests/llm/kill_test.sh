#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program that is killed or interrupted while a reply arrives: the partial reply is kept and
# marked as partial, and the conversation can be continued.
set -u
cd "$(dirname "$0")/../.." || exit 1
retake=${RETAKE:-$PWD/build/retake}
if [ ! -x "$retake" ]; then
	echo "$retake is not built: make build"
	exit 77
fi
exec python3 tests/llm/kill_checks.py "$retake"
