# SPDX-License-Identifier: MIT
#
# Shared by the tests of the command line. A test sources this, runs its checks and calls finish.
# Everything happens in a temporary directory.
#
#   r ARGS…               the program, on the store $db
#   code NAME N CMD…      the command ends with status N; its output is in $out and $err
#   is NAME WANTED GOT    two texts are equal
#   has NAME PART TEXT    TEXT contains PART; hasnt: it does not
#   json EXPR             a Python expression over d, the JSON document on standard input
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
RETAKE=${RETAKE:-$root/build/retake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/test.db
HOME=$work
XDG_DATA_HOME=$work/data
XDG_CONFIG_HOME=$work/config
XDG_STATE_HOME=$work/state
TMPDIR=$work
TZ=UTC
LC_ALL=C.UTF-8
PAGER=
EDITOR=false
export HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME TMPDIR TZ LC_ALL PAGER EDITOR RETAKE
unset RETAKE_DB RETAKE_PROJECT RETAKE_HOOK RETAKE_HOOK_DEPTH RETAKE_MODEL OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY NO_COLOR VISUAL LESS 2>/dev/null || true
python=$(python3 -c 'import sys; print(sys.executable)') # past any wrapper, which costs more
passed=0
failed=0
out=
err=

pass() {
	passed=$((passed + 1))
}

fail() { # fail NAME [DETAIL…]
	failed=$((failed + 1))
	echo "FAILED: $1"
	shift
	for line in "$@"; do
		printf '%s\n' "$line" | sed 's/^/    /'
	done
}

r() {
	"$RETAKE" --db "$db" "$@"
}

providers() { # the names of the provider table
	"$RETAKE" models --json | "$python" -c 'import json, sys; print(*(p["kind"] for p in json.load(sys.stdin)))'
}

code() {
	name=$1
	wanted=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
	if [ "$got" = "$wanted" ]; then
		pass
	else
		fail "$name: status $got, not $wanted" "$*" "$out" "$err"
	fi
}

is() {
	if [ "$2" = "$3" ]; then pass; else fail "$1" "wanted: $2" "got:    $3"; fi
}

has() {
	case $3 in
	*"$2"*) pass ;;
	*) fail "$1" "no \"$2\" in: $3" ;;
	esac
}

hasnt() {
	case $3 in
	*"$2"*) fail "$1" "\"$2\" in: $3" ;;
	*) pass ;;
	esac
}

json() {
	"$python" -c 'import json, sys
d = json.load(sys.stdin)
v = eval(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v, ensure_ascii=False))' "$1"
}

# apply LINE…: runs one operation per argument; the results are in $out.
apply() {
	out=$(printf '%s\n' "$@" | r apply 2>"$work/err")
	status=$?
	err=$(cat "$work/err")
	return $status
}

# contents: prints the texts of the take, joined by "|".
contents() {
	r show --json "$@" | json '"|".join(e["content"] for e in d["entries"])'
}

fresh() { # a store with four entries
	rm -f "$db" "$db"-*
	apply '{"op":"entry.append","role":"User","content":"one"}' \
		'{"op":"entry.append","role":"AI","content":"two"}' \
		'{"op":"entry.append","role":"User","content":"three"}' \
		'{"op":"entry.append","role":"AI","content":"four"}' >/dev/null
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}
