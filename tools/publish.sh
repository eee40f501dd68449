#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/publish.sh BUILD_DIR
#
# Links the programs of a build directory to build/retake and build/retake-bench. Links are atomic,
# so that a program is never partially copied.
set -eu
cd "$(dirname "$0")/.."
dir=${1#build/}
link() {
	[ -f "build/$1" ] || return 0
	ln -sfn "$1" "build/.$2.$$"
	mv -T "build/.$2.$$" "build/$2"
}
link "$dir/src/retake" retake
link "$dir/bench/retake-bench" retake-bench
