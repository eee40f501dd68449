# SPDX-License-Identifier: MIT
"""Unsent text is restored after the program has ended, in whatever way."""
import time

from screen import Count, needs_tmux


def wait_for_draft(place, end):
    """Waits until the text is stored, a moment after the last key."""
    for _ in range(600):
        if any(text.endswith(end) for text in place.draft_texts()):
            return
        time.sleep(0.05)
    raise AssertionError(f"{end} is not kept")


def comes_back(count, place, how):
    with place.open() as t:
        t.wait("No messages yet")
        t.type("half a thought, " + how)
        t.wait("half a thought, " + how)
        if how == "kill":
            wait_for_draft(place, how)
            t.kill(9)
        elif how == "hangup":
            t.kill(1)
        else:
            t.kill(15)
        t.wait("ended")
    with place.open() as t:
        t.wait("half a thought, " + how, "Your unsent text was restored")
        count.check(how, True)
        t.key("Enter")
        t.wait("You said: ")
        t.key("C-d")
        t.wait("ended 0")
    count.equal(how + ": nothing is kept of what was sent", list(place.drafts()), [])
    count.equal(how + ": it was sent", place.texts()[0], ("User", "half a thought, " + how))


def kill(count, place):
    comes_back(count, place, "kill")


def hangup(count, place):
    comes_back(count, place, "hangup")


def terminated(count, place):
    comes_back(count, place, "terminated")


def leads_elsewhere(count, place):
    """A command that opens another discussion is not a draft of the previous one."""
    with place.open() as t:
        t.wait("No messages yet")
        t.type("/new other")
        wait_for_draft(place, "/new other")
        t.key("Enter")
        t.wait("other  take")
        count.equal("it is kept no longer", list(place.drafts()), [])
        t.type("/use main")
        t.key("Enter")
        t.wait('Now in discussion "main"', "Enter send")
        t.type("and on")
        t.wait("nd on")
        count.check("the first key there is written there", "> and on" in t.text(), t.text())
        t.key("C-c")
        t.key("C-d")
        t.wait("ended 0")
    place.run("use", "main")
    with place.open() as t:
        t.wait("take: main", "Enter send")
        count.check("nor is it back", "/new" not in t.text(), t.text())


def open_edit(count, place):
    """The text of an entry that is being edited: however the program ends, it is in the input
    next time."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    for how in ("kill", "C-q"):
        with place.open() as t:
            t.wait("first")
            t.key("M-e")
            t.wait("edits in place")
            t.type(" by " + how)
            t.wait("first by " + how)
            if how == "kill":
                wait_for_draft(place, "first by kill")
                t.kill(9)
            else:
                t.key(how)
            t.wait("ended")
        with place.open() as t:
            t.wait("> first by " + how, "Your unsent text was restored")
            count.check(how, True)
            t.key("C-c")
            t.wait("Enter send", gone=["> first"])
            t.key("C-d")
            t.wait("ended 0")
        count.equal(how + ": nothing is kept of what was taken away", list(place.drafts()), [])


def each_its_own(count, place):
    with place.open() as t:
        t.wait("No messages yet")
        t.type("/new other")
        t.key("Enter")
        t.wait("other  take")
        t.type("of the other one")
        t.wait("> of the other one")
        t.key("C-c")
        t.wait("Enter send", gone=["> of"])
        t.key("C-d")
        t.wait("ended 0")
    count.equal("deleted text is not restored", list(place.drafts()), [])


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for part in (kill, hangup, terminated, open_edit, leads_elsewhere, each_its_own):
        tally.part(part)
    tally.end()
