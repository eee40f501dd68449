#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Replies that are not entries yet: while they arrive, after a crash, without a parent.
. "$(dirname "$0")/lib.sh"

cat >"$work/slow.jsonl" <<'X'
{"text":"Forty "}
{"wait_ms":600000}
{"text":"two"}
X
slow=builtin/play:$work/slow.jsonl

r add "What is the answer?" >/dev/null
"$RETAKE" --db "$db" ask -m "$slow" --send >"$work/reply" 2>&1 </dev/null &
asking=$!
tries=0
until r show --json | grep -q '"bytes":6' || [ $tries -ge 1200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done

# While a reply arrives, other processes can see that.
id=$(r show --json | json 'd["entries"][0]["id"]')
out=$(r show)
has "show says that a reply is arriving" "A reply is arriving to $id from play:" "$out"
has "how much there is" "6 characters so far" "$out"
has "and in which process" "received by process $asking on" "$out"
is "show --json has it beside the entries" "arriving $id $asking" \
	"$(r show --json | json '"%s %s %s" % (d["replies"][0]["state"], d["replies"][0]["after"], d["replies"][0]["process"])')"
is "an entry it is not" "1" "$(r show --json | json 'len(d["entries"])')"
has "tree says it too" "A reply is arriving to $id" "$(r tree)"
is "tree --json has it in the row of what it answers" "6" \
	"$(r tree --json | json 'd[0]["arriving"][0]["bytes"]')"
hasnt "a past state knows of none" "arriving" "$(r show --at-op 1)"
hasnt "other commands stay as they were" "arriving" "$(r export --format canonical)"

# A crash: the partial reply is kept, and this is reported.
kill -9 "$asking" 2>/dev/null
wait "$asking" 2>/dev/null
code "show after a crash" 0 r show
has "says that a part was kept" "saved the partial text of 1 reply" "$err"
has "and shows it" "Forty" "$out"
has "marked" "(partial)" "$out"
hasnt "it is no longer arriving" "arriving" "$out"
has "tree marks it too" "(partial)" "$(r tree)"

# Without a parent: the question is undone while the reply arrives.
r add "And the question?" >/dev/null
"$RETAKE" --db "$db" ask -m "$slow" --send >"$work/reply" 2>&1 </dev/null &
asking=$!
tries=0
until r show --json | grep -q '"bytes":6' || [ $tries -ge 1200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
r undo >/dev/null
wait "$asking"
is "the question is gone: a conflict" 5 $?
has "what had arrived is kept" "the reply is kept" "$(cat "$work/reply")"
has "show says so" "An unfinished reply of 6 bytes" "$(r show)"
has "with the way out" "retake" "$(r show | grep "repair")"
code "fsck is clean" 0 r fsck
has "and names it" "reply-stranded" "$out"
code "repair" 0 r repair
has "repair keeps it" "kept  an unfinished reply of 6 bytes" "$out"
has "in a separate take" "in the new take main_take_" "$out"
has "there it is" "Forty" "$(r show)"
hasnt "nothing is left to repair" "aside" "$(r show; r fsck)"
r undo >/dev/null
has "which is a step" "What is the answer?" "$(r show)"

# The disk becomes full while a reply arrives: its first part is in a row, and this is reported.
cat >"$work/full.sh" <<'X'
mount -t tmpfs -o size=8m none "$work/small" || exit 99
db=$work/small/test.db
"$RETAKE" --db "$db" add "What is the answer?" >/dev/null
left=$(df -k "$work/small" | awk 'NR == 2 { print $4 }')
head -c $(((left - 600) * 1024)) /dev/zero >"$work/small/filler"
"$RETAKE" --db "$db" ask -m "builtin/play:$work/long" --send >/dev/null 2>"$work/full.err" </dev/null
echo "status $?"
rm -f "$work/small/filler"
"$RETAKE" --db "$db" show 2>/dev/null | cut -c 1-200
X
mkdir "$work/small"
"$python" -c 'import json
print(json.dumps({"text": "Forty " + "x" * 20000}))
print(json.dumps({"wait_ms": 700}))
print(json.dumps({"text": "y" * 900000}))' >"$work/long"
export work
out=$(unshare -Urm sh "$work/full.sh" 2>/dev/null)
if [ -n "$out" ]; then # otherwise namespaces are not permitted
	has "a full disk is an error" "status 1" "$out"
	has "what had arrived is said to be safe" "The partial reply is safe" "$(cat "$work/full.err")"
	has "and it is kept by the next command" "Forty" "$out"
fi

finish
