# SPDX-License-Identifier: MIT
"""Changes that have to wait for another program that writes to the store or for a hook: the
screen stays responsive, they can be cancelled, and nothing is lost. Changes that others made
in the meantime are not overwritten silently.

The lock is released, and the hook ends, only after the test has seen the waiting state;
nothing here measures time."""
import json
import os
import re
import sqlite3
import time

from screen import Count, needs_tmux

WAITS = "Waiting: another program is writing to the store"
ENTRIES = 30
# The right end of a title of that width.
TITLE_140 = re.compile(r"(?m)^.{125,} tok$")


class Lock:
    """Another process holds the store's write lock until it is released."""

    def __init__(self, place):
        self.db = sqlite3.connect(place.db, isolation_level=None, timeout=30)

    def __enter__(self):
        self.db.execute("BEGIN IMMEDIATE")
        return self

    def let_go(self):
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def __exit__(self, *ignored):
        self.let_go()
        self.db.close()


class Hook:
    """A hook that runs until it is released; a file shows that it is running."""

    def __init__(self, place, event):
        folder = os.path.join(place.dir, ".config/retake/hooks", event)
        os.makedirs(folder)
        self.gate = os.path.join(place.dir, "gate-" + event)
        path = os.path.join(folder, "10-slow")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\ncat >/dev/null\nwhile [ ! -e {self.gate} ]; do sleep 0.02; done\n"
                      "echo '{}'\n")
        os.chmod(path, 0o755)

    def let_go(self):
        open(self.gate, "w", encoding="utf-8").close()


def fill(place, count=ENTRIES):
    lines = "".join('{"op":"entry.append","role":"%s","content":"line number %d"}\n'
                    % ("AI" if i % 2 else "User", i + 1) for i in range(count))
    place.run("apply", "-q", "-", text=lines)


def contents(place):
    return [text for _, text in place.texts()]


def wait_for(what):
    end = time.monotonic() + 30
    while not what():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


def opened(place, **more):
    t = place.open(size=(120, 24), **more)
    t.wait(f"line number {ENTRIES}")
    t.key("M-Up")
    t.wait("Esc ", "delete")
    return t


def edit(t, text):
    """Appends this text to the selected entry."""
    t.key("M-e")
    t.wait("edits in place")
    t.type(text)
    t.key("Enter")


def elsewhere(place, **request):
    """A change by another program."""
    place.run("apply", "-q", "-", text=json.dumps(request) + "\n")


def leave(count, t, what):
    t.key("C-q")
    t.wait("ended 0")
    count.check(what + ": it ends well", True)


def the_screen_goes_on(count, place):
    fill(place)
    t = opened(place)
    with Lock(place) as lock:
        t.key("M-d")
        t.wait(WAITS, "Escape cancels", f"line number {ENTRIES}")
        t.key("PPage", "PPage", "PPage", "PPage")
        t.wait("line number 3", WAITS, gone=[f"line number {ENTRIES}"])
        count.check("the chat is scrolled while a change waits", True)
        t.resize(140, 30)
        t.wait(TITLE_140, WAITS)
        count.check("a new size is drawn", True)
        t.key("F1")
        t.wait("Keys here", WAITS)
        count.check("other screens open", True)
        t.key("q")
        t.wait("line number", WAITS, gone=["Keys here"])
        count.equal("nothing was changed yet", len(contents(place)), ENTRIES)
        lock.let_go()
        t.wait("Deleted", gone=[WAITS])
    t.wait("undo: ")
    count.equal("the change is kept", contents(place)[-1], f"line number {ENTRIES - 1}")
    leave(count, t, "scrolled")


def keys_behind_it(count, place):
    """Text typed in the meantime waits for the change, in order."""
    fill(place)
    t = opened(place)
    with Lock(place) as lock:
        t.key("M-d")
        t.wait(WAITS)
        t.key("M-d", "Up", "M-d")
        t.wait("3 keys queued")
        t.key("PPage", "PPage", "PPage", "PPage")
        t.wait("line number 3", "3 keys queued", gone=[f"line number {ENTRIES}"])
        count.check("the view is scrolled anyway", True)
        lock.let_go()
        t.wait("Deleted", gone=[WAITS])
    t.wait("keys", gone=["line number 30", "line number 29", "  line number 27", "typed after"])
    wanted = [f"line number {i + 1}" for i in range(ENTRIES) if i + 1 not in (30, 29, 27)]
    count.equal("each acts on what the one before it left", contents(place), wanted)
    leave(count, t, "behind it")


def behind_a_command(count, place):
    """Text typed while a command runs goes to the screen below."""
    fill(place)
    hook = Hook(place, "entry.before_edit")

    def command(t, line, typed):
        t.key("C-p")
        t.wait("Commands")
        t.type(line)
        t.key("Enter")
        t.wait("Running", gone=["Commands"])
        t.type(typed)
        t.wait(re.compile(f"Running .* {len(typed)} keys queued"))
    with place.open(size=(120, 24)) as t:
        t.wait(f"line number {ENTRIES}")
        command(t, "edit :30 mended", "and on")
        hook.let_go()
        t.wait("  mended", "> and on", gone=["Running"])
        os.unlink(hook.gate)
        command(t, "edit :30 'mended again'", "dropped")
        t.key("Escape")
        t.wait("Stopped before it finished", "The keys typed after it (7 keys) were discarded", "> and on")
        t.key("C-u")
        leave(count, t, "behind a command")
    count.equal("what was ended is not done", contents(place)[-1], "mended")


def a_question(count, place):
    """The change is visible at once, as not yet stored; no hook has been asked yet."""
    fill(place)
    with place.open(size=(120, 24)) as t:
        t.wait(f"line number {ENTRIES}")
        with Lock(place) as lock:
            t.type("And then?")
            t.wait("> And then?")
            t.key("Enter")
            t.wait(re.compile(r"(?m)^  User \(not stored yet\) \.\.\.\n  And then\?$"), "Esc stops the reply",
                   gone=["> And then?", "AI ..."])
            count.equal("nothing was stored yet", len(contents(place)), ENTRIES)
            t.type("Too early")
            t.key("Enter")
            t.wait("Still receiving a reply", "> Too early")
            lock.let_go()
            t.wait('You said: "And then?"', "Your text is kept; press Enter again", "> Too early",
                   gone=["not stored yet", "AI ...", "Esc stops"])
        count.equal("once", contents(place)[ENTRIES:-1], ["And then?"])
        t.key("C-u")
        leave(count, t, "a question")


def slow_hook(count, place):
    fill(place)
    hook = Hook(place, "entry.before_edit")
    t = opened(place)
    edit(t, " mended")
    t.wait("Waiting: running a hook (entry.before_edit)", "Escape cancels")
    t.key("PPage", "PPage", "PPage", "PPage")
    t.wait("line number 3", "running a hook", gone=[f"line number {ENTRIES}"])
    count.check("scrolled while a hook runs", True)
    count.equal("nothing was changed yet", contents(place)[-1], f"line number {ENTRIES}")
    hook.let_go()
    t.wait("undo: ", gone=["running a hook"])
    count.equal("the change is kept", contents(place)[-1], f"line number {ENTRIES} mended")
    leave(count, t, "slow hook")


def hook_given_up(count, place):
    fill(place)
    Hook(place, "entry.before_edit")
    t = opened(place)
    edit(t, " in vain")
    t.wait("running a hook (entry.before_edit)")
    t.key("C-c")
    t.wait("Cancelled; nothing was changed", "Your text was kept", gone=["running a hook"])
    t.key("Escape")
    t.wait("Enter send")
    t.key("Up")
    t.wait(f"> line number {ENTRIES} in vain")
    count.check("the text is handed back", True)
    t.key("C-c")
    leave(count, t, "hook given up")
    count.equal("nothing was changed", contents(place)[-1], f"line number {ENTRIES}")


def hook_added(count, place):
    """A hook that is added while the screen is open is asked at the next change."""
    fill(place)
    t = opened(place)
    hook = Hook(place, "entry.before_edit")
    edit(t, " mended")
    t.wait("Waiting: running a hook (entry.before_edit)")
    count.check("a hook that was added is asked", True)
    hook.let_go()
    t.wait("undo: ", gone=["running a hook"])
    leave(count, t, "hook added")


def hook_after_it(count, place):
    """Escape stops the hook; earlier changes are kept."""
    fill(place)
    Hook(place, "entry.after")
    t = opened(place)
    t.key("M-d")
    t.wait("The change is saved; running a hook (entry.after)", "Escape stops the hook")
    count.equal("it is already visible", contents(place)[-1], f"line number {ENTRIES - 1}")
    t.key("Escape")
    t.wait("Deleted", gone=["running a hook"])
    leave(count, t, "hook after")
    count.equal("and stays", contents(place)[-1], f"line number {ENTRIES - 1}")


def lock_given_up(count, place):
    fill(place)
    t = opened(place)
    with Lock(place) as lock:
        t.key("M-d")
        t.wait(WAITS)
        t.key("M-d")
        t.wait("1 key queued")
        t.key("Escape")
        t.wait("Cancelled; nothing was changed", "1 key", gone=[WAITS])
        count.check("given up at once, though the lock is held", True)
        edit(t, " then")
        t.wait(WAITS)
        lock.let_go()
        t.wait("undo: ", gone=[WAITS])
    count.equal("the next one is kept, and the cancelled one is not", contents(place),
                [f"line number {i + 1}" for i in range(ENTRIES - 1)] + [f"line number {ENTRIES} then"])
    leave(count, t, "lock given up")


def too_many_keys(count, place):
    fill(place)
    t = opened(place)
    with Lock(place):
        t.key("M-d")
        t.wait(WAITS)
        t.key("M-a")
        for _ in range(5):
            t.type("0123456789" * 22)
        t.wait("1024 keys", "more are ignored")
        t.key("Escape")
        t.wait("Cancelled; nothing was changed", "1024 keys", gone=[WAITS])
        count.check("a lost key is reported", True)
    leave(count, t, "too many")


def leaving(count, place):
    fill(place)
    t = opened(place)
    with Lock(place) as lock:
        t.key("M-d")
        t.wait(WAITS)
        t.key("C-q")
        t.wait("Quitting when done", gone=["ended"])
        lock.let_go()
        t.wait("ended 0")
    count.equal("it waited for the change", len(contents(place)), ENTRIES - 1)


def terminated(count, place):
    """A signal: changes that are not written yet are cancelled, and their text is kept."""
    fill(place)
    t = opened(place)
    with Lock(place) as lock:
        edit(t, " too late")
        t.wait(WAITS)
        t.kill(15)
        wait_for(lambda: any("too late" in text for text in place.draft_texts()))
        lock.let_go()
        t.wait("ended")
    count.equal("nothing was changed", contents(place)[-1], f"line number {ENTRIES}")
    with place.open() as again:
        again.wait(f"line number {ENTRIES} too late", "Your unsent text was restored")
        count.check("its text is a draft", True)


# ---- conflicting changes ----

def begun_edit(place, text):
    """The last entry is being edited while another program writes another text to it."""
    t = opened(place)
    t.key("M-e")
    t.wait("edits in place")
    elsewhere(place, op="entry.edit", entry=":-1", content="theirs")
    t.wait("theirs")
    t.type(text)
    t.key("Enter")
    t.wait("was changed after you opened it, by cli", "Keep both", "Overwrite", "Discard yours")
    count_theirs = contents(place)[-1]
    return t, count_theirs


def overwrite(count, place):
    fill(place)
    t, theirs = begun_edit(place, " mine")
    count.equal("nothing is written over before it is asked", theirs, "theirs")
    t.key("s")
    t.wait("Their version, with your changes", f"line number {ENTRIES} mine")
    count.check("what is different can be read", True)
    t.key("q")
    t.wait("was changed after you opened it", "Overwrite", gone=["Theirs, with"])
    t.key("o")
    t.wait("undo: ", gone=["was changed after"])
    count.equal("overwritten", contents(place)[-1], f"line number {ENTRIES} mine")
    leave(count, t, "overwrite")


def keep_both(count, place):
    fill(place)
    t, _ = begun_edit(place, " mine")
    t.key("b")
    t.wait("Started take", gone=["was changed after"])
    leave(count, t, "keep both")
    count.equal("mine is in a new take", contents(place)[-1], f"line number {ENTRIES} mine")
    other = place.json("show", "--take", "t1")["entries"][-1]["content"]
    count.equal("theirs stays where it was", other, "theirs")


def discard(count, place):
    fill(place)
    t, _ = begun_edit(place, " mine")
    t.key("d")
    t.wait("Their version was kept", "Your text was kept")
    t.key("Escape")
    t.wait("Enter send")
    t.key("Up")
    t.wait(f"> line number {ENTRIES} mine")
    count.check("the text can be had again", True)
    t.key("C-c")
    leave(count, t, "discard")
    count.equal("theirs stays", contents(place)[-1], "theirs")


def while_it_waits(count, place):
    """The version check is part of the transaction, however late that is."""
    fill(place)
    hook = Hook(place, "entry.before_delete")
    t = opened(place)
    t.key("M-d")
    t.wait("running a hook (entry.before_delete)")
    elsewhere(place, op="entry.edit", entry=":-1", content="theirs")
    hook.let_go()
    t.wait("Another program or window changed the entry", "change nothing", "do it anyway")
    count.equal("it is still there", contents(place)[-1], "theirs")
    t.key("s")
    t.wait("The version you saw, with their changes", "theirs")
    t.key("q")
    t.wait("do it anyway", gone=["As you saw it"])
    t.key("y")
    t.wait("Deleted", gone=["do it anyway"])
    count.equal("done anyway", len(contents(place)), ENTRIES - 1)
    leave(count, t, "while it waits")


def held_meanwhile(count, place):
    """A queued key does not act on another entry that was selected in the meantime."""
    fill(place)
    hook = Hook(place, "entry.before_edit")
    t = opened(place)
    edit(t, " x")
    t.wait("running a hook (entry.before_edit)")
    t.key("Up")
    t.wait(re.compile(r"(?m)^› User +29 *$"))
    t.key("M-d")
    t.wait("1 key queued")
    elsewhere(place, op="entry.delete", entry=":29")
    hook.let_go()
    t.wait("undo: ", "(1 key) were discarded:", "made changes in the")
    count.equal("no other entry is deleted", contents(place)[-2:],
                ["line number 28", f"line number {ENTRIES} x"])
    leave(count, t, "held meanwhile")


def undo_of_others(count, place):
    fill(place)
    t = opened(place)
    t.key("M-d")
    t.wait("Deleted", "undo: Alt+U")
    elsewhere(place, op="entry.append", role="User", content="theirs")
    t.wait("theirs", "Deleted", gone=["undo: Alt+U"])
    t.key("M-u")
    t.wait("Undo the change by cli: ", "is no longer the newest", "change nothing")
    count.equal("nothing was undone", contents(place)[-1], "theirs")
    t.key("n")
    t.wait("Nothing was changed", gone=["Undo the change by"])
    t.key("M-u")
    t.wait("Undone", gone=["Nothing was changed"])
    count.equal("then the newest step", contents(place)[-1], f"line number {ENTRIES - 1}")
    leave(count, t, "undo")


def prompt(count, place):
    fill(place)
    t = place.open()
    t.wait(f"line number {ENTRIES}")
    t.type("/prompt")
    t.key("Enter")
    t.wait("Working prompt")
    elsewhere(place, op="prompt.update", text="theirs")
    t.type("mine")
    t.key("Enter")
    t.wait("Another program or window changed the working prompt", "Overwrite", "Discard yours")
    t.key("s")
    t.wait("Their version, with your changes", "theirs")
    t.key("q")
    t.wait("Overwrite", gone=["Theirs, with"])
    t.key("o")
    t.wait("undo: ", gone=["Discard yours"])
    leave(count, t, "prompt")
    count.check("overwritten", "theirs" not in place.run("prompt"), place.run("prompt"))


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for part in (the_screen_goes_on, keys_behind_it, behind_a_command, a_question, slow_hook,
                 hook_given_up, hook_added, hook_after_it,
                 lock_given_up, too_many_keys, leaving, terminated, overwrite, keep_both, discard,
                 while_it_waits, held_meanwhile, undo_of_others, prompt):
        tally.part(part)
    tally.end()
