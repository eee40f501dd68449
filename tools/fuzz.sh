#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/fuzz.sh BUILD_DIR SECONDS [NAME...]
#
# Runs every libFuzzer program of a build directory (or those named) for SECONDS, one per processor
# in parallel. The corpus grows in BUILD_DIR/found/NAME, starting from fuzz/corpus/NAME; inputs that
# break a target are written to BUILD_DIR/broken. Fails if there is one.
set -eu
cd "$(dirname "$0")/.."
dir=$1
seconds=$2
shift 2

if [ "${RT_FUZZ_ONE-}" ]; then
	name=$RT_FUZZ_ONE
	mkdir -p "$dir/found/$name" "$dir/broken"
	set -- "$dir/found/$name"
	[ ! -d "fuzz/corpus/$name" ] || set -- "$@" "fuzz/corpus/$name"
	dict=fuzz/$name.dict
	[ ! -f "$dict" ] || set -- "-dict=$dict" "$@"
	status=0
	"$dir/fuzz/$name" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 \
		-print_final_stats=1 -artifact_prefix="$dir/broken/$name-" "$@" \
		>"$dir/$name.log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$name.log")
	if [ "$status" = 0 ]; then
		echo "ok     $name: ${runs:-?} runs in $seconds s"
	else
		echo "BROKEN $name, exit status $status; see $dir/$name.log, $dir/broken/"
	fi
	exit "$status"
fi

if [ $# -gt 0 ]; then
	names=$*
else
	names=$(find "$dir/fuzz" -maxdepth 1 -type f -name '*_fuzz' -exec basename {} \; | sort)
fi
if [ -z "$names" ]; then
	echo "there are no fuzz targets"
	exit 0
fi
echo "$names" | tr ' ' '\n' |
	xargs -P "$(nproc)" -I '{}' env RT_FUZZ_ONE='{}' "$0" "$dir" "$seconds"
