#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/bench.sh
#
# Runs the common workload (bench/README.md) for each size in SIZES: everything
# in one process, then opening the result again in a new one. One JSON line per
# phase goes to standard output and to build/bench/results.jsonl.
set -eu
cd "$(dirname "$0")/.."
out=build/bench
mkdir -p "$out"
: >"$out/results.jsonl"
for n in ${SIZES:-1000 10000 100000}; do
	for phase in run reopen; do
		build/retake-bench W "$phase" "$n" "$out/w$n" | tee -a "$out/results.jsonl"
	done
done
