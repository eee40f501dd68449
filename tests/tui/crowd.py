# SPDX-License-Identifier: MIT
"""Random keys, pastes, commands and sizes, on a store that another process changes at random
(including purges and deleted discussions) and locks now and then.

  crowd.py [SEED …]     CROWD_STEPS: number of actions per seed

A seed determines the actions, but not how they interleave. Invariants: the program keeps
running, returns to the chat and accepts input there, its chat and tree equal those of a fresh
instance, it exits normally, and the store is valid."""
import json
import os
import random
import re
import sqlite3
import sys
import threading
import time

from screen import Count, Place, needs_tmux

STEPS = int(os.environ.get("CROWD_STEPS", "150"))
SEEDS = [int(word) for word in sys.argv[1:]] or [1]
SIZE = (100, 30)
SIZES = [SIZE, (40, 10), (20, 5), (10, 3), (200, 50), (1, 1), (80, 24)]
TALK_STEPS = 25 # actions between two checks of the invariants
# Keys that leave the program or suspend it.
NOT_PRESSED = ("ctrl+q", "ctrl+d", "ctrl+c", "ctrl+z")
NAMES = {"up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End",
         "pageup": "PPage", "pagedown": "NPage", "delete": "DC", "backspace": "BSpace", "tab": "Tab",
         "enter": "Enter", "escape": "Escape", "space": "Space"}
MOVES = ["Up", "Down", "PPage", "NPage", "Home", "End", "Left", "Right", "j", "k", "n", "N", "Tab"]
WORDS = ["line", "zwölf", "你好 und", "hidden words", "a", "\\x", "- list", "`code`", "**b**",
         "👩‍👩‍👧 e\u0301", "0", ":3", "t1", "main"]
SLASHES = ["/again", "/branch-here r1", "/branches", "/continue", "/discussions", "/edit", "/help",
           "/history", "/label L", "/new N1", "/prompt", "/redo", "/role AI", "/search line", "/tree",
           "/undo 3", "/view :2 --collapsed", "/merge :2", "/show :1", "/diff main duck", "/clear",
           "/purge --text 'hidden words' --yes", "/truncate 5", "/bogus", "/move :3 --before :1"]
PASTES = ["pasted\ntext\n", "x" * 3000, "one\ttwo \x01\x1b[31m", "é" * 500 + "\n" * 40]
TAKES = ["main", "duck", "b0", "b1", "b2", "b3"]
DISCUSSIONS = ["main", "other", "north", "south", "west"]


def key_names(place):
    """tmux's names of all bound keys."""
    found = set()
    for row in place.json("help", "keys"):
        for key in row["keys"]:
            *mods, last = key.split("+") if not key.endswith("+") else [""]
            if key in NOT_PRESSED or not last:
                continue
            last = last.upper() if re.fullmatch(r"f\d+", last) else NAMES.get(last, last)
            if mods and mods[-1] == "shift" and len(last) == 1:
                mods, last = mods[:-1], last.upper()
            found.add("".join({"ctrl": "C-", "alt": "M-", "shift": "S-"}[mod] for mod in mods) + last)
    return sorted(found)


def fill(place):
    """A conversation with long and short entries, a second take and a second discussion."""
    rows = []
    for i in range(40):
        text = f"line number {i}" + "\n- point with **bold** and `code` 你好" * (i % 9)
        if i % 13 == 7:
            text += "\n```c\nint x;\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        rows.append({"op": "entry.append", "role": "AI" if i % 2 else "User",
                     "content": text + (" hidden words" if i % 9 == 4 else "")})
        if i == 25:
            rows.append({"op": "take.branch", "at": ":12", "name": "duck"})
        if i == 35:
            rows.append({"op": "take.switch", "take": "main"})
    rows.append({"op": "discussion.new", "name": "other"})
    rows += [{"op": "entry.append", "role": "User", "content": f"other {i}"} for i in range(5)]
    rows.append({"op": "discussion.switch", "discussion": "main"})
    place.run("--relaxed", "apply", "-q", "-", text="".join(json.dumps(row) + "\n" for row in rows))


def change(chance):
    """A random change; the store may refuse it."""
    entry = f":{chance.choice([-1, -2, -3, 1, 2, 3, 5, 8, 20])}"
    take, disc = chance.choice(TAKES), chance.choice(DISCUSSIONS)
    return chance.choice([
        {"op": "entry.append", "role": chance.choice(["User", "AI"]), "content": "from elsewhere " +
         chance.choice(WORDS)},
        {"op": "entry.edit", "entry": entry, "content": "edited\n" * chance.choice([1, 1, 30])},
        {"op": "entry.delete", "entry": entry},
        {"op": "entry.delete", "from": ":2", "to": ":4"},
        {"op": "entry.insert", "before": entry, "role": "User", "content": "inserted"},
        {"op": "entry.move", "entry": entry, "before": ":1"},
        {"op": "entry.mute", "entry": entry},
        {"op": "entry.view", "entry": entry, "collapsed": chance.random() < 0.5},
        {"op": "entry.split", "entry": entry, "at": 3},
        {"op": "entry.merge", "entry": ":2"},
        {"op": "take.branch", "at": entry, "name": take},
        {"op": "take.switch", "take": take},
        {"op": "take.delete", "take": take},
        {"op": "take.rename", "take": "duck", "name": take},
        {"op": "take.clear"} if chance.random() < 0.1 else {"op": "head.move", "entry": entry},
        {"op": "label.set", "entry": entry, "label": chance.choice(["x", "y", None])},
        {"op": "discussion.new", "name": disc},
        {"op": "discussion.switch", "discussion": disc},
        {"op": "discussion.delete", "discussion": disc},
        {"op": "prompt.update", "text": f"prompt {chance.random()}"},
        {"op": "undo", "count": chance.choice([1, 1, 2, 6])},
        {"op": "redo"},
        {"op": "jump", "to": chance.randrange(80)},
        {"op": "project.reset"} if chance.random() < 0.1 else {"op": "undo"},
        {"op": "purge", "text": "hidden words"},
        {"op": "purge", "entry": entry} if chance.random() < 0.3 else {"op": "redo"},
    ])


class Others(threading.Thread):
    """Other processes, one after another: they change the store, import, lock it."""

    def __init__(self, place, seed):
        super().__init__()
        self.place, self.chance = place, random.Random(seed)
        self.may, self.rests, self.ends = threading.Event(), threading.Event(), False
        self.story = os.path.join(place.dir, "story.jsonl")
        with open(self.story, "w", encoding="utf-8") as out:
            for k in range(30):
                out.write(json.dumps({"role": "AI" if k % 2 else "User", "content": f"imported {k}"}) + "\n")

    def one(self):
        what = self.chance.random()
        if what < 0.8:
            rows = [change(self.chance) for _ in range(self.chance.choice([1, 1, 2, 5, 20]))]
            self.place.run("apply", "-q", "-", text="".join(json.dumps(row) + "\n" for row in rows),
                           check=False)
        elif what < 0.9:
            db = sqlite3.connect(self.place.db, isolation_level=None, timeout=30)
            db.execute("BEGIN IMMEDIATE")
            time.sleep(self.chance.choice([0.05, 0.2, 0.6]))
            db.execute("ROLLBACK")
            db.close()
        else:
            self.place.run("import", self.story, check=False)

    def run(self):
        while not self.ends:
            if self.may.wait(0.02):
                self.rests.clear()
                self.one()
                time.sleep(self.chance.random() * 0.1)
            else:
                self.rests.set()

    def rest(self):
        self.may.clear()
        self.rests.clear()
        self.rests.wait()


def do_something(term, chance, keys):
    """One random action, mostly keys; returns a description."""
    what = chance.random()
    if what < 0.5:
        pressed = [chance.choice(keys) for _ in range(chance.choice([1, 1, 3, 8]))]
        term.tmux("send-keys", *pressed)
        return pressed
    if what < 0.65:
        pressed = [chance.choice(MOVES)] * chance.choice([1, 2, 5, 20])
        term.tmux("send-keys", *pressed)
        return pressed
    if what < 0.75:
        word = chance.choice(WORDS)
        term.type(word)
        return word
    if what < 0.83:
        word = chance.choice(SLASHES)
        term.key("C-u")
        term.type(word)
        term.key(*chance.choice([["Enter"], ["Tab", "Enter"], ["Escape"]]))
        return word
    if what < 0.87:
        text = chance.choice(PASTES)
        term.paste(text)
        return text[:12]
    if what < 0.94:
        size = chance.choice(SIZES)
        term.resize(*size)
        return size
    time.sleep(chance.choice([0.02, 0.1]))
    return "a moment"


def settled(term, number):
    """Returns to the chat from any screen, and clears the input."""
    probe = f"Are you there, {number}?" # unique: earlier keys may have recalled and sent a previous one
    term.resize(*SIZE)
    end = time.monotonic() + 120
    while True:
        text = term.text()
        if re.search(r"^ended \d+", text, re.M):
            raise AssertionError(f"it has ended:\n{text}")
        if "Enter send" in text and "Waiting: " not in text:
            break
        if time.monotonic() > end:
            raise AssertionError(f"it does not come back to the chat:\n{text}")
        term.key("Escape")
        pressed = time.monotonic() # a late Escape would be one too many
        while term.text() == text and time.monotonic() < pressed + 10:
            time.sleep(0.05)
    term.key("C-u", "M->")
    term.type(probe)
    term.wait(probe)
    term.key("C-c")
    term.wait("Enter send", gone=[probe])


def chat_rows(term):
    """The part of the chat that does not depend on the height of the notice."""
    rows = term.screen()
    ends = [i for i, row in enumerate(rows) if row.startswith("─" * 20)]
    rows = rows[:ends[-1]] if ends else rows
    while rows and not rows[-1]:
        rows.pop()
    return rows[0], rows[1:] if len(rows) < SIZE[1] - 8 else rows[12 - SIZE[1]:]


def tree_rows(term):
    rows = term.screen()
    begin = next((i for i, row in enumerate(rows) if row.startswith("─ Tree")), len(rows))
    end = next((i for i, row in enumerate(rows) if re.match(r"  \(\d+/\d+\)", row)), begin)
    rows = [row[2:47].rstrip() for row in rows[begin + 1:end]]
    while rows and not rows[-1]:
        rows.pop()
    return rows[-6:]


def same(term, fresh, look):
    end = time.monotonic() + 5
    while look(term) != look(fresh):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def compare(place, term, tries=4):
    """Compares with a fresh instance on the same discussion. A draft is cleared a moment after
    the last key, so that the fresh instance may still have it: then tries again."""
    term.key("M-End")
    name = re.match(r" (\S.*?)  take: ", term.screen()[0])
    if name is None or "…" in name[1]: # truncated
        return 0
    names = [each["name"] for each in place.json("ls") if each.get("title", each["name"]) == name[1]]
    if len(names) != 1: # ambiguous title
        return 0
    fresh = place.open("--discussion=" + names[0], size=SIZE)
    fresh.wait("Enter send")
    found = same(term, fresh, chat_rows)
    if not found and tries > 1:
        leave(place, fresh)
        return compare(place, term, tries - 1)
    if found:
        for t in (term, fresh):
            t.key("F2")
            t.wait("─ Tree")
            t.key("C-d", "M-F", "End") # default filter, all unfolded, scrolled to the end
        found = same(term, fresh, tree_rows)
    if not found:
        raise AssertionError(f"it shows\n{term.text()}\nand a fresh one\n{fresh.text()}")
    fresh.key("F2")
    fresh.wait("Enter send", gone=["─ Tree"])
    leave(place, fresh)
    return 1


def leave(place, fresh):
    fresh.key("C-c", "C-d") # the second exits if the input is empty
    fresh.wait("ended 0")
    fresh.close()
    place.terms.remove(fresh)


def crowd(count, place, seed):
    chance, keys, done, compared = random.Random(seed), key_names(place), [], 0
    count.check(f"seed {seed}: keys", len(keys) > 100, str(keys))
    fill(place)
    term = place.open(size=SIZE)
    term.wait("Enter send")
    others = Others(place, seed)
    others.start()
    try:
        for step in range(1, STEPS + 1):
            others.may.set()
            done.append(do_something(term, chance, keys))
            if step % TALK_STEPS == 0:
                others.rest()
                settled(term, f"{step} a")
                compared += compare(place, term)
                settled(term, f"{step} b")
        count.check(f"seed {seed}: it answers, and shows what a fresh one does", True)
    except Exception as error: # report the actions
        count.check(f"seed {seed}", False, f"{type(error).__name__}: {error}\nlast: " +
                    "\n      ".join(str(one) for one in done[-TALK_STEPS:]))
        return
    finally:
        others.ends = True
        others.join()
    count.check(f"seed {seed}: compared", compared > 0)
    term.key("C-d")
    term.wait("ended 0")
    count.check(f"seed {seed}: it ends well", True)
    place.run("fsck")
    count.check(f"seed {seed}: the store is sound", True)


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for number in SEEDS:
        with Place() as home:
            os.chdir(home.dir) # for files that random keys create
            crowd(tally, home, number)
            os.chdir("/")
    tally.end()
