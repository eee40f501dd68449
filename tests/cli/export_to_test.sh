#!/bin/sh
# SPDX-License-Identifier: MIT
#
# export --to: sessions in the directories of the programs that continue them. The original stays
# unless --in-place is given, which keeps a copy.
. "$(dirname "$0")/lib.sh"

unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME
mkdir -p "$work/src"
cd "$work/src" || exit 1
claude=$HOME/.claude/projects/$(printf %s "$work/src" | sed 's/[^A-Za-z0-9]/-/g')
mkdir -p "$claude"
original=$claude/11111111-2222-4333-8444-555555555555.jsonl
cat >"$original" <<END_FILE
{"parentUuid":null,"isSidechain":false,"cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"user","message":{"role":"user","content":"Which colour?"},"uuid":"aaaaaaaa-2222-4333-8444-555555555551","timestamp":"2026-01-01T00:00:00.000Z","odd":[1.10]}
{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555551","isSidechain":false,"cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Red."}],"odd":{}},"uuid":"aaaaaaaa-2222-4333-8444-555555555552","timestamp":"2026-01-01T00:00:01.000Z"}
END_FILE
cp "$original" "$work/kept"
r -q import "$original"

# --- a new session ---
code 'without a change' 0 r export --to claude-code --json
first=$(printf '%s' "$out" | json 'd["file"]')
session=$(printf '%s' "$out" | json 'd["session"]')
is 'the file is named after the session' "$claude/$session.jsonl" "$first"
is 'the command that continues it' "claude --resume $session" "$(printf '%s' "$out" | json 'd["resume"]')"
is 'all else is as it was' "$(sed "s/11111111-2222-4333-8444-555555555555/$session/g" "$work/kept")" \
	"$(cat "$first")"
code 'again' 0 r export --to claude-code
has 'again: it is there' 'already contains it' "$out"
is 'again: no second file' 2 "$(ls "$claude" | wc -l | tr -d ' ')"
r -q edit :2 'Blue.'
r -q add -r AI 'Or green.'
code 'edited' 0 r export --to claude-code --json
second=$(printf '%s' "$out" | json 'd["file"]')
has 'edited: another session' "$claude/" "$second"
hasnt 'edited: not the first one' "$session" "$second"
has 'the edit' '"content":[{"type":"text","text":"Blue."}],"odd":{}},"uuid":"aaaaaaaa-2222-4333-8444-555555555552"' \
	"$(cat "$second")"
has 'the new reply' '"content":[{"type":"text","text":"Or green."}]' "$(tail -n 1 "$second")"
has 'the new reply follows' '{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555552"' "$(tail -n 1 "$second")"
is 'the original' "$(cat "$work/kept")" "$(cat "$original")"
echo '{"type":"mode"}' >>"$second"
code 'a session that was continued is not replaced' 0 r export --to claude-code --json
hasnt 'a session that was continued: another id' "$second" "$out"

# --- in another directory ---
(cd / && r export --to claude-code) >"$work/out"
has 'from another directory' "cd $work/src && claude --resume" "$(cat "$work/out")"

# --- whose directory is gone ---
mv "$work/src" "$work/elsewhere"
has 'without its directory' "Its directory $work/src does not exist here" "$(cd "$work/elsewhere" && r export --to claude-code)"
mv "$work/elsewhere" "$work/src"

# --- in place ---
code 'in place' 0 r export --to claude-code --in-place --json
is 'in place: the file' "$original" "$(printf '%s' "$out" | json 'd["file"]')"
is 'in place: the copy' "$original.bak" "$(printf '%s' "$out" | json 'd["copy"]')"
is 'in place: the copy is the original' "$(cat "$work/kept")" "$(cat "$original.bak")"
has 'in place: the edit' 'Blue.' "$(cat "$original")"
has 'in place: the id' '"sessionId":"11111111-2222-4333-8444-555555555555"' "$(tail -n 1 "$original")"
r -q edit :2 'Black.'
code 'in place again' 0 r export --to claude-code --in-place
has 'in place again: a second copy' "$original.bak2" "$out"
rm "$original"
code 'in place without the original' 3 r export --to claude-code --in-place
has 'in place without the original' 'does not exist' "$err"

# --- in place: the file that was imported, and nothing that the program appended is lost ---
cp "$work/kept" "$work/elsewhere.jsonl"
cp "$work/kept" "$original"
r -q import "$work/elsewhere.jsonl"
printf '%s\n' '{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555552","isSidechain":false,"cwd":"/","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"user","message":{"role":"user","content":"And then?"},"uuid":"aaaaaaaa-2222-4333-8444-555555555559","timestamp":"2026-01-01T00:00:09.000Z"}' >>"$work/elsewhere.jsonl"
cp "$work/elsewhere.jsonl" "$work/grown"
code 'in place: it has grown' 5 r export --to claude-code --in-place
has 'in place: it has grown' "$work/elsewhere.jsonl has 1 entry that is not imported and would be lost" "$err"
has 'in place: the next step' "import $work/elsewhere.jsonl" "$err"
is 'in place: the file is as it was' "$(cat "$work/grown")" "$(cat "$work/elsewhere.jsonl")"
is 'in place: the session with the same id is unchanged' "$(cat "$work/kept")" "$(cat "$original")"
r -q import "$work/elsewhere.jsonl"
code 'in place: imported' 0 r export --to claude-code --in-place --json
is 'in place: the imported file' "$work/elsewhere.jsonl" "$(printf '%s' "$out" | json 'd["file"]')"
has 'in place: the edit is there' 'Black.' "$(cat "$work/elsewhere.jsonl")"
code 'in place: once more' 0 r export --to claude-code --in-place
has 'in place: once more' 'already contains it' "$out"
is 'in place: nothing is new' '0 0' "$(r import "$work/elsewhere.jsonl" --json | json '"%d %d" % (d["entries"], d["discussions"])')"

# --- written sessions are known: an import adds only what the program appended ---
added() { # added FILE: entries and discussions
	r import "$1" --json | json '"%d %d" % (d["entries"], d["discussions"])'
}
r -q new Written
r -q add -r User 'A question of Retake'
r -q add -r AI 'An answer'
r -q add -r User 'Thanks'
for program in claude-code codex gemini; do
	count=$(r ls --json | json 'len(d)')
	file=$(r export --to $program --json | json 'd["file"]')
	is "written for $program: known" '0 0' "$(added "$file")"
	case $program in
	claude-code) last=$(tail -n 2 "$file" | grep -o '"uuid":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)
		session=$(basename "$file" .jsonl)
		printf '{"parentUuid":"%s","isSidechain":false,"cwd":"/","sessionId":"%s","version":"2.1.0","type":"user","message":{"role":"user","content":"more of %s"},"uuid":"bbbbbbbb-2222-4333-8444-555555555559","timestamp":"2026-01-01T00:00:09.000Z"}\n' "$last" "$session" $program >>"$file" ;;
	codex) printf '{"timestamp":"2026-01-01T00:00:09.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"more of %s"}]}}\n' $program >>"$file" ;;
	gemini) printf '{"id":"zz","timestamp":"2026-01-01T00:00:09.000Z","type":"user","content":[{"text":"more of %s"}]}\n' $program >>"$file" ;;
	esac
	r -q edit -d Written :1 "A question, edited for $program"
	is "continued by $program: what is new" '1 0' "$(added "$file")"
	is "continued by $program: again" '0 0' "$(added "$file")"
	is "continued by $program: where" "more of $program" "$(r show :-1 --json -d Written | json 'd["content"] if isinstance(d["content"], str) else d["content"][0]["text"]')"
	is "continued by $program: no other discussion" "$count" "$(r ls --json | json 'len(d)')"
done
is 'written sessions count as imported' 0 "$(r scan codex --json | json 'sum(p["files"] - p["imported"] for p in d["programs"])')"
r --read-only export --to codex -d Written >/dev/null 2>"$work/errors"
has 'in a read-only store' 'read-only' "$(cat "$work/errors")"

# --- for another program ---
r -q use 'Which colour?'
code 'for Codex' 0 r export --to codex --json
has 'for Codex: the file' "$HOME/.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-" "$(printf '%s' "$out" | json 'd["file"]')"
is 'for Codex: the command' 'codex resume' "$(printf '%s' "$out" | json '" ".join(d["resume"].split()[:2])')"
has 'for Codex: the directory' "\"cwd\":\"$work/src\"" "$(cat "$(printf '%s' "$out" | json 'd["file"]')")"

# --- Gemini CLI: the folder of a project is found by the file that names it, else it is the hash ---
hash=$(printf %s "$work/src" | sha256sum | cut -d ' ' -f 1)
code 'for Gemini CLI' 0 r export --to gemini --json
file=$(printf '%s' "$out" | json 'd["file"]')
has 'for Gemini CLI: the file' "$HOME/.gemini/tmp/$hash/chats/session-2026-01-01T00-00-" "$file"
has 'for Gemini CLI: the command' 'gemini --resume ' "$(printf '%s' "$out" | json 'd["resume"]')"
mkdir -p "$HOME/.gemini/tmp/src" "$HOME/.gemini/tmp/other"
printf '%s\n' "$work/src" >"$HOME/.gemini/tmp/src/.project_root"
echo / >"$HOME/.gemini/tmp/other/.project_root"
code 'for Gemini CLI, in a project' 0 r export --to gemini-cli --json
has 'for Gemini CLI, in a project: the file' "$HOME/.gemini/tmp/src/chats/session-" "$(printf '%s' "$out" | json 'd["file"]')"
file=$HOME/.gemini/tmp/src/chats/session-2026-01-01T00-00-99999999.jsonl
sed 's/"sessionId":"[^"]*"/"sessionId":"99999999-2222-4333-8444-555555555555"/' \
	"$(r export --to gemini --json | json 'd["file"]')" >"$file"
r -q import "$file"
r -q edit :2 'Green.'
(cd / && r export --to gemini --json) >"$work/out"
has 'of Gemini CLI, elsewhere: its project' "$HOME/.gemini/tmp/src/chats/" "$(cat "$work/out")"
has 'of Gemini CLI, elsewhere: the directory' "cd $work/src && gemini --resume" "$(cat "$work/out")"
code 'of Gemini CLI, in place' 0 r export --to gemini --in-place --json
changed=$(printf '%s' "$out" | json 'd["file"]')
has 'of Gemini CLI, in place: the edit' '"content":"Green."' "$(cat "$changed")"
is 'of Gemini CLI, in place: the copy' "$(cat "$changed.bak" | grep -c Green)" 0
is 'of Gemini CLI, in place: the name stays' "$(basename "$file")" "$(basename "$changed")"

# --- Gemini CLI: an edited result of a tool ---
cat >"$work/tool.jsonl" <<'END_FILE'
{"sessionId":"tool-session","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z"}
{"id":"u1","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":"Which colour?"}
{"id":"g1","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","content":"I look.","odd":1.10,"toolCalls":[{"id":"c1","name":"sh","args":{"n":1.10},"result":[{"functionResponse":{"id":"c1","name":"sh","response":{"output":"red"},"k":1}}],"status":"success","resultDisplay":"red"}]}
END_FILE
r -q import "$work/tool.jsonl"
edit_reply() { # edit_reply BLOCKS: of the tool's message
	printf '{"op":"entry.edit","entry":":2","content":[%s]}\n' "$1" | r -q apply >/dev/null
	r export --format gemini-cli | tail -n 1
}
text='{"type":"text","text":"I look."}'
is 'an edited result' '{"id":"g1","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","odd":1.10,"toolCalls":[{"id":"c1","name":"sh","args":{"n":2},"result":[{"functionResponse":{"id":"c1","name":"sh","response":{"output":"blue"},"k":1}}],"status":"success"}],"content":"I look."}' \
	"$(edit_reply "$text"',{"type":"toolCall","id":"c1","name":"sh","arguments":{"n":2}},{"type":"tool_result","tool_use_id":"c1","content":"blue"}')"
is 'blocks that do not fit the record' '{"id":"g1","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","odd":1.10,"content":"I look."}' \
	"$(edit_reply "$text")"

# --- opencode: a file, and the command that imports it ---
code 'for opencode' 0 r export --to opencode --json
file=$(printf '%s' "$out" | json 'd["file"]')
session=$(printf '%s' "$out" | json 'd["session"]')
is 'for opencode: the file' "$XDG_DATA_HOME/opencode/retake/$session.json" "$file"
is 'for opencode: the commands' "opencode import $file && opencode --session $session" \
	"$(printf '%s' "$out" | json 'd["resume"]')"
is 'for opencode: the messages' "$(printf 'user text\nassistant text')" \
	"$(json '"\n".join(m["info"]["role"] + " " + m["parts"][0]["type"] for m in d["messages"])' <"$file")"
code 'of opencode, in place' 2 r export --to opencode --in-place
has 'of opencode, in place' 'database' "$err"

# --- a conversation of Retake itself ---
r -q new Fresh
r -q add -r User 'New question'
code 'in place is not possible' 2 r export --to claude-code --in-place
code 'a new conversation' 0 r export --to claude-code --json
file=$(printf '%s' "$out" | json 'd["file"]')
has 'a new conversation: its name' '"customTitle":"Fresh"' "$(cat "$file")"
has 'a new conversation: the directory' "\"cwd\":\"$work/src\"" "$(cat "$file")"
code 'an unknown program' 2 r export --to nothing
has 'an unknown program' 'claude-code' "$err"
code '--in-place alone' 2 r export --format pi --in-place
code '--to with -o' 2 r export --to claude-code -o x
HOME= code 'without a home' 3 r export --to claude-code
r -q new Nothing
code 'without entries' 2 r export --to opencode
has 'without entries' 'the discussion has no entries; a session needs at least one message' "$err"
finish
