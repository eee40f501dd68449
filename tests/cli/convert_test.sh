#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What conversions preserve: from TOML into a store, from a store into the formats of other
# programs.
. "$(dirname "$0")/lib.sh"

# --- TOML: the git commit of every take ---
cat >"$work/commits.toml" <<'END'
[discussion]
roles = ["User", "AI"]
active = "solo"

[discussion.discussions.solo]
git_commit = "c0ffee0"
history = ["User: hi", "AI: ho"]

[discussion.discussions.pair]
git_commit = "aaaaaaa"
history = ["User: one"]

[discussion.discussions.pair_take_1]
git_commit = "bbbbbbb"
history = ["User: one", "AI: two"]
END
code 'a project with commits' 0 r import "$work/commits.toml"
is 'first take: the commit' c0ffee0 "$(r takes -d solo --json | json 'd[0]["git_commit"]')"
is 'all takes: their commits' 'aaaaaaa bbbbbbb' \
	"$(r takes -d pair --json | json '" ".join(t["git_commit"] for t in d)')"
is 'canonical: all commits' 'aaaaaaa bbbbbbb c0ffee0' "$(r export --format canonical |
	json '" ".join(sorted(t["git_commit"] for x in d["discussions"] for t in x["takes"]))')"
r export --format toml >"$work/commits2.toml"
is 'TOML: all commits' 3 "$(grep -c '^git_commit = "[a-f0-9]\{7\}"' "$work/commits2.toml")"
code 'a branch of it' 0 r branch :1 side -d solo
is 'a branch has the commit of its take' c0ffee0 \
	"$(r takes -d solo --json | json '[t["git_commit"] for t in d if t["name"] == "side"][0]')"
r -q undo 9
r -q redo 9
is 'undo and redo keep it' c0ffee0 "$(r takes -d solo --json | json 'd[0]["git_commit"]')"
code 'fsck' 0 r fsck
code 'imported again' 0 "$RETAKE" --db "$work/again.db" import "$work/commits2.toml"
"$RETAKE" --db "$work/again.db" export --format toml >"$work/commits3.toml"
sed '/side/,$d' "$work/commits2.toml" | head -n 12 >"$work/a"
head -n 12 "$work/commits3.toml" >"$work/b"
is 'and exported again: the same' "$(cat "$work/a")" "$(cat "$work/b")"

# --- TOML: a file without discussions still provides roles and settings ---
db=$work/roles.db
r -q add hi
printf '[discussion]\ndisc_roles = ["User", "Critic"]\n[ai]\nmodel = "m1"\n' >"$work/roles.toml"
code 'what it would do' 0 r import -n "$work/roles.toml"
has 'what it would do' 'would change' "$out"
is 'a dry run changes nothing' false "$(r settings --json | json '"Critic" in d["roles"]')"
code 'roles alone' 0 r import "$work/roles.toml"
has 'roles alone' 'settings' "$out"
hasnt 'roles alone' 'nothing new' "$out"
is 'the roles are there' 'User Critic' "$(r settings --json | json '" ".join(d["roles"])')"
is 'and the model' m1 "$(r settings --json | json 'd["settings"]["model"]')"
has 'history names it' 'imported settings' "$(r history)"
code 'again' 0 r import "$work/roles.toml"
has 'again' 'nothing new' "$out"
r -q undo
is 'undo reverts it' 'User AI Vendor API System' "$(r settings --json | json '" ".join(d["roles"])')"
sed 's/m1/m2/' "$work/roles.toml" >"$work/roles3.toml"
code 'two files of settings' 0 "$RETAKE" --db "$work/roles3.db" import "$work/roles.toml" "$work/roles3.toml"
has 'each is a step to undo' 'undo 2' "$out"
code 'into a new store' 0 "$RETAKE" --db "$work/roles2.db" import "$work/roles.toml"
is 'into a new store' 'User Critic' \
	"$("$RETAKE" --db "$work/roles2.db" settings --json | json '" ".join(d["roles"])')"

# --- TOML: the configuration file, and back ---
db=$work/config.db
cat >"$work/config-in.toml" <<'EOF'
disc_roles = ["User", "Critic"]
use_default_base_system_prompt = false
ui_global_system_prompt = "g"
theme = "dark"

[ai]
temperature = 0.25
top_p = 0.5
max_tokens = 77
top_k = 3
EOF
r -q add hi
code 'configuration' 0 r import "$work/config-in.toml"
has 'configuration: settings without a counterpart' 'no equivalent; stored unchanged: theme' "$out"
has 'configuration: in a table, too' 'no equivalent; stored unchanged: ai.top_k' "$out"
hasnt 'configuration: nothing else' 'temperature' "$out"
is 'configuration: in requests' '0.25 0.5 77' \
	"$(r context --json 2>/dev/null | json '"%s %s %s" % (d["temperature"], d["top_p"], d["max_tokens"])')"
code 'config-toml' 0 r export --format config-toml -o "$work/config-out.toml"
is 'config-toml: all settings with a counterpart' "$(grep -v 'theme\|top_k' "$work/config-in.toml")" \
	"$(cat "$work/config-out.toml")"
"$RETAKE" --db "$work/config2.db" import "$work/config-out.toml" >/dev/null
is 'config-toml: and back' "$(r settings)" "$("$RETAKE" --db "$work/config2.db" settings)"
r -q undo
is 'configuration: one step' 'User AI Vendor API System' "$(r settings --json | json '" ".join(d["roles"])')"

# --- pi: entries of hooks that were added here ---
db=$work/pi.db
apply '{"op":"entry.append","content":"hi"}' \
	'{"op":"entry.append","kind":"custom","content":"","customType":"st","data":{"n":1}}' \
	'{"op":"entry.append","kind":"custom_message","role":"User","content":"X","custom_type":"h","display":false,"details":{"q":1}}' \
	'{"op":"entry.append","kind":"model_change","content":"","provider":"p","modelId":"m"}' \
	'{"op":"entry.append","kind":"whatever","content":"Y","k":2}' >/dev/null
r export --format pi >"$work/made.jsonl"
types() {
	"$python" -c 'import json, sys; print(" ".join(json.loads(l)["type"] for l in open(sys.argv[1])))' "$1"
}
is 'each has a record of its type' \
	'session message custom custom_message model_change whatever session_info' "$(types "$work/made.jsonl")"
hasnt 'no user message without text' '"role":"user","content":""' "$(cat "$work/made.jsonl")"
code 'and back' 0 "$RETAKE" --db "$work/pi2.db" import "$work/made.jsonl"
"$RETAKE" --db "$work/pi2.db" show --json >"$work/shown"
is 'kinds' 'message custom custom_message model_change whatever session_info' \
	"$(json '" ".join(e["kind"] for e in d["entries"])' <"$work/shown")"
is 'what a hook keeps' 'st 1' "$(json '"%s %d" % (d["entries"][1]["pi"]["customType"], d["entries"][1]["pi"]["data"]["n"])' <"$work/shown")"
is 'what a hook says' 'X h False 1' "$(json '(lambda e: "%s %s %s %d" % (e["content"], e["pi"]["customType"], e["pi"]["display"], e["pi"]["details"]["q"]))(d["entries"][2])' <"$work/shown")"
is 'the text of an unknown kind' Y "$(json 'd["entries"][4]["content"]' <"$work/shown")"
"$RETAKE" --db "$work/pi2.db" export --format pi >"$work/made2.jsonl"
is 'the same file again' same "$(cmp -s "$work/made.jsonl" "$work/made2.jsonl" && echo same)"
# --- messages that were wrong ---
db=$work/small.db
r -q track v1
code 'track without a name' 0 r track ''
has 'track without a name' 'has no track' "$out"
is 'track: none' null "$(r settings --json | json 'd.get("track")')"
apply '{"op":"track.set","track":"v2"}' '{"op":"track.set","track":""}' >/dev/null
is 'track: none by the operation' null "$(r settings --json | json 'd.get("track")')"
code 'a role with blanks' 0 r roles add '  X  '
has 'the stored role' 'Added the role "X".' "$out"
r -q add one
r -q add two
r show --take-file >"$work/take.txt"
{ cat "$work/take.txt"; echo; } >"$work/blank.txt"
code 'take file: a blank line at the end' 0 r edit --all -f "$work/blank.txt"
{ sed '/^=== :end/d' "$work/take.txt" | sed '/two/,$d' | sed '$d'; echo '=== :end'; echo; echo 'more'; } >"$work/text.txt"
code 'take file: text after the end' 2 r edit --all -f "$work/text.txt"
has 'take file: text after the end' '=== :end' "$err"
{ sed -n '1,/one/p' "$work/take.txt"; echo; echo '=== :end'; sed -n '/one/,$p' "$work/take.txt" | sed 1d; } >"$work/twice.txt"
code 'take file: two ends' 2 r edit --all -f "$work/twice.txt"
is 'take file: nothing was deleted' 2 "$(r show --json | json 'd["count"]')"
r -q reset
code 'undo of a reset' 0 r undo
has 'undo of a reset' 'reset the project' "$out"
hasnt 'undo of a reset: no discussion is named as the project' 'project "main"' "$out"

# --- usage: one name for each count; the older one is still accepted ---
db=$work/usage.db
for names in 'cache_read_input_tokens cache_creation_input_tokens' 'cache_read_tokens cache_write_tokens'; do
	printf '%s\n' '{"text":"so"}' "{\"usage\":{\"input_tokens\":9,\"output_tokens\":2,\"${names% *}\":4,\"${names#* }\":3}}" >"$work/play.jsonl"
	r -q ask -m "builtin/play:$work/play.jsonl" Q >/dev/null
	is "a reply has the names that Manual Slop has ($names)" \
		'cache_creation_input_tokens cache_read_input_tokens input_tokens output_tokens' \
		"$(r show --json | json '" ".join(sorted(d["entries"][-1]["usage"]))')"
done
apply '{"op":"entry.append","role":"AI","content":"old","usage":{"input_tokens":9,"cache_read_tokens":4}}' >/dev/null
has 'an older name is read, too' '4 from the cache' "$(r show -v :-1)"
has 'TOML has the names of Manual Slop' 'usage = { input_tokens = 9, cache_read_input_tokens = 4 }' "$(r export --format toml)"

# --- html: edited entries are marked ---
db=$work/edited.db
r -q add question
r -q add -r AI 'words of the model, key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD'
r export --format html >"$work/plain.html"
hasnt 'nothing edited, no mark' 'id="retake-edited"' "$(cat "$work/plain.html")"
r -q edit :2 'my words, key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD'
r -q branch :2 side
r -q edit :1 another
for how in '' --redact; do
	r export --format html $how >"$work/edited.html"
	has "edited: the numbers are beside the data $how" 'id="retake-edited">[[1,2]]' "$(cat "$work/edited.html")"
	has "edited: without script $how" '<small>edited</small>' "$(cat "$work/edited.html")"
done
hasnt 'redacted: the key is gone' sk-abcdef "$(cat "$work/edited.html")"
r export --format html >"$work/edited.html"
code 'a page is read' 0 "$RETAKE" --db "$work/edited2.db" import "$work/edited.html"
is 'the mark comes back' 'True True' "$("$RETAKE" --db "$work/edited2.db" show --json |
	json '" ".join(str(e.get("edited", False)) for e in d["entries"])')"
"$RETAKE" --db "$work/edited2.db" export --format html >"$work/edited2.html"
is 'the same page again' same "$(cmp -s "$work/edited.html" "$work/edited2.html" && echo same)"
is 'canonical has no mark' "$(r export --format canonical)" \
	"$("$RETAKE" --db "$work/edited2.db" export --format canonical)"

# --- a session of version 1, which has no ids ---
db=$work/old.db
cat >"$work/old.jsonl" <<'END'
{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z"}
{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"two"}}
{"type":"message","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"three"}}
END
r -q import "$work/old.jsonl"
is 'an old session is a chain' 'True True True' \
	"$(r tree --json | json '" ".join(str(e.get("parent") == (d[i - 1]["id"] if i else None)) for i, e in enumerate(d))')"
r -q branch :2
r -q add aside
is 'and its tree can be used at once' 2 "$(r tree --json | json 'sum(e.get("parent") == d[1]["id"] for e in d)')"

finish
