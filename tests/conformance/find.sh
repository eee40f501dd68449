#!/bin/sh
# SPDX-License-Identifier: MIT
#
# find.sh NAME ARGUMENTS: runs the built program NAME; builds first where it is not there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
name=$1
shift
find_program() {
	for program in "$root/build/obj/tests/conformance/$name" "$root/build/obj/tests/$name"; do
		[ -x "$program" ] && return
	done
	return 1
}
if ! find_program; then
	make -C "$root" build >&2
	find_program || { echo "$name has not been built" >&2; exit 2; }
fi
exec "$program" "$@"
