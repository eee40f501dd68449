#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols: the definitions in the discussion's files.
. "$(dirname "$0")/lib.sh"

mkdir "$work/tree" && cd "$work/tree" || exit 1
printf 'int other;\n\nint compute_sum(int a, int b)\n{\n\treturn a + b;\n}\n' >sum.c
r add 'Explain @compute_sum' -q
r files add context_files sum.c -q

# Without the program: the error names its package, and everything else works.
code 'no ctags' 1 env PATH=/nowhere "$RETAKE" --db "$db" symbols
has 'no ctags: the package is named' 'universal-ctags' "$err"

if ctags --list-features 2>/dev/null | grep -q '^sandbox '; then
	is 'all symbols' '["compute_sum", "other"]' "$(r symbols --json | json '[s["name"] for s in d]')"
	is 'by prefix' '["compute_sum"]' "$(r symbols comp --json | json '[s["name"] for s in d]')"
	is 'by prefix: file and lines' '["sum.c", [3, 6]]' \
		"$(r symbols @comp --json | json '[d[0]["path"], d[0]["lines"]]')"
	code 'show' 0 r symbols show @compute_sum
	has 'show: where' 'sum.c:3-6' "$out"
	has 'show: the text' 'return a + b;' "$out"
	hasnt 'show: nothing else' 'int other' "$out"
	code 'show: unknown' 3 r symbols show nothing
	has 'show: unknown: what to do' 'retake symbols' "$err"
	code 'show: a name has to be all of it' 3 r symbols show comp
	r undo -q
	is 'undo of the list' '[]' "$(r symbols --json)"
else
	echo "symbols_test: without ctags nothing else is tested" >&2
fi
code 'two words' 2 r symbols one two
finish
