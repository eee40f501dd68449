#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program that is killed while a reply arrives, and one that is interrupted: what had
# arrived is kept, marked as partial, and the conversation goes on from there.
set -u
cd "$(dirname "$0")/../.." || exit 1
retake=${RETAKE:-$PWD/build/retake}
if [ ! -x "$retake" ]; then
	echo "$retake is not built: make build"
	exit 77
fi
exec python3 tests/llm/kill_checks.py "$retake"
