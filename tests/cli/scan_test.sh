#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Scan: session directories of other programs are found, listed and imported.
. "$(dirname "$0")/lib.sh"
unset PI_CODING_AGENT_DIR CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME CURSOR_CONFIG_DIR OPENCLAW_STATE_DIR LLM_USER_PATH 2>/dev/null || true

# claude FILE SESSION TEXT
claude() {
	mkdir -p "$(dirname "$1")"
	printf '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"%s","timestamp":"2026-03-02T09:00:00.000Z","message":{"role":"user","content":"%s"}}\n' "$2" "$3" >"$1"
}
found() { # flags of scan: "program files/readable bytes, …"
	r scan --json "$@" | json '", ".join("%s %d/%d %d" % (p["program"], p["files"], p["readable"], p["bytes"]) for p in d["programs"])'
}
names() {
	r ls --json | json '" ".join(x["name"] for x in d)'
}

code 'nothing there' 0 r scan
is 'nothing there' 'No sessions of other programs were found.' "$out"
is 'nothing there, JSON' '' "$(found)"
code 'nothing to import' 3 r scan --all
is 'no store was created' no "$(test -e "$db" && echo yes || echo no)"

claude "$HOME/.claude/projects/-home-me/s1.jsonl" s1 one
claude "$HOME/.claude/projects/-home-me/s0.jsonl" s0 zero
touch -d '2026-01-01 00:00:00' "$HOME/.claude/projects/-home-me/s1.jsonl"
touch -d '2026-01-02 00:00:00' "$HOME/.claude/projects/-home-me/s0.jsonl"
echo '{}' >"$HOME/.claude/projects/-home-me/settings.json"
mkdir -p "$HOME/.codex/sessions/2026/03/02" "$HOME/.gemini/tmp/h/chats" "$HOME/src/app/.git" "$XDG_DATA_HOME/opencode/storage/session/p"
cat >"$HOME/.codex/sessions/2026/03/02/rollout-1.jsonl" <<'X'
{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"c1","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/x"}}
{"timestamp":"2026-03-02T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}}
X
echo '{"sessionId":"g1","projectHash":"h","startTime":"2026-03-02T09:00:00.000Z","lastUpdated":"2026-03-02T09:00:00.000Z","messages":[{"id":"m1","timestamp":"2026-03-02T09:00:00.000Z","type":"user","content":"three"}]}' >"$HOME/.gemini/tmp/h/chats/session-1.json"
echo '[]' >"$HOME/.gemini/tmp/h/logs.json"
printf '# aider chat started at 2026-03-02 09:00:00\n\n#### four\n\nReply.\n' >"$HOME/src/app/.aider.chat.history.md"
cp "$HOME/src/app/.aider.chat.history.md" "$HOME/src/app/.git/"
echo '{"id":"ses_1"}' >"$XDG_DATA_HOME/opencode/storage/session/p/ses_1.json"

size() {
	cat "$@" | wc -c | tr -d ' '
}
is 'what is there' "claude-code 2/2 $(size "$HOME"/.claude/projects/*/s?.jsonl), codex 1/1 $(size "$HOME"/.codex/sessions/2026/03/02/*), gemini-cli 1/1 $(size "$HOME"/.gemini/tmp/h/chats/*), opencode 1/0 15, aider 1/1 $(size "$HOME/src/app/.aider.chat.history.md")" "$(found)"
is 'the newest' 2026-01-02T00:00:00.000Z "$(r scan claude-code --json | json 'd["programs"][0]["newest"]')"
is 'the directory' "$HOME/.claude/projects" "$(r scan claude-code --json | json 'd["programs"][0]["directory"]')"
code 'a list' 0 r scan
has 'a list' 'claude-code  ~/.claude/projects                             2 files' "$out"
has 'a list: what cannot be read' 'not a readable file type' "$out"
has 'a list: the next step' "scan --import NAME… or --all" "$out"
is 'listing reads no store' no "$(test -e "$db" && echo yes || echo no)"
code 'an unknown name' 3 r scan nano
has 'an unknown name' 'there is no program "nano"' "$err"
has 'an unknown name: the known ones' 'Known: pi, claude-code, codex' "$err"
code 'a name and all' 2 r scan --import --all codex
code 'no name' 2 r scan --import
has 'no name' '--import requires PROGRAM or PATH; to import everything, use only --all' "$err"

# --- importing ---
code 'a dry run' 0 r scan --all -n
has 'a dry run' '5 files: 6 entries in 5 discussions would be added' "$out"
is 'a dry run changes nothing' no "$(test -e "$db" && echo yes || echo no)"
code 'one program' 0 r scan --import codex
is 'one program' two "$(names)"
code 'all' 0 r scan --all --json
is 'all: what is new, the oldest file first' 'two one zero session-1 four' "$(names)"
is 'all: the document of import' '4 5 1' "$(echo "$out" | json '"%d %d %d" % (d["discussions"], d["entries"], d["known"])')"
code 'again' 0 r scan --all --json
is 'again: nothing is added' '0 0 6' "$(echo "$out" | json '"%d %d %d" % (d["discussions"], d["entries"], d["known"])')"
printf '{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s0","timestamp":"2026-03-02T09:01:00.000Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"more"}]}}\n' >>"$HOME/.claude/projects/-home-me/s0.jsonl"
code 'a grown file' 0 r scan --import claude-code --json
is 'a grown file: its new part' '0 1' "$(echo "$out" | json '"%d %d" % (d["discussions"], d["entries"])')"
is 'the files did not change' 2 "$(wc -l <"$HOME/.claude/projects/-home-me/s0.jsonl" | tr -d ' ')"
code 'unreadable alone' 3 r scan --import opencode
has 'unreadable alone' 'no readable sessions were found' "$err"

has 'again: nothing new' '5 files: nothing new' "$(r scan --all)"
agent=$HOME/.claude/projects/-home-me/s0/subagents/agent-7.jsonl
claude "$agent" s7 'agent question'
sed -i 's/"uuid":"u1"/"uuid":"g1","isSidechain":true,"agentId":"7"/' "$agent"
code 'a subagent' 0 r scan --import "$agent"
is 'a subagent is imported' 1 "$(r scan "$agent" --json | json 'd["programs"][0]["imported"]')"
code 'a subagent whose discussion is deleted' 0 r rm 'agent question' --yes
is 'a subagent whose discussion is deleted' 0 "$(r scan "$agent" --json | json 'd["programs"][0]["imported"]')"
rm -r "$HOME/.claude/projects/-home-me/s0"

cursor=$HOME/.cursor/projects/p/agent-transcripts/t1/t1.jsonl
mkdir -p "$(dirname "$cursor")"
echo '{"role":"user","message":{"content":[{"type":"text","text":"cursor question"}]}}' >"$cursor"
code 'no id in the file' 0 r scan --import cursor
echo '{"role":"assistant","message":{"content":[{"type":"text","text":"cursor answer"}]}}' >>"$cursor"
code 'no id in the file: its name is one' 0 r scan --import cursor --json
is 'no id in the file: its name is one' '0 1 1' "$(echo "$out" | json '"%d %d %d" % (d["discussions"], d["entries"], d["known"])')"
is 'no id in the file: it is known' 1 "$(r scan cursor --json | json 'd["programs"][0]["imported"]')"
rm -r "$HOME/.cursor"
is 'what is imported' '2/2 1/1 1/1 0/1 1/1' "$(r scan --json | json '" ".join("%d/%d" % (p["imported"], p["files"]) for p in d["programs"])')"
has 'what is imported' '  2 imported' "$(r scan claude-code)"
claude "$HOME/.claude/projects/-home-you/s5.jsonl" s5 five
claude "$HOME/.claude/projects/-home-you2/s6.jsonl" s6 six
is 'a new one is not' 2/4 "$(r scan claude-code --json | json '"%d/%d" % (d["programs"][0]["imported"], d["programs"][0]["files"])')"
is 'what is below a path' 'claude-code 1/1' "$(found "$HOME/.claude/projects/-home-you" | cut -d" " -f1,2)"
code 'a path' 0 r scan --import "$HOME/.claude/projects/-home-you"
is 'a path: only its sessions' five "$(r show --json -d five | json 'd["entries"][0]["content"]')"
is 'a path: only its sessions' 0 "$(names | grep -c six)"
code 'a relative path' 0 sh -c 'cd "$1" && shift && "$@"' - "$HOME/.claude/projects" "$RETAKE" --db "$db" scan --import ./-home-you2 --json
is 'a relative path' 1 "$(echo "$out" | json 'd["discussions"]')"
code 'a path elsewhere' 3 r scan --import /usr/share
code 'a missing path' 3 r scan --import ./nothing
has 'a missing path' 'cannot find ./nothing' "$err"
rm -r "$HOME"/.claude/projects/-home-you*

# --- where programs look ---
claude "$work/elsewhere/projects/p/s9.jsonl" s9 nine
is 'CLAUDE_CONFIG_DIR' "$work/elsewhere/projects" "$(CLAUDE_CONFIG_DIR=$work/elsewhere r scan claude-code --json | json '" ".join(p["directory"] for p in d["programs"])')"
is 'a relative one is ignored' "$HOME/.claude/projects" "$(CLAUDE_CONFIG_DIR=elsewhere r scan claude-code --json | json '" ".join(p["directory"] for p in d["programs"])')"
claude "$XDG_CONFIG_HOME/claude/projects/p/s8.jsonl" s8 eight
is 'XDG_CONFIG_HOME' 2 "$(r scan claude-code --json | json 'len(d["programs"])')"
mkdir -p "$work/codex"
cp -R "$HOME/.codex/sessions" "$work/codex/archived_sessions"
is 'CODEX_HOME' "$work/codex/archived_sessions" "$(CODEX_HOME=$work/codex r scan codex --json | json '" ".join(p["directory"] for p in d["programs"])')"
mkdir -p "$work/g/.gemini/tmp/h"
cp -R "$HOME/.gemini/tmp/h/chats" "$work/g/.gemini/tmp/h/"
is 'GEMINI_CLI_HOME' "$work/g/.gemini/tmp" "$(GEMINI_CLI_HOME=$work/g r scan gemini-cli --json | json '" ".join(p["directory"] for p in d["programs"])')"
ln -s .. "$HOME/.claude/projects/-home-me/up"
mkdir "$HOME/.claude/projects/closed.jsonl"
mkfifo "$HOME/.claude/projects/fifo.jsonl"
is 'links, folders and FIFOs are not files' 2 "$(r scan claude-code --json | json 'd["programs"][0]["files"]')"
escape=$(printf '\033')
claude "$work/e${escape}[2J/projects/p/s.jsonl" s7 seven
hasnt 'names cannot control the terminal' "$escape" "$(CLAUDE_CONFIG_DIR="$work/e${escape}[2J" r scan claude-code)"

# --- the question ---
if "$python" -c 'import pty; pty.openpty()' 2>/dev/null; then
	ask() { # ask ANSWER ARGS…
		"$python" - "$@" <<'PY'
import os, pty, sys
answer, argv = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)
out, sent = b"", False
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    out += data
    if not sent and b"for none: " in out:
        os.write(fd, answer.encode() + b"\n")
        sent = True
print(out.decode().replace("\r\n", "\n"))
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
	}
	rm -f "$db"*
	out=$(ask '' "$RETAKE" --db "$db" scan)
	has 'asked' 'Import which programs? Names, "all", or Enter for none:' "$out"
	has 'Enter: nothing' 'status 0' "$out"
	is 'Enter: nothing is imported' no "$(test -e "$db" && echo yes || echo no)"
	ask 'codex, gemini-cli' "$RETAKE" --db "$db" scan >/dev/null
	is 'two names' 'two session-1' "$(names)"
	has 'a wrong name' 'status 3' "$(ask 'nano' "$RETAKE" --db "$db" scan)"
	hasnt 'not with --no-input' 'Import which' "$(ask '' "$RETAKE" --db "$db" --no-input scan)"
fi

# --- databases: the first conversation tells whether they are imported ---
mkdir -p "$XDG_DATA_HOME/opencode"
"$python" - "$XDG_DATA_HOME/opencode/opencode.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""
create table session (id text primary key, title text, time_updated integer);
create table message (id text primary key, session_id text, data text);
create table part (id text primary key, message_id text, data text);
insert into session values ('ses_1', 'Fix', 1);
insert into message values ('msg_1', 'ses_1', '{"role":"user","time":{"created":1}}');
insert into part values ('prt_1', 'msg_1', '{"type":"text","text":"q"}');
""")
PY
database() { # how many of the databases are imported
	r scan --json | json 'sum(p["imported"] for p in d["programs"] if p["program"] == "opencode")'
}
db=$work/databases.db
r -q new Other
is 'a database that was not imported' 0 "$(database)"
r -q import "$XDG_DATA_HOME/opencode/opencode.db"
is 'an imported database' 1 "$(database)"

# --- downloads: only exports of web sites, by their content ---
db=$work/downloads.db
mkdir -p "$HOME/Downloads/unpacked"
cat >"$work/conversations.json" <<'X'
[{"title":"From the site","conversation_id":"g1","current_node":"b","mapping":{"a":{"id":"a","parent":null,"children":["b"],"message":null},"b":{"id":"b","parent":"a","children":[],"message":{"id":"b","author":{"role":"user"},"content":{"content_type":"text","parts":["site"]}}}}}]
X
cat >"$HOME/Downloads/unpacked/data.json" <<'X'
[{"uuid":"11111111-1111-4111-8111-111111111111","name":"Claude export","created_at":"2026-03-02T09:00:00Z","updated_at":"2026-03-02T09:00:00Z","account":{"uuid":"a"},"chat_messages":[{"uuid":"m1","text":"claude question","sender":"human","created_at":"2026-03-02T09:00:00Z","attachments":[],"files":[]}]}]
X
"$python" - "$HOME/Downloads" "$work/conversations.json" <<'PY'
import sys, zipfile
folder, file = sys.argv[1:]
with zipfile.ZipFile(folder + "/export.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("chat.html", "<html>")
    z.writestr("user.json", '{"id":"me"}')
    z.write(file, "conversations.json")
with zipfile.ZipFile(folder + "/holiday.zip", "w") as z:
    z.writestr("a.json", '{"a":1}')
PY
echo '{"messages":[{"role":"user","content":"mine"}]}' >"$HOME/Downloads/chat.json"
is 'downloads: exports' 'downloads 1/1 downloads 1/1' "$(r scan downloads --json | json '" ".join("%s %d/%d" % (p["program"], p["files"], p["readable"]) for p in d["programs"])')"
code 'downloads: import' 0 r scan --import downloads
is 'downloads: what is imported' 'Claude export, From the site' "$(r ls --json | json '", ".join(sorted(x["name"] for x in d))')"
is 'downloads: they are known' '1 1' "$(r scan downloads --json | json '" ".join(str(p["imported"]) for p in d["programs"])')"
cat >"$HOME/Downloads/chat-export-1767225600000.json" <<'X'
[{"id":"w1","title":"From Open WebUI","updated_at":1767225600,"chat":{"history":{"currentId":"m","messages":{"m":{"id":"m","parentId":null,"childrenIds":[],"role":"user","content":"webui"}}}}}]
X
cat >"$HOME/Downloads/librechat.json" <<'X'
{"conversationId":"l1","title":"From LibreChat","branches":true,"recursive":false,"messages":[{"messageId":"m","parentMessageId":"00000000-0000-0000-0000-000000000000","isCreatedByUser":true,"sender":"User","text":"libre","createdAt":"2026-03-02T09:00:00Z"}]}
X
cat >"$HOME/Downloads/prod-grok-backend.json" <<'X'
{"conversations":[{"conversation":{"id":"k1","title":"From Grok","create_time":"2026-03-02T09:00:00Z"},"responses":[{"response":{"_id":"r","message":"grok","sender":"human"}}]}]}
X
is 'downloads: further sites' '4 4 1' "$(r scan downloads --json | json '"%d %d %d" % (d["programs"][0]["files"], d["programs"][0]["readable"], d["programs"][0]["imported"])')"
code 'downloads: further sites' 0 r scan --import downloads
is 'downloads: further sites are known' '4 1' "$(r scan downloads --json | json '" ".join(str(p["imported"]) for p in d["programs"])')"
echo '[{"title":"Without an id","chat":{"history":{"currentId":"m","messages":{"m":{"id":"m","role":"user","content":"webui"}}}}}]' >"$HOME/Downloads/chat-export-2.json"
is 'downloads: an export without an id' '5 5' "$(r scan downloads --json | json '"%d %d" % (d["programs"][0]["files"], d["programs"][0]["readable"])')"
mv "$HOME/Downloads" "$HOME/Geladenes"
is 'downloads: another directory' '' "$(found downloads)"
mkdir -p "$XDG_CONFIG_HOME"
printf '# a comment\nXDG_DESKTOP_DIR="$HOME/Desktop"\nXDG_DOWNLOAD_DIR="$HOME/Geladenes"\n' >"$XDG_CONFIG_HOME/user-dirs.dirs"
is 'downloads: that of the desktop' "$HOME/Geladenes" "$(r scan downloads --json | json 'd["programs"][0]["directory"]')"
printf 'XDG_DOWNLOAD_DIR="$HOME/"\n' >"$XDG_CONFIG_HOME/user-dirs.dirs"
is 'downloads: none' '' "$(found downloads)"
rm "$XDG_CONFIG_HOME/user-dirs.dirs"

# Older chats of SillyTavern have no id: they are known by their file.
mkdir -p "$XDG_DATA_HOME/SillyTavern/data/default-user/chats/A"
cat >"$XDG_DATA_HOME/SillyTavern/data/default-user/chats/A/a.jsonl" <<'X'
{"user_name":"You","character_name":"A","create_date":"2023-6-2 @21h 09m 51s 363ms","chat_metadata":{}}
{"name":"A","is_user":false,"is_name":true,"send_date":"2023-6-2 @21h 09m 51s 363ms","mes":"Good evening."}
X
code 'a chat without an id' 0 r scan --import sillytavern
mkdir -p "$HOME/SillyTavern/data/default-user/group chats" "$HOME/SillyTavern/node_modules/chats" "$HOME/SillyTavern/public"
mv "$XDG_DATA_HOME/SillyTavern/data/default-user/chats" "$HOME/SillyTavern/public/chats"
cp "$HOME/SillyTavern/public/chats/A/a.jsonl" "$HOME/SillyTavern/data/default-user/group chats/1.jsonl"
cp "$HOME/SillyTavern/public/chats/A/a.jsonl" "$HOME/SillyTavern/node_modules/chats/2.jsonl"
is 'a chat in the program, and an older one' "$HOME/SillyTavern/data 1 $HOME/SillyTavern/public 1" \
	"$(r scan sillytavern --json | json '" ".join("%s %d" % (p["directory"], p["files"]) for p in d["programs"])')"
mkdir -p "$XDG_DATA_HOME/SillyTavern/data/default-user"
mv "$HOME/SillyTavern/public/chats" "$XDG_DATA_HOME/SillyTavern/data/default-user"
rm -r "$HOME/SillyTavern"
is 'a chat without an id is known' '1 1' "$(r scan sillytavern --json | json '"%d %d" % (d["programs"][0]["files"], d["programs"][0]["imported"])')"

finish
