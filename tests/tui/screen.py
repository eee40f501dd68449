# SPDX-License-Identifier: MIT
"""The program in a terminal: a separate tmux server, keys in, screens out.

    with Place() as place, place.open("-m", "builtin/echo", size=(80, 24)) as t:
        t.type("Are you there?")
        t.key("Enter")
        t.wait("Are you there?", "AI")

Every wait has a text that must appear; nothing depends on the speed of the machine, except
for the timeout. The text of a wait must not have been visible before the last key: the wait
would end before the key is processed, and the next action would be too early.

With STRICT=1 the screen is recorded before every key, and weak lines of a script are
reported: those that wait for something already visible, read the screen without waiting, or
press a key right after Escape or when only the store was waited for.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RETAKE = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
PATIENCE_S = 30.0
STRICT = os.environ.get("STRICT") == "1"
HELPERS = ("screen.py", "talk.py")
told = set() # weak lines reported so far, in a strict run


class Inside(threading.local):
    """State of a part (per thread)."""
    polls = 0      # greater than 0: the check is repeated, so it may be too early
    stored = False # the last wait was for the store, which may be ahead of the screen


inside = Inside()


def tell(what):
    """Reports a weak line of the script with its callers; each call path once."""
    frame, lines = sys._getframe(), []
    while frame is not None and frame.f_code.co_name != "part":
        name = os.path.basename(frame.f_code.co_filename)
        if name not in HELPERS or frame.f_code.co_name == "verb":
            lines.append(f"{name}:{frame.f_lineno}")
        frame = frame.f_back
    line = f"weak: {lines[0]}: {what}   " + " ".join(lines[1:])
    if line not in told:
        told.add(line)
        print(line, flush=True)


class Polls:
    """A check that is repeated until it succeeds."""

    def __enter__(self):
        inside.polls += 1

    def __exit__(self, *ignored):
        inside.polls -= 1


class Place:
    """A home directory, a store, and an environment without settings of the user."""

    def __init__(self):
        self.kept = tempfile.TemporaryDirectory(prefix="retake-tui-", ignore_cleanup_errors=True)
        self.dir = self.kept.name
        self.db = os.path.join(self.dir, "talk.db")
        self.terms = []
        self.opened = 0 # numbers the tmux sockets, which are not reused

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        for term in self.terms:
            term.close()
        self.kept.cleanup()

    def env(self, **more):
        env = {"PATH": os.environ["PATH"], "HOME": self.dir, "LANG": "C.UTF-8", "TZ": "UTC",
               "RETAKE_DB": self.db, "EDITOR": "false", "RETAKE_MODEL": "builtin/echo"}
        env.update(more)
        return {key: value for key, value in env.items() if value is not None}

    def run(self, *words, text=None, check=True, **more):
        """Runs a command on the same store; returns its output."""
        for term in self.terms:
            if "--json" in words or inside.polls > 0:
                term.looks()
            else:
                term.acts()
        done = subprocess.run([RETAKE, *words], input=text, text=True, env=self.env(**more),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"retake {words}: {done.returncode} {done.stderr}")
        return done.stdout

    def drafts(self):
        """Paths of draft files, including temporary ones, which have a number after .md."""
        for folder, _, names in os.walk(self.dir):
            for name in names:
                if name.startswith("draft-"):
                    yield os.path.join(folder, name)

    def draft_texts(self):
        """The drafts that the next start will find: not the temporary files."""
        for path in self.drafts():
            try:
                with open(path, encoding="utf-8") as draft:
                    if path.endswith(".md"):
                        yield draft.read()
            except FileNotFoundError:
                pass # replaced in the meantime

    def json(self, *words):
        import json
        return json.loads(self.run(*words, "--json"))

    def texts(self):
        """(role, text) of the current take."""
        return [(e["role"], e["content"]) for e in self.json("show")["entries"]]

    def open(self, *words, size=(80, 24), program=None, **more):
        term = Term(self, program or [RETAKE, *words], size, self.env(**more))
        self.terms.append(term)
        return term


class Term:
    def __init__(self, place, command, size, env):
        self.socket = os.path.join(place.dir, f"tmux-{place.opened}")
        place.opened += 1
        self.place = place
        self.before = []    # in a strict run: the screens before each key since the last strong wait
        self.pressed = None # the last of these keys
        self.shown = None   # the recorded screen that is being checked
        columns, rows = size
        line = " ".join(f"{key}={shlex.quote(value)}" for key, value in env.items() if key != "PATH")
        # A separate shell, so that the final screen can be inspected.
        shell = f"env -i PATH={shlex.quote(env['PATH'])} TERM=tmux-256color {line} sh"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), shell)
        self.tmux("set-option", "-g", "escape-time", "0")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
        self.tmux("send-keys", "-l", "PS1='$ '; clear; " +
                  " ".join(shlex.quote(word) for word in command) + "; echo ended $?")
        self.tmux("send-keys", "Enter")

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", self.socket, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=check).stdout

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        self.tmux("kill-server", check=False)

    def kill(self, number):
        """Sends a signal to the program, which is a child of the terminal's shell."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as stat:
                    parent = stat.read().rsplit(")", 1)[1].split()[1]
                with open(f"/proc/{entry}/cmdline", encoding="utf-8", errors="replace") as line:
                    program = line.read().split("\0")[0]
            except (OSError, IndexError):
                continue # it has ended in the meantime
            if parent == shell and program == RETAKE:
                os.kill(int(entry), number)
                return
        raise AssertionError(f"there is no {RETAKE} in that terminal")

    def acts(self, key=None):
        """Called before an action that changes the screen. In a strict run, records the screen
        when it is stable."""
        if not STRICT or self.shown is not None:
            return
        inside.stored = bool(self.before) and inside.stored
        if inside.stored and key is not None:
            tell(f"{key} when the store was waited for, and the screen was not")
        if self.pressed == "Escape" and key is not None:
            tell(f"{key} right behind Escape")
        self.pressed = key
        seen = []
        while len(seen) < 20 and (len(seen) < 5 or len(set(seen[-5:])) > 1):
            seen.append(self.tmux("capture-pane", "-p", check=False))
            time.sleep(0.04)
        self.before.append(seen[-1])

    def looks(self):
        """Called when the screen is read without waiting: have all keys been processed?"""
        if self.before and self.shown is None and inside.polls == 0:
            tell(f"a look before {self.pressed or 'a change'} is waited for")

    def waited(self, holds):
        """A wait has succeeded; would it have succeeded before one of the keys?"""
        for self.shown in self.before:
            with Polls():
                if holds():
                    tell(f"waits for nothing behind {self.pressed or 'a change'}")
                    break
        else:
            self.before, self.pressed, inside.stored = [], None, False
        self.shown = None

    def key(self, *names):
        for name in names:
            self.acts(name)
            self.tmux("send-keys", name)

    def type(self, text):
        self.acts("text")
        self.tmux("send-keys", "-l", "--", text)

    def paste(self, text):
        self.acts("a paste")
        path = os.path.join(self.place.dir, "paste")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        self.tmux("load-buffer", path)
        self.tmux("paste-buffer", "-p", "-r")

    def resize(self, columns, rows):
        self.acts("a size")
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self):
        """The rows, without trailing blanks."""
        self.looks()
        shown = self.shown if self.shown is not None else self.tmux("capture-pane", "-p")
        return [row.rstrip() for row in shown.split("\n")]

    def text(self):
        return "\n".join(self.screen())

    def cursor(self):
        x, y = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def wait(self, *wanted, gone=(), patience=PATIENCE_S):
        """Waits until all of `wanted` (texts or patterns) are visible, and none of `gone`."""
        def holds():
            text = self.text()
            there = all(w.search(text) if isinstance(w, re.Pattern) else w in text for w in wanted)
            return text if there and not any(g in text for g in gone) else None

        end = time.monotonic() + patience
        with Polls():
            while (text := holds()) is None:
                if time.monotonic() > end:
                    raise AssertionError(f"waited for {wanted} without {gone}; the screen is\n" +
                                         "\n".join(f"  |{row}" for row in self.screen()))
                time.sleep(0.02)
        self.waited(holds)
        return text

    def row(self, pattern):
        """The first row that matches."""
        for row in self.screen():
            if re.search(pattern, row):
                return row
        raise AssertionError(f"no row with {pattern} in\n{self.text()}")


class Count:
    """Counts checks and prints the totals in the usual format."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, ok, more=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"not ok: {what} {more}")
        return ok

    def equal(self, what, got, wanted):
        return self.check(what, got == wanted, f"\n  got    {got!r}\n  wanted {wanted!r}")

    def part(self, function):
        """Runs a part of the test; an exception is a failure with its name."""
        try:
            with Place() as place:
                function(self, place)
        except Exception as error:  # an aborted part is one failure
            self.check(function.__name__, False, f"{type(error).__name__}: {error}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or told else 0)


def needs_tmux():
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux (setup/packages.sh test)")
        sys.exit(77)
