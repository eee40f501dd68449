#!/bin/sh
# SPDX-License-Identifier: MIT
#
# History, discussions, commands and questions in a terminal: work that runs in separate threads,
# and the display in the meantime. RETAKE names the program (build/retake).
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 - <<'PYTHON'
import json
import os
import re
import sys

sys.path.insert(0, os.getcwd())
from screen import Count, needs_tmux

needs_tmux()
STEPS = 5000


def steps(place, count):
    lines = "".join(json.dumps({"op": "entry.append", "role": "AI" if i % 2 else "User",
                                "content": f"thought {i} on storage"}) + "\n"
                    for i in range(1, count + 1))
    place.run("--relaxed", "apply", "-q", "-", text=lines)


def leave(term):
    term.wait("Enter send") # Escape with a character right after it would be another key
    term.type("/quit")
    term.key("Enter")
    term.wait("ended 0")


def history(t, place):
    """To its end and back; the state at the cursor is shown after a pause."""
    steps(place, STEPS)
    with place.open(size=(120, 24)) as term:
        term.wait(f"thought {STEPS}")
        term.key("F3")
        term.wait(f"Step {STEPS}  added entry", "1 of 256+")
        term.key("End")
        term.wait(f"{STEPS + 1} of {STEPS + 1}", "State at that time: take main, 0 entries")
        term.key("Up", "Up")
        term.wait("Step 2  added entry", "State at that time: take main, 2 entries", "thought 2 on storage")
        term.key("Enter")
        term.wait("Restored the state right after step 2. To return: Enter on step %d" % STEPS)
        term.wait(re.compile("› *[●*].* 2 .*now"))
        t.equal("two entries", len(place.texts()), 2)
        term.key("Home", "Enter")
        term.wait(f"Restored the state right after step {STEPS}.")
        t.equal("all entries", len(place.texts()), STEPS)
        # Leaving while work is still running.
        term.key("End", "Escape", "F3", "C-q")
        term.wait("ended 0")


def others(t, place):
    """Changes by another program appear, and the cursor stays."""
    steps(place, 3)
    with place.open(size=(80, 20)) as term:
        term.wait("thought 3")
        term.key("F3", "Down")
        term.wait(re.compile("›.* 2 .*added"))
        place.run("add", "from elsewhere")
        term.wait(re.compile("● +4 "), re.compile("›.* 2 .*added"))
        term.key("Escape")
        term.wait("from elsewhere", "Enter send")
        leave(term)
    t.check("it was left", True)


def search(t, place):
    """Incremental search in all discussions; Enter opens the match."""
    steps(place, 30)
    place.run("new", "second")
    place.run("add", "nothing of note")
    with place.open(size=(80, 20)) as term:
        term.wait("nothing of note")
        term.key("F4")
        term.wait("Discussions", re.compile("› +second"))
        term.type("thought 17")
        term.wait("1 found", re.compile("storage main (AI|User) thought 17 on storage"))
        term.key("Enter")
        term.wait(re.compile("take: main"), "thought 17 on storage", gone=["Discussions"])
        t.check("the entry is marked", "▌" in term.text(), term.text())
        leave(term)


def commands(t, place):
    """Commands run inside the program: output and effect are on the screen."""
    steps(place, 2)
    with place.open(size=(80, 20)) as term:
        term.wait("thought 2")
        term.key("C-p")
        term.wait("Commands")
        term.type("label :2 'good start'")
        term.key("Enter")
        term.wait("#good start", gone=["Commands"])
        term.key("C-p")
        term.type("tree")
        term.wait(re.compile("› tree"))   # the screen; the command prints it, if it has a flag
        term.type(" --all")
        term.key("Enter")
        term.wait(re.compile("tree --all +1-"), "[good start]")
        term.key("q", "C-p")
        term.wait("Commands")
        term.type("show :99")
        term.key("Enter")
        term.wait(re.compile("(?i)no .*99"))
        term.key("C-p")
        term.wait("Commands")
        term.type("serve")
        term.key("Enter")
        term.wait("Serve cannot run here")
        term.key("Escape")
        term.wait("thought 2", gone=["Commands"])
        leave(term)
    t.check("it was left", True)


def a_long_command(t, place):
    """Keys work while it runs; a key, or leaving, stops it."""
    steps(place, 2)
    script = os.path.join(place.dir, "slow.jsonl")
    with open(script, "w", encoding="utf-8") as out:
        out.write('{"text":"begun"}\n{"wait_ms":600000}\n{"text":"done"}\n')
    with place.open(size=(80, 20)) as term:
        term.wait("thought 2")
        term.key("C-p")
        term.wait("Commands")
        term.type(f"ask -m builtin/play:{script} Well")
        term.key("Enter")
        term.wait("Running", "Escape stops it")
        term.resize(70, 18)
        term.wait(re.compile("(?m)^.{65} tok$"), "Running", "Escape stops it")
        term.key("Escape")
        term.wait("Stopped before it finished", gone=["Running"])
        term.key("C-p")
        term.wait("Commands")
        term.type(f"ask -m builtin/play:{script} Well")
        term.key("Enter")
        term.wait("Running")
        term.tmux("send-keys", "C-c")
        term.wait("Stopped before it finished", gone=["Running"])
        # The program can be left anyway.
        term.key("C-p")
        term.wait("Commands")
        term.type(f"ask -m builtin/play:{script} Well")
        term.key("Enter")
        term.wait("Running")
        term.key("C-q")
        term.wait("ended 0")
    t.check("it was left", True)


def keys_that_cannot_be_read(t, place):
    """The default keys are used, with an error message."""
    path = os.path.join(place.dir, ".config/retake/keys.toml")
    os.makedirs(path)
    with place.open(size=(140, 20)) as term:
        term.wait("keys.toml", re.compile(r"Using\s+the\s+default\s+keys"), "Enter send")
        leave(term)
    os.rmdir(path)
    with open(path, "w", encoding="utf-8") as out:
        out.write("# much\n" * 300000)
    with place.open(size=(140, 20)) as term:
        term.wait("keys.toml", re.compile(r"Using\s+the\s+default\s+keys"), "Enter send")
        leave(term)
    t.check("it was left", True)


t = Count()
for part in (history, others, search, commands, a_long_command, keys_that_cannot_be_read):
    t.part(part)
t.end()
PYTHON
