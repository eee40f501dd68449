#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Points that torture.py does not reach in its time are counted as skipped and named.
out=$(python3 "$(dirname "$0")/torture.py" --verb show --verb add --seconds 0.001 2>&1)
status=$?
if [ $status = 77 ]; then
	exit 77
fi
passed=0
failed=0
wants() { # wants LINE PATTERN
	if printf '%s\n' "$out" | tail -n 2 | sed -n "$1p" | grep -Eqx "$2"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: line $1 of the last two is not $2"
		printf '%s\n' "$out" | sed 's/^/    /'
	fi
}
wants 1 'not reached in time: show \([0-9]+ points\), add \([0-9]+ points\)'
wants 2 '[0-9]+ passed, 0 failed, [0-9]+ skipped'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
