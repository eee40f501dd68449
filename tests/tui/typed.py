# SPDX-License-Identifier: MIT
"""Sentences are typed blindly into every screen. They become drafts or searches, and nothing in
the store changes."""
import json
import os
import re
import time

from screen import Polls
from talk import fork, run

SIZE = (100, 30)
FEW = 8
SAMPLE = int(os.environ.get("TYPING_SAMPLE", "1"))  # use every n-th sentence

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../sentences.txt"), encoding="utf-8") as file:
    SENTENCES = file.read().strip().split("\n")[::SAMPLE]


def store(place):
    """Everything that a change would affect, and the steps in effect; without the draft and its
    steps, where the text is expected."""
    steps = [(step["seq"], step["undone"]) for step in place.json("history") if "draft" not in step["what"]]
    content = json.loads(place.run("export", "--format", "canonical", "-o", "-"))
    for discussion in content["discussions"]:
        discussion.get("settings", {}).pop("draft", None)
        if not discussion.get("settings", True):
            del discussion["settings"]
    return steps, content


def prepared(place):
    """With texts of two versions, a second discussion, and a step to redo."""
    fork(place)
    place.run("new", "second")
    place.run("add", "-q", "elsewhere")
    place.run("use", "main")
    place.run("edit", "a2", "Good. Another schema")
    place.run("add", "-q", "undone")
    place.run("undo")
    return store(place)


def opened(place):
    t = place.open(size=SIZE)
    t.wait("Another schema", "Enter send")
    return t


def settled(t):
    """Waits until the keys are processed: the screen is stable. Not reported as weak."""
    with Polls():
        seen = []
        while len(seen) < 3 or len(set(seen[-3:])) > 1:
            seen.append(t.text())
            time.sleep(0.03)


def cleared(t):
    """Returns to the chat and clears the input."""
    settled(t)
    for _ in range(12):
        if re.search(r"^ >$", t.text(), re.M) and "Enter send" in t.text():
            return
        if "Enter send" in t.text():
            t.key("C-c")
            t.wait(re.compile(r"^ >$", re.M))
            return
        t.key("Escape")
        settled(t)
    raise AssertionError(f"it does not come back to the chat:\n{t.text()}")


def view(name, keys, seen, enter=False, sentences=None, written=None):
    """A part that opens a screen with these keys, types there, and checks the store. written:
    where the sentence is then visible."""
    def part(c, place):
        before = prepared(place)
        with opened(place) as t:
            for sentence in sentences or SENTENCES:
                cleared(t)
                for key in keys:
                    t.key(key)
                t.wait(*seen)
                t.type(sentence)
                if written:
                    c.says(f"{name}: {sentence!r} is written", t, written(sentence))
                else: # the text may have any effect on the screen
                    settled(t)
                if enter:
                    t.key("Enter")
                    settled(t)
            cleared(t)
            c.equal(f"{name}: nothing has changed", store(place), before)
    part.__name__ = name
    return part


def in_input(sentence):
    return "> " + sentence


def searched(sentence):
    return "search: " + sentence


def of(first):
    """Some sentences, different ones for each screen."""
    few = max(FEW // SAMPLE, 2)
    return (SENTENCES * 2)[first * few % len(SENTENCES):][:few]


run(view("chat", (), (), written=in_input),
    view("entry", ("M-Up",), ("Enter continue",), written=in_input),
    view("tree", ("F2",), ("─ Tree",), enter=True, written=searched),
    view("tree_by_escape", ("Escape", "Escape"), ("─ Tree",), sentences=of(1), written=searched),
    view("history", ("F3",), ("History of ",), enter=True, written=lambda s: "Search: " + s),
    view("discussions", ("F4",), ("Discussions",), sentences=of(2)),
    view("versions", ("M-Up", "M-v"), ("Version 2 of 2",), sentences=of(3)),
    view("reader", ("M-Up", "M-p"), ("AI, entry 4",), sentences=of(4)),
    view("keys", ("F1",), ("Keys here",), sentences=of(5)),
    view("commands", ("C-p",), ("Commands",), sentences=of(6)),
    view("model", ("C-l",), ("Up, Down choose",), sentences=of(7)))
