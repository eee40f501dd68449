#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The documented shapes of --json.
. "$(dirname "$0")/lib.sh"

fresh
r -q label :2 good
r -q branch :2 side
r -q add -r AI other
r -q takes switch main
r -q go :3

out=$(r show --json)
is 'show: keys' '["discussion", "take", "head", "count", "entries"]' "$(printf '%s' "$out" | json 'list(d)')"
is 'show: the whole take although the head is inside' 4 "$(printf '%s' "$out" | json 'len(d["entries"])')"
is 'show: head' "$(r show :3 --json | json 'd["id"]')" "$(printf '%s' "$out" | json 'd["head"]')"
is 'show: entry' true "$(printf '%s' "$out" | json 'all(k in d["entries"][0] for k in ("id","role","content","ts"))')"
is 'show: label' good "$(printf '%s' "$out" | json 'd["entries"][1]["label"]')"
is 'show: a head before the first' null "$(r -q go --start; r show --json | json 'd["head"]')"
r -q go :-1
is 'show ENTRY' three "$(r show :3 --json | json 'd["content"]')"
is 'show --role: that role and questions' 'one|two|three|four' "$(contents --role ai)"
is 'show --role' 'one|three' "$(contents --role User)"

out=$(r tree --json)
is 'tree: a flat list' 5 "$(printf '%s' "$out" | json 'len(d)')"
is 'tree: keys' true "$(printf '%s' "$out" | json 'all(k in row for row in d for k in ("node","parent_node","id","parent","role","label","active","takes"))')"
is 'tree: one active row' 1 "$(printf '%s' "$out" | json 'sum(row["active"] for row in d)')"
is 'tree: parents come first' true "$(printf '%s' "$out" | json '[row["parent_node"] in [None] + [x["node"] for x in d[:i]] for i, row in enumerate(d)] == [True] * len(d)')"
is 'tree: label' '[null, "good", null, null, null]' "$(printf '%s' "$out" | json '[row["label"] for row in d]')"

is 'nothing is edited' '[false, false]' "$(for what in show tree; do r $what --json; done | "$python" -c 'import json, sys; print(json.dumps(["edited" in x for x in sys.stdin]))')"
hasnt 'show: nor said to be' '(edited)' "$(r show)"
r -q edit :2 two
is 'the same text is not an edit' '[]' "$(r show --json | json '[e["id"] for e in d["entries"] if "edited" in e]')"
r -q edit :2 TWO
is 'show: edited' '[null, true, null, null]' "$(r show --json | json '[e.get("edited") for e in d["entries"]]')"
is 'tree: edited' '[null, true, null, null, null]' "$(r tree --json | json '[row.get("edited") for row in d]')"
is 'show ENTRY: edited' true "$(r show :2 --json | json 'd["edited"]')"
has 'show: says so' '[good]  (edited)' "$(r show)"
has 'tree: says so' 'TWO  [good]  (edited)' "$(r tree)"
r -q undo
is 'undo: no longer' '[]' "$(r show --json | json '[e["id"] for e in d["entries"] if "edited" in e]')"

is 'takes' '["main", "side"]' "$(r takes --json | json '[t["name"] for t in d]')"
is 'takes: active' '[true, false]' "$(r takes --json | json '[t["active"] for t in d]')"
is 'ls' '[["main", true]]' "$(r ls --json | json '[[x["name"], x["active"]] for x in d]')"
out=$(r history --json)
is 'history: newest first' true "$(printf '%s' "$out" | json '[x["seq"] for x in d] == sorted((x["seq"] for x in d), reverse=True)')"
is 'history: one is current' 1 "$(printf '%s' "$out" | json 'sum(x["current"] for x in d)')"
is 'history: who' cli "$(printf '%s' "$out" | json 'd[0]["by"]')"
is 'history: --limit' 2 "$(r history --json --limit 2 | json 'len(d)')"
is 'fsck' '[true, []]' "$(r fsck --json | json '[d["clean"], d["findings"]]')"
is 'status' '["main", "main", 4]' "$(r status --json | json '[d["discussion"], d["take"], d["entries"]]')"
is 'a change' true "$(r add x --json | json 'd["seq"] > 0 and d["entry"] == d["entry"]')"
is 'a change that changes nothing' true "$(r takes switch main --json | json 'd["unchanged"]')"
is 'undo' 1 "$(r undo --json | json 'd["steps"]')"
is 'context' true "$(r context --provider openai --json | json '"messages" in d')"
is 'export' main "$(r export --format canonical | json 'd["active"]')"
is 'version' retake "$("$RETAKE" --version --json | json 'd["name"]')"
is 'help' true "$("$RETAKE" help --json | json 'len(d["commands"]) > 40')"
is 'help: operations' true "$("$RETAKE" help operations --json | json 'any(o["op"] == "entry.append" for o in d)')"

# --- a command prints exactly one document ---
one() {
	"$RETAKE" --db "$db" --json "$@" >"$work/out" 2>/dev/null </dev/null
	if "$python" -c 'import json, sys; json.loads(sys.stdin.read())' <"$work/out" 2>/dev/null; then
		pass
	else
		fail "no JSON document: $*" "$(head -c 300 "$work/out")"
	fi
}
# Forms that the examples of the help (help_examples_test.sh) do not have.
one show :1..:2
one show --take-file
one search nothing-like-it
one edit --replace changed again
one edit --replace again once -n
one delete :1 -n
one label :1 l
one history show 1
one roles add R
one track t
one archive --off
one help formats
one import "$work/none.jsonl"
one purge :1 --yes
one rm main --yes
one promote nowhere
one frobnicate
one

finish
