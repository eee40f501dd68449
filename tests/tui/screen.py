# SPDX-License-Identifier: MIT
"""The program on a terminal: tmux on a server of its own, keys in, screens out.

    with Place() as place, place.open("-m", "builtin/echo", size=(80, 24)) as t:
        t.type("Are you there?")
        t.key("Enter")
        t.wait("Are you there?", "AI")

Every wait has a text that has to appear; nothing here depends on how fast the machine is,
but for the time after which it gives up.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RETAKE = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
PATIENCE_S = 30.0


class Place:
    """A home, a store, an environment with nothing of the person's in it."""

    def __init__(self):
        self.kept = tempfile.TemporaryDirectory(prefix="retake-tui-")
        self.dir = self.kept.name
        self.db = os.path.join(self.dir, "talk.db")
        self.terms = []

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
        """The command line on the same store; gives what it printed."""
        done = subprocess.run([RETAKE, *words], input=text, text=True, env=self.env(**more),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"retake {words}: {done.returncode} {done.stderr}")
        return done.stdout

    def drafts(self):
        """Files with what is written and not sent."""
        for folder, _, names in os.walk(self.dir):
            for name in names:
                if name.startswith("draft-"):
                    yield os.path.join(folder, name)

    def kill(self, signal):
        """The program itself, in the newest terminal."""
        pane = int(self.terms[-1].tmux("display-message", "-p", "#{pane_pid}"))
        for entry in os.listdir("/proc"):
            try:
                fields = open(f"/proc/{entry}/stat", encoding="ascii").read().rsplit(")", 1)
                name, parent = fields[0].split("(", 1)[1], int(fields[1].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == pane and name == "retake":
                os.kill(int(entry), signal)
                return
        raise AssertionError("there is no retake in that terminal")

    def json(self, *words):
        import json
        return json.loads(self.run(*words, "--json"))

    def texts(self):
        """(role, text) of the take at hand."""
        return [(e["role"], e["content"]) for e in self.json("show")["entries"]]

    def open(self, *words, size=(80, 24), program=None, **more):
        term = Term(self, program or [RETAKE, *words], size, self.env(**more))
        self.terms.append(term)
        return term


class Term:
    def __init__(self, place, command, size, env):
        self.socket = os.path.join(place.dir, f"tmux-{len(place.terms)}")
        self.place = place
        columns, rows = size
        line = " ".join(f"{key}={shlex.quote(value)}" for key, value in env.items() if key != "PATH")
        # A shell of its own, so that what is left of the screen can be looked at afterwards.
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

    def key(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def paste(self, text):
        path = os.path.join(self.place.dir, "paste")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        self.tmux("load-buffer", path)
        self.tmux("paste-buffer", "-p", "-r")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self):
        """The rows, without the blanks at their ends."""
        return [row.rstrip() for row in self.tmux("capture-pane", "-p").split("\n")]

    def text(self):
        return "\n".join(self.screen())

    def cursor(self):
        x, y = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def wait(self, *wanted, gone=(), patience=PATIENCE_S):
        """Until all of these (texts, or patterns) are on the screen, and none of those."""
        end = time.monotonic() + patience
        while True:
            text = self.text()
            there = all(w.search(text) if isinstance(w, re.Pattern) else w in text for w in wanted)
            if there and not any(g in text for g in gone):
                return text
            if time.monotonic() > end:
                raise AssertionError(f"waited for {wanted} without {gone}; the screen is\n" +
                                     "\n".join(f"  |{row}" for row in self.screen()))
            time.sleep(0.02)

    def row(self, pattern):
        """The first row that matches."""
        for row in self.screen():
            if re.search(pattern, row):
                return row
        raise AssertionError(f"no row with {pattern} in\n{self.text()}")


class Count:
    """Checks, counted as the other scripts count them."""

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
        """A part of the test; what is thrown in it is a failure with its name."""
        try:
            with Place() as place:
                function(self, place)
        except Exception as error:  # a part that breaks off is one failure
            self.check(function.__name__, False, f"{type(error).__name__}: {error}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def needs_tmux():
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux (setup/packages.sh test)")
        sys.exit(77)
