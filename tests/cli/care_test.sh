#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fsck, repair, backup, restore, doctor, save.
. "$(dirname "$0")/lib.sh"

fresh
state=$(r export --format canonical)
code 'save' 0 r save
has 'save' 'saved already' "$out"
code 'fsck' 0 r fsck
has 'fsck' 'Clean' "$out"
code 'doctor' 0 r doctor
has 'doctor' "$db" "$out"

# --- backup ---
code 'backup' 0 r backup "$work/b.db"
is 'a backup is a store' "$state" "$("$RETAKE" --db "$work/b.db" export --format canonical)"
is 'it is private' 600 "$(stat -c %a "$work/b.db")"
code 'never over a file' 1 r backup "$work/b.db"
code 'of nothing' 3 "$RETAKE" --db "$work/none.db" backup "$work/c.db"

# --- restore ---
r -q add five
later=$(r export --format canonical)
code 'needs --yes' 2 r restore "$work/b.db"
is 'nothing happened' "$later" "$(r export --format canonical)"
code 'restore' 0 r restore "$work/b.db" --yes
is 'restored' "$state" "$(r export --format canonical)"
aside=$(find "$work" -name 'test.db.before-restore-*')
is 'the store is kept' "$later" "$("$RETAKE" --db "$aside" export --format canonical)"
has 'and named' "$aside" "$out"
is 'nothing else is left' 0 "$(find "$work" -name '*.restoring-*' | wc -l | tr -d ' ')"
code 'sound' 0 r fsck
code 'restore where nothing is' 0 "$RETAKE" --db "$work/new.db" restore "$work/b.db"
is 'restored there' "$state" "$("$RETAKE" --db "$work/new.db" export --format canonical)"
code 'not a store' 1 r restore "$root/Makefile" --yes
is 'untouched' "$state" "$(r export --format canonical)"
code 'read-only' 1 r --read-only restore "$work/b.db" --yes

# a damaged backup is refused
"$python" - "$work/b.db" "$work/bad.db" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = len(data) // 2
data[at:at + 3000] = bytes(3000)
open(sys.argv[2], "wb").write(data)
PY
"$RETAKE" --db "$work/bad.db" fsck >/dev/null 2>&1
if [ $? -ne 0 ]; then
	code 'damaged' 1 r restore "$work/bad.db" --yes
	is 'untouched by a damaged one' "$state" "$(r export --format canonical)"
	code 'fsck of it' 1 "$RETAKE" --db "$work/bad.db" fsck --json
	is 'findings' true "$(printf '%s' "$out" | json 'not d["clean"] and all("id" in f for f in d["findings"])')"
fi

# somebody has the store open
"$python" - "$RETAKE" "$db" "$work/b.db" >"$work/out" 2>&1 <<'PY'
import subprocess, sys
p = subprocess.Popen([sys.argv[1], "--db", sys.argv[2], "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdin.write(b'{"op":"entry.append","content":"open"}\n')
p.stdin.flush()
p.stdout.readline()
q = subprocess.run([sys.argv[1], "--db", sys.argv[2], "restore", sys.argv[3], "--yes"], capture_output=True)
print(q.returncode, b"in use" in q.stderr)
p.stdin.close()
p.wait()
PY
is 'a store in use is left alone' '1 True' "$(cat "$work/out")"
has 'what was written stays' 'open' "$(contents)"

# --- repair ---
state=$(r export --format canonical)
code 'repair' 0 r repair
is 'repair loses nothing' "$state" "$(r export --format canonical)"
is 'a copy is kept' 1 "$(find "$work" -name 'test.db.before-repair-*' | wc -l | tr -d ' ')"
r search -q five >/dev/null
python3 - "$work/test.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE found_data SET block = zeroblob(length(block))")
db.commit()
PY
code 'a damaged index is found' 1 r fsck
code 'and mended' 0 r repair
code 'so that all is well' 0 r fsck
has 'and searched again' 'five' "$(r search five)"
r -q add -r User 'a text that will be hit'
position=$(r show --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["entries"]))')
python3 - "$work/test.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE body SET data = zeroblob(length(data)) WHERE key = (SELECT max(key) FROM body)")
db.commit()
PY
code 'a damaged text is found' 1 r fsck
code 'and not shown as another' 1 r show
code 'what cannot be mended is given up' 0 r repair
has 'by name' "which is :$position of take" "$out"
has 'and number' '1 text could not be read any more' "$out"
code 'the rest is there' 0 r show
has 'with a hole' '(its text was damaged)' "$out"
code 'and sound' 0 r fsck
code 'repair of nothing' 3 "$RETAKE" --db "$work/none.db" repair

# --- files that are no stores ---
: >"$work/empty.db"
code 'an empty file is not taken for a new store' 1 "$RETAKE" --db "$work/empty.db" show
code 'nor written to' 1 "$RETAKE" --db "$work/empty.db" add x
is 'it stays empty' 0 "$(stat -c %s "$work/empty.db")"
printf 'my notes\n' >"$work/notes.txt"
code 'a text file' 1 "$RETAKE" --db "$work/notes.txt" add x
is 'it stays as it is' 'my notes' "$(cat "$work/notes.txt")"
code 'a folder' 1 "$RETAKE" --db "$work" show

# --- read-only ---
chmod 400 "$db"
sum=$(cksum <"$db")
code 'reading a file that cannot be written' 0 r show
is 'not a byte is written' "$sum" "$(cksum <"$db")"
chmod 600 "$db"
code '--read-only show' 0 r --read-only show
code '--read-only search' 0 r --read-only search one
code '--relaxed' 0 r --relaxed add fast

finish
