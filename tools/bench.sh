#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/bench.sh
#
# The common workload W (bench/README.md). If the common benchmark exists beside the project, it
# runs Retake among other candidates, and the ratios are printed. Otherwise only Retake is measured.
# All output is in build/bench.
#
#   SIZES=1000,10000 CANDIDATES='retake.*|c-.*' REPS=1 make bench
set -eu
cd "$(dirname "$0")/.."
root=$PWD
common=${BENCH:-$root/../shared/bench}
export W_DATA="${W_DATA:-$root/build/bench}"
sizes=${SIZES:-1000,10000,100000}
reps=${REPS:-3}
candidates=${CANDIDATES:-'retake.*|c-.*|pi-session|immutable.js'}
bench=$root/build/retake-bench
mkdir -p "$W_DATA"

if [ ! -f "$common/run.sh" ]; then
	echo "the common benchmark is not there: Retake alone" >&2
	python3 tools/bench_pool.py "$W_DATA/pool.txt"
	: >"$W_DATA/results.jsonl"
	for n in $(echo "$sizes" | tr , ' '); do
		for phase in run reopen; do
			"$bench" W "$phase" "$n" "$W_DATA/w$n" | tee -a "$W_DATA/results.jsonl"
		done
	done
	exit 0
fi

cat >"$W_DATA/extra.json" <<JSON
{"retake": {"cmd": "$bench W", "env": {"SYNC": "full"},
            "reps": {"1000": $reps, "10000": $reps, "100000": $reps}},
 "retake-relaxed": {"cmd": "$bench W", "env": {"SYNC": "normal"},
            "reps": {"1000": $reps, "10000": $reps, "100000": $reps}}}
JSON
BUDGET=${BUDGET:-120} TO=${TO:-170} "$common/run.sh" "$candidates" "$sizes" "$reps"
python3 tools/bench_ratios.py "$W_DATA/results.jsonl" | tee "$W_DATA/ratios.md"
