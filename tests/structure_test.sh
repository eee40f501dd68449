#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The size and the dependencies of src do not exceed their limits (tools/structure.json). Uses the
# objects of the normal build.
root=$(cd "$(dirname "$0")/.." && pwd)
if [ ! -d "$root/build/obj/src" ]; then
	echo "skipped: there is no build in build/obj"
	exit 77
fi
exec python3 "$root/tools/structure.py" --check "$root/build/obj"
