#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Output on a terminal: no control characters from models, colours only if wanted, questions only if
# they can be answered, the pager only for long output.
. "$(dirname "$0")/lib.sh"

"$python" -c 'import pty; pty.openpty()' 2>/dev/null || {
	echo "there are no pseudo-terminals here (/dev/pts)"
	exit 77
}

# tty ARGS…: runs in a new terminal, answering with $answer; prints the output and "status N".
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

# Without colour there are no escape sequences at all.
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
has 'shown by name' '^[]0;title^Gb<U+009B>31mc^?d<U+202E>e^Mf' "$(tty show :1 --raw)"
has 'shown by name, rendered' '^[]0;title^Gb<U+009B>31mc^?d<U+202E>e' "$(tty show)"
unset NO_COLOR

# JSON contains the exact value on a terminal, too
is 'JSON on a terminal' true "$(tty show --json | sed '/^status/d' | json 'd["entries"][0]["content"] == "a\x1b]0;title\x07b\x9b31mc\x7fd\u202ee\rf"')"
# a pipe receives the exact value
is 'raw into a pipe' true "$(r show :1 --raw | "$python" -c 'import sys; print(str(sys.stdin.buffer.read() == "a\x1b]0;title\x07b\x9b31mc\x7fd\u202ee\rf".encode()).lower())')"
# but readable text is sanitised even there
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

# --- long names ---
# They are cut in the middle on a terminal, so that each row of a list is one; a pipe gets them in full.
long=$(printf 'a name that is much longer than the width of this terminal and that ends in %s' end-of-it)
db2=$db
db=${db%.db}-long.db
r new "$long" >/dev/null 2>&1
r add one >/dev/null
r add -r AI 'two: **bold** and a text that is longer than the row of a terminal with 80 columns' >/dev/null
r label :1 "label-$(echo "$long" | tr ' ' '-')" >/dev/null
r branch :1 "take: $long" >/dev/null
for command in ls takes tree history; do
	out=$(tty --no-color $command)
	is "$command: no row is wider" '' "$(echo "$out" | "$python" -c 'import sys; print(*(l for l in sys.stdin.read().split("\n") if len(l) > 80))')"
	[ $command = history ] || has "$command: the end of the name" 'd-of-it' "$out"
done
r track "track: $long" >/dev/null
for command in tracks ls; do
	has "$command: a long track" 'd-of-it' "$(tty --no-color $command | grep -o 'track: .*')"
	hasnt "$command: a long track is cut" "track: $long" "$(tty --no-color $command)"
	has "$command: a long track in a pipe" "track: $long" "$(r $command)"
done
r track --clear >/dev/null
has 'ls in a pipe: all of it' "$long " "$(r ls)"
has 'takes in a pipe' "take: $long " "$(r takes)"
has 'history in a pipe' "\"take: $long\"" "$(r history)"
has 'previews have no signs of Markdown' 'two: bold and' "$(r tree --json)"
db=$db2

# --- retries ---
# One line, which the next one and the reply replace.
mkdir -p "$XDG_CONFIG_HOME/retake"
cat >"$work/busy.py" <<'PY'
import http.server, sys
class Busy(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        self.answer(200, b'{"data":[{"id":"any"}]}')
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        Busy.asked += 1
        if Busy.asked < 3:
            self.answer(500, b'{"error":{"message":"later"}}')
        else:
            self.answer(200, b'{"choices":[{"message":{"role":"assistant","content":"At last."}}]}')
    def answer(self, status, answer):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *ignored):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Busy)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
PY
"$python" "$work/busy.py" "$work/port" &
busy=$!
while [ ! -s "$work/port" ]; do sleep 0.1; done
printf '[provider.busy]\nkind = "openai"\nurl = "http://127.0.0.1:%s/v1"\n' "$(cat "$work/port")" >"$XDG_CONFIG_HOME/retake/config.toml"
out=$(tty ask -m busy/any 'Are you there?')
kill $busy
rm "$XDG_CONFIG_HOME/retake/config.toml"
has 'a retry is reported' 'server error 500, retry 2 of 4 in ' "$out"
is 'in one line, which the reply replaces' 1 "$(echo "$out" | grep -c 'retry 1 of 4.*retry 2 of 4.*At last')"

# --- Markdown ---
# Replies are rendered on a terminal, questions in read mode.
db2=$db
db=${db%.db}-read.db
r add 'my **question**' >/dev/null 2>&1
r add -r AI "$(printf '# Title\n\na **bold** word\n\n- [x] done\n- [ ] open\n\n> said\n\n| a | b |\n|---|---|\n| one | two |\n\n~~~c\nint x; /* ** */\n~~~\n\n[text](https://example.org/page)\n')" >/dev/null
out=$(tty show --no-color)
has 'a question: its source' 'my **question**' "$out"
for part in '    Title' 'a bold word' '[x] done' '[ ] open' 'one │ two' 'int x; /* ** */' 'https://example.org/page'; do
	has "a reply: $part" "$part" "$out"
done
hasnt 'a reply: no mark of a heading' '# Title' "$out"
hasnt 'a reply: no fence' '~~~' "$out"
hasnt 'a reply: no bars of a table' '|---|' "$out"
has 'in colour' "$ESC[" "$(tty show :2)"
is 'structure without colour' "$(tty show :2 --no-color)" "$(NO_COLOR=1 tty show :2)"
hasnt 'NO_COLOR: no escape' "$ESC" "$(NO_COLOR=1 tty show :2)"
has 'TERM=dumb: the source' 'a **bold** word' "$(TERM=dumb tty show :2)"
has '--raw: the source' 'a **bold** word' "$(tty show :2 --raw)"
has 'in a pipe: the source' 'a **bold** word' "$(r show :2)"
r view :1 --read >/dev/null
has 'a question in read mode' 'my question' "$(tty show --no-color)"
r view :1 --edit >/dev/null
has 'a question in edit mode' 'my **question**' "$(tty show --no-color)"
hasnt 'a question in edit mode: nothing more to say' 'Their source' "$(r view :1 --edit)"
has 'a reply in edit mode: where its source is' 'Their source: ' "$(r view :2 --edit)"
has 'and of all entries' 'show ENTRY --raw' "$(r view --all --edit)"

# Links in replies, by the rules of the page.
r add -r AI 'see [here](https://example.org/a?b=c) or [there](javascript:alert(1)), [mail](mailto:a@b.cd)' >/dev/null
link() { # link URL TEXT
	printf '%s]8;;%s%s\\%s%s]8;;%s\\' "$ESC" "$1" "$ESC" "$2" "$ESC" "$ESC"
}
out=$(tty show :3)
has 'a link' "$(link 'https://example.org/a?b=c' here)" "$out"
has 'its address' "$(link 'https://example.org/a?b=c' 'https://example.org/a?b=c')" "$out"
has 'mail' "$(link mailto:a@b.cd mail)" "$out"
is 'no other link' 4 "$(printf '%s' "$out" | grep -o "]8;;[a-z]" | wc -l | tr -d ' ')"
hasnt 'no link: TERM=linux' ']8;' "$(TERM=linux tty show :3)"
hasnt 'no link: TERM=dumb' ']8;' "$(TERM=dumb tty show :3)"
hasnt 'no link: a pipe' ']8;' "$(r show :3)"
hasnt 'no link: a pager that may not know them' ']8;' "$(PAGER='tr a-z a-z' tty show)"
cat >"$work/play" <<'PLAY'
{"text": "go [here](https://exam"}
{"text": "ple.org/x) now"}
PLAY
has 'ask: a link' "$(link https://example.org/x here)" "$(tty ask -m "builtin/play:$work/play" go)"

# A reply is rendered block by block as it arrives; each once.
cat >"$work/play" <<'PLAY'
{"text": "# Head\n\nfirst **para"}
{"text": "graph**\n\nsecond *one*\n\n- item"}
{"text": " one\n- item two\n\nend \u001b[31mred\u009b2J"}
PLAY
asked="$(tty ask -m "builtin/play:$work/play" --no-color go)"
for part in Head 'first paragraph' 'second one' 'item one' 'item two' 'end '; do
	is "ask: once: $part" 1 "$(printf '%s\n' "$asked" | grep -c "$part")"
done
hasnt 'ask: rendered' '**' "$asked"
hasnt 'ask: no C1' "$(printf '\302\233')" "$asked"
hasnt 'ask: no sequence of the model' "$ESC[31mred" "$(tty ask -m "builtin/play:$work/play" go)"
has 'ask --raw: the source' 'first **paragraph**' "$(tty ask --raw -m "builtin/play:$work/play" go)"
has 'ask, TERM=dumb: the source' 'first **paragraph**' "$(TERM=dumb tty ask -m "builtin/play:$work/play" go)"
has 'ask in a pipe: the source' 'first **paragraph**' "$(r ask -m "builtin/play:$work/play" go)"

# Escape sequences from a model do not pass the renderer.
for text in '# a\033[2Jb' '`c\033]8;;evil\007d`' '> q\302\2332J' '| a\033[H |\n|---|\n| b\007 |' \
	'[l\033[31m](https://a.example/\033]52;c;x\007)' '```\033[5m\ncode\033[6n\n```' '- i\033c'; do
	# shellcheck disable=SC2059
	r -q add -r AI -- "$(printf -- "$text")"
	out=$(NO_COLOR=1 tty show :-1)
	hasnt "no escape: $text" "$ESC" "$out"
	hasnt "no bell: $text" "$(printf '\007')" "$out"
	hasnt "no C1: $text" "$(printf '\302\233')" "$out"
done
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
is 'a pager gets SIGPIPE' 0 "$((0x$(PAGER='grep SigIgn /proc/self/status' tty show --no-color | sed -n 's/^SigIgn:[^0-9a-f]*\([0-9a-f]*\).*/\1/p') >> 12 & 1))"
has 'a pager that stops early' 'status 0' "$(PAGER='head -n 1' tty show --no-color)"

# --- a descriptor that another program has made non-blocking ---
r -q new long
head -c 300000 /dev/zero | tr '\0' x | r -q add -
is 'output waits for its reader' 'complete, without spinning' "$("$python" - "$RETAKE" --db "$db" show --raw :1 <<'PY'
import os, resource, subprocess, sys, time
def show(wait):
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(sys.argv[1:], stdout=theirs)
    os.close(theirs)
    time.sleep(wait)
    size = 0
    while piece := os.read(ours, 65536):
        size += len(piece)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return size, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
size, usual = show(0)
slow_size, used = show(3)
print("complete, without spinning" if min(size, slow_size) >= 300000 and used < 2 * usual + 0.2 else (size, slow_size, usual, used))
PY
)"
r -q use main

# --- questions ---
# Only irreversible actions ask.
r -q new second
r -q add "a secret"
r -q edit :1 "a better secret"
secret=$(r show :1 --json | json 'd["id"]')
answer='n\n'
has 'rm does not ask' 'status 0' "$(r -q new third; tty rm third)"
r -q use second
has 'no' 'status 1' "$(tty purge :1)"
has 'the question names the entry and its texts' "Permanently remove entry $secret (User, 1 of 1) and its 2 texts" "$(tty purge :1)"
is 'still there' 'a better secret' "$(r show :1 --raw)"
answer='y\n'
has 'yes' 'status 0' "$(tty purge :1)"
is 'gone' '' "$(r show :1 --raw)"
answer=
has '--no-input' 'status 2' "$(tty purge :1 --no-input)"
r -q use main

# --- a closed pipe ---
"$python" -c 'for i in range(5000): print("{\"op\":\"entry.append\",\"content\":\"%s\"}" % ("text " * 40))' | r apply >/dev/null
err=$({ r show | head -n 1 >/dev/null; } 2>&1)
is 'quiet' '' "$err"

finish
