#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/sources.sh KIND DIR
#
# Lists source files, sorted, one per line, as paths from the top of the tree, so that build files
# need not name them. A missing directory has none. Kinds:
#   code  *.c that are neither tests nor fuzzers (main.c is listed too)
#   cpp   *.cpp        test  *_test.c        fuzz  *_fuzz.c
#   all   all of the above: decides whether to configure again
set -eu
cd "$(dirname "$0")/.."
[ -d "$2" ] || exit 0
list() {
	find "$@" | LC_ALL=C sort
}
case $1 in
code) list "$2" -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' ;;
cpp) list "$2" -name '*.cpp' ;;
test) list "$2" -name '*_test.c' ;;
fuzz) list "$2" -name '*_fuzz.c' ;;
all) list "$2" -name '*.c' -o -name '*.cpp' ;;
*)
	echo "tools/sources.sh: unknown kind $1" >&2
	exit 2
	;;
esac
