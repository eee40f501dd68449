#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files that import refuses, and how much it reads before that; large files and pipes.
. "$(dirname "$0")/lib.sh"

fresh() { # a store that does not exist yet
	rm -f "$work"/new.db*
}

i() {
	"$RETAKE" --db "$work/new.db" "$@"
}

fresh
echo '{"x":1}' >"$work/nonsense.json"
code 'an import that is refused' 2 i import "$work/nonsense.json"
code 'makes no store' 1 test -e "$work/new.db"
echo '[]' >"$work/nothing.json"
code 'an empty list' 2 i import "$work/nothing.json"
has 'an empty list' 'contains no conversation' "$err"

# --- not a file ---
mkfifo "$work/fifo"
"$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/socket"
mkdir "$work/empty"
for what in /dev/zero /dev/null "$work/fifo" "$work/socket"; do
	fresh
	code "import $what: refused" 2 timeout 20 "$RETAKE" --db "$work/new.db" import "$what"
	code "import --format openai $what, too" 2 timeout 20 "$RETAKE" --db "$work/new.db" \
		import --format openai "$what"
	code 'no store is made' 1 test -e "$work/new.db"
done
i import /dev/zero >"$work/out" 2>&1
has 'it says what it is' '/dev/zero is a device, not a file that can be imported' "$(cat "$work/out")"
has 'and what to do' 'PROGRAM | retake' "$(cat "$work/out")"
i import "$work/fifo" >"$work/out" 2>&1
has 'a FIFO' 'is a named pipe (FIFO), not a file that can be imported' "$(cat "$work/out")"
i import "$work/socket" >"$work/out" 2>&1
has 'a socket' 'is a socket, not a file that can be imported' "$(cat "$work/out")"
code 'an empty folder' 3 i import "$work/empty"
has 'an empty folder: what to do' 'import FILE' "$err"
hasnt 'an empty folder: nothing of entries' 'Entries' "$err"
deep=$work/nested
for level in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do deep=$deep/$level; done
mkdir -p "$deep"
printf '[{"role":"user","content":"hi"}]' | tee "$work/nested/a.json" >"$deep/b.json"
code 'folders that are too deep' 0 "$RETAKE" --db "$work/nested.db" import "$work/nested"
has 'folders that are too deep are named' "$deep was not imported: directories are read 16 levels deep" "$err"
mkdir "$work/folder"
mkfifo "$work/folder/fifo"
ln -s /dev/zero "$work/folder/zero"
printf '[{"role":"user","content":"hi"}]' >"$work/folder/a.json"
code 'in a folder they are passed over' 0 timeout 20 "$RETAKE" --db "$work/new.db" import "$work/folder"
has 'and the others imported' '1 entry, 1 take, 1 discussion added' "$out"

# --- only the beginning of a file is read to recognise its format ---
truncate -s 2G "$work/nuls"
{ printf 'x'; head -c 3000000 /dev/zero | tr '\0' 'a'; } >"$work/line"
cat >"$work/read.py" <<'PY'
"""Runs a command; prints its status, and whether it read more than 2 MiB."""
import os, subprocess, sys

source = subprocess.Popen(["head", "-c", "400M", "/dev/zero"], stdout=subprocess.PIPE) if sys.argv[1] == "pipe" else None
stdin = source.stdout if source else open(sys.argv[1], "rb")
child = subprocess.Popen(sys.argv[2:], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
with open(f"/proc/{child.pid}/io", encoding="ascii") as file:
    count = int(file.read().split("rchar:")[1].split()[0])
said = child.stdout.read().decode()
if source:
    source.stdout.close()
    source.wait()
print(child.wait(), "unrecognised file type" in said, count < 2 << 20 or count)
PY
fresh
is 'NULs' '2 True True' "$("$python" "$work/read.py" /dev/null "$RETAKE" --db "$work/new.db" import "$work/nuls")"
is 'one long line' '2 True True' "$("$python" "$work/read.py" /dev/null "$RETAKE" --db "$work/new.db" import "$work/line")"
is 'NULs as standard input' '2 True True' "$("$python" "$work/read.py" "$work/nuls" "$RETAKE" --db "$work/new.db" import -)"
is 'NULs from a pipe' '2 True True' "$("$python" "$work/read.py" pipe "$RETAKE" --db "$work/new.db" import -)"
is 'NULs from a device' '2 True True' "$("$python" "$work/read.py" /dev/zero "$RETAKE" --db "$work/new.db" import -)"
code 'no store is made' 1 test -e "$work/new.db"
rm "$work/nuls"

# --- a refused file creates no store, and changes none ---
printf 'nothing of ours \001\002' >"$work/nonsense"
"$python" - "$work" <<'PY'
import json, sys
discussions = [{"name": "d%d" % i, "takes": [{"name": "t", "entries": [{"content": "x", "role": "User"}]}]} for i in range(3000)]
whole = json.dumps({"active": "d7", "discussions": discussions, "roles": ["User"]})
open(sys.argv[1] + "/whole.json", "w").write(whole)
open(sys.argv[1] + "/cut.json", "w").write(whole[:-20])
open(sys.argv[1] + "/tail.json", "w").write(whole + "]")
with open(sys.argv[1] + "/lines.jsonl", "w") as f:
    for i in range(4000):
        f.write('{"messages":[{"role":"user","content":"%d"}]}\n' % i)
PY
for file in nonsense cut.json tail.json nowhere; do
	fresh
	i import "$work/$file" >"$work/out" 2>&1
	code "$file leaves no store" 1 test -e "$work/new.db"
	i import -n "$work/$file" >"$work/out" 2>&1
	code "$file: a dry run creates none" 1 test -e "$work/new.db"
done
i new first >/dev/null 2>&1
before=$(i export --format canonical)
for file in nonsense cut.json tail.json; do
	code "$file is refused" 2 i import "$work/$file"
	is "$file changes nothing" "$before" "$(i export --format canonical)"
done
has 'where it is malformed is said' 'extra text at byte' "$err"

# --- many discussions, in batches: one import, one step ---
fresh
code 'many discussions' 0 i import "$work/whole.json" --json
is 'all of them' 3000 "$(printf '%s' "$out" | json 'd["discussions"]')"
is 'the active one is the one that the file names' d7 "$(i export --format canonical | json 'd["active"]')"
code 'many lines' 0 i import "$work/lines.jsonl" --json
is 'all of them' 4000 "$(printf '%s' "$out" | json 'd["discussions"]')"
code 'again' 0 i import "$work/lines.jsonl" --json
is 'nothing is new' '0 4000' "$(printf '%s' "$out" | json '"%d %d" % (d["discussions"], d["known"])')"
code 'one undo reverts it' 0 i undo
is 'the others are there' 3000 "$(i ls --json | json 'len(d)')"

# --- interrupted: everything written is reverted ---
fresh
i new first >/dev/null 2>&1
before=$(i export --format canonical | cksum)
cat >"$work/interrupt.py" <<'PY'
"""Interrupts an import once it has written something: holds the store's lock, so that
the import makes no progress before the signal arrives."""
import signal, sqlite3, subprocess, sys

retake, store, path, said = sys.argv[1:5]
count = "SELECT count(*) FROM log"
db = sqlite3.connect(store, isolation_level=None, timeout=60)
rows = db.execute(count).fetchone()[0]
# a background job inherits ignored interrupts, and the program respects that
with open(said, "wb") as out:
    p = subprocess.Popen([retake, "--db", store, "import", path], stdout=out, stderr=out,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while p.poll() is None and db.execute(count).fetchone()[0] < rows + 2:
    pass
db.execute("BEGIN IMMEDIATE")
assert p.poll() is None, "it was over before it could be interrupted"
p.send_signal(signal.SIGINT)
db.execute("ROLLBACK")
print(p.wait(60), db.execute(count).fetchone()[0] > rows + 2)
PY
"$python" -c '
for i in range(60000): print("{\"messages\":[{\"role\":\"user\",\"content\":\"%d\"}]}" % i)' >"$work/many.jsonl"
is 'an interrupted import ends with status 130, and a row that reverts it' '130 True' \
	"$("$python" "$work/interrupt.py" "$RETAKE" "$work/new.db" "$work/many.jsonl" "$work/said" 2>&1)"
has 'it says so' 'the import was cancelled; its additions were undone' "$(cat "$work/said")"
is 'nothing is left of it' "$before" "$(i export --format canonical | cksum)"
has 'the history shows the undo' undo "$(i log 2>/dev/null || i history)"
code 'the store is sound' 0 i fsck
code 'it can be imported again' 0 i import "$work/many.jsonl" --json
is 'all of it' 60000 "$(printf '%s' "$out" | json 'd["discussions"]')"

# --- one long conversation without an id, a second time ---
fresh
"$python" -c '
print("[" + ",".join("{\"role\":\"user\",\"content\":\"%d\"}" % i for i in range(60000)) + "]")' >"$work/long.json"
state() {
	"$python" -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print([db.execute("SELECT count(*), max(rowid) FROM " + name).fetchone() for name in ("log", "body")])' "$work/new.db"
}
code 'a long conversation' 0 i import "$work/long.json" --json
is 'all of it' 60000 "$(printf '%s' "$out" | json 'd["entries"]')"
before=$(state)
code 'again' 0 i import "$work/long.json" --json
is 'nothing is new' '0 60000' "$(printf '%s' "$out" | json '"%d %d" % (d["entries"], d["known"])')"
is 'nothing is written' "$before" "$(state)"
has 'neither steps nor texts' '(60000, ' "$before"

# --- piped input is buffered in an unlinked file ---
mkdir "$work/temporary"
fresh
cat "$work/lines.jsonl" | TMPDIR=$work/temporary i import - --json >"$work/out" 2>&1
is 'from a pipe' 4000 "$(json 'd["discussions"]' <"$work/out")"
is 'nothing is left' '' "$(ls "$work/temporary")"
fresh
printf '{"messages":[{"role":"user","content":"x"}]}' | TMPDIR=$work/nowhere i import - >"$work/out" 2>&1
has 'a folder that is not there is named' "$work/nowhere" "$(cat "$work/out")"
code 'no store is made' 1 test -e "$work/new.db"

# --- a format that must be read as a whole names its limit ---
truncate -s 100M "$work/large"
code 'too large a file' 1 i import --format toml "$work/large"
has 'names the limit' 'MiB, the limit for the format toml' "$err"
code 'no store is made' 1 test -e "$work/new.db"

# --- the history counts the discussions that an import added to, not takes or skipped numbers ---
what='[x["what"] for x in d if x["op"] == "import"]'
for name in a b c; do
	printf '[{"role":"user","content":"q %s"},{"role":"assistant","content":"r"}]\n' "$name"
done >"$work/c.jsonl"
fresh
code 'three conversations into a new store' 0 i import "$work/c.jsonl"
has 'three are added' '3 discussions added' "$out"
is 'the first of a new store counts' '["imported 6 entries in 3 discussions"]' \
	"$(i history --json | json "$what")"
has 'undo says so, too' 'imported 6 entries in 3 discussions' "$(i undo)"
fresh
i new numbered -q 2>/dev/null
for name in e f g h i j k; do i new "$name" -q; done
i add -q one
i go -q "$(i show --json | json 'd["entries"][0]["id"]')"
i branch -q :1
i add -q two
i export --format openai -d k --lossless -o "$work/one.json" -q
fresh
code 'one discussion of a high number' 0 i import --format openai "$work/one.json"
has 'one is added' '1 discussion added' "$out"
is 'it is counted as one, by its name' '["imported 2 entries as \"k\""]' \
	"$(i history --json | json "$what")"
fresh
printf '[{"role":"user","content":"only"}]' >"$work/only.json"
code 'one into the empty first discussion' 0 i import "$work/only.json" --name mine
is 'its name' '["imported 1 entry as \"mine\""]' "$(i history --json | json "$what")"

# --- the message names the added objects ---
fresh
i -q add mine 2>/dev/null
i -q import "$work/c.jsonl"
i -q rm c
code 'again after a deletion' 0 i import "$work/c.jsonl"
has 'one comes back' '1 discussion added' "$out"
has 'it is named, and the open one stays' "use c   step 4" "$out"
mkdir "$work/two"
printf '[{"role":"user","content":"new"}]' >"$work/two/a.json"
head -n 1 "$work/c.jsonl" >"$work/two/z.json"
code 'a folder whose last file is known' 0 i import "$work/two"
has 'what was added is named' 'Now in discussion "a".' "$out"

# --- a name with NUL ---
fresh
printf '%s' '{"discussions":[{"name":"d","a\\u0000b":1,"takes":[{"name":"t","entries":[{"content":"x"}]}]}]}' >"$work/nul.json"
code 'a field whose name has NUL' 0 i import "$work/nul.json"

# --- the program's own exports ---
fresh
i -q add hello 2>/dev/null
i -q add -r AI hi
i -q edit :2 'hi there'
i -q label :1 start
i -q branch :1
i -q add -r AI other
i -q prompt set 'be brief'
i -q new second
i -q add last --attach "$work/only.json"
i export -q --format canonical -o "$work/own.json"
i export -q -o "$work/own.html"
before=$(i export --format canonical)
for file in own.json own.html; do
	code "$file, exported from this store" 0 i import "$work/$file"
	has "$file: nothing new" 'nothing new' "$out"
done
is 'nothing changed' "$before" "$(i export --format canonical)"
i -q add 'one more'
i -q mute :1
code 'after further changes' 0 i import "$work/own.json"
has 'its entries are still there' 'nothing new; 4 entries are already known' "$out"
i -q edit :1 'a later text'
code 'after an edit' 0 i import "$work/own.json"
has 'the old text is added' '1 discussion added; 3 already known' "$out"

finish
