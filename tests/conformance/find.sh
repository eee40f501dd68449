#!/bin/sh
# SPDX-License-Identifier: MIT
#
# find.sh NAME ARGUMENTS: runs the program NAME; builds it first if necessary.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
name=$1
program=$root/build/obj/tests/conformance/$name
shift
if [ ! -x "$program" ]; then
	if [ -f "$root/build/obj/build.ninja" ]; then
		flock "$root/build/obj.lock" ninja -C "$root/build/obj" "tests/conformance/$name" >&2
	else
		make -C "$root" build >&2
	fi
fi
[ -x "$program" ] || { echo "$name has not been built" >&2; exit 2; }
exec "$program" "$@"
