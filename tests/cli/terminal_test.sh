#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What reaches a terminal: no control character of a model, colours only where they are
# wanted, questions only where somebody can answer, the pager only for long output.
. "$(dirname "$0")/lib.sh"

"$python" -c 'import pty; pty.openpty()' 2>/dev/null || {
	echo "there are no pseudo-terminals here (/dev/pts)"
	exit 77
}

# tty ARGS…: run on a terminal of its own, answering with $answer; prints what came out,
# and "status N".
answer=
tty() {
	"$python" - "$answer" "$RETAKE" --db "$db" "$@" <<'PY'
import fcntl, os, pty, select, struct, sys, termios, time
answer, argv = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(os.environ.get("COLS", "80")), 0, 0))
    os.execv(argv[0], argv)
out = b""
sent = not answer
limit = time.time() + 60
while True:
    if time.time() > limit:
        os.kill(pid, 9)
    ready, _, _ = select.select([fd], [], [], 0.2)
    if ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        out += data
    if not sent and out:
        time.sleep(0.1)
        os.write(fd, answer.encode().decode("unicode_escape").encode())
        sent = True
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(out.replace(b"\r\n", b"\n"))
print("status", os.waitstatus_to_exitcode(status))
PY
}
ESC=$(printf '\033')
TERM=xterm-256color
export TERM

rm -f "$db"
apply '{"op":"entry.append","role":"User\u001b[31m","content":"a\u001b]0;title\u0007b\u009b31mc\u007fd\u202ee\rf"}' \
	'{"op":"label.set","entry":"@","label":"l\u001b[2J"}' \
	'{"op":"take.rename","take":"main","name":"t\u001b[2J\u202e"}' \
	'{"op":"discussion.rename","discussion":"main","name":"d\u001b[2J\u009b"}' \
	'{"op":"prompt.update","text":"p\u001b[2J"}' \
	'{"op":"role.add","role":"r\u001b[2J"}' \
	'{"op":"setting.set","key":"k\u001b[2J","value":"v\u001b[2J"}' \
	'{"op":"track.set","track":"x\u001b[2J"}' \
	'{"op":"preset.save","name":"s\u001b[2J"}' >/dev/null

# Without colour no escape is there at all, whatever is shown.
NO_COLOR=1
export NO_COLOR
for command in show 'show :1' 'show :1 --raw' 'show --take-file' tree status takes ls 'search a' history \
	'history show 1' 'revisions :1' prompt 'prompt --raw' roles settings track preset label \
	'export --format canonical' 'export --format markdown' 'show --json' 'tree --json' context; do
	# shellcheck disable=SC2086
	out=$(tty $command)
	hasnt "no escape: $command" "$ESC" "$out"
	hasnt "no C1: $command" "$(printf '\302\233')" "$out"
	hasnt "no override: $command" "$(printf '\342\200\256')" "$out"
	hasnt "no bell: $command" "$(printf '\007')" "$out"
	hasnt "no DEL: $command" "$(printf '\177')" "$out"
done
has 'shown by name' '^[]0;title^Gb<U+009B>31mc^?d<U+202E>e^Mf' "$(tty show)"
unset NO_COLOR

# JSON keeps the value on a terminal, too
is 'JSON on a terminal' true "$(tty show --json | sed '/^status/d' | json 'd["entries"][0]["content"] == "a\x1b]0;title\x07b\x9b31mc\x7fd\u202ee\rf"')"
# into a pipe it is what it is
is 'raw into a pipe' true "$(r show :1 --raw | "$python" -c 'import sys; print(str(sys.stdin.buffer.read() == "a\x1b]0;title\x07b\x9b31mc\x7fd\u202ee\rf".encode()).lower())')"
# but text for people is made fit even there
hasnt 'text in a pipe' "$ESC" "$(r show)"

# --- colour ---
fresh
has 'colour on a terminal' "$ESC[" "$(tty show)"
hasnt 'none in a pipe' "$ESC" "$(r show)"
hasnt '--no-color' "$ESC" "$(tty show --no-color)"
hasnt 'NO_COLOR' "$ESC" "$(NO_COLOR=1 tty show)"
has 'NO_COLOR, but empty' "$ESC[" "$(NO_COLOR='' tty show)"
hasnt 'TERM=dumb' "$ESC" "$(TERM=dumb tty show)"
welcome=$(TERM=dumb tty)
has 'TERM=dumb: what cannot be shown' 'does not support full-screen' "$welcome"
has 'TERM=dumb: what can be done' 'retake chat' "$welcome"
is 'the same text in colour' "$(tty show --no-color)" "$(tty show | sed "s/$ESC\[[0-9;]*m//g")"

# --- read mode ---
db2=$db
db=${db%.db}-read.db
r add -r AI 'a **bold** word' >/dev/null 2>&1
has 'edit mode: the source' 'a **bold** word' "$(tty show --no-color)"
r view :1 --read >/dev/null
out=$(tty show --no-color)
has 'read mode: rendered' 'a bold word' "$out"
hasnt 'read mode: no marks' '**' "$out"
has 'read mode: one entry' 'a bold word' "$(tty show :1 --no-color)"
has 'read mode, --raw: the source' 'a **bold** word' "$(tty show :1 --raw)"
has 'read mode, in a pipe: the source' 'a **bold** word' "$(r show)"
r view :1 --edit >/dev/null
has 'edit mode again' 'a **bold** word' "$(tty show --no-color)"
db=$db2

# --- width ---
r -q edit :1 "$("$python" -c 'print("word " * 60)')"
widest() {
	"$python" -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))'
}
is 'lines fit' yes "$([ "$(COLS=60 tty show --no-color | widest)" -le 60 ] && echo yes)"
is 'the tree fits' yes "$([ "$(COLS=60 tty tree --no-color | widest)" -le 60 ] && echo yes)"
is 'a narrow tree fits' yes "$([ "$(COLS=40 tty tree --no-color | widest)" -le 40 ] && echo yes)"
hasnt 'lines of ASCII' "$(printf '\342')" "$(LC_ALL=C tty tree --no-color)"

# --- the pager ---
has 'PAGER' 'PAGED' "$(PAGER='sed s/^/PAGED/' tty show --no-color)"
hasnt '--no-pager' 'PAGED' "$(PAGER='sed s/^/PAGED/' tty show --no-color --no-pager)"
hasnt 'no pager into a pipe' 'PAGED' "$(PAGER='sed s/^/PAGED/' r show)"
has 'a pager that is not there' 'word' "$(PAGER=no-such-pager tty show --no-color)"
has 'a pager that stops early' 'status 0' "$(PAGER='head -n 1' tty show --no-color)"

# --- questions ---
# Only what undo does not bring back is asked.
r -q new second
r -q add "a secret"
r -q edit :1 "a better secret"
secret=$(r show :1 --json | json 'd["id"]')
answer='n\n'
has 'rm does not ask' 'status 0' "$(r -q new third; tty rm third)"
r -q use second
has 'no' 'status 1' "$(tty purge :1)"
has 'the question names the entry and its texts' "Permanently remove entry $secret (User, 1 of 1), 2 texts" "$(tty purge :1)"
is 'still there' 'a better secret' "$(r show :1 --raw)"
answer='y\n'
has 'yes' 'status 0' "$(tty purge :1)"
is 'gone' '' "$(r show :1 --raw)"
answer=
has '--no-input' 'status 2' "$(tty purge :1 --no-input)"
r -q use main

# --- a pipe that nobody reads ---
"$python" -c 'for i in range(5000): print("{\"op\":\"entry.append\",\"content\":\"%s\"}" % ("text " * 40))' | r apply >/dev/null
err=$({ r show | head -n 1 >/dev/null; } 2>&1)
is 'quiet' '' "$err"

finish
