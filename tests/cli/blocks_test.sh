#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Contents that are arrays of blocks, as in pi and the APIs of providers: their text is shown,
# edited, replaced and cut like any other, and other blocks stay.
. "$(dirname "$0")/lib.sh"

editor() { # editor COMMANDS: a script that edits "$1"
	printf '#!/bin/sh\n%s\n' "$1" >"$work/editor"
	chmod +x "$work/editor"
	EDITOR=$work/editor
	export EDITOR
}
content() { # content ENTRY: as JSON, with ' for "
	r show "$1" --json | json 'd["content"]' | tr '"' "'"
}

session() { # a pi session
	rm -f "$db" "$db"-*
	cat >"$work/session.jsonl" <<'EOF'
{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"read teh file"},{"type":"image","data":"AA==","mimeType":"image/png"}],"timestamp":1}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"text","text":"I read teh file.","textSignature":"old"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"teh"}}],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"toolUse","timestamp":2}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"teh words"}],"isError":false,"timestamp":3}}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"bash","arguments":{}},{"type":"toolCall","id":"c3","name":"grep","arguments":{}}],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"toolUse","timestamp":4}}
{"type":"message","id":"00000005","parentId":"00000004","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"error","errorMessage":"overloaded","timestamp":5}}
{"type":"model_change","id":"00000006","parentId":"00000005","timestamp":"2026-01-01T00:00:06.000Z","provider":"openai","modelId":"gpt-x"}
{"type":"message","id":"00000007","parentId":"00000006","timestamp":"2026-01-01T00:00:07.000Z","message":{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"text","text":"two"},{"type":"text","text":"three"}],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"stop","timestamp":7}}
EOF
	r -q import "$work/session.jsonl"
}

# --- display ---
session
code 'tree' 0 r tree
has 'tree: the text' 'I read teh file.' "$out"
has 'tree: calls' '(calls bash, grep)' "$out"
has 'tree: an error' '(error: overloaded)' "$out"
has 'tree: a model' 'model: openai/gpt-x' "$out"
code 'show' 0 r show
has 'show: calls beside a text' '(calls read; thinking)' "$out"
has 'show: an image' '(an image)' "$out"
has 'show: an error' '(error: overloaded)' "$out"
hasnt 'show: nothing is empty' '(empty)' "$out"
is 'raw is the text alone' 'I read teh file.' "$(r show :2 --raw)"

# --- one entry ---
code 'edit' 0 r edit :2 'I read it.'
has 'edit: names the blocks it keeps' 'Kept with the text: calls read; thinking' "$out"
is 'edit' "[{'type': 'thinking', 'thinking': 'hm', 'thinkingSignature': 'sig'}, {'type': 'text', 'text': 'I read it.'}, {'type': 'toolCall', 'id': 'c1', 'name': 'read', 'arguments': {'path': 'teh'}}]" "$(content :2)"
is 'edit: the result is a result' '"tool"' "$(r context --json 2>/dev/null | json 'json.dumps(d["messages"][2]["role"])')"
r export --format pi -o "$work/out.jsonl" 2>/dev/null >/dev/null
has 'edit: pi gets the call' '{"type":"text","text":"I read it."},{"type":"toolCall","id":"c1"' "$(cat "$work/out.jsonl")"
code 'the same again' 0 r edit :2 'I read it.' --json
is 'the same again' 'true' "$(printf '%s' "$out" | json 'd["unchanged"]')"
code 'as JSON' 0 r edit :2 'I read that.' --json
is 'as JSON' 'calls read; thinking' "$(printf '%s' "$out" | json 'd["kept"]')"
code 'a text beside calls' 0 r edit :4 'Now I look.'
has 'a text beside calls' "[{'type': 'text', 'text': 'Now I look.'}, {'type': 'toolCall', 'id': 'c2'" "$(content :4)"

# --- in the editor ---
session
editor 'grep -qx "I read teh file." "$1" && sed -i s/teh/the/ "$1"'
code 'editor' 0 r edit :2 -e
has 'editor' "'I read the file.'}, {'type': 'toolCall'" "$(content :2)"
editor 'sed -i s/two/TWO/ "$1"'
code 'several texts' 0 r edit :7 -e
is 'several texts' "[{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': 'TWO'}, {'type': 'text', 'text': 'three'}]" "$(content :7)"
editor 'printf "all new\n" >"$1"'
code 'all of them' 0 r edit :7 -e
is 'all of them' "[{'type': 'text', 'text': 'all new'}]" "$(content :7)"
editor 'cat "$1" >/dev/null'
code 'nothing but calls' 0 r edit :4 -e
has 'nothing but calls' 'Nothing was changed' "$out"

# --- replacing the whole content ---
code 'a string as the content' 0 r edit :2 --content-json '"bare"'
hasnt 'nothing is kept' 'Kept' "$out"
is 'a string as the content' 'bare' "$(content :2)"
r -q undo
editor 'sed -i "1d; 2s/^ /[/" "$1"'
code 'the content in the editor' 0 r edit :2 -e --content-json
has 'the content in the editor' "[{'type': 'text', 'text': 'I read the file.'" "$(content :2)"
code 'no JSON' 2 r edit :2 --content-json '['
code 'no content' 2 r edit :2 --content-json '7'
code 'not with --all' 2 r edit --all --content-json

# --- other commands ---
session
r -q branch :2 side
r -q --take side edit :2 --content-json '[{"type":"image"},{"type":"text","text":"x"}]'
code 'everywhere' 0 r edit :2 'in both' --everywhere
is 'everywhere: here' "[{'type': 'image'}, {'type': 'text', 'text': 'in both'}]" "$(content :2)"
r -q takes switch session
has 'everywhere: there, with its own blocks' "'text': 'in both'}, {'type': 'toolCall'" "$(content :2)"
code 'as a take' 0 r edit :1 'another question' --as-take
is 'as a take: with the image' "[{'type': 'text', 'text': 'another question'}, {'type': 'image', 'data': 'AA==', 'mimeType': 'image/png'}]" "$(content :1)"

# --- replacing ---
session
code 'replace, dry' 0 r edit --replace teh the -n
has 'replace, dry' '3 times in 3 entries' "$out"
has 'replace, dry: where' 'I read [-teh-]{+the+} file.' "$out"
code 'replace' 0 r edit --replace teh the
has 'replace' "'text': 'I read the file.'}, {'type': 'toolCall', 'id': 'c1', 'name': 'read', 'arguments': {'path': 'teh'}}" "$(content :2)"
code 'replace in one of several' 0 r edit --replace two 2
is 'replace in one of several' "[{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': '2'}, {'type': 'text', 'text': 'three'}]" "$(content :7)"

# --- the take file ---
session
r show --take-file >"$work/take"
has 'take file: the text' 'I read teh file.' "$(cat "$work/take")"
is 'take file: entries without text are locked' 2 "$(grep -c '+locked' "$work/take")"
code 'take file: unchanged' 0 r edit --all -f "$work/take"
has 'take file: unchanged' 'Nothing was changed' "$out"
sed -i 's/I read teh file\./I read it./' "$work/take"
code 'take file: edited' 0 r edit --all -f "$work/take"
has 'take file: edited' "'text': 'I read it.'}, {'type': 'toolCall'" "$(content :2)"

# --- splitting ---
session
code 'split' 0 r split :2 --before-text ' teh'
is 'split: first' "[{'type': 'thinking', 'thinking': 'hm', 'thinkingSignature': 'sig'}, {'type': 'text', 'text': 'I read'}]" "$(content :2)"
is 'split: second, with the call' "[{'type': 'text', 'text': ' teh file.'}, {'type': 'toolCall', 'id': 'c1', 'name': 'read', 'arguments': {'path': 'teh'}}]" "$(content :3)"
is 'split: the result is a result' '"tool"' "$(r context --json 2>/dev/null | json 'json.dumps([m["role"] for m in d["messages"] if m["role"] == "tool"][0])')"
code 'merge' 0 r merge :2
has 'merge' "{'type': 'text', 'text': 'I read teh file.'}, {'type': 'toolCall'" "$(content :2)"
code 'split where there is no text' 1 r split :4 --before-text x
has 'split where there is no text' 'no text' "$err"
code 'split where there are several' 1 r split :7 2
has 'split where there are several' 'several texts' "$err"

# --- calls outside the content ---
rm -f "$db" "$db"-*
printf '%s\n' '{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"find","arguments":"{}"}}]}]}' >"$work/openai.json"
r -q import "$work/openai.json"
has 'calls beside the content' '(calls find)' "$(r tree)"
code 'and a text' 0 r edit :2 'I look.'
has 'and a text' 'Kept with the text: calls find' "$out"
is 'and a text' 'find' "$(r show :2 --json | json 'd["tool_calls"][0]["function"]["name"]')"

# --- requests ---
rm -f "$db" "$db"-*
printf '%s\n' '{"op":"entry.append","content":"q"}' \
	'{"op":"entry.append","kind":"whatever","content":"IMPORTANT"}' \
	'{"op":"entry.append","kind":"custom","content":"STATE"}' \
	'{"op":"entry.append","role":"Tool","content":[{"type":"toolResult","toolCallId":"x","toolName":"get","content":[{"type":"text","text":"FOUND"}]}]}' \
	'{"op":"entry.append","id":"heard","content":[{"type":"text","text":"listen"},{"type":"audio","data":"QUJD"}]}' |
	r -q apply >"$work/out"
for provider in $(providers); do
	[ "$provider" != builtin ] || continue # it gets no request
	code "$provider: context" 0 r context --provider "$provider"
	has "$provider: an unknown kind is sent" 'IMPORTANT' "$out"
	has "$provider: a result without its call is sent" '[result of get]: FOUND' "$out"
	hasnt "$provider: the state of a program is not" 'STATE' "$out"
	has "$provider: omitted blocks are reported" "1 block of type audio in entry heard is not sent: a request to $provider cannot contain it" "$err"
done
code 'ask reports omitted blocks' 0 r ask -m builtin/echo 'and now?'
has 'ask reports omitted blocks' '1 block of type audio in entry heard is not sent: a request to builtin/echo cannot' "$err"
code 'tokens' 0 r context --tokens -m anthropic/claude
has 'tokens: omitted blocks cost nothing' '0  not sent' "$out"
cat >"$work/three.jsonl" <<'EOF'
{"type":"session","version":3,"id":"three","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","timestamp":2}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"three","timestamp":3}}
EOF
rm -f "$db" "$db"-*
r -q import "$work/three.jsonl"
code 'three words from pi' 0 r context --tokens -m anthropic/claude
has 'three words from pi' 'about 16 tokens for claude (estimated)' "$out"
code 'they fit' 0 r context --budget 30 -m anthropic/claude
hasnt 'they fit' 'left out' "$err"
# In Markdown, entries without a text say what they are, as in show.
db=$work/events.db
cat >"$work/events.jsonl" <<'L'
{"type":"session","version":3,"id":"s9","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"model_change","id":"m1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","provider":"p","modelId":"big"}
{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Stopped.","timestamp":1}}
L
r -q import "$work/events.jsonl"
out=$(r export --format markdown)
has 'Markdown: a change of the model' 'model: p/big' "$out"
has 'Markdown: an aborted reply' '(aborted: Stopped.)' "$out"

finish
