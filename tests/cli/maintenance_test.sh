#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fsck, repair, backup, restore, doctor, save.
. "$(dirname "$0")/lib.sh"

fresh
state=$(r export --format canonical)
code 'save' 0 r save
has 'save' 'already saved' "$out"
code 'fsck' 0 r fsck
has 'fsck' 'Clean' "$out"
code 'doctor' 0 r doctor
has 'doctor' "$db" "$out"

# --- backup ---
code 'backup' 0 r backup "$work/b.db"
is 'a backup is a store' "$state" "$("$RETAKE" --db "$work/b.db" export --format canonical)"
is 'it is private' 600 "$(stat -c %a "$work/b.db")"
code 'never overwrites a file' 1 r backup "$work/b.db"
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
"$python" - "$RETAKE" "$work" <<'PY' >"$work/interrupted"
import glob, os, signal, subprocess, sys, time
program, work = sys.argv[1:]
big = work + "/big.db"
subprocess.run([program, "--db", big, "-q", "add", "-"], input=os.urandom(24 << 20).hex().encode(), check=True)
process = subprocess.Popen([program, "--db", work + "/other.db", "restore", big, "--yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
while process.poll() is None and not glob.glob(work + "/other.db.restoring-*"):
    time.sleep(0.0005)
process.send_signal(signal.SIGTERM)
process.wait()
print("left:", *glob.glob(work + "/other.db*"))
PY
is 'an interrupted restore leaves nothing' 'left:' "$(cat "$work/interrupted")"
rm -f "$work/big.db"*
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

# another process has the store open
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

# also when that is idle, when its log is empty after a purge, and while it only waits
cat >"$work/idle.py" <<'PY'
import subprocess, sys
program, db, backup = sys.argv[1:4]
p = subprocess.Popen([program, "--db", db, "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(line):
    p.stdin.write(line.encode() + b"\n")
    p.stdin.flush()
    return p.stdout.readline().decode().strip()
for line in sys.argv[4:]:
    ask(line)
q = subprocess.run([program, "--db", db, "restore", backup, "--yes"], capture_output=True)
print(q.returncode, b"in use" in q.stderr, "seq" in ask('{"op":"entry.append","content":"kept"}'))
p.stdin.close()
p.wait()
PY
"$python" "$work/idle.py" "$RETAKE" "$db" "$work/b.db" '{"op":"nothing"}' >"$work/out" 2>&1
is 'an idle one counts' '1 True True' "$(cat "$work/out")"
has 'what it writes stays' 'open|kept' "$(contents)"
"$python" "$work/idle.py" "$RETAKE" "$db" "$work/b.db" \
	'{"op":"entry.append","content":"xyzzy"}' '{"op":"purge","text":"xyzzy"}' >"$work/out" 2>&1
is 'so does one with an empty log' '1 True True' "$(cat "$work/out")"
is 'nothing is lost' 2 "$(contents | grep -o kept | wc -l | tr -d ' ')"
code 'all is well' 0 r fsck
is 'no temporary files are left' 0 "$(find "$work" -name '*.restoring-*' | wc -l | tr -d ' ')"

# the file is replaced while the store is open
cp "$work/b.db" "$work/other.db"
"$RETAKE" --db "$work/moved.db" restore "$work/b.db" -q
"$python" - "$RETAKE" "$work/moved.db" "$work/other.db" >"$work/out" 2>&1 <<'PY'
import os, subprocess, sys
program, db, other = sys.argv[1:4]
p = subprocess.Popen([program, "--db", db, "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(line):
    p.stdin.write(line + b"\n")
    p.stdin.flush()
    return p.stdout.readline().decode().strip()
ask(b'{"op":"entry.append","content":"before"}')
os.rename(other, db)
for name in db + "-wal", db + "-shm":
    os.rename(name, name + ".old")
print(ask(b'{"op":"entry.append","content":"lost"}'))
os.unlink(db)
print(ask(b'{"op":"entry.append","content":"lost"}'))
p.stdin.close()
p.wait()
PY
has 'a replaced store is not written to' 'has been replaced by another file since it was opened; open it again' "$(cat "$work/out")"
has 'nor one that is gone' 'has been removed or renamed' "$(cat "$work/out")"

# a history of the same length replaces the file of an open store
rm -f "$work/same.db" "$work/short.db"
"$RETAKE" --db "$work/short.db" -q add B
for i in 1 2 3; do "$RETAKE" --db "$work/short.db" -q edit :1 "B$i"; done
for i in 1 2 3 4; do "$RETAKE" --db "$work/same.db" -q add "A$i"; done
"$python" - "$RETAKE" "$work/same.db" "$work/short.db" >"$work/out" 2>&1 <<'PY'
import sqlite3, subprocess, sys
program, db, other = sys.argv[1:4]
p = subprocess.Popen([program, "--db", db, "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(line):
    p.stdin.write(line + b"\n")
    p.stdin.flush()
    return p.stdout.readline().decode().strip()
ask(b'{"op":"nothing"}')
c = sqlite3.connect(db, isolation_level=None)
c.execute("ATTACH ? AS b", (other,))
print(*[c.execute("SELECT count(*) FROM %s.log" % name).fetchone()[0] for name in ("main", "b")])
c.execute("BEGIN IMMEDIATE")
for t in "meta", "log", "body", "node", "root", "side", "mark":
    c.execute("DELETE FROM main." + t)
    c.execute("INSERT INTO main.%s SELECT * FROM b.%s" % (t, t))
c.execute("COMMIT")
c.close()
print("seq" in ask(b'{"op":"entry.append","content":"on top"}'))
p.stdin.close()
p.wait()
PY
is 'of the same length' '4 4
True' "$(cat "$work/out")"
is 'what comes next is on top of it' 'B3|on top' \
	"$("$RETAKE" --db "$work/same.db" show --json | json '"|".join(e["content"] for e in d["entries"])')"

# --- restore through a link ---
mkdir "$work/far"
"$RETAKE" --db "$work/far/real.db" -q add old
ln -s far/real.db "$work/link.db"
code 'restore through a link' 0 "$RETAKE" --db "$work/link.db" restore "$work/b.db" --yes
is 'it stays a link' far/real.db "$(readlink "$work/link.db")"
is 'to the restored store' "$("$RETAKE" --db "$work/b.db" export --format canonical)" \
	"$("$RETAKE" --db "$work/far/real.db" export --format canonical)"
is 'the store is kept beside its file' 1 "$(find "$work/far" -name 'real.db.before-restore-*' | wc -l | tr -d ' ')"
is 'and not beside the link' 0 "$(find "$work" -maxdepth 1 -name 'link.db.*' | wc -l | tr -d ' ')"

# --- a restored store is on disk ---
if strace -o /dev/null true 2>/dev/null; then
	strace -f -y -e trace=rename,renameat,renameat2,link,linkat,fsync,fdatasync,write \
		-o "$work/calls" "$RETAKE" --db "$work/far/real.db" restore "$work/b.db" --yes >/dev/null
	is 'the folder is synced before it is told' 'named synced told' "$("$python" - "$work" <<'PY'
import re, sys
work, seen = sys.argv[1], []
for line in open(work + "/calls"):
    if re.search(r'rename.*"' + re.escape(work + "/far/real.db") + r'"\)', line):
        seen = ["named"]
    elif "sync(" in line and "<" + work + "/far>" in line and seen == ["named"]:
        seen.append("synced")
    elif "write(1<" in line and seen:
        seen.append("told")
print(*seen[:3])
PY
)"
fi

# --- repair ---
state=$(r export --format canonical)
code 'repair' 0 r repair
is 'repair loses nothing' "$state" "$(r export --format canonical)"
is 'a copy is kept' 1 "$(find "$work" -name 'test.db.before-repair-*' | wc -l | tr -d ' ')"
r search -q five >/dev/null
python3 - "$work/test.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE found SET data = zeroblob(length(data))")
db.commit()
PY
code 'a damaged index is found' 1 r fsck
code 'and repaired' 0 r repair
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
code 'unrepairable texts are given up' 0 r repair
has 'by name' "which is :$position of take" "$out"
has 'and number' '1 text could no longer be read' "$out"
code 'the rest is there' 0 r show
has 'with a hole' '(text damaged)' "$out"
code 'and sound' 0 r fsck
# The same damage in two projects is two findings.
two=$work/two.db
for project in one two; do
	"$RETAKE" -q --db "$two" -p $project add 'a text'
done
python3 - "$two" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM body")
db.commit()
PY
code 'texts are missing' 1 "$RETAKE" --db "$two" fsck --json
is 'in both projects' 'one two' "$(printf '%s' "$out" | json '" ".join(sorted(set(f.get("project", "") for f in d["findings"] if "body" in f["id"] or "text" in f["id"])))')"
# A missing text is damage for an export, too, not an entry that cannot be found.
one=$work/one.db
"$RETAKE" -q --db "$one" add 'a text'
"$RETAKE" -q --db "$one" add 'another'
python3 - "$one" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM body WHERE key = (SELECT min(key) FROM body)")
db.commit()
PY
code 'an export without a text' 1 "$RETAKE" --db "$one" export --format canonical
has 'names the damage' 'is missing' "$err"
has 'and the check' "retake --db $one fsck" "$err"
code 'repair of nothing' 3 "$RETAKE" --db "$work/none.db" repair

# --- repair of a store that has lost rows ---
# hit STORE WHAT: the sector with the newest row of the log is zeroed, or page 2 (meta) is trashed
hit() {
	"$python" - "$1" "$2" <<'PY'
import sys
f = open(sys.argv[1], "r+b")
b = f.read()
page = lambda i: b[(i - 1) * 8192:i * 8192]
def last(i):
    p = page(i)
    return last(int.from_bytes(p[8:12], "big")) if p[0] == 5 else i
if sys.argv[2] == "meta":
    f.seek(8192)
    f.write(b"\xff" * 8192)
else:
    leaf = last(5)
    p = page(leaf)
    n = int.from_bytes(p[3:5], "big")
    cell = int.from_bytes(p[8 + 2 * (n - 1):10 + 2 * (n - 1)], "big")
    f.seek((leaf - 1) * 8192 + cell // 512 * 512)
    f.write(bytes(512))
PY
}
for count in 6 300; do
	db=$work/hit-$count.db
	"$python" -c "
for i in range($count): print('{\"op\":\"entry.append\",\"content\":\"text %d.\"}' % i)" |
		"$RETAKE" --db "$db" -q apply - >/dev/null
	whole=$("$RETAKE" --db "$db" export --format canonical)
	hit "$db" newest
	cp "$db" "$db.as-it-was"
	for command in show 'export --format canonical' history status 'add x' 'set k 1' \
		'new other' 'purge --text text --yes' 'backup copy.db'; do
		# shellcheck disable=SC2086 # words
		code "$command of a log without its end, $count entries" 1 "$RETAKE" --db "$db" $command
	done
	has 'says that it is damaged' 'damaged' "$err"
	code 'fsck finds it' 1 "$RETAKE" --db "$db" fsck
	is 'nothing was written' "$(cksum <"$db.as-it-was")" "$(cksum <"$db")"
	cp "$db" "$work/again.db"
	code 'repair' 0 "$RETAKE" --db "$work/again.db" repair
	has 'reports the losses' 'The store is consistent again; ' "$out"
	case $out in # a sector contains one or two rows of the log
	*'1 step was lost.'* | *'2 steps were lost.'*) pass ;;
	*) fail 'in steps' "$out" ;;
	esac
	code 'it is repaired' 0 "$RETAKE" --db "$db" repair --json
	has 'and reports what it kept' '"rows_kept":' "$out"
	kept=$(find "$work" -name "hit-$count.db.before-repair-*")
	is 'the damaged file is kept' "$(cksum <"$db.as-it-was")" "$(cksum <"$kept")"
	code 'and then sound' 0 "$RETAKE" --db "$db" fsck
	if [ "$count" = 300 ]; then
		is 'the checkpoint has the state' "$whole" "$("$RETAKE" --db "$db" export --format canonical)"
	else
		is 'every text is there' "$count" "$("$RETAKE" --db "$db" search text --limit 100 --json |
			"$python" -c 'import json, sys; print(len({h["id"] for h in json.load(sys.stdin)}))')"
	fi
	code 'it can be written to' 0 "$RETAKE" --db "$db" add -q x
	code 'and stays sound' 0 "$RETAKE" --db "$db" fsck
done

"$RETAKE" --db "$work/torn.db" restore "$work/b.db" -q
whole=$("$RETAKE" --db "$work/torn.db" export --format canonical)
hit "$work/torn.db" meta
code 'a store that cannot be opened' 1 "$RETAKE" --db "$work/torn.db" show
(umask 022; "$RETAKE" --db "$work/torn.db" repair >/dev/null 2>&1)
is 'is repaired' "$whole" "$("$RETAKE" --db "$work/torn.db" export --format canonical)"
is 'a damaged store is kept privately' 600 "$(stat -c %a "$work"/torn.db.before-repair-*)"

# --- fsck reports what it can where the list of projects is damaged ---
db=$work/list.db
"$RETAKE" --db "$db" -q add one
"$RETAKE" --db "$db" -q add two
state=$("$RETAKE" --db "$db" export --format canonical)
for page in $("$python" - "$db" <<'PY'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
print(*[r for (r,) in c.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'project'")])
PY
); do
	cp "$db" "$work/list-$page.db"
	"$python" -c "
f = open('$work/list-$page.db', 'r+b')
f.seek(($page - 1) * 8192)
f.write(bytes(8192))"
	code "fsck, page $page zeroed" 1 "$RETAKE" --db "$work/list-$page.db" fsck
	has 'the pages are reported' 'store-page-damaged' "$out"
	has 'the projects too' 'store-projects-unreadable' "$out"
	has 'and what to do' 'retake --db' "$(printf '%s' "$out" | grep 'findings\. To repair')"
	hasnt 'no advice to run fsck' 'run retake fsck' "$out$err"
	code "fsck --json, page $page zeroed" 1 "$RETAKE" --db "$work/list-$page.db" fsck --json
	is 'all of them as JSON' True "$(printf '%s' "$out" | "$python" -c 'import json, sys
d = json.load(sys.stdin)
ids = {f["id"] for f in d["findings"]}
print(not d["clean"] and ids >= {"store-page-damaged", "store-projects-unreadable"})')"
	code "repair, page $page zeroed" 0 "$RETAKE" --db "$work/list-$page.db" repair
	has 'nothing was lost' 'The store is consistent again.' "$out"
	is 'all is there' "$state" "$("$RETAKE" --db "$work/list-$page.db" export --format canonical)"
done

# --- a store with a damaged first page is repaired by its other pages ---
db=$work/list.db
state=$("$RETAKE" --db "$db" export --format canonical)
for damage in '0 1' '0 100' '0 8192' '68 4' '16 2'; do
	at=${damage% *}
	size=${damage#* }
	cp "$db" "$work/head-$at-$size.db"
	"$python" -c "
f = open('$work/head-$at-$size.db', 'r+b')
f.seek($at)
f.write(bytes($size))"
	sum=$(cksum <"$work/head-$at-$size.db")
	code "it does not open, $size bytes at $at" 1 "$RETAKE" --db "$work/head-$at-$size.db" show
	code 'nor is it written to' 1 "$RETAKE" --db "$work/head-$at-$size.db" add x
	code 'fsck' 1 "$RETAKE" --db "$work/head-$at-$size.db" fsck
	has 'recommends repair' "head-$at-$size.db repair" "$out"
	is 'as it was' "$sum" "$(cksum <"$work/head-$at-$size.db")"
	code 'and repair works' 0 "$RETAKE" --db "$work/head-$at-$size.db" repair
	is 'nothing is lost' "$state" "$("$RETAKE" --db "$work/head-$at-$size.db" export --format canonical)"
	is 'the old file is kept' "$sum" "$(cksum <"$(find "$work" -name "head-$at-$size.db.before-repair-*")")"
	code 'and it is sound' 0 "$RETAKE" --db "$work/head-$at-$size.db" fsck
done
# a file that is not a store is not repaired, and repair is not suggested
mkdir "$work/others"
"$python" - "$work/others" "$db" <<'PY'
import sqlite3, sys
folder, store = sys.argv[1:3]
def put(name, data):
    open(folder + "/" + name, "wb").write(data)
put("lines.jsonl", b'{"type":"message"}\n' * 2000)
put("zeros", bytes(65536))
put("short", b"x")
put("tar", bytes(512) + open(store, "rb").read())
c = sqlite3.connect(folder + "/other.sqlite")
c.execute("CREATE TABLE log(key INTEGER PRIMARY KEY, step, at, sum, data)")
c.execute("INSERT INTO log VALUES(1, zeroblob(16), 5, 6, zeroblob(20))")
c.commit()
PY
: >"$work/others/empty"
for file in lines.jsonl zeros short tar other.sqlite empty; do
	sum=$(cksum <"$work/others/$file")
	code "fsck of $file" 1 "$RETAKE" --db "$work/others/$file" fsck
	has 'says what it is' 'store-cannot-open' "$out"
	hasnt 'no repair' ' repair' "$out$err"
	hasnt 'no restore' ' restore' "$out$err"
	code "repair of $file" 1 "$RETAKE" --db "$work/others/$file" repair
	is 'it is unchanged' "$sum" "$(cksum <"$work/others/$file")"
done
is 'nothing is left beside them' 6 "$(find "$work/others" -type f | wc -l | tr -d ' ')"

# --- files that are not stores ---
: >"$work/empty.db"
code 'an empty file is not taken for a new store' 1 "$RETAKE" --db "$work/empty.db" show
code 'nor written to' 1 "$RETAKE" --db "$work/empty.db" add x
is 'it stays empty' 0 "$(stat -c %s "$work/empty.db")"
printf 'my notes\n' >"$work/notes.txt"
code 'a text file' 1 "$RETAKE" --db "$work/notes.txt" add x
is 'it is unchanged' 'my notes' "$(cat "$work/notes.txt")"
code 'a folder' 1 "$RETAKE" --db "$work" show

# --- a failed command leaves no new store ---
none=$work/failed/none.db
mkdir "$work/failed"
left() {
	is "$1 leaves no file" '' "$(ls "$work/failed")"
	hasnt "$1 says nothing of a store" 'created a new store' "$err"
	rm -f "$work/failed"/*
}
for command in 'add' 'edit :1 x' 'delete :1' 'undo' 'jump 3' 'label :1 x' 'ask hi' \
	'takes switch foo' 'use foo' 'mute :1' 'rename' 'new' 'insert :1 x' 'role :1 User'; do
	# shellcheck disable=SC2086 # words
	"$RETAKE" --db "$none" $command >"$work/out" 2>"$work/err" </dev/null
	got=$?
	err=$(cat "$work/err")
	[ "$got" = 0 ] && rm -f "$work/failed"/* && continue
	left "$command"
done
printf '{"op":"nothing"}\nno JSON\n' >"$work/bad.jsonl"
code 'apply of bad lines' 1 "$RETAKE" --db "$none" apply "$work/bad.jsonl"
left 'apply'
ln -s failed/none.db "$work/dangling.db"
code 'through a link' 3 "$RETAKE" --db "$work/dangling.db" edit :1 x
is 'the link stays' failed/none.db "$(readlink "$work/dangling.db")"
left 'a link'
"$python" - "$RETAKE" "$none" >"$work/out" 2>"$work/err" <<'PY'
import socket, subprocess, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(1)
q = subprocess.run([sys.argv[1], "--db", sys.argv[2], "serve", "--no-socket", "--port", str(s.getsockname()[1])],
                   stdin=subprocess.DEVNULL, capture_output=True)
sys.stderr.buffer.write(q.stderr)
print(q.returncode != 0)
PY
err=$(cat "$work/err")
is 'serve on a port that is taken' True "$(cat "$work/out")"
left 'serve'
# a file that another process has open or has written to is kept
"$python" - "$RETAKE" "$none" >"$work/out" 2>&1 <<'PY'
import subprocess, sys
program, db = sys.argv[1:3]
def start():
    return subprocess.Popen([program, "--db", db, "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(p, line):
    p.stdin.write(line + b"\n")
    p.stdin.flush()
    return p.stdout.readline().decode().strip()
def end(p):
    p.stdin.close()
    return p.wait()
maker, other = start(), None
ask(maker, b'{"op":"nothing"}')
other = start()
ask(other, b'{"op":"nothing"}')
print(end(maker))
print("seq" in ask(other, b'{"op":"entry.append","content":"kept"}'), end(other))
PY
is 'a store that another program has open stays' '1
True 1' "$(cat "$work/out")"
is 'with what it writes' kept \
	"$("$RETAKE" --db "$none" show --json | json '"|".join(e["content"] for e in d["entries"])')"
rm -f "$work/failed"/*
code 'a store that is used stays' 0 "$RETAKE" --db "$none" add x
has 'and is mentioned' 'created a new store' "$err"
code 'a later failure leaves it alone' 3 "$RETAKE" --db "$none" edit :9 x
is 'it is there' x "$("$RETAKE" --db "$none" show --json | json '"|".join(e["content"] for e in d["entries"])')"

# --- read-only ---
chmod 400 "$db"
sum=$(cksum <"$db")
code 'reading a file that cannot be written' 0 r show
is 'not a byte is written' "$sum" "$(cksum <"$db")"
chmod 600 "$db"
code '--read-only show' 0 r --read-only show
code '--read-only search' 0 r --read-only search one
code '--relaxed' 0 r --relaxed add fast

# --- import of a file that is truncated in the meantime ---
# Only root can detect when it has been
# opened; for others it is truncated after the import. It is imported completely or not at all.
"$python" - "$RETAKE" "$work" >"$work/out" 2>&1 <<'PY'
import json, os, subprocess, sys
program, work = sys.argv[1:3]
path = work + "/big.json"
with open(path, "w") as f:
    json.dump({"messages": [{"role": "user", "content": "%d " % i + "abcdefghi " * 100} for i in range(16000)]}, f)
p = subprocess.Popen([program, "-q", "--db", work + "/big.db", "import", path], stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
def has_it():
    try:
        return any(os.readlink("/proc/%d/fd/%s" % (p.pid, fd)) == path for fd in os.listdir("/proc/%d/fd" % p.pid))
    except OSError:
        return False
while p.poll() is None and not has_it():
    pass
os.truncate(path, 0)
done = p.wait()
q = subprocess.run([program, "--db", work + "/big.db", "show", "--json"], capture_output=True)
entries = json.loads(q.stdout)["entries"] if q.returncode == 0 else []
whole = len(entries) == 16000 and all(
    e["content"].strip() == ("%d " % i + "abcdefghi " * 100).strip() for i, e in enumerate(entries))
is_right = whole if done == 0 else not entries
print("as it should be" if is_right else (done, len(entries)))
PY
is 'an import of a file that changes is whole, or there is none' 'as it should be' "$(cat "$work/out")"

finish
