#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The request log: it contains requests and replies independently of the store, each text once;
# purge, crash, concurrent writers; references only, if configured.
. "$(dirname "$0")/lib.sh"

log=$XDG_STATE_HOME/retake/comms
secret="the launch code is 4711-alpha-\"quoted\"-omega"
long="A question that is long enough to be stored once: $secret, and so on, and so on."

ask() { r ask -q -m builtin/echo "$@" >/dev/null 2>&1; }

ask "$long"
ask "and a short one"
reply=$(r show --json | json 'd["entries"][-1]["id"]')
r replay "$reply" >"$work/sent"
is "a text is in the log once, and once in the reply that repeats it" 2 \
	"$(cat "$log"/* | grep -o 'long enough to be stored once' | wc -l | tr -d ' ')"
file=$(echo "$log"/*)
is "one file for all commands" 1 "$(ls "$log" | wc -l | tr -d ' ')"
is "for this account alone" "600 700" "$(stat -c %a "$file" "$log" | tr '\n' ' ' | sed 's/ $//')"
r comms 1 --request >"$work/logged"
code "the request is printed byte for byte" 0 cmp "$work/sent" "$work/logged"
is "it is found by its reply, too" "$(cat "$work/sent")" "$(r comms "$reply" --request)"
is "by its position" "$(cat "$work/sent")" "$(r comms :4 --request)"
code "which asked nothing" 3 r comms :1
has "with the reply" "That makes 3 messages" "$(r comms 1 --reply)"
has "and its usage" '"output_tokens"' "$(r comms 1 --reply)"
is "exact" true "$(r comms 1 --json | json 'd["request"]["exact"]')"
is "the newest is number 1" "$reply" "$(r comms --json | json 'd[0]["entry"]')"
code "no such request" 3 r comms 17
has "says so" 'no request "17"' "$err"

# Undo and reset do not change it, and reading it needs only the file.
r undo 3 >/dev/null
is "undo leaves it" "$(cat "$work/sent")" "$(r comms 1 --request)"
r reset >/dev/null 2>&1
is "reset leaves it" "$(cat "$work/sent")" "$(r comms 1 --request)"
mv "$db" "$work/gone.db"
code "without the store" 0 "$RETAKE" --db "$work/none.db" comms --file "$file" 1 --request
is "all of it is there" "$(cat "$work/sent")" "$out"
mv "$work/gone.db" "$db"
rm -f "$work/none.db"

# A line that was cut off by a crash: the next one starts on a new line.
printf '{"v":1,"what":"request","request":"reply/torn","texts":{"00' >>"$file"
ask "after the crash"
code "torn lines are ignored" 0 r comms 1 --request
has "and end where they were cut" "after the crash" "$out"
is "whole lines follow" '{"v":1,' "$(tail -n 1 "$file" | cut -c1-7)"

# Concurrent writers, with lines longer than PIPE_BUF.
big=$(head -c 9000 /dev/zero | tr '\0' b)
before=$(r comms --json -n 1000 | json 'len(d)')
for i in 1 2 3 4 5 6; do
	ask "$i $big" &
done
wait
is "none is lost" $((before + 6)) "$(r comms --json -n 1000 | json 'len(d)')"
is "all lines but the torn one are whole" 1 "$("$python" - "$file" <<'X'
import json, sys
bad = 0
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        json.loads(line)
    except ValueError:
        bad += 1
print(bad)
X
)"
exact=$(for i in 1 2 3 4 5 6; do r comms $i --json; done | grep -c '"exact":true')
is "all are exact" 6 "$exact"

# A purge also finds escaped text, and a later request can contain the text again.
code "purge" 0 r purge --yes --text "4711-alpha-\"quoted\"-omega"
has "says so" "request log" "$err"
code "it is gone from every file" 1 grep -rq "4711-alpha" "$XDG_STATE_HOME"
first=$(r comms --json -n 1000 | json 'd[-1]["number"]')
has "what is left can be read" "the launch code is [purged]" "$(r comms "$first" --request)"
is "it differs from the sent request" false "$(r comms "$first" --json | json 'd["request"]["exact"]')"
is "and the hash does not tell what it was" "[purged]" "$(r comms "$first" --json | json 'd["request"]["hash"]')"
ask "$long"
has "the same text is logged again" "4711-alpha" "$(r comms 1 --request)"
entry=$(r show --json | json 'd["entries"][-2]["id"]')
code "purging the entry" 0 r purge --yes "$entry"
code "takes it out of the request" 1 grep -rq "4711-alpha-.*and so on, and so on.\"}" "$log"
code "an interrupted purge" 0 r purge --yes --text "4711-alpha"
code "can be repeated" 0 r purge --yes --text "4711-alpha"
code "and leaves nothing" 1 grep -rq "4711-alpha" "$XDG_STATE_HOME"

# A file that cannot be purged fails the purge, but the others are purged.
ask "$long"
mkdir "$log/20990101T000000Z-0123456789abcdef.jsonl"
code "a log that cannot be read fails a purge" 1 r purge --yes --text "4711-alpha"
has "and names the file" "0123456789abcdef.jsonl" "$err"
code "the conversation is purged" 1 sh -c '"$1" --db "$2" show | grep -q 4711-alpha' - "$RETAKE" "$db"
rmdir "$log/20990101T000000Z-0123456789abcdef.jsonl"
code "again, when it can be read" 0 r purge --yes --text "4711-alpha"
code "the log is purged, too" 1 grep -rq "4711-alpha" "$XDG_STATE_HOME"

# References only.
mkdir -p "$XDG_CONFIG_HOME/retake"
echo 'comms_texts = false' >"$XDG_CONFIG_HOME/retake/config.toml"
ask "a text that is not to be in the log of requests, however long it may become by and by"
code "without texts there is none" 1 grep -rq "however long it may become" "$log"
code "so it cannot be printed" 3 r comms 1
has "and why not" "comms_texts is false" "$err"
code "but the request can be built again" 0 r replay @
has "from the conversation" "however long it may become" "$(r replay @ 2>&1)"

# Files: a line with texts contains the sent data, one without needs the store's rows.
cd "$work" || exit 1
sent() { # sent NUMBER: the file in the request of this reply
	r replay "$1" 2>/dev/null | grep -o 'version [0-9]*'
}
files() {
	"$python" -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(
"select count(*) from side where cast(name as text) like ?", ("file/%",)).fetchone()[0])' "$db"
}
r files -q add context_files a.txt
rm "$XDG_CONFIG_HOME/retake/config.toml"
for n in 1 2; do
	echo "version $n" >a.txt
	ask "with a file"
done
is "the next request of a discussion replaces the files of the last one" 1 "$(files)"
is "the log has them" "version 1" "$(sent :-3)"
echo 'comms_texts = false' >"$XDG_CONFIG_HOME/retake/config.toml"
for n in 3 4; do
	echo "version $n" >a.txt
	ask "with a file"
done
is "files stay for lines without texts" 3 "$(files)"
code "repair" 0 r repair --json
is "removes those of lines with texts" 1 "$(json 'd["files_removed"]' <<X
$out
X
)"
is "and no others" "version 3" "$(sent :-3)"
code "repair with another log" 0 env XDG_STATE_HOME="$work/elsewhere" "$RETAKE" --db "$db" repair --json
has "removes nothing" '"files_removed":0' "$out"
rm "$log"/*
code "repair without the log" 0 r repair --json
has "removes what only the log needed" '"files_removed":1' "$out"
is "but not the last request" "version 4" "$(r context --sent | grep -o 'version [0-9]*')"


# ---- another program has locked the log ----
mine() {
	env XDG_STATE_HOME="$own/state" XDG_CONFIG_HOME="$own/config" \
		"$RETAKE" --db "$own/s.db" "$@"
}
own=$(mktemp -d)
mine ask -m builtin/echo one > "$own/out" 2>&1
file=$(ls "$own"/state/retake/comms/*.jsonl)
size=$(wc -c < "$file")
flock -o "$file" sleep 20 &
holder=$!
while flock -n "$file" true; do sleep 0.05; done
mine ask -m builtin/echo two > "$own/out" 2>&1
is 'a locked log is not written to' "$size" "$(wc -c < "$file")"
has 'which is reported' 'log' "$(cat "$own/out")"
has 'and the reply arrives' 'two' "$(mine show)"
kill $holder 2> /dev/null || true
wait $holder 2> /dev/null || true

# ---- a reply in a newer file than its request ----
head -n 1 "$file" > "$own/state/retake/comms/20200101T000000Z-0000000000000001.jsonl"
sed -n 2p "$file" > "$own/state/retake/comms/20200102T000000Z-0000000000000002.jsonl"
rm "$file"
out=$(mine comms)
has 'the request of an older file is listed' 'echo' "$out"
hasnt 'with the reply of a newer one' 'no reply' "$out"
rm -r "$own"

finish
