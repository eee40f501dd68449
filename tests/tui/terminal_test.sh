#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The terminal layer on real terminals: in tmux, inside a shell (the screen and the modes of the
# terminal are restored, however the program ends; it is suspended, resized, replaced by an editor),
# and directly on a pty (pastes, unusual environments). LOOK names the program of look.c.
cd "$(dirname "$0")/../.." || exit 1
LOOK=${LOOK:-$PWD/build/obj/tests/tui/look}
export LOOK
command -v tmux >/dev/null 2>&1 || {
	echo "there is no tmux here"
	exit 77
}
python3 -c 'import pty; pty.openpty()' 2>/dev/null || {
	echo "there are no pseudo-terminals here (/dev/pts)"
	exit 77
}
exec python3 - <<'PYTHON'
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

LOOK = os.environ["LOOK"]
WAIT_S = 30 # timeout, for a busy machine
passed = failed = 0
work = tempfile.mkdtemp()
log = work + "/log"
surroundings = {"PATH": os.environ["PATH"], "HOME": work, "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": work,
                "PS1": "$ ", "ASAN_OPTIONS": "handle_segv=0:handle_abort=0:detect_leaks=0"}


def result(ok, name, *details):
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print("FAILED: " + name)
    for text in details:
        for line in str(text).splitlines()[:30]:
            print("    " + line)


def wait(what, seconds=WAIT_S):
    """Waits until what() is true; returns its last value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.02)
    return what()


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def logged(words):
    return words + "\n" in read(log)


def forget():
    open(log, "w").close()


# ---- in tmux ----

def tmux(*words):
    done = subprocess.run(["tmux", "-L", "retake", "-f", "/dev/null", *words], env=surroundings,
                          capture_output=True, text=True)
    return done.stdout


def screen():
    return tmux("capture-pane", "-p")


def is_shown():
    return re.search(r"look \d+x\d+ (utf8|ascii)", screen())


def keys(*words):
    tmux("send-keys", *words)


def typed(line):
    keys("-l", line)
    keys("Enter")


def modes(name):
    """Output of stty -a in the shell of the pane."""
    path = work + "/" + name
    for _ in range(5):      # keys may be dropped while a program restores the terminal
        typed(f"stty -a > {path}; echo done >> {path}")
        if wait(lambda: "done" in read(path), WAIT_S / 5):
            break
    return read(path)


def start():
    forget()
    typed(f"{LOOK} {log}")
    return wait(lambda: logged("open 0") and is_shown())


def mouse_flag():
    return tmux("display-message", "-p", "#{mouse_any_flag}").strip()


def pid_of_look():
    done = subprocess.run(["pgrep", "-f", f"^{LOOK} {log}$"], capture_output=True, text=True)
    return int(done.stdout.split()[0])


def back(name, before):
    """Checks that the screen and the terminal modes are restored."""
    shown = wait(lambda: not is_shown() and "what was here" in screen() and
                 re.search(r"[#$]$", screen().rstrip()))
    result(shown, f"{name}: the screen is as it was", screen())
    mine = modes("modes-after")
    result(mine == before, f"{name}: so is the terminal", before, mine)
    # Otherwise it would be part of what tmux pastes.
    forget()
    typed(f"cat > {work}/pasted")
    tmux("set-buffer", "pasted")
    tmux("paste-buffer", "-p")
    keys("Enter")
    keys("C-d")
    wait(lambda: "pasted" in read(work + "/pasted"))
    result(read(work + "/pasted") == "pasted\n", f"{name}: pastes have no marks any more",
           repr(read(work + "/pasted")))
    os.unlink(work + "/pasted")
    cursor = tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{keypad_cursor_flag} "
                  "#{mouse_any_flag}")
    result(cursor.strip() == "1 0 0 0", f"{name}: cursor, screen, keys and mouse", cursor)
    typed("clear; echo what was here")
    wait(lambda: screen().startswith("what was here"))


tmux("new-session", "-d", "-x", "80", "-y", "24", "sh")
wait(lambda: re.search(r"[#$]$", screen().rstrip()))
typed("clear; echo what was here")
wait(lambda: screen().startswith("what was here"))
before = modes("modes-before")
typed("clear; echo what was here")
wait(lambda: screen().startswith("what was here"))

result(start(), "it is shown", screen())
shown = screen()
result("look 80x24 utf8" in shown, "its size and its characters", shown)
result("> e\u0301 你好 <U+202E>|" in shown, "what a line shows", shown)
for key, words in (("a", "key a"), ("G", "key G"), ("C-o", "key ctrl+o"), ("C-c", "key ctrl+c"),
                   ("C-s", "key ctrl+s"), ("C-q", "key ctrl+q"), ("C-v", "key ctrl+v"),
                   ("C-\\", "key ctrl+\\"), ("Enter", "key enter"), ("C-j", "key ctrl+j"),
                   ("M-Enter", "key alt+enter"), ("Escape", "key escape"), ("Up", "key up"),
                   ("M-Up", "key alt+up"), ("C-Left", "key ctrl+left"), ("S-F5", "key shift+f5"),
                   ("BTab", "key shift+tab"), ("PPage", "key pageup"), ("BSpace", "key backspace"),
                   ("DC", "key delete"), ("M-[", "key alt+["), ("M-]", "key alt+]"),
                   ("C-Space", "key ctrl+space"), ("F1", "key f1"), ("é", "key é")):
    keys(key)
    result(wait(lambda: logged(words + " 0")), words, read(log))
for report, words in (("0;5;7M", "press at 4,6"), ("64;80;24M", "wheel up at 79,23"), ("65;1;1M", "wheel down at 0,0")):
    keys("-l", f"\033[<{report}")
    result(wait(lambda: logged(f"mouse {words} 0")), f"the mouse: {words}", read(log))
keys("t")
result(wait(lambda: logged("wake 0")), "another thread wakes it", read(log))
result(read(log).count("wake") == 1, "once for two", read(log))
tmux("set-buffer", "first\nsecond\n")
tmux("paste-buffer", "-p")
result(wait(lambda: logged("paste 13")), "a paste is one event", read(log))
result(read(log + ".paste") == "first\nsecond\n", "with its line ends", repr(read(log + ".paste")))
tmux("resize-window", "-x", "100", "-y", "30")
result(wait(lambda: "look 100x30" in screen()), "it follows the size of the terminal", screen())
tmux("resize-window", "-x", "80", "-y", "24")
result(wait(lambda: "look 80x24" in screen()), "and back", screen())
keys("q")
back("q", before)

for key in ("x", "S", "A", "O"):
    start()
    keys(key)
    if key == "A":
        result(wait(lambda: not is_shown() and "what went wrong" in screen()),
               "what was said to standard error is there to be read", screen())
    back({"x": "exit()", "S": "a fault", "A": "abort()", "O": "no stack left"}[key], before)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    start()
    os.kill(pid_of_look(), number)
    back(number.name, before)
    if number != signal.SIGQUIT:
        # back() has cleared the log.
        start()
        os.kill(pid_of_look(), number)
        result(wait(lambda: logged("end 0")), f"{number.name}: the program is told", read(log))
        wait(lambda: not is_shown())
        typed("clear; echo what was here")
typed("LOOK_STAYS=1; export LOOK_STAYS")
typed("clear; echo what was here")
start()
look = pid_of_look()
for _ in range(2):
    told = read(log).count("end 0")
    os.kill(look, signal.SIGTERM)
    # It reports this from now on; two signals before it has continued would be merged into one.
    result(wait(lambda: read(log).count("end 0") > told + 2), "SIGTERM, heard", read(log)[:300])
os.kill(look, signal.SIGTERM)
back("SIGTERM to who does not listen", before)
typed("unset LOOK_STAYS")
typed("clear; echo what was here")

start()
keys("C-z")
result(wait(lambda: not is_shown() and re.search(r"[#$]$", screen().rstrip())), "suspended", screen())
mine = modes("modes-stopped")
result(mine == before, "suspended: the terminal is the shell's", mine)
result(mouse_flag() == "0", "suspended: the mouse is off", mouse_flag())
typed("fg")
result(wait(lambda: "look 80x24" in screen() and logged("resize 0")), "continued", screen(), read(log))
keys("b")
result(wait(lambda: logged("key b 0")), "continued: it has the keys", read(log))
result(mouse_flag() == "1", "and the mouse", mouse_flag())
look = pid_of_look()
os.kill(look, signal.SIGTSTP)
result(wait(lambda: not is_shown()), "suspended from outside", screen())
typed("fg")
result(wait(lambda: "look 80x24" in screen() and read(log).count("resize") == 2), "and continued", screen())
os.kill(look, signal.SIGSTOP)
wait(lambda: re.search(r"[#$]$", screen().rstrip()))
keys("-l", "fg")
keys("C-j") # the terminal of this shell is in raw mode
# Keys that are pressed before it has the terminal again are dropped.
wait(lambda: read(log).count("resize") == 3)
keys("d")
result(wait(lambda: logged("key d 0") and "key d" in screen()), "stopped without a word", screen())
keys("q")
wait(lambda: "closed" in screen() and not is_shown())
typed("clear; echo what was here")

typed(f"LOOK_EDITOR='stty -a > {work}/modes-editor; echo editing; read line; echo $line > {work}/line'; "
      "export LOOK_EDITOR; clear; echo what was here")
start()
keys("e")
result(wait(lambda: "editing" in screen()), "an editor has the screen", screen())
result(mouse_flag() == "0", "and the mouse", mouse_flag())
result(read(work + "/modes-editor").strip() == before.replace("done", "").strip(),
       "and the terminal as the shell has it", read(work + "/modes-editor"))
typed("typed in")
result(wait(lambda: logged("edited 0") and "look 80x24" in screen()), "then it is ours again", screen())
result(read(work + "/line") == "typed in\n", "and the editor had the keys", read(work + "/line"))
keys("q")
wait(lambda: "closed" in screen())
tmux("kill-server")

# ---- on a pty ----


class Bare:
    """look on a separate pty; collects its output."""

    def __init__(self, columns=80, rows=24, **more):
        forget()
        env = {**surroundings, "TERM": "xterm-256color", **more}
        self.pid, self.fd = pty.fork()
        if self.pid == 0: # sets the size before the program reads it
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(LOOK, [LOOK, log], env)
        os.set_blocking(self.fd, False)
        self.out = b""

    def take(self, s=0.02):
        while select.select([self.fd], [], [], s)[0]:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return False
            if not data:
                return False
            self.out += data
            s = 0
        return True

    def until(self, what):
        end = time.monotonic() + WAIT_S
        while not what() and time.monotonic() < end:
            if not self.take():
                break
        return what()

    def put(self, data):
        view = memoryview(data)
        while view:
            self.take(0)
            try:
                view = view[os.write(self.fd, view[:65536]):]
            except BlockingIOError:
                select.select([self.fd], [self.fd], [], 1)

    def end(self):
        """Its exit status."""
        limit = time.monotonic() + WAIT_S
        while time.monotonic() < limit:
            self.take()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def asks(**more):
    """Its output on such a terminal, and its exit status after q."""
    bare = Bare(**more)
    bare.until(lambda: b"<U+202E>|" in bare.out) # the end of its first frame, or it has exited
    try:
        bare.put(b"q")
    except OSError:
        pass
    status = bare.end()
    return bare.out.decode(errors="replace"), status


big = ("0123456789 abcdefg \u4f60\u597d\n" * 420000)
look = Bare()
look.until(lambda: logged("open 0"))
look.put(b"\033[200~" + big.replace("\n", "\r").encode() + b"\033[201~z")
result(look.until(lambda: logged("key z 0")), "a paste of ten megabytes", read(log)[-300:])
result(read(log + ".paste") == big, "all of it is there")
look.put(b"\033[200~a\033[31mb\x00c\x07\x7f\xffd\te\r\nf\xc2\x9bg\033[201~y")
look.until(lambda: logged("key y 0"))
result(read(log + ".paste") == "a[31mbc\ufffdd\te\nfg", "a paste has no controls",
       repr(read(log + ".paste")))
look.put(b"\033[200~no end")
result(look.until(lambda: logged("paste 6")), "a paste whose end does not come", read(log)[-300:])
look.put(b"\033")
result(look.until(lambda: logged("key escape 0")), "then keys are keys", read(log)[-300:])
forget()
look.put(b"\033[200~first\xc3")
result(look.until(lambda: logged("paste 5")), "a paste that stalls", read(log)[-300:])
look.put(b"\xa9 more\rsecond\r")
result(look.until(lambda: logged("paste 14")), "what comes then is more of it", read(log)[-300:])
look.put(b"\033[201~v")
result(look.until(lambda: logged("key v 0")) and "key enter" not in read(log) and
       read(log).count("paste") == 3, "up to its end", read(log)[-300:])
look.put(b"\033[200~half\033[20")
look.take(0.1)
look.put(b"1~w")
result(look.until(lambda: logged("key w 0")) and read(log + ".paste") == "half",
       "an end in two pieces", read(log)[-300:])
look.put(b"c")
result(look.until(lambda: logged("copied 0") and b"\033]52;c;Y2xpcA==\a" in look.out),
       "what is copied goes to the terminal")
look.put(b"q")
result(look.end() == 0, "it ends well")

look = Bare()
look.until(lambda: logged("open 0"))
look.take(0.2)
os.close(look.fd)
result(wait(lambda: logged("end 0")), "the terminal is gone", read(log))
os.waitpid(look.pid, 0)

text, status = asks(TERM="dumb")
result(status == 1 and "does not support full-screen" in text, "TERM=dumb", text, status)
text, status = asks(TERM="xterm-of-tomorrow")
result(status == 0 and "look 80x24" in text, "a terminal that is not known here", text, status)
text, status = asks(TERM="nonesuch")
result(status == 1, "one that nobody knows", text, status)
text, status = asks(NO_COLOR="1")
result(status == 0 and "plain" in text and not re.search(r"\033\[[0-9;]*3[0-9]", text), "NO_COLOR", text)
text, status = asks(TERM="vt100")
result(status == 0 and "plain" in text, "a terminal without colours", text, status)
text, status = asks(LC_ALL="C")
result(status == 0 and "ascii" in text and "> e ?? <U+202E>|" in text and
       all(ord(c) < 128 for c in text), "a locale without UTF-8", text)
text, status = asks(LC_ALL="xx_YY.UTF-8")
result(status == 0 and "utf8" in text, "a locale that is not here", text, status)
text, status = asks(COLUMNS="33", LINES="7")
result("look 80x24" in text, "the terminal knows its size best", text)
look = Bare(columns=10, rows=3)
look.until(lambda: logged("open 0"))
look.put(b"q")
result(look.end() == 0, "ten columns and three rows")
done = subprocess.run(["setsid", LOOK, log], env=surroundings, stdin=subprocess.DEVNULL,
                      capture_output=True, text=True)
result(done.returncode == 1 and "needs a terminal" in done.stderr, "no terminal at all", done.stderr)

shutil.rmtree(work)
print(f"{passed} passed, {failed} failed")
raise SystemExit(1 if failed else 0)
PYTHON
