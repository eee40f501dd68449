#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files of other programs, from the command line: a file that has grown, after edits; undo; a folder
# with files of every format.
. "$(dirname "$0")/lib.sh"

chat() { # NODES CURRENT
	cat <<-END
		[{"title":"Ships","conversation_id":"c1","current_node":"$2","mapping":{
		"u1":{"id":"u1","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Do ships float?"]}}},
		"a1":{"id":"a1","parent":"u1","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["No."]}}},
		"a2":{"id":"a2","parent":"u1","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Yes."]}}}$1}}]
	END
}

chat '' a2 >"$work/conversations.json"
code 'a dry run' 0 r import --dry-run "$work/conversations.json"
has 'counts the takes' 'would add 3 entries, 2 takes, 1 discussion' "$out"
code 'and makes no store' 1 test -e "$db"
code 'an import' 0 r import "$work/conversations.json"
is 'the open branch is the active take' 'Do ships float? Yes.' \
	"$(r show --json | json '" ".join(e["content"] for e in d["entries"])')"
is 'roles are those of the project' 'user assistant' \
	"$(r show --json | json '" ".join(e["role"] for e in d["entries"])')"
is 'the other one is a take' 2 "$(r takes --json | json 'len(d)')"

# Messages that ChatGPT does not show are counted separately.
chat ',"s1":{"id":"s1","parent":"a2","message":{"author":{"role":"system"},"content":{"content_type":"text","parts":["Rules."]},"metadata":{"is_visually_hidden_from_conversation":true}}}' s1 |
	sed 's/"c1"/"c2"/; s/"u1"/"x1"/g; s/"a1"/"x2"/g; s/"a2"/"x3"/g' >"$work/hidden.json"
code 'hidden messages' 0 r import --dry-run "$work/hidden.json"
has 'hidden messages' 'would add 4 entries (1 hidden), 2 takes' "$out"
code 'hidden messages, JSON' 0 r import --dry-run --json "$work/hidden.json" "$work/conversations.json"
is 'hidden messages, JSON' '4 1 1 0' "$(printf '%s' "$out" | json '"%d %d %d %d" % (d["entries"], d["hidden"], d["files"][0]["hidden"], d["files"][1]["hidden"])')"
code 'hidden messages, several files' 0 r import --dry-run "$work/hidden.json" "$work/conversations.json"
has 'hidden messages, several files' '2 files: 4 entries (1 hidden) in 1 discussion would be added' "$out"

# Conversations without entries are left out; the newest of the others is opened.
cat >"$work/emptied.json" <<-'END'
	[{"title":"Talk","conversation_id":"e1","update_time":1,"mapping":{"n":{"id":"n","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hello"]}}}}},
	{"title":"Older","conversation_id":"e0","update_time":0,"mapping":{"n":{"id":"n","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Before"]}}}}},
	{"title":"Nothing","conversation_id":"e2","update_time":2,"mapping":{"root":{"id":"root","parent":null,"message":null}}},
	{"title":"Nothing either","conversation_id":"e3","update_time":3,"mapping":{}}]
END
code 'empty conversations' 0 "$RETAKE" --db "$work/emptied.db" import "$work/emptied.json"
has 'empty conversations are left out' '2 entries, 2 takes, 2 discussions added; skipped 2 empty conversations' "$out"
is 'an empty conversation is not opened' Hello "$("$RETAKE" --db "$work/emptied.db" show --json | json 'd["entries"][0]["content"]')"
is 'empty conversations, JSON' '0 2 2' "$("$RETAKE" --db "$work/emptied.db" import --json "$work/emptied.json" |
	json '"%d %d %d" % (d["discussions"], d["empty"], d["files"][0]["empty"])')"
echo '[{"title":"Nothing","conversation_id":"e2","mapping":{}}]' >"$work/emptied.json"
code 'only an empty conversation' 0 "$RETAKE" --db "$work/emptied.db" import "$work/emptied.json"
has 'only an empty conversation' 'nothing new; skipped 1 empty conversation' "$out"

code 'an edit' 0 r edit a2 'Most of them.'
chat ',"u2":{"id":"u2","parent":"a2","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["And boats?"]}}},
"a3":{"id":"a3","parent":"u1","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Perhaps."]}}}' u2 \
	>"$work/conversations.json"
code 'the file has grown' 0 r import "$work/conversations.json"
has 'only the new messages are added' '2 entries, 1 take, 0 discussions added; 3 already known' "$out"
is 'after the edited one' 'Do ships float? Most of them. And boats?' \
	"$(r show --json | json '" ".join(e["content"] for e in d["entries"])')"
is 'and as a take' 3 "$(r takes --json | json 'len(d)')"
code 'the same again' 0 r import "$work/conversations.json"
has 'adds nothing' 'nothing new; 5 entries are already known' "$out"
code 'an import is one step' 0 r undo
code 'another discussion' 0 r new Other
cat >"$work/dated.jsonl" <<-'END'
	{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2024-02-03T04:05:06.000Z","message":{"content":"Old?"}}
	{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","timestamp":"2024-02-03T04:05:07.000Z","message":{"content":"Old."}}
END
code 'a file with dates' 0 r import "$work/dated.jsonl"
is 'the list has its last date' '2024-02-03T04:05:07.000Z' \
	"$(r ls --json | json 'next(e["updated"] for e in d if e["name"] == "Old?")')"
is 'and it is open' 'Old?' "$(r ls --json | json 'next(e["name"] for e in d if e["active"])')"
code 'back' 0 r use Other
printf '{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","message":{"content":"New?"}}\n' >>"$work/dated.jsonl"
code 'it has grown' 0 r import "$work/dated.jsonl"
has 'by an entry' '1 entry' "$out"
is 'another discussion stays open' 'Other' "$(r ls --json | json 'next(e["name"] for e in d if e["active"])')"
code 'an edit' 0 r --discussion 'Old?' edit a 'New.'
is 'counts as a change' 'false' \
	"$(r ls --json | json 'next(e["updated"] for e in d if e["name"] == "Old?").startswith("2024")')"
code 'and back' 0 r use Ships
is 'undone' 'Do ships float? Most of them.' \
	"$(r show --json | json '" ".join(e["content"] for e in d["entries"])')"

# --- a folder with a file of each ---
mkdir "$work/all"
for name in chatgpt claude_ai open_webui librechat grok ai_studio gemini_cli oasst sharegpt chatbotui sillytavern llm zip; do
	for file in "$root/fuzz/corpus/${name}_fuzz"/*; do
		cp "$file" "$work/all/$name-$(basename "$file")"
	done
done
code 'a folder' 0 r import --json "$work/all"
is 'every file is taken for what it is' '' "$(printf '%s' "$out" | json '" ".join(sorted(
	f["file"] for f in d["files"] if f["format"].replace("-", "_") not in f["file"].split("/")[-1]))')"
is 'all of them' "$(ls "$work/all" | wc -l)" "$(printf '%s' "$out" | json 'len(d["files"])')"
code 'and nothing is damaged' 0 r fsck

# --- conversations in several files ---
mkdir -p "$work/data/storage/session/p" "$work/data/storage/message/x" "$work/data/storage/part/y"
echo '{"id":"s1","projectID":"p","title":"Stored","time":{"created":1730000200000}}' >"$work/data/storage/session/p/ses_1.json"
echo '{"id":"m1","sessionID":"s1","role":"user","time":{"created":1730000201000}}' >"$work/data/storage/message/x/msg_1.json"
printf '{"id":"p1","messageID":"m1","type":"text","text":"In a part."}' >"$work/data/storage/part/y/prt_1.json"
echo '{"agentType":"general-purpose","spawnDepth":1}' >"$work/data/agent-a1.meta.json"
echo '{"uuid":"u1","parentUuid":null,"isSidechain":true,"agentId":"a1","sessionId":"agent-a1","type":"user","message":{"role":"user","content":"Search."}}' \
	>"$work/data/agent-a1.jsonl"
code 'a folder of opencode and a subagent' 0 r import --json "$work/data"
is 'each is one conversation' '2 2 0' "$(printf '%s' "$out" | json \
	'str(len(d["files"])) + " " + str(d["entries"]) + " " + str(d["unknown_files"])')"
has 'the type of the subagent is kept' '"claude-code.agent":{"agentType":"general-purpose"' \
	"$(r export --format canonical)"
has 'the text is that of the part' 'In a part.' "$(r export --format canonical)"
echo '{"id":"m2","sessionID":"s1","role":"assistant","time":{"created":1730000202000}}' >"$work/data/storage/message/x/msg_2.json"
code 'the folder has grown' 0 r import "$work/data/storage"
has 'only the new message is added' '1 entry, 0 takes, 0 discussions added; 1 already known' "$out"
mkdir -p "$work/home/.local/share/opencode/storage/session/p" "$work/home/.local/share/opencode/storage/message/s2" \
	"$work/home/.local/share/opencode/storage/part/m9" "$work/home/.config/Cursor/User/globalStorage"
stored=$work/home/.local/share/opencode/storage
echo '{"id":"s2","projectID":"p","title":"Found","time":{"created":1730000200000}}' >"$stored/session/p/s2.json"
echo '{"id":"m9","sessionID":"s2","role":"user","time":{"created":1730000201000}}' >"$stored/message/s2/m9.json"
echo '{"id":"p9","messageID":"m9","type":"text","text":"With its part."}' >"$stored/part/m9/p9.json"
cp "$root/fuzz/corpus/cursor_fuzz/state.vscdb" "$work/home/.config/Cursor/User/globalStorage/"
code 'scan finds a session with its messages, and a database' 0 env HOME="$work/home" XDG_DATA_HOME= XDG_CONFIG_HOME= \
	"$RETAKE" --db "$db" scan --json --import opencode cursor
has 'both are imported' '"format":"cursor","discussions":3' "$out"
has 'with the messages' '"format":"opencode","discussions":1,"entries":1' "$out"
has 'and their text' 'With its part.' "$(r export --format canonical)"
code 'one file of the folder' 2 r import "$work/data/storage/message/x/msg_1.json"
has 'names the folder' 'import the directory that contains "session" and "message"' "$err"
printf '# Design\n\n## Model\n\nRows.\n\n## User\n\nRoles.\n\n## View\n' >"$work/notes.md"
code 'notes are no transcript' 2 r import "$work/notes.md"
printf '**User:** Hello\n\n**Assistant:** Hi.\n' >"$work/talk.md"
code 'a transcript' 0 r import "$work/talk.md"
has 'has two entries' '2 entries' "$out"

# --- a database that another program has open, and one of another program ---
mkdir "$work/live"
python3 - "$work/live" <<-'END' &
	import sqlite3, sys, time
	db = sqlite3.connect(sys.argv[1] + "/webui.db")
	db.executescript("""PRAGMA journal_mode = WAL; CREATE TABLE user(id);
		CREATE TABLE chat(id, title, chat, created_at); PRAGMA wal_checkpoint(TRUNCATE);""")
	db.execute("INSERT INTO chat VALUES('w', 'Live', ?, 1)", ('{"messages":[{"role":"user","content":"In the log."}]}',))
	db.commit()
	other = sqlite3.connect(sys.argv[1] + "/notes.db")
	other.execute("CREATE TABLE cursorDiskKV(key TEXT, value TEXT)")
	other.commit()
	open(sys.argv[1] + "/ready", "w").close()
	time.sleep(60)
END
other=$!
while ! [ -e "$work/live/ready" ]; do sleep 0.05; done
rm "$work/live/ready"
code 'a folder with databases' 0 r import --json "$work/live"
is 'the log counts' '1 open-webui' \
	"$(printf '%s' "$out" | json 'str(d["entries"]) + " " + d["files"][0]["format"]')"
is 'one without conversations is passed over, as the files of the log' 3 "$(printf '%s' "$out" | json 'd["unknown_files"]')"
code 'given by name it is refused' 2 r import "$work/live/notes.db"
has 'with the reason' 'contains no Cursor conversation' "$err"
code 'no file was added' 1 test -e "$work/live/webui.db-journal"
kill "$other"

# Messages without ids: a conversation is recognised after local changes.
session() { # TEXT...
	echo '{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"c1","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/x"}}'
	for text; do
		case $text in [A-Z]*) who='user","content":[{"type":"input_text"' ;; *) who='assistant","content":[{"type":"output_text"' ;; esac
		printf '{"timestamp":"2026-03-02T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"%s,"text":"%s"}]}}\n' "$who" "$text"
	done
}
texts() { r show -d One --json | json '" ".join(e["content"] if isinstance(e["content"], str) else e["content"][0]["text"] for e in d["entries"])'; }
db=$work/unnamed.db
session One two Three four Five six >"$work/rollout.jsonl"
r import -q "$work/rollout.jsonl" >/dev/null 2>&1
r edit -q -d One :2 'two, edited'
r delete -q -d One :4
r move -q -d One :3 --after :1
r delete -q -d One :5
is 'edited, deleted, moved' 'One Three two, edited Five' "$(texts)"
has 'imported again' 'nothing new; 6 entries are already known' "$(r import "$work/rollout.jsonl")"
session One two Three four Five six Seven eight >"$work/rollout.jsonl"
has 'the file has grown' '2 entries, 0 takes, 0 discussions added; 6 already known' "$(r import "$work/rollout.jsonl")"
is 'new entries follow' 'eight' "$(texts | sed 's/.* //')"
is 'in the same take' 1 "$(r takes -d One --json | json 'len(d)')"
has 'and again' 'nothing new; 8 entries are already known' "$(r import "$work/rollout.jsonl")"
finish
