#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All transcripts, for tests/run.py. Before, --write with a program that is missing or is ended by a
# signal must fail and leave the files unchanged.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/transcripts.py" "$work"
printf '== one\n$ version\n  expected\n' >"$work/t.txt"
cp "$work/t.txt" "$work/before"
printf '#!/bin/sh\nkill -9 $$\n' >"$work/killed"
chmod +x "$work/killed"
for program in missing killed; do
	if python3 "$work/transcripts.py" --write --program "$work/$program" >"$work/out" 2>&1 ||
	   ! cmp -s "$work/t.txt" "$work/before"; then
		echo "FAILED: --write with a program that cannot run ($program)"
		cat "$work/out"
		exit 1
	fi
done
python3 "$here/transcripts.py" "$@"
