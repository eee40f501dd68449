#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A store whose address is not the path of a file (other_store.c): every command works on it or
# refuses, and none creates a file of that name. A file of that name has no effect.
. "$(dirname "$0")/lib.sh"

other=$root/build/obj/tests/cli/retake_other
if [ ! -x "$other" ]; then
	echo "$other is not built: make build"
	exit 1
fi
OTHER_STORE=$work/elsewhere
export OTHER_STORE
mkdir "$OTHER_STORE" "$work/here" && cd "$work/here" || exit 1
o() {
	"$other" --db other:x "$@"
}

code 'nothing yet' 0 o show
code 'add' 0 o add one
code 'add two' 0 o add two
code 'show' 0 o show
has 'show' 'two' "$out"
code 'undo' 0 o undo
code 'redo' 0 o redo
is 'json' '["one", "two"]' "$(o show --json | json '[e["content"] for e in d["entries"]]')"
code 'status' 0 o status
code 'ask' 0 o ask -m builtin/echo hello
code 'replay' 0 o replay @
has 'the request log knows the store' 'hello' "$out"
code 'comms' 0 o comms
code 'purge' 0 o purge --text hello --yes
has 'purge: the request log too' 'request log' "$out$err"
code 'fsck' 0 o fsck
code 'doctor' 0 o doctor
has 'doctor' 'step' "$out"
hasnt 'doctor checks no folder' 'MiB free' "$out"
code 'backup' 0 o backup "$work/copy.db"
is 'the copy is a store' "$(o export --format canonical)" "$("$other" --db "$work/copy.db" export --format canonical)"
code 'restore refuses' 1 o restore "$work/copy.db" --yes
has 'restore: why' 'other:x is not a file' "$err"
code 'repair refuses' 1 o repair
has 'repair: why' 'other:x is not a file' "$err"
code ':memory: is not a file' 1 "$other" --db :memory: restore "$work/copy.db" --yes
code 'read-only' 1 o --read-only add three
code 'export' 0 o export --format canonical -o "$work/out.json"
code 'import' 0 "$other" --db other:y import "$work/out.json"
code 'no server' 3 o serve --login
code 'a failed command' 3 "$other" --db other:z edit nothing text
is 'no file was made' '' "$(ls -A .)"

# A file of the same name is unrelated.
echo precious >other:x
chmod 400 other:x
code 'add beside a file' 0 o add three
code 'doctor beside a file' 0 o doctor
hasnt 'doctor: not the file' 'private' "$out"
code 'repair beside a file' 1 o repair
is 'the file is untouched' 'precious' "$(cat other:x)"
is 'nothing else was made' 'other:x' "$(ls -A .)"
finish
