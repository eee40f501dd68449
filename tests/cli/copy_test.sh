#!/bin/sh
# SPDX-License-Identifier: MIT
#
# copy: whole stores and single projects, continued, interrupted, and while the source is in use.
. "$(dirname "$0")/lib.sh"

fresh
r -q -p work add 'in another project'
r -q take
state=$(r export --format canonical)
a=$db
b=$work/b.db
canonical() { # canonical STORE [PROJECT]
	"$RETAKE" --db "$1" -p "${2:-default}" export --format canonical
}

code 'copy' 0 "$RETAKE" copy "$a" "$b"
has 'every project' 'work: copied 1 step' "$out"
is 'the same state' "$state" "$(canonical "$b")"
is 'the same history' "$(r history --json)" "$("$RETAKE" --db "$b" history --json)"
is 'the other project' "$(canonical "$a" work)" "$(canonical "$b" work)"
is 'it is private' 600 "$(stat -c %a "$b")"
code 'it is sound' 0 "$RETAKE" --db "$b" fsck
code 'undo in the copy' 0 "$RETAKE" --db "$b" undo
code 'redo in the copy' 0 "$RETAKE" --db "$b" redo
code 'other steps' 1 "$RETAKE" copy "$a" "$b"
has 'other steps: message' 'has different steps' "$err"
has 'other steps: advice' 'retake copy' "$err"

rm "$b"
code 'one project' 0 "$RETAKE" copy "$a" "$b" --project work
code 'without the others' 3 "$RETAKE" --db "$b" show
code 'then all, as JSON' 0 "$RETAKE" copy "$a" "$b" --json
is 'only what is new' '[true, 0]' "$(echo "$out" | json '[p["steps"] > 0 if p["project"] == "default" else p["steps"] for p in d["projects"]]')"
r -q add 'added later'
code 'again' 0 "$RETAKE" --db "$b" copy "$a"
has 'again: one step' 'default: copied 1 step and 1 text' "$out"
is 'again: the same' "$(canonical "$a")" "$(canonical "$b")"
code 'nothing new' 0 "$RETAKE" copy "$a" "$b"
has 'nothing new: message' 'nothing new' "$out"

r -q add 'the word zanzibar'
"$RETAKE" -q copy "$a" "$b"
r -q purge --text zanzibar --yes
code 'after a purge' 0 "$RETAKE" copy "$a" "$b"
has 'after a purge: message' 'purged from the source' "$out"
is 'the text is gone' 0 "$(grep -c zanzibar "$b")"
code 'after a purge: sound' 0 "$RETAKE" --db "$b" fsck

# --- errors leave nothing ---
code 'no source' 3 "$RETAKE" copy "$work/none.db" "$work/c.db"
code 'no such project' 3 "$RETAKE" copy "$a" "$work/c.db" -p none
has 'no such project: advice' 'projects' "$err"
code 'no projects' 3 "$RETAKE" copy :memory: "$work/c.db"
code 'the same store' 1 "$RETAKE" copy "$a" "$work/../$(basename "$work")/test.db"
has 'the same store: message' 'the same store' "$err"
code 'not a store' 1 "$RETAKE" copy "$root/Makefile" "$work/c.db"
code 'onto a file of another type' 1 "$RETAKE" copy "$a" "$work/out"
code 'read-only' 1 "$RETAKE" --read-only copy "$a" "$work/c.db"
is 'no new store' '' "$(find "$work" -name 'c.db*')"

# --- in use, and interrupted ---
"$python" - "$RETAKE" "$work" <<'PY' >"$work/result"
import json, random, signal, subprocess, sys, time
program, work = sys.argv[1:]
a = work + "/live.db"

def run(*words, **more):
    return subprocess.run([program, *words], capture_output=True, text=True, **more)

def lines(first, count):
    return "".join(json.dumps({"op": "entry.append", "content": f"entry {n} " + "x" * 500}) + "\n" for n in range(first, first + count))

run("--db", a, "apply", "-", input=lines(0, 6000))
writer = subprocess.Popen([program, "--db", a, "apply", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
killed = interrupted = unsound = added = 0
for attempt in range(400):
    if killed > 2 and interrupted > 2:
        break
    if attempt % 4 == 0:
        c = f"{work}/copied{attempt}.db"  # a new one: continued copies are short
    copy = subprocess.Popen([program, "copy", a, c], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer.stdin.write(lines(10000 + added, 10))
    writer.stdin.flush()
    added += 10
    time.sleep(random.uniform(0.003, 0.04))
    copy.send_signal(signal.SIGKILL if attempt % 2 else signal.SIGTERM)
    code = copy.wait()
    killed += code == -signal.SIGKILL
    interrupted += code in (130, 143)
    if run("--db", c, "projects").stdout:
        unsound += run("--db", c, "fsck").returncode != 0
writer.stdin.close()
writer.wait()
last = run("copy", a, c, "--json")
projects = json.loads(last.stdout)["projects"]
same = run("--db", a, "export", "--format", "canonical").stdout == run("--db", c, "export", "--format", "canonical").stdout
print("stopped" if killed and interrupted else f"killed {killed}, interrupted {interrupted}",
      "sound" if unsound == 0 else f"{unsound} unsound", "complete" if same and projects[0]["seq"] == 6000 + added else projects)
PY
is 'stopped copies are sound and can be continued' 'stopped sound complete' "$(cat "$work/result")"

# --- a damaged source ---
"$python" - "$work/live.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM body WHERE rowid IN (SELECT rowid FROM body ORDER BY rowid LIMIT 1 OFFSET 3000)")
db.commit()
PY
code 'a missing text' 1 "$RETAKE" copy "$work/live.db" "$work/d.db"
has 'a missing text: advice' 'fsck' "$err"
finish
