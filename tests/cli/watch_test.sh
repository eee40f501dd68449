#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Watch: sessions of other programs are imported while they change. Real files are appended, moved,
# cut and replaced.
. "$(dirname "$0")/lib.sh"
unset PI_CODING_AGENT_DIR CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME CURSOR_CONFIG_DIR OPENCLAW_STATE_DIR LLM_USER_PATH 2>/dev/null || true
watcher=
other=
end() {
	for pid in $watcher $other; do kill "$pid" 2>/dev/null; done
	rm -rf "$work"
}
trap end EXIT

# line SESSION NUMBER TEXT: a record of Claude Code, the child of the one before
line() {
	parent=null
	[ "$2" -gt 1 ] && parent="\"$1-$(($2 - 1))\""
	printf '{"type":"user","uuid":"%s-%d","parentUuid":%s,"sessionId":"%s","timestamp":"2026-03-02T09:00:%02d.000Z","message":{"role":"user","content":"%s"}}\n' "$1" "$2" "$parent" "$1" "$2" "$3"
}
texts() { # texts DISCUSSION
	r show --json -d "$1" 2>/dev/null | json '" ".join(c if isinstance(c, str) else c[0]["text"] for c in (e["content"] for e in d["entries"]))' 2>/dev/null
}
# comes NAME WANTED CMD…: the output of the command becomes the wanted one within ten seconds
comes() {
	name=$1
	wanted=$2
	shift 2
	until=$(($(date +%s) + 10))
	while :; do
		got=$("$@")
		[ "$got" = "$wanted" ] || [ "$(date +%s)" -gt $until ] && break
		sleep 0.05
	done
	is "$name" "$wanted" "$got"
}
events() { # events NAME: how many
	grep -c "\"event\":\"$1\"" "$work/events"
}
start() { # start ARGS…: a watcher, until it watches
	: >"$work/events"
	"$RETAKE" --db "$db" watch --json "$@" >"$work/events" 2>"$work/errors" </dev/null &
	watcher=$!
	comes "$* watches" 1 events watching
}
stop() { # stop NAME
	kill -TERM "$watcher"
	wait "$watcher"
	is "$1: status" 0 $?
	watcher=
	is "$1: the last event" '{"event":"ended"}' "$(tail -1 "$work/events")"
	is "$1: nothing on standard error" '' "$(cat "$work/errors")"
}
projects=$HOME/.claude/projects

# --- nothing there yet: folders come later ---
start
is 'nothing there: no store is created' no "$(test -e "$db" && echo yes || echo no)"
mkdir -p "$projects/-home-me"
line s1 1 one >"$projects/-home-me/s1.jsonl"
comes 'a new folder with a file' one texts one
line s1 2 two >>"$projects/-home-me/s1.jsonl"
comes 'an appended line' 'one two' texts one
is 'an event for each' 2 "$(events imported)"
is 'the event' 'claude-code claude-code 1 one' "$(grep '"imported"' "$work/events" | tail -1 | json '" ".join(str(d[k]) for k in ("program", "format", "entries", "discussion"))')"
is 'only the new part is added' 0 "$(grep '"imported"' "$work/events" | tail -1 | json 'd["discussions"]')"

# a file that is replaced by another with the same beginning, and one that is moved there
line s1 3 three | cat "$projects/-home-me/s1.jsonl" - >"$work/new"
mv "$work/new" "$projects/-home-me/s1.jsonl"
comes 'a replaced file' 'one two three' texts one
mkdir "$projects/-home-you"
line s2 1 four >"$work/s2.jsonl"
mv "$work/s2.jsonl" "$projects/-home-you/"
comes 'a moved file' four texts four
mv "$projects/-home-you" "$projects/-home-they"
line s2 2 five >>"$projects/-home-they/s2.jsonl"
comes 'a renamed folder' 'four five' texts four

# --- lines that are not complete ---
whole=$(line s1 4 'six seven')
printf '%s' "${whole%seven*}" >>"$projects/-home-me/s1.jsonl"
line s2 3 eight >>"$projects/-home-they/s2.jsonl"
comes 'another file in the meantime' 'four five eight' texts four
is 'half a line is not read' 'one two three' "$(texts one)"
printf '%s' "seven${whole##*seven}" >>"$projects/-home-me/s1.jsonl"
comes 'its other half; a record needs no line end' 'one two three six seven' texts one
printf '\n' >>"$projects/-home-me/s1.jsonl"

# --- a file that becomes shorter ---
line s1 1 one >"$projects/-home-me/s1.jsonl"
line s2 4 nine >>"$projects/-home-they/s2.jsonl"
comes 'after a file was cut' 'four five eight nine' texts four
is 'a cut file: nothing is lost' 'one two three six seven' "$(texts one)"
line s1 2 two >>"$projects/-home-me/s1.jsonl"
rm "$projects/-home-they/s2.jsonl"

# --- the active discussion, and undo ---
r new mine >/dev/null
line s3 1 ten >"$projects/-home-me/s3.jsonl"
comes 'a new session' ten texts ten
is 'the active discussion stays active' mine "$(r ls --json | json '" ".join(x["name"] for x in d if x["active"])')"
r undo >/dev/null
is 'one import is one step' '' "$(texts ten)"
code 'redo' 0 r redo

# --- other programs ---
mkdir -p "$HOME/.codex/sessions/2026/03/02"
cat >"$HOME/.codex/sessions/2026/03/02/rollout-1.jsonl" <<'X'
{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"c1","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/x"}}
{"timestamp":"2026-03-02T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"codex"}]}}
X
comes 'folders four levels deep' codex texts codex
cursor=$HOME/.cursor/projects/p/agent-transcripts/t1/t1.jsonl
mkdir -p "$(dirname "$cursor")"
echo '{"role":"user","message":{"content":[{"type":"text","text":"q"}]}}' >"$cursor"
comes 'a file without ids' q texts t1
echo '{"role":"assistant","message":{"content":[{"type":"text","text":"a"}]}}' >>"$cursor"
comes 'a file without ids grows' 'q a' texts t1
mkdir -p "$XDG_CONFIG_HOME/io.datasette.llm"
"$python" - "$XDG_CONFIG_HOME/io.datasette.llm/logs.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("pragma journal_mode=wal")
db.execute("create table conversations (id text primary key, name text, model text)")
db.execute("create table responses (id text primary key, model text, prompt text, system text, prompt_json text, options_json text, response text, response_json text, conversation_id text, duration_ms integer, datetime_utc text)")
db.execute("insert into conversations values ('k1', 'database', 'm')")
db.execute("insert into responses values ('01', 'm', 'dbq', null, null, '{}', 'dba', null, 'k1', 5, '2026-03-02T09:00:00')")
db.commit()
PY
comes 'a database' 'dbq dba' texts database
stop 'the first watcher'

# --- changes while no watcher runs ---
line s3 2 eleven >>"$projects/-home-me/s3.jsonl"
line s4 1 twelve >"$projects/-home-me/s4.jsonl"
start
comes 'what changed since the last watcher' 'ten eleven' texts ten
comes 'a session since the last watcher' twelve texts twelve
stop 'the second watcher'
line s3 3 thirteen >>"$projects/-home-me/s3.jsonl"
code 'once' 0 r watch --once --json
is 'once: what changed' 'ten 1' "$(echo "$out" | grep imported | json 'd["discussion"] + " " + str(d["entries"])')"
code 'once again' 0 r watch --once
is 'once again: nothing' '' "$out"
touch -d '2026-01-01 00:00:00' "$projects/-home-me/s4.jsonl"

# --- a choice; another store starts with new changes ---
db=$work/second.db
start codex
line s4 2 fourteen >>"$projects/-home-me/s4.jsonl"
sed -i 's/"text":"codex"/"text":"codex 2"/; s/"c1"/"c2"/' "$HOME/.codex/sessions/2026/03/02/rollout-1.jsonl"
comes 'a chosen program' 'codex 2' texts 'codex 2'
is 'no other program, nothing from before' 1 "$(r ls --json | json 'len(d)')"
stop 'of one program'
start "$projects/-home-me" --all
comes 'a chosen folder, with --all' 'twelve fourteen' texts twelve
is 'nothing outside of it' 'codex 2 one ten twelve' "$(r ls --json | json '" ".join(sorted(x["name"] for x in d))')"

# --- two watchers on one store ---
"$RETAKE" --db "$db" watch --quiet </dev/null >/dev/null 2>"$work/errors2" &
other=$!
sleep 0.5
i=1
: >"$projects/-home-me/s5.jsonl"
while [ $i -le 20 ]; do
	line s5 $i "t$i" >>"$projects/-home-me/s5.jsonl"
	[ $((i % 5)) = 0 ] && sleep 0.3
	i=$((i + 1))
done
comes 'two watchers: every line' "$(seq -s' ' -f 't%g' 20)" texts t1
sleep 0.5
is 'two watchers: one discussion' 1 "$(r ls --json | json 'sum(x["name"].startswith("t1") for x in d)')"
is 'two watchers: each line once' 20 "$(texts t1 | wc -w | tr -d ' ')"
is 'two watchers: the store is sound' 0 "$(r fsck >/dev/null 2>&1; echo $?)"
kill -TERM "$other"
wait "$other"
is 'the other ends' 0 $?
is 'the other: no errors' '' "$(cat "$work/errors2")"
other=

# --- a lost queue: the process is stopped while more happens than the queue holds ---
limit=$(cat /proc/sys/fs/inotify/max_queued_events 2>/dev/null || echo 100000)
if [ "$limit" -le 40000 ]; then
	kill -STOP "$watcher"
	"$python" - "$projects/-home-me" "$limit" <<'PY'
import os, sys
folder, limit = sys.argv[1], int(sys.argv[2])
for i in range(limit // 3 + 1000): # each is several events, of two names in turn
    for name in ("a", "b"):
        open(os.path.join(folder, name), "w").close()
PY
	line s6 1 late >"$projects/-home-me/s6.jsonl"
	kill -CONT "$watcher"
	comes 'a rescan after lost events' late texts late
	is 'a rescan after lost events: the event' yes "$([ "$(events rescan)" -ge 1 ] && echo yes)"
fi

# --- damage ---
printf 'not JSON\n' >"$projects/-home-me/s7.jsonl"
line s6 2 later >>"$projects/-home-me/s6.jsonl"
comes 'a file of another type does not stop it' 'late later' texts late
stop 'the last watcher'
code 'an unknown program' 3 r watch nano
has 'an unknown program' 'there is no program "nano"' "$err"
"$RETAKE" --db "$db" watch </dev/null >"$work/events" 2>&1 &
watcher=$!
comes 'text: the first line' 1 grep -c 'Watching .* directories of other programs. To stop: Ctrl+C' "$work/events"
line s6 3 latest >>"$projects/-home-me/s6.jsonl"
comes 'text: an import' 1 grep -c 's6.jsonl (claude-code): 1 entry, 0 takes, 0 discussions added' "$work/events"
kill -TERM "$watcher"
wait "$watcher"
is 'text: status' 0 $?
watcher=

# --- opencode's folders: each message is a file, which is complete later ---
store=$XDG_DATA_HOME/opencode/storage
mkdir -p "$store/session/p"
start
echo '{"id":"ses_w","projectID":"p","title":"Watched","time":{"created":1,"updated":1}}' >"$store/session/p/ses_w.json"
message() { # message ID ROLE TIMES TEXT
	mkdir -p "$store/part/$1" "$store/message/ses_w"
	printf '{"id":"prt_%s","messageID":"%s","sessionID":"ses_w","type":"text","text":"%s"}' "$1" "$1" "$4" >"$store/part/$1/prt_$1.json"
	printf '{"id":"%s","sessionID":"ses_w","role":"%s","time":{"created":1%s}}' "$1" "$2" "$3" >"$store/message/ses_w/$1.json"
}
message msg_1 user '' asked
comes 'opencode: a message' asked texts Watched
message msg_2 assistant '' hal
sleep 0.5
message msg_2 assistant ',"completed":2' half-and-all
comes 'opencode: the complete reply' 'asked half-and-all' texts Watched
stop 'opencode'

# --- opencode's database: a file beside it is written, also without a watcher ---
opencode() { # opencode NUMBER TEXT: a message, which stays in the file beside the database
	"$python" - "$XDG_DATA_HOME/opencode/opencode.db" "$1" "$2" <<'PY'
import json, os, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA wal_autocheckpoint=0")
number, text = int(sys.argv[2]), sys.argv[3]
if number == 1:
    db.executescript("""CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, title TEXT, revert TEXT,
        time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
        INSERT INTO session VALUES('ses_d', 'p', 'Database', NULL, 1, 1);""")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
role = "user" if number % 2 else "assistant"
db.execute("INSERT INTO message VALUES(?, 'ses_d', ?, ?)", (f"m{number}", number, json.dumps({"role": role})))
db.execute("INSERT INTO part VALUES(?, ?, 'ses_d', ?)",
           (f"p{number}", f"m{number}", json.dumps({"type": "text", "text": text})))
db.commit()
os._exit(0)
PY
}
start opencode
opencode 1 first
comes 'the database of opencode: a message' first texts Database
opencode 2 second
comes 'the database of opencode: another' 'first second' texts Database
stop 'the database of opencode'
sleep 3 # longer than the times of files are inexact
r watch opencode --once >/dev/null
before=$(stat -c %Z "$XDG_DATA_HOME/opencode/opencode.db")
sleep 3
r watch opencode --once >/dev/null
opencode 3 third
is 'the database of opencode: only the file beside it changed' "$before" "$(stat -c %Z "$XDG_DATA_HOME/opencode/opencode.db")"
r watch opencode --once >/dev/null
is 'the database of opencode: changes without a watcher' 'first second third' "$(texts Database)"

finish
