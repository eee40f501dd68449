# SPDX-License-Identifier: MIT
"""The input is stored as the field "draft": other programs can read it, undo and redo
keep it, a restart restores it."""
import time

from screen import Count, needs_tmux


def draft(place):
    """Its text; None: not set."""
    return place.json("settings")["settings"].get("draft")


def is_draft(place, text):
    for _ in range(200):
        if draft(place) == text:
            return True
        time.sleep(0.05)
    return False


def typed(count, place):
    with place.open() as t:
        t.wait("No messages yet")
        t.type("a thought")
        t.wait("> a thought")
        count.check("others read it", is_draft(place, "a thought"), draft(place))
        place.run("set", "draft", "their words")
        t.wait("> their words")
        t.type(" and mine")
        count.check("typing continues from there", is_draft(place, "their words and mine"))
        t.key("M-u")
        t.wait("Nothing to undo", "> their words and mine")
        count.check("undo keeps it", is_draft(place, "their words and mine"))
        t.kill(9)
        t.wait("ended")
    with place.open() as t:
        t.wait("> their words and mine")
        count.check("a restart restores it", True)
        before = [step["seq"] for step in place.json("history")]
        t.key("C-d")
        t.key("C-q")
        t.wait("ended")
    count.equal("leaving writes nothing", [step["seq"] for step in place.json("history")], before)
    with place.open() as t:
        t.wait("> their words and mine")
        t.key("Enter")
        t.wait("You said: ", "Enter send")
        t.wait(gone=["Esc stop  "])
        count.equal("a sent text is not a draft", draft(place), None)
        t.key("M-u")
        t.wait("Undone: got reply")
        t.key("M-u")
        t.wait("> their words and mine", "No messages yet")
        count.equal("undo restores the draft with the step that sent it", draft(place), "their words and mine")
        count.equal("and reverts the question", place.texts(), [])
        t.key("C-c")
        t.key("C-d")
        t.wait("ended 0")


def kept(count, place):
    """Undo and redo pass over drafts, also those of another program, and keep them."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    place.run("add", "--quiet", "-r", "User", "--", "second")
    with place.open() as t:
        t.wait("second")
        t.type("half a thought")
        t.key("M-u") # faster than the pause
        t.wait("Undone: added entry: second", "> half a thought", "1 entry")
        count.equal("undo reverts the last change", place.texts(), [("User", "first")])
        count.check("the draft is stored", is_draft(place, "half a thought"), draft(place))
        t.type(" and more")
        count.check("it goes on", is_draft(place, "half a thought and more"))
        place.run("redo")
        t.wait("2 entries", "> half a thought and more")
        place.run("undo", "2")
        t.wait("No messages yet", "> half a thought and more")
        t.key("M-r", "M-r")
        t.wait("2 entries", "> half a thought and more")
        count.check("redo and undo elsewhere keep it", is_draft(place, "half a thought and more"), draft(place))
        t.key("F3")
        t.wait("History", "added entry", gone=["set draft"])
        count.check("the history does not list drafts", True)
        t.key("Escape")
        t.wait("Enter send")
        t.type("!")
        t.key("C-d", "C-q")
        t.wait("ended")
    count.equal("leaving stores it", draft(place), "half a thought and more!")
    count.equal("and leaves no file", list(place.drafts()), [])


def commands(count, place):
    """A command is not a draft, and does not clear one."""
    with place.open() as t:
        t.wait("No messages yet")
        t.type("words")
        count.check("a draft", is_draft(place, "words"))
        t.key("C-u")
        t.type("/new other")
        time.sleep(1.5)
        count.equal("a command over it leaves it alone", draft(place), "words")
        t.key("Enter")
        t.wait("other  take")
        t.type("of the other")
        t.wait("> of the other")
        t.key("C-d", "C-q")
        t.wait("ended")
    count.equal("the new one has its own", draft(place), "of the other")
    place.run("use", "main")
    count.equal("the old one keeps its own", draft(place), "words")


def editing(count, place):
    """The text of an entry that is being edited is not a draft."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    before = place.json("history")
    with place.open() as t:
        t.wait("first")
        t.key("M-e")
        t.wait("edits in place")
        t.type(" and edited")
        t.wait("first and edited")
        time.sleep(1.5)
        count.equal("no step", place.json("history"), before)
        t.kill(9)
        t.wait("ended")
    count.equal("its text is in the file", list(place.draft_texts()), ["first and edited"])


def theirs(count, place):
    """Another program changes the draft while the user types: both texts are kept."""
    with place.open() as t:
        t.wait("No messages yet")
        t.type("mine")
        place.run("set", "draft", "their words")
        t.wait("> mine", "changed elsewhere")
        t.type(" goes on")
        t.wait("> mine goes on")
        time.sleep(1.5)
        count.equal("theirs is not overwritten", draft(place), "their words")
        count.check("nor is the typed text", "> mine goes on" in t.text(), t.text())
        t.key("Enter")
        t.wait("You said: ", "> their words")
        count.check("theirs is in the input once that is empty", True)
        count.equal("sending left it alone", draft(place), "their words")


def old_file(count, place):
    """The draft file of an earlier version is imported once; signals lose nothing."""
    for number, name in ((9, "kill"), (1, "hangup"), (15, "terminated")):
        with place.open() as t:
            t.wait("No messages yet", "Enter send")
            t.key("C-c")
            t.wait("Enter send", gone=["> k", "> h"])
            t.type(name)
            t.wait("> " + name)
            if number == 9:
                for _ in range(200):
                    if name in place.draft_texts():
                        break
                    time.sleep(0.02)
            t.kill(number)
            t.wait("ended")
        if number != 9:
            count.equal(name + ": it is the field", draft(place), name)
            continue
        count.equal("killed before the pause: it is in the file", list(place.draft_texts()), [name])
        with place.open() as t:
            t.wait("> " + name)
            count.check("it is taken over", is_draft(place, name), draft(place))
            time.sleep(0.5)
            count.equal("the file is removed", list(place.drafts()), [])
            t.kill(9)
            t.wait("ended")
        place.run("fsck") # fails if the store is damaged


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for part in (typed, kept, commands, editing, theirs, old_file):
        tally.part(part)
    tally.end()
