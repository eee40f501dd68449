#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Torture: every command of the program, with its memory or its disk failing.

Each command runs on a copy of a small store (three takes, labels, a prompt, undone steps, a
second discussion). First undisturbed: that gives its output, the state after it, and the
number of its calls of each kind. Then repeatedly, with the Nth call failing (fault.c), once
or from there on. Checks of each run:

  ends      with a documented exit status, not by a signal, and in time
  says      if the status is not 0, standard error describes the error
  output    if the status is 0, the same as undisturbed
  fsck      finds nothing afterwards
  whole     the state is the one before or the one after (with several operations: or one in
            between), and the one after if the status is 0
  clean     no more blocks leak than undisturbed, and there are no unknown files
  true      statements about the state are correct: "nothing was changed", or the result of
            each line

A failed check is one finding, printed with the command that reproduces it. Times are not
compared in states; clock and random numbers are simulated.

  torture.py                     points 1 to 25 of each fault, and four beyond
  torture.py --all               every point of every fault
  torture.py --seconds 300       stop after that time; the remaining points are skipped
  torture.py --verb edit --fault alloc:7
  torture.py --list              the commands and the number of their calls

A fault is KIND:N (from the Nth call on) or KIND:N:once; kinds are in fault.c. Exit status 77:
not possible on this machine (no C compiler, or a C library without what fault.c needs).
"""
import argparse
import itertools
import itertools
import json
import multiprocessing
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RETAKE = os.path.abspath(os.environ.get("RETAKE") or os.path.join(ROOT, "build/retake"))
EXIT_CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 130}
TIMEOUT_S = 120
SHALLOW = 25   # number of first calls to test
DEEP = 4       # number of later points of each fault

# kind of call, once or from there on, pattern of the error
SAYS_MEMORY = re.compile(r"memory", re.I)
SAYS_DISK = re.compile(r"disk|space|input/output|i/o|\bread|\bwrite|cannot|could not|memory", re.I)
SAYS_FULL = re.compile(r"full|space|memory", re.I)
FAULTS = {
    "alloc": ("alloc", False, SAYS_MEMORY),
    "alloc:once": ("alloc", True, SAYS_MEMORY),
    "io": ("io", False, SAYS_DISK),
    "io:once": ("io", True, SAYS_DISK),
    "full": ("full", False, SAYS_FULL),
    "full:once": ("full", True, SAYS_FULL),
    "read": ("read", False, SAYS_DISK),
    "read:once": ("read", True, SAYS_DISK),
    "intr:once": ("intr", True, SAYS_DISK),
}


def op(name, /, **fields):
    return json.dumps({"op": name, **fields})


PREPARE = [
    op("entry.append", id="u1", role="User", content="Write a haiku about ducks."),
    op("entry.append", id="a1", role="AI", content="Quiet pond at dawn\nA duck says nothing at all"),
    op("entry.append", id="u2", role="User", content="Now make it funny.\n\nAnd shorter."),
    op("entry.append", id="a2", role="AI", content="Quack."),
    op("entry.append", id="u3", role="User", content="the secret is swordfish"),
    op("entry.append", id="a3", role="AI",
       content=[{"type": "text", "text": "I will not tell."}, {"type": "toolCall", "name": "look"}]),
    op("label.set", entry="a1", label="good"),
    op("label.set", entry="u3", label="late"),
    op("prompt.update", text="Write about {topic}."),
    op("setting.set", key="model", value="small"),
    op("files.set", which="files", items=["a.c", "b.c"]),
    op("take.branch", at="a1", name="second"),
    op("entry.append", id="u4", role="User", content="Longer, please."),
    op("entry.append", id="a4", role="AI", content="It is still a duck."),
    op("take.branch", at="u4", name="third"),
    op("entry.append", id="a5", role="AI", content="A goose, then."),
    op("entry.edit", entry="u4", content="Longer, please, and in French."),
    op("take.switch", take="main"),
    op("discussion.new", name="other"),
    op("entry.append", id="o1", role="User", content="Something else."),
    op("discussion.switch", discussion="main"),
    op("entry.mute", entry="a2"),
    op("entry.append", id="u5", role="User", content="One more."),
    op("entry.append", id="a5x", role="AI", content="No."),
]

SEVERAL = [
    op("entry.append", id="n1", role="User", content="first of several"),
    op("entry.edit", entry="a2", content="Quack, quack."),
    op("take.branch", at="u2", name="fourth"),
    op("entry.append", id="n2", role="AI", content="last of several"),
]

PI = "\n".join([
    json.dumps({"type": "session", "version": 3, "id": "5f3a1c3e-0000-4000-8000-000000000001",
                "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/tmp"}),
    json.dumps({"type": "message", "id": "aaaa0001", "parentId": None,
                "timestamp": "2026-01-02T03:04:06.000Z",
                "message": {"role": "user", "content": [{"type": "text", "text": "Hello there."}],
                            "timestamp": 1767323046000}}),
    json.dumps({"type": "message", "id": "aaaa0002", "parentId": "aaaa0001",
                "timestamp": "2026-01-02T03:04:07.000Z",
                "message": {"role": "assistant", "api": "openai-completions", "provider": "local",
                            "model": "small", "stopReason": "stop",
                            "content": [{"type": "text", "text": "Hello to you."}],
                            "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0,
                                      "totalTokens": 2, "cost": {"input": 0, "output": 0,
                                      "cacheRead": 0, "cacheWrite": 0, "total": 0}},
                            "timestamp": 1767323047000}}),
]) + "\n"

# name: words after "retake --db STORE", unless they begin with "retake" themselves. DIR is replaced
# by the store's directory.
VERBS = {
    "add": "add -r User 'a new entry'",
    "add file": "add -r AI -f DIR/in.txt",
    "insert": "insert --before :2 -r User inserted",
    "edit": "edit :2 'other words'",
    "edit everywhere": "edit a1 --everywhere 'other words'",
    "edit as take": "edit :4 --as-take 'other words' --name edited",
    "edit blocks": "edit a3 'other words'",
    "edit blocks as take": "edit a3 --as-take 'other words'",
    "edit content": "edit a3 --content-json '[]'",
    "replace": "edit --replace duck goose",
    "role": "role :2 System",
    "delete": "delete :3",
    "delete range": "delete :3..:5",
    "move": "move :4 --before :2",
    "mute": "mute :2",
    "unmute": "unmute a2",
    "split blocks": "split a3 --before-text not",
    "split": "split :3 --before-text And",
    "merge blocks": "merge u3",
    "merge": "merge :3",
    "view entry": "view :2 --collapse",
    "branch": "branch :3 fresh",
    "go": "go :2",
    "label": "label :4 named",
    "label clear": "label good --clear",
    "labels": "label",
    "takes": "takes",
    "takes switch": "takes switch second",
    "takes rename": "takes rename second renamed",
    "takes rm": "takes rm third",
    "takes diff": "takes diff main second",
    "diff": "diff main second",
    "template": "template save review 'Review {{file}}.'",
    "promote": "promote second promoted",
    "clear": "clear",
    "truncate": "truncate 1",
    "graft": "graft a4 --from second --after :2",
    "extract": "extract a2 extracted",
    "new": "new another",
    "use": "use other",
    "rename": "rename other renamed",
    "rm": "rm other --yes",
    "ls": "ls",
    "projects": "projects",
    "status": "status",
    "prompt": "prompt show",
    "prompt set": "prompt set 'Another prompt.'",
    "prompt notify": "prompt notify",
    "settings": "settings",
    "set": "set temperature 0.7",
    "unset": "set model --unset",
    "roles add": "roles add Critic",
    "files": "files add files c.c",
    "symbols": "symbols",
    "track": "track song",
    "tracks": "tracks",
    "tag": "tag song/verse",
    "pin": "pin",
    "archive": "archive other",
    "merge-take": "merge-take third -m builtin/summary",
    "preset": "preset save mine",
    "undo": "undo",
    "undo 3": "undo 3",
    "redo": "redo",
    "jump": "jump 12",
    "revert": "revert 10",
    "revisions": "revisions u4 --take third",
    "reset": "reset",
    "purge": "purge a1 --yes",
    "purge text": "purge --text swordfish --yes",
    "show": "show",
    "show json": "show --json",
    "show at": "show --at-op 5",
    "tree": "tree",
    "history": "history",
    "history show": "history show 17",
    "search": "search duck",
    "context": "context --provider openai",
    "context tokens": "context --tokens -m gpt-4o --budget 100",
    "export canonical": "export --format canonical",
    "export pi": "export --format pi --all --lossless -o DIR/out.jsonl",
    "export toml": "export --format toml -o DIR/out.toml",
    "export markdown": "export --format markdown -o DIR/out.md",
    "export openai": "export --format openai",
    "import pi": "import DIR/pi.jsonl",
    "import canonical": "import DIR/in.json --name copy",
    "import toml": "import DIR/in.toml",
    "import markdown": "import DIR/in.md",
    "apply": "apply DIR/several.jsonl",
    "apply atomic": "apply --atomic DIR/several.jsonl",
    "save": "save",
    "fsck": "fsck",
    "backup": "backup DIR/copy.db",
    "copy": "copy DIR/old.db DIR/copied.db",
    "restore": "restore DIR/old.db --yes",
    "repair": "repair",
    "checkpoint": "checkpoint",
    "index": "index",
    "doctor": "doctor",
    "ask": "ask -m builtin/echo 'Hello there?'",
    "again": "again -m builtin/echo",
    "again continue": "again --continue -m builtin/echo",
    "compact": "compact -m builtin/summary --keep 5",
    "compact range": "compact :2..:3 -m builtin/summary",
    "compress": "compress -m builtin/summary",
    "go summary": "go :2 --summary -m builtin/summary",
    "models": "models",
    "comms": "comms",
    "hooks": "hooks",
    "demo": "retake demo DIR/demo",
    "help": "help edit",
    "help all": "help",
    "completion": "completion bash",
    "complete": "complete -- --db DIR/t.db show a",
}
# Commands that run until they are stopped, one that identifies its request by the store's path, and one for PostgreSQL.
NOT_TRIED = {"chat", "tui", "serve", "replay", "store"}


def add_other_commands():
    """Commands that are not in the table are tested with the first example of their help."""
    known = {words.removeprefix("retake ").split()[0] for words in VERBS.values()} | NOT_TRIED
    listed = json.loads(subprocess.check_output([RETAKE, "help", "--json"]))["commands"]
    for command in listed:
        if command["name"] not in known:
            VERBS[command["name"]] = command["examples"][0].removeprefix("retake ")


# A line that fails changes nothing and the rest continues: any subset of the lines may be applied.
STEPS = {"apply": SEVERAL}
# A question and its reply are two steps; a partial reply and the failure of a question are kept.
REPLIES = {"ask", "again", "again continue"}
PARTIAL = {"partial", "stop_reason", "usage", "error", "model", "provider", "duration_ms",
           "failures"}
# The request log and similar: losing it is not a failure, and it is not part of the state.
BESIDE = {".local"}
# Files that the commands create in the directory.
OUTPUTS = re.compile(r"out\.\w+$|copy\.db$|(t|copied)\.db(-wal|-shm|-journal)?$")
# These keep whole stores under new names.
KEEPS = {"repair", "restore"}
# These report errors as part of their output.
ANSWERS = {"fsck", "apply", "apply atomic", "doctor"}
# Completion offers what exists; on errors nothing.
OFFERS = {"complete"}
# Other stores that they create.
STORES = ["copy.db", "copied.db", "demo/demo.db"]
# Without the index the order of results differs.
ANY_ORDER = {"search"}


class Refused(Exception):
    pass


def environment(home, extra=None):
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "TMPDIR": home,
           "XDG_DATA_HOME": home, "LC_ALL": "C.UTF-8", "TZ": "UTC", "EDITOR": "false",
           "PAGER": ""}
    env.update(extra or {})
    return env


def build_library(folder):
    library = os.path.join(folder, "fault.so")
    compiler = os.environ.get("CC", "cc").split()
    try:
        done = subprocess.run(compiler + ["-std=c17", "-O1", "-g", "-fPIC", "-shared", "-o", library,
                                          os.path.join(HERE, "fault.c"), "-ldl"],
                              capture_output=True, text=True)
    except OSError as bad:
        raise Refused(f"no C compiler: {bad}")
    if done.returncode != 0:
        raise Refused("fault.c does not compile here:\n" + done.stderr)
    return library


class Case:
    """The undisturbed run of a command."""

    def __init__(self, name):
        self.name = name
        self.counts = {}
        self.exit = 0
        self.out = b""
        self.err = b""
        self.states = []   # before, between, after
        self.by_lines = {} # for STEPS: the applied lines (True, False, …), and the state
        self.files = {}    # other files that it creates: name, contents


class Server:
    """A command stopped before its first instruction, to be run repeatedly (FAULT_SERVE)."""

    def __init__(self, words, env, folder):
        ask, self.ask = os.pipe()
        self.answer, answer = os.pipe()
        self.process = subprocess.Popen(words, env=dict(env, FAULT_SERVE=f"{ask},{answer}"),
                                        cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        pass_fds=(ask, answer))
        os.close(ask)
        os.close(answer)
        self.lines = b""

    def line(self, seconds):
        """The next number that it writes; None if it does not in that time."""
        until = time.monotonic() + seconds
        while b"\n" not in self.lines:
            ready, _, _ = select.select([self.answer], [], [], max(0, until - time.monotonic()))
            if not ready:
                return None
            some = os.read(self.answer, 64)
            if not some:
                raise RuntimeError(f"{self.process.args} ended before it was asked to")
            self.lines += some
        number, self.lines = self.lines.split(b"\n", 1)
        return int(number)

    def run(self, kind, at, once):
        """The exit status, negative for a signal; None: timeout."""
        os.write(self.ask, f"{kind} {at} {int(once)}\n".encode())
        child = self.line(TIMEOUT_S)
        state = self.line(TIMEOUT_S)
        if state is None:
            os.kill(child, signal.SIGKILL)
            self.line(TIMEOUT_S)
            return None
        return os.waitstatus_to_exitcode(state)

    def close(self):
        os.close(self.ask)
        os.close(self.answer)
        self.process.wait()


class Torture:
    def __init__(self, work, keep):
        self.work = work
        self.keep = keep
        self.library = build_library(work)
        self.start = os.path.join(work, "start")
        self.own = None      # the directory of this process
        self.servers = {}    # words, server
        self.marks = {}      # initial files of the directory: name, mark

    # ---- running commands ----

    def folder(self):
        """This process's own directory, in its initial state. All names have the same length."""
        if self.own is None:
            self.own = os.path.join(self.work, f"run{os.getpid():010d}")
            os.mkdir(self.own)
        for entry in os.scandir(self.own):
            if self.marks.get(entry.name) == self.mark(entry.path):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
            self.marks.pop(entry.name, None)
        for name in self.given:
            path = os.path.join(self.own, name)
            if name not in self.marks or not os.path.exists(path):
                shutil.copy(os.path.join(self.start, name), path)
                os.utime(path, ns=(0, 0))
                self.marks[name] = self.mark(path)
        return self.own

    @staticmethod
    def mark(path):
        """Changes at every write to the file: its modification time was set to the past."""
        info = os.lstat(path)
        return info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode

    def again(self, words, folder, fault=("none", 0, False)):
        """The result of run(), using a fork server."""
        key = tuple(words)
        report, out, err = (f"{folder}.{what}" for what in ("report", "out", "err"))
        if key not in self.servers:
            if len(self.servers) > 8:
                self.close()
            env = environment(folder, self.fault_env(folder, ("none", 0, False)))
            env.update(FAULT_REPORT=report, FAULT_OUT=out, FAULT_ERR=err)
            self.servers[key] = Server(words, env, folder)
        code = self.servers[key].run(*fault)
        return self.results(code, folder, self.read(out), self.read(err), report)

    def close(self):
        for server in self.servers.values():
            server.close()
        self.servers = {}

    @staticmethod
    def words(name, folder):
        words = [w.replace("DIR/", folder + "/") for w in shlex.split(VERBS[name])]
        if words[0] == "retake":
            return [RETAKE] + words[1:]
        return [RETAKE, "--db", f"{folder}/t.db"] + words

    def run(self, words, folder, fault=None):
        """(exit status, output, errors, report); fault: (kind, N, once) or None."""
        env = environment(folder)
        report = os.path.join(folder, "report")
        if fault is not None:
            env.update(self.fault_env(folder, fault), FAULT_REPORT=report)
        try:
            done = subprocess.run(words, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT_S, close_fds=False)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, err = None, late.stdout or b"", late.stderr or b""
        return self.results(code, folder, out, err, report)

    @staticmethod
    def results(code, folder, out, err, report):
        counts = {}
        if os.path.exists(report):
            with open(report) as lines:
                counts = {k: int(v) for k, v in (line.split() for line in lines)}
            os.remove(report)
        hide = folder.encode()
        out = re.sub(rb"\d+ MiB free", b"some MiB free", out)
        return code, out.replace(hide, b"DIR"), err.replace(hide, b"DIR"), counts

    def fault_env(self, folder, fault, seed=999):
        kind, at, once = fault
        env = {"LD_PRELOAD": self.library, "FAULT_KIND": kind, "FAULT_AT": str(at),
               "FAULT_DIR": folder + "/", "FAULT_SEED": str(seed)}
        if once:
            env["FAULT_ONCE"] = "1"
        return env

    def state(self, folder):
        """The store's state without times, or an error."""
        code, out, err, _ = self.again([RETAKE, "--db", f"{folder}/t.db", "export", "--format",
                                        "canonical"], folder)
        if code != 0:
            return f"export fails with {code}: {err.decode(errors='replace')}"
        return json.dumps(without_times(json.loads(out)), sort_keys=True)

    # ---- the initial store ----

    def prepare(self):
        os.mkdir(self.start)
        db = self.start + "/t.db"

        def step(seed, *words, stdin=None):
            done = subprocess.run([RETAKE, "--db", db, *words], capture_output=True, input=stdin,
                                  cwd=self.start, env=environment(self.start, self.fault_env(
                                      self.start, ("alloc", 0, False), seed)))
            if done.returncode != 0:
                raise RuntimeError(f"{words}: {done.returncode}\n{done.stdout.decode()}\n"
                                   f"{done.stderr.decode()}")
            return done.stdout

        def put(name, data):
            with open(os.path.join(self.start, name), "wb") as out:
                out.write(data)

        put("a.c", b"int a;\n")  # the files in requests
        put("b.c", b"int b;\n")
        step(1, "apply", stdin=("\n".join(PREPARE) + "\n").encode())
        put("in.json", step(2, "export", "--format", "canonical"))
        put("in.toml", step(3, "-d", "other", "export", "--format", "toml"))
        put("in.md", step(4, "-d", "other", "export", "--format", "markdown"))
        step(5, "backup", self.start + "/old.db")
        step(6, "undo", "2")
        put("in.txt", b"from a file\nof two lines\n")
        put("pi.jsonl", PI.encode())
        put("several.jsonl", ("\n".join(SEVERAL) + "\n").encode())
        self.given = {f: self.bytes_of(self.start, f) for f in os.listdir(self.start)}

    @staticmethod
    def read(path):
        with open(path, "rb") as data:
            return data.read()

    def bytes_of(self, folder, name):
        path = os.path.join(folder, name)
        return b"" if os.path.isdir(path) else self.read(path)

    def touched(self, folder):
        """Names of changed files; a store's side files only if they are not empty."""
        found = set()
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if self.marks.get(name) == self.mark(path):
                continue
            if os.path.isdir(path):
                found.add(name)
            elif name.endswith("-shm"):
                continue
            elif name.endswith("-wal") and os.path.getsize(path) == 0:
                continue
            elif self.given.get(name) != self.bytes_of(folder, name):
                found.add(name)
        for name in self.given:
            if not os.path.exists(os.path.join(folder, name)) and not name.endswith("-shm"):
                found.add(name)
        return found

    # ---- undisturbed runs ----

    def clean(self, name):
        case = Case(name)
        folder = self.folder()
        before = self.state(folder)
        folder = self.folder()
        case.exit, case.out, case.err, case.counts = self.run(
            self.words(name, folder), folder, ("alloc", 0, False))
        if case.exit is None or case.exit not in EXIT_CODES or "live" not in case.counts:
            raise RuntimeError(f"{name} undisturbed: status {case.exit}\n"
                               f"{case.err.decode(errors='replace')}")
        if name in ANY_ORDER:
            case.out = b"\n".join(sorted(case.out.split(b"\n")))
        for extra in self.touched(folder) - set(self.given) - {"t.db-wal"} - BESIDE:
            case.files[extra] = self.bytes_of(folder, extra)
        case.states = [before, self.state(folder)]
        lines = STEPS.get(name, [])
        for done in itertools.product((False, True), repeat=len(lines)):
            folder = self.folder()
            with open(folder + "/several.jsonl", "w") as out:
                out.writelines(line + "\n" for line, yes in zip(lines, done) if yes)
            self.run(self.words(name, folder), folder, ("alloc", 0, False))
            case.by_lines[done] = self.state(folder)
        case.states[1:1] = case.by_lines.values()
        if name == "ask":
            case.states[1:1] = [without_reply(case.states[-1])]
        return case

    def answered(self, case, out):
        """The state according to the results; None: their number differs from that of the lines."""
        lines = [line for line in out.split(b"\n") if line]
        if len(lines) != len(STEPS.get(case.name, ())) or not lines:
            return None
        return case.by_lines.get(tuple(b'"error"' not in line for line in lines))

    # ---- disturbed runs ----

    def point(self, case, fault_name, at):
        """Failed checks: a list of (what, detail)."""
        kind, once, says = FAULTS[fault_name]
        folder = self.folder()
        wrong = []
        code, out, err, counts = self.again(self.words(case.name, folder), folder,
                                            (kind, at, once))
        text = (err + (out if case.name in ANSWERS else b"")).decode(errors="replace")
        if case.name in ANY_ORDER:
            out = b"\n".join(sorted(out.split(b"\n")))
        if code is None:
            return [("hangs", f"stopped after {TIMEOUT_S} s")]
        if code < 0:
            wrong.append(("crash", f"signal {-code}"))
        elif code not in EXIT_CODES:
            wrong.append(("exit", f"status {code} is in no table"))
        if counts and counts["hits"] == 0:
            return wrong + [("harness", "the fault was not reached")]
        if code > 0 and code != case.exit:
            if not text.strip():
                wrong.append(("silent", f"status {code} and nothing on standard error"))
            elif not says.search(text):
                wrong.append(("message", f"status {code}: {text.strip()}"))
        if code == 0 and case.exit == 0 and out != case.out and case.name not in KEEPS | OFFERS:
            wrong.append(("output", f"status 0, but the output is not the whole: {text.strip()}\n"
                                    f"{out[-300:].decode(errors='replace')}"))
        if counts and counts["live"] > case.counts["live"]:
            wrong.append(("leak", f"{counts['live'] - case.counts['live']} blocks more are left"))
        if code is not None and code >= 0 and not counts:
            wrong.append(("harness", "no report: ended without cleaning up"))
        touched = self.touched(folder) - BESIDE
        for name in sorted(touched - set(self.given) - {"t.db-wal", "copied.db-wal"}):
            if case.name in KEEPS:
                continue
            if name not in case.files:
                wrong.append(("left", f"the file {name} is left in the folder"))
            elif name not in STORES and self.bytes_of(folder, name) != case.files[name]:
                wrong.append(("torn", f"the file {name} is not the whole one"))
        for name in sorted(set(case.files) - touched):
            if code == 0 and case.name not in KEEPS:
                wrong.append(("absent", f"status 0, but {name} is not there"))
        for name in sorted((touched & set(self.given)) - {"t.db", "t.db-wal"}):
            wrong.append(("input", f"the file {name} was changed"))
        for store in STORES:
            if not os.path.exists(f"{folder}/{store}"):
                continue
            status, found, trouble, _ = self.again([RETAKE, "--db", f"{folder}/{store}", "fsck"],
                                                   folder)
            if status != 0:
                wrong.append(("torn", f"{store}: {(found + trouble).decode(errors='replace')}"))
        if not touched & {"t.db", "t.db-wal"}:
            if code == 0 and case.states[0] != case.states[-1]:
                wrong.append(("lost", "status 0, but nothing was written"))
            return wrong
        status, found, trouble, _ = self.again([RETAKE, "--db", folder + "/t.db", "fsck"], folder)
        # The mark is deleted last: the purge may have to be completed or repeated.
        if (case.name.startswith("purge") and b"purge-unfinished" in found and
                b"\n1 finding." in found):
            status = 0
        if status != 0:
            return wrong + [("fsck", f"status {status}: {(found + trouble).decode(errors='replace')}")]
        state = self.state(folder)
        if code != 0 and case.name in REPLIES and state[:1] == "{" and any(
                begins(json.loads(state), json.loads(after)) for after in case.states[1:]):
            return wrong
        if state not in case.states:
            wrong.append(("state", "neither before nor after" +
                          ("" if state[:1] in "{[" else ": " + state)))
        elif code == 0 and case.exit == 0 and state != case.states[-1]:
            wrong.append(("lost", "status 0, but the change is not there"))
        elif code != 0 and "othing was changed" in text and state != case.states[0]:
            wrong.append(("true", f"something was changed: {text.strip()}"))
        elif kind == "alloc" and self.answered(case, out) not in (None, state):
            wrong.append(("true", "the answers do not fit what was done"))
        return wrong

    @staticmethod
    def shown(name, fault_name, at):
        kind, once, _ = FAULTS[fault_name]
        fault = f"{kind}:{at}" + (":once" if once else "")
        return f"tests/torture/torture.py --verb {shlex.quote(name)} --fault {fault}"


def without_reply(state):
    """The state before the last entry was added."""
    value = json.loads(state)
    for discussion in value["discussions"]:
        for take in discussion["takes"]:
            entries = take["entries"]
            if entries and entries[-1]["id"] == discussion.get("head"):
                entries.pop()
                discussion["head"] = entries[-1]["id"]
                return json.dumps(value, sort_keys=True)
    raise RuntimeError("no take ends at the head")


def begins(part, whole):
    """Is this the state with a shorter reply?"""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(k in PARTIAL or (k in part and k in whole and begins(part[k], whole[k]))
                   for k in part.keys() | whole.keys())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(begins, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return part == whole


TIMES = {"ts", "at", "time", "created", "updated", "modified", "created_at", "updated_at",
         "timestamp"}


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def points_of(case, fault_name, args, turn):
    """The values of N to test."""
    kind, once, _ = FAULTS[fault_name]
    count = case.counts[kind]
    if args.all:
        return range(1, count + 1)
    points = [n for n in range(1, min(count, SHALLOW) + 1) if (n + turn) % args.stride == 0]
    deep = count - SHALLOW
    if deep > 0:
        points += sorted({SHALLOW + 1 + (turn * 7919 + i * deep // DEEP) % deep
                          for i in range(DEEP)})
    return points


def show_point(torture, case, fault):
    """Runs one point with full output, and shows where the call came from."""
    kind, at, once = fault
    folder = torture.folder()
    words = torture.words(case.name, folder)
    env = environment(folder, torture.fault_env(folder, fault))
    env.update(FAULT_TRACE="1", FAULT_REPORT=os.path.join(torture.work, "report"))
    done = subprocess.run(words, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print("status", done.returncode)
    print(done.stdout.decode(errors="replace")[-2000:])
    for line in done.stderr.decode(errors="replace").splitlines():
        print(line)
        if line.startswith("fault: "):
            addresses = re.findall(r"0x[0-9a-f]+", line)
            if addresses and shutil.which("addr2line"):
                where = subprocess.run(["addr2line", "-fspi", "-e", RETAKE] + addresses,
                                       capture_output=True, text=True).stdout
                print("    " + where.rstrip().replace("\n", "\n    "))
    name = kind + (":once" if once else "")
    return torture.point(case, name, at)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every point")
    parser.add_argument("--stride", type=int, default=1,
                        help="try one in so many points, another one for each command and fault")
    parser.add_argument("--offset", type=int, default=0, help="turn the sample by so many points")
    parser.add_argument("--verb", action="append", help="these commands alone")
    parser.add_argument("--kind", action="append", choices=list(FAULTS), help="these faults alone")
    parser.add_argument("--fault", help="this point alone, and say more: KIND:N[:once]")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    parser.add_argument("--list", action="store_true", help="the commands and their calls")
    args = parser.parse_args()
    for verb in args.verb or []:
        if verb not in VERBS:
            parser.error(f"no command {verb}; there are: {', '.join(VERBS)}")
    return args


def main():
    add_other_commands()
    args = parse()
    # Failures are simulated, so a real disk is not needed.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and not os.environ.get("TMPDIR") else None
    work = tempfile.mkdtemp(prefix="torture-", dir=memory)
    try:
        torture = Torture(work, args.keep)
        torture.prepare()
        try:
            return go(torture, args)
        finally:
            torture.close()
    except Refused as why:
        print(why)
        return 77
    finally:
        if args.keep:
            print(f"the folder is {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)


class Work:
    """State of a worker process. It is created before the workers, which inherit it."""
    torture = args = begin = None
    cases = {}


def clean(name):
    return Work.torture.clean(name)


def one(item):
    name, fault, at = item
    if Work.args.seconds and time.monotonic() - Work.begin > Work.args.seconds:
        return item, None
    return item, Work.torture.point(Work.cases[name], fault, at)


def go(torture, args):
    begin = time.monotonic()
    passed = failed = 0
    late = {}    # by command: number of points that were not reached
    seen = {}
    workers = multiprocessing.get_context("fork")
    Work.torture, Work.args, Work.begin = torture, args, begin
    with workers.Pool(args.jobs) as pool:
        cases = pool.map(clean, args.verb or VERBS, 1)
    Work.cases = {case.name: case for case in cases}
    with workers.Pool(args.jobs) as pool:
        for case in cases:
            if args.list:
                print(f"{case.name}: status {case.exit}, {case.counts}")
            elif case.exit != 0:
                print(f"FAILED: {case.name} undisturbed: status {case.exit}: "
                      f"{case.err.decode(errors='replace').strip()}")
                failed += 1
        if args.list:
            return 0
        if args.fault:
            kind, at, *once = args.fault.split(":")
            for case in cases:
                wrong = show_point(torture, case, (kind, int(at), bool(once)))
                for what, detail in wrong:
                    print(f"FAILED: {what}: {detail}")
                failed, passed = failed + bool(wrong), passed + (not wrong)
        else:
            groups = [[(case.name, fault, at)
                       for at in points_of(case, fault, args, turn + args.offset)]
                      for turn, (case, fault) in enumerate(
                          (c, f) for c in cases for f in (args.kind or FAULTS))]
            # In turn, the last points first: a limit of time leaves out points, not commands.
            todo = [item for row in itertools.zip_longest(*map(reversed, groups))
                    for item in row if item] if args.seconds else sum(groups, [])
            for (name, fault, at), wrong in pool.imap(one, todo, 20):
                if wrong is None:
                    late[name] = late.get(name, 0) + 1
                elif not wrong:
                    passed += 1
                else:
                    failed += 1
                    for what, detail in wrong:
                        known = seen.setdefault((name, fault.split(":")[0], what), 0)
                        seen[(name, fault.split(":")[0], what)] = known + 1
                        if known < 2:
                            print(f"FAILED: {what}: {detail}\n    "
                                  f"{torture.shown(name, fault, at)}", flush=True)
    calls = sum(sum(case.counts[k] for k in ("alloc", "io", "read")) for case in cases)
    print(f"{len(cases)} commands, {calls} calls that can fail, "
          f"{time.monotonic() - begin:.0f} s")
    for (verb, kind, what), count in sorted(seen.items()):
        if count > 2:
            print(f"  {verb}, {kind}: {what} {count} times")
    skipped = sum(late.values())
    if skipped:
        print("not reached in time: " + ", ".join(f"{name} ({late[name]} points)" for name in late))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


sys.exit(main())
