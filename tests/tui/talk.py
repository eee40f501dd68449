# SPDX-License-Identifier: MIT
"""Shared by the scripts of keys: a conversation with a fork, the tree's rows, and the store
beside the screen. Entries have fixed ids, so that whole rows can be compared."""
import concurrent.futures
import json
import os
import re
import sys
import threading
import time

from screen import Count, Place, Polls, inside, needs_tmux

PATIENCE_S = float(os.environ.get("TUI_PATIENCE_S", "20"))
AT_ONCE = int(os.environ.get("TUI_AT_ONCE", "4"))
LONG = os.environ.get("TUI_LONG") == "1"

# u1 a1 u2 a2 in the open take main; u1 a1 u3 a3 in take duck.
FORK = ["  • User: Which database?",
        "  • AI: SQLite: one file.",
        "  ├⊟ • User: Use SQLite, not Postgres",
        "› │     • AI: Good. Schema  {main}  ← active",
        "  └⊟ User: What about DuckDB?",
        "        AI: DuckDB is fine too  {duck}"]


def add(place, role, entry, text, *more):
    place.run("add", "--quiet", "-r", role, "--id", entry, *more, "--", text)


def fork(place):
    """Creates the conversation of FORK."""
    add(place, "User", "u1", "Which database?")
    add(place, "AI", "a1", "SQLite: one file.")
    add(place, "User", "u2", "Use SQLite, not Postgres")
    add(place, "AI", "a2", "Good. Schema")
    place.run("branch", "a1", "duck")
    add(place, "User", "u3", "What about DuckDB?")
    add(place, "AI", "a3", "DuckDB is fine too")
    place.run("takes", "switch", "main")


def script(place, *lines, times=8):
    """A scripted model that gives this reply, this many times."""
    path = os.path.join(place.dir, "script")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join([json.dumps(line) for line in (*lines, {"next": True})] * times) + "\n")
    return "builtin/play:" + path


def editor(place):
    """An editor that appends a few words; only on a terminal."""
    path = os.path.join(place.dir, "editor")
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\ntest -t 0 || exit 3\nprintf ' (by the editor)' >> \"$1\"\n")
    os.chmod(path, 0o755)
    return path


def answer(t, question, text, *keys):
    """Waits for a question on the screen; then presses Enter, or other keys."""
    t.wait(question)
    if text:
        t.type(text)
    t.key(*(keys or ("Enter",)))


def until(what, look, wanted, term=None):
    """Waits until look() returns `wanted`; returns its last result."""
    end = time.monotonic() + PATIENCE_S
    with Polls():
        got = look()
        while got != wanted and time.monotonic() < end:
            time.sleep(0.02)
            got = look()
        if got != wanted and term is not None:
            print(f"{what}: the screen is\n" + "\n".join(f"  |{row}" for row in term.screen()))
    inside.stored = term is None
    if got == wanted and term is not None:
        term.waited(lambda: look() == wanted)
    return got


# ---- the screen ----

def tree_rows(term):
    """Returns (rows of the tree, its footer), without trailing blank rows."""
    rows = term.screen()
    at = next((i for i, row in enumerate(rows) if row.startswith("─ Tree")), None)
    found = []
    for row in rows[at + 1:] if at is not None else []:
        if re.match(r"  \(\d+/\d+\)", row):
            while found and not found[-1]:
                found.pop()
            return found, row.strip()
        found.append(row)
    return None, None


def cut_preview(rows, columns):
    """Rows of the left half, and of the right one."""
    left = [row[:columns].rstrip() for row in rows]
    right = [row[columns + 2:].rstrip() for row in rows]
    while left and not left[-1]:
        left.pop()
    return left, right


class Check(Count):
    """Checks of a screen, each with a wait."""

    def tree(self, what, term, rows, foot=None):
        got = until(what, lambda: tree_rows(term)[0], rows, term)
        self.equal(what, got, rows)
        if foot is not None:
            self.equal(what + ": its footer", tree_rows(term)[1], foot)

    def at(self, what, term, row, foot):
        """The tree's cursor is on the row with this text, and the footer has this text."""
        def look():
            rows, seen = tree_rows(term)
            return [r[2:].strip() for r in rows or [] if r.startswith("›")], seen
        got = until(what, look, ([row], foot), term)
        self.equal(what, got, ([row], foot))

    def rows(self, what, term, first, wanted):
        """Rows of the screen from `first` on."""
        def look():
            return term.screen()[first:first + len(wanted)]
        self.equal(what, until(what, look, wanted, term), wanted)

    def says(self, what, term, *wanted, gone=()):
        try:
            term.wait(*wanted, gone=gone, patience=PATIENCE_S)
            self.check(what, True)
        except AssertionError as error:
            self.check(what, False, str(error))

    def store(self, what, look, wanted):
        """Waits until the command line reports this about the store."""
        self.equal(what, until(what, look, wanted), wanted)

    def verb(self, what, place, term, do, said, op, wanted, undo="M-u", redo="M-r"):
        """Runs a verb with do(), and checks its message, that it is one step of the TUI, and the
        state of the store (wanted(place) is true); then undo, redo and undo, each with the
        exact state."""
        before, seq = value(place), newest(place)["seq"]
        do()
        self.says(f"{what}: said", term, said)
        after = value(place)
        self.check(f"{what}: {wanted.__doc__ or 'as it has to be'}", wanted(place),
                   "\n".join(str(e) for e in contents(place)))
        self.check(f"{what}: something has changed", after != before)
        step = newest(place)
        self.equal(f"{what}: one step", (step["parent"] == seq, step["op"], step["by"]), (True, op, "tui"))
        for key, word, then in ((undo, "Undone", before), (redo, "Redone", after),
                                (undo, "Undone", before)):
            term.key(key)
            self.says(f"{what}: {word}", term, word)
            now = value(place)
            self.check(f"{what}: {word}, the value", now == then, differ(now, then))


# ---- the store ----

def differ(now, then):
    """Members that only one of two values has."""
    lines = [[json.dumps(row) for part in one for row in (part["entries"] if "entries" in part else part)]
             for one in ((now[0], *now[1:]), (then[0], *then[1:]))]
    return "".join(f"\n  + {row}" for row in lines[0] if row not in lines[1]) + \
        "".join(f"\n  - {row}" for row in lines[1] if row not in lines[0])


def contents(place, take=None):
    """[(id, text)] of a take."""
    words = ["show"] + (["--take", take] if take else [])
    return [(e["id"], e["content"]) for e in place.json(*words)["entries"]]


def ids(place, take=None):
    return [entry for entry, _ in contents(place, take)]


def head(place):
    return place.json("show")["head"]


def value(place):
    """The state that undo and redo restore, without the time of the last change."""
    takes = [{**take, "last_updated": None} for take in place.json("takes")]
    return place.json("show"), place.json("tree"), takes


def newest(place):
    return next(step for step in place.json("history") if step["current"])


def steps(place):
    return max((step["seq"] for step in place.json("history")), default=0)


def takes(place):
    return sorted({name for row in place.json("tree") for name in row["takes"]})


# ---- parts ----

def run(*parts):
    """Runs each part with a separate store, several at a time. Arguments select parts by name."""
    needs_tmux()
    wanted = [part for part in parts if not sys.argv[1:] or part.__name__ in sys.argv[1:]]
    counts, lock = Check(), threading.Lock()

    def one(part):
        mine, began = Check(), time.monotonic()
        mine.part(part)
        with lock:
            counts.passed += mine.passed
            counts.failed += mine.failed
            if os.environ.get("TUI_TIMES"):
                print(f"{part.__name__}: {time.monotonic() - began:.1f} s, {mine.passed} passed, "
                      f"{mine.failed} failed", flush=True)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, wanted))
    counts.end()


__all__ = ["AT_ONCE", "Check", "FORK", "LONG", "Place", "add", "answer", "contents", "cut_preview", "editor",
           "fork", "head", "ids", "newest", "run", "script", "steps", "takes", "tree_rows", "until", "value"]
