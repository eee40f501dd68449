#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hidden entries of extensions: hidden from users, not from models, and positions of the others do
# not change.
. "$(dirname "$0")/lib.sh"
unset RETAKE_MODEL XDG_CONFIG_HOME 2>/dev/null || true

r -q apply >/dev/null <<'L'
{"op":"entry.append","id":"e1","content":"one"}
{"op":"entry.append","id":"e2","role":"Hook","kind":"custom_message","content":"CONCEALED","display":false}
{"op":"entry.append","id":"e3","kind":"custom","content":"STATE"}
{"op":"entry.append","id":"e4","role":"AI","content":"four"}
{"op":"entry.append","id":"e5","role":"Hook","kind":"custom_message","content":"VISIBLE","display":true}
{"op":"entry.append","id":"e6","kind":"custom","content":"STATE"}
L

code 'show' 0 r show
has 'show: how many' '6 entries, 3 hidden' "$out"
has 'show: positions stay' ':4  AI' "$out"
has 'show: a message that is displayed' 'VISIBLE' "$out"
has 'show: the head is at the last one shown' ':5  Hook  e5  (custom_message)' "$(echo "$out" | grep '<- head')"
hasnt 'show: a message that is not' 'CONCEALED' "$out"
hasnt 'show: state' 'STATE' "$out"
has 'show --all' 'CONCEALED' "$(r show --all)"
has 'show --all: state' 'STATE' "$(r show --all)"
hasnt 'show --all: nothing is hidden' 'hidden' "$(r show --all)"
has 'show of that entry' 'CONCEALED' "$(r show :2)"
is 'show --json has all' 6 "$(r show --json | json 'len(d["entries"])')"
is 'show --json: display' false "$(r show --json | json 'd["entries"][1]["display"]')"

code 'tree' 0 r tree
hasnt 'tree: a message that is not displayed' 'CONCEALED' "$out"
hasnt 'tree: state' 'STATE' "$out"
has 'tree: the last one shown has the head and the take' '(take main *)  <- head' "$(echo "$out" | grep VISIBLE)"
has 'tree: how many are hidden' '3 hidden' "$out"
is 'tree --all' 6 "$(r tree --all | grep -c .)"
is 'tree --json says which' 3 "$(r tree --json | json 'len([e for e in d if e.get("hidden")])')"

has 'models are sent the message' 'CONCEALED' "$(r context 2>/dev/null)"
hasnt 'and no state' 'STATE' "$(r context 2>/dev/null)"

hasnt 'Markdown' 'CONCEALED' "$(r export --format markdown)"
has 'Markdown with everything' 'CONCEALED' "$(r export --format markdown --lossless)"
has 'Markdown: the others' 'VISIBLE' "$(r export --format markdown)"
r export --format html | sed -n '/<noscript>/,/<\/noscript>/p' >"$work/page"
has 'a page without script: the others' 'VISIBLE' "$(cat "$work/page")"
hasnt 'a page without script' 'CONCEALED' "$(cat "$work/page")"

# A fork below a hidden entry is attributed to the one above it.
r -q branch :3 other
r -q add 'second way'
code 'tree with a fork' 0 r tree
hasnt 'tree with a fork' 'CONCEALED' "$out"
is 'tree with a fork: two branches' 2 "$(echo "$out" | grep -c '|- \|`- \|├─\|└─')"

# The same, imported from pi.
db=$work/pi.db
cat >"$work/s.jsonl" <<'L'
{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}}
{"type":"custom_message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02.000Z","customType":"h","content":"CONCEALED","display":false}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"custom","customType":"h","content":"OLD","display":false,"timestamp":3}}
{"type":"custom","id":"a4","parentId":"a3","timestamp":"2026-01-01T00:00:04.000Z","customType":"st","data":{"x":1}}
L
has 'pi: import' '4 entries (3 hidden), 1 take, 1 discussion added' "$(r import "$work/s.jsonl")"
has 'pi: import: known' 'nothing new; 4 entries are already known' "$(r import "$work/s.jsonl")"
has 'pi: show' '4 entries, 3 hidden' "$(r show)"
hasnt 'pi: show: the message' 'CONCEALED' "$(r show)"
hasnt 'pi: show: an old message' 'OLD' "$(r show)"
has 'pi: tree' 'hello' "$(r tree)"
hasnt 'pi: tree: the message' 'CONCEALED' "$(r tree)"
hasnt 'pi: edited, still hidden' 'ANEW' "$(r -q edit :2 ANEW >/dev/null; r show)"

# The record of a label is hidden, and the head is shown above it; a compaction shows its size, and
# an extension's message its custom type.
db=$work/labels.db
cat >"$work/l.jsonl" <<'L'
{"type":"session","version":3,"id":"s2","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"b1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}}
{"type":"compaction","id":"b2","parentId":"b1","timestamp":"2026-01-01T00:00:02.000Z","summary":"Greeted.","firstKeptEntryId":"b1","tokensBefore":12345}
{"type":"custom_message","id":"b3","parentId":"b2","timestamp":"2026-01-01T00:00:03.000Z","customType":"myhook","content":"mind the gap","display":true}
{"type":"label","id":"b4","parentId":"b3","timestamp":"2026-01-01T00:00:04.000Z","targetId":"b1","label":"start"}
L
r -q import "$work/l.jsonl"
code 'labels: tree' 0 r tree
has 'labels: inline' 'hello  [start]' "$out"
is 'labels: three rows' 3 "$(echo "$out" | grep -vc hidden)"
has 'the size of a compaction' '[compaction: 12k tokens] Greeted.' "$out"
has 'the name of a program, and the head' '[myhook] mind the gap  (take l *)  <- head' "$out"
has 'labels: --all has the record' '(label)' "$(r tree --all)"
has 'show: the name of the program' '(custom_message: myhook)' "$(r show)"
hasnt 'show: no record of a label' '(label)' "$(r show)"
echo '{"op":"entry.append","kind":"compaction","content":"Ours","tokens_before":62}' | r -q apply >/dev/null
has 'our own' '[compaction: 62 tokens] Ours' "$(r tree)"

finish
