#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/configure.sh BUILD_DIR [meson option...]
#
# Configures a build directory: again if the set of source files has changed (meson does not look
# for new files by itself), and from scratch if the options have. Holds the lock BUILD_DIR.lock,
# like builds.
set -eu
dir=$1
shift
# The hundreds of test programs link in a third of the time with lld.
if command -v ld.lld >/dev/null; then
	export CC_LD="${CC_LD-lld}" CXX_LD="${CXX_LD-lld}"
fi
cd "$(dirname "$0")/.."
mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9

# Optional dependencies that meson detects count as options: `make run` needs fewer than `make
# test`.
options=$(
	printf '%s\n' "${CC-}" "${CXX-}" "${CC_LD-}" "${CXX_LD-}" "$@"
	for package in cmocka tomlplusplus; do
		echo "$package $(pkg-config --modversion $package 2>/dev/null || echo none)"
	done
)
files=$(
	for folder in src tests fuzz bench; do
		tools/sources.sh all "$folder"
	done
	find include docs share web build/deps/tokens build/deps/esbuild -type f 2>/dev/null | LC_ALL=C sort
)
if [ "$(cat "$dir/options" 2>/dev/null)" != "$options" ]; then
	rm -rf "$dir"
	mkdir -p "$dir"
fi
if [ -f "$dir/build.ninja" ]; then
	[ "$(cat "$dir/files" 2>/dev/null)" != "$files" ] || exit 0
	set -- --reconfigure "$@"
fi
rm -f "$dir/files"
if ! meson setup "$@" "$dir" >"$dir/configure.log" 2>&1; then
	cat "$dir/configure.log" >&2
	exit 1
fi
printf '%s\n' "$options" >"$dir/options"
printf '%s\n' "$files" >"$dir/files"
