#!/bin/sh
# SPDX-License-Identifier: MIT
#
# import and export on the command line; the formats have separate tests.
. "$(dirname "$0")/lib.sh"

fresh
r -q label :2 good
r -q branch :2 side
r -q add -r AI other
r -q prompt set 'A prompt'
r -q set temperature 0.5
r -q roles add Critic

# --- a dry run reports what the import would do ---
for letter in a b a; do
	printf '{"messages":[{"role":"user","content":"%s"}]}\n' $letter
done >"$work/dup.jsonl"
code 'a conversation that is there twice' 0 "$RETAKE" --db "$work/dry.db" import -n "$work/dup.jsonl"
has 'is added twice' 'would add 3 entries, 3 takes, 3 discussions' "$out"
hasnt 'without an id' 'already known' "$out"
code 'and in truth' 0 "$RETAKE" --db "$work/dry.db" import "$work/dup.jsonl"
has 'the same' '3 entries, 3 takes, 3 discussions added' "$out"
cp "$work/dup.jsonl" "$work/other name.jsonl"
code 'the file again' 0 "$RETAKE" --db "$work/dry.db" import -n "$work/dup.jsonl"
has 'all are known' 'nothing new; 3 entries are already known' "$out"
code 'under another name' 0 "$RETAKE" --db "$work/dry.db" import "$work/other name.jsonl" --name x
has 'all are known as well' 'nothing new; 3 entries are already known' "$out"
printf '{"messages":[{"role":"user","content":"a"}]}\n' >>"$work/dup.jsonl"
code 'in the same file again' 0 "$RETAKE" --db "$work/dry.db" import "$work/dup.jsonl"
has 'one is new' '1 entry, 1 take, 1 discussion added; 3 already known' "$out"

# --- export, import, export ---
for format in canonical; do
	r export --format $format >"$work/one"
	rm -f "$work/copy.db"
	code "import $format" 0 "$RETAKE" --db "$work/copy.db" import "$work/one"
	"$RETAKE" --db "$work/copy.db" export --format $format -d main >/dev/null 2>&1
done
r export --format canonical -o "$work/state.json" >/dev/null
is 'to a file: the same bytes' yes "$(cmp -s "$work/one" "$work/state.json" && echo yes)"
is 'twice: the same bytes' "$(cat "$work/one")" "$(r export --format canonical)"
code 'the file is there' 1 r export --format canonical -o "$work/state.json"
has 'the file is there' '--force' "$err"
code '--force' 0 r export --format canonical -o "$work/state.json" --force
code 'no such folder' 3 r export --format canonical -o "$work/no/where"
code 'to a folder' 2 r export --format canonical -o "$work"
is 'no temporary files are left' 0 "$(find "$work" -name '*.tmp' | wc -l | tr -d ' ')"
code 'markdown' 0 r export --format markdown
has 'markdown' 'other' "$out"
hasnt 'one take' 'three' "$out"
code 'by the name of the file' 0 r export -o "$work/talk.md"
code '--take' 0 r export --format markdown --take main
has '--take' 'three' "$out"
code 'pi' 0 r export --format pi --all --lossless -o "$work/session.jsonl"
code 'import of pi' 0 "$RETAKE" --db "$work/pi.db" import "$work/session.jsonl"
is 'both takes' 2 "$("$RETAKE" --db "$work/pi.db" takes -d "$("$RETAKE" --db "$work/pi.db" ls --json | json '[x["name"] for x in d if x["active"] or x["entries"]][-1]')" --json | json 'len(d)')"

# --- exports for another program use its format ---
db=$work/blocks.db
apply '{"op":"entry.append","role":"User","content":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"AA=="}]}' >/dev/null
r -q ask -m builtin/echo Hi >/dev/null 2>&1
is 'openai: an image' '{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}' \
	"$(r export --format openai | json 'd[0]["content"][1]')"
is 'openai: own members of Retake are omitted' '["content", "role"]' "$(r export --format openai | json 'sorted(d[2])')"
has 'openai: lossless keeps it' '"stop_reason":"stop"' "$(r export --format openai --lossless)"
r export --format openai >"$work/blocks.json"
code 'openai: it is read again' 0 "$RETAKE" --db "$work/blocks2.db" import "$work/blocks.json"
has 'openai: with its image' '(an image)' "$("$RETAKE" --db "$work/blocks2.db" show)"
has 'markdown: an image is named' '(an image)' "$(r export --format markdown)"
db=$work/test.db

# --- import: dry run, twice, name, standard input, folders ---
session=$work/session.jsonl
sum=$(cksum <"$session")
rm -f "$work/i.db"
i() {
	"$RETAKE" --db "$work/i.db" "$@"
}
code 'dry run' 0 i import "$session" -n --json
is 'dry run counts' true "$(printf '%s' "$out" | json 'd["dry_run"] and d["entries"] > 0')"
is 'dry run makes no store' no "$([ -e "$work/i.db" ] && echo yes || echo no)"
code 'import' 0 i import "$session" --json
added=$(printf '%s' "$out" | json 'd["entries"]')
is 'as the dry run said' true "$([ "$added" -gt 0 ] && echo true)"
is 'the kind was found' pi "$(printf '%s' "$out" | json 'd["files"][0]["format"]')"
state=$(i export --format canonical)
code 'twice' 0 i import "$session" --json
is 'twice adds nothing' 0 "$(printf '%s' "$out" | json 'd["entries"]')"
is 'and changes nothing' "$state" "$(i export --format canonical)"
is 'the file is as it was' "$sum" "$(cksum <"$session")"
i -q undo
code 'undo of an import' 0 i show
printf '[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]' >"$work/messages.json"
code 'from standard input' 0 sh -c "'$RETAKE' --db '$work/i.db' import - <'$work/messages.json'"
code '--name' 0 "$RETAKE" --db "$work/n.db" import "$work/messages.json" --name 'my talk'
has '--name' 'my talk' "$("$RETAKE" --db "$work/n.db" ls)"
mkdir -p "$work/folder/below"
cp "$session" "$work/folder/a.jsonl"
cp "$work/messages.json" "$work/folder/below/b.json"
printf 'nothing of ours \001\002' >"$work/folder/c.bin"
code 'a folder' 0 "$RETAKE" --db "$work/f.db" import "$work/folder" --json
is 'every file that is known' 2 "$(printf '%s' "$out" | json 'len(d["files"])')"
is 'others are left alone' 1 "$(printf '%s' "$out" | json 'd["unknown_files"]')"
code 'one bad file among good ones' 2 "$RETAKE" --db "$work/g.db" import "$work/folder/c.bin" "$session"
is 'the good one is there' true "$("$RETAKE" --db "$work/g.db" ls --json | json 'sum(x["entries"] for x in d) > 0')"
code 'nothing' 2 "$RETAKE" --db "$work/g.db" import /dev/null

# damaged lines are reported with their number
{ head -n 2 "$session"; echo '{broken'; tail -n +3 "$session"; } >"$work/damaged.jsonl"
code 'a damaged line' 0 "$RETAKE" --db "$work/h.db" import "$work/damaged.jsonl" --json
is 'is reported' 3 "$(printf '%s' "$out" | json '[m["line"] for m in d["files"][0]["remarks"] if m["level"] != "note"][0]')"

finish
