# SPDX-License-Identifier: MIT
"""What is written and not sent is back after the program is gone, however it went."""
import time

from screen import Count, needs_tmux


def wait_for_draft(place, end):
    """Until what is written is kept, as it is when nobody typed for a moment."""
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
    """A command that goes to another discussion is no draft of the one that it was written in."""
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
        t.wait("main  take", "Enter send")
        count.check("nor is it back", "/new" not in t.text(), t.text())


def open_edit(count, place):
    """What is being written into an entry: however the program goes, it is in the input."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    for how in ("kill", "C-q"):
        with place.open() as t:
            t.wait("first")
            t.key("M-e")
            t.wait("saved in place")
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
    count.equal("nothing is left of what was taken away", list(place.drafts()), [])


def field(place):
    """The field draft, as any other program reads it."""
    return place.json("settings")["settings"].get("draft")


def wait_for_field(count, name, place, text):
    for _ in range(200):
        if field(place) == text:
            break
        time.sleep(0.05)
    count.equal(name, field(place), text)


def is_the_field(count, place):
    """Others read what is typed, what they write is shown, and undo and redo move it."""
    with place.open() as t:
        t.wait("No messages yet")
        t.type("a thought")
        wait_for_field(count, "others read it", place, "a thought")
        count.equal("then it is in no file", list(place.drafts()), [])
        place.run("set", "draft", "their words")
        t.wait("> their words")
        t.type(" and mine")
        wait_for_field(count, "it goes on from there", place, "their words and mine")
        t.type(", typed just now")
        t.key("M-u")
        t.wait("> their words", gone=["> their words and mine"])
        t.key("M-r")
        t.wait("typed just now")
        t.key("M-u")
        t.wait("> their words", gone=["> their words and mine"])
        t.kill(9)
        t.wait("ended")
    with place.open() as t:
        t.wait("> their words")
        before = [step["seq"] for step in place.json("history")]
        t.key("C-q")
        t.key("C-q")
        t.wait("ended")
    count.equal("leaving writes nothing", [step["seq"] for step in place.json("history")], before)
    with place.open() as t:
        t.wait("> their words")
        t.key("Enter")
        t.wait("You said: ")
        count.equal("what was sent is no draft", field(place), None)
        count.equal("the step of the question clears it",
                    [step["op"] for step in place.json("history")][:2], ["entry.reply", "entry.append"])
        t.key("C-d")
        t.wait("ended 0")


def before_other_changes(count, place):
    """A change is preceded by what was typed before it, as a step of its own."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    place.run("add", "--quiet", "-r", "AI", "--", "second")
    with place.open() as t:
        t.wait("second")
        t.type("typed")
        t.wait("> typed")
        t.key("M-d")
        t.wait("Deleted", "> typed")
        count.equal("the steps", [step["op"] for step in place.json("history")][:2],
                    ["entry.delete", "setting.set"])
        count.equal("the field", field(place), "typed")
        t.key("M-u")
        t.wait("second", "> typed")
        count.equal("undo takes back the deletion", field(place), "typed")
        t.key("C-q")
        t.key("C-q")
        t.wait("ended")


def goes_by_the_input_alone(count, place):
    """Neither a command nor the text of an entry that is edited is the draft."""
    place.run("add", "--quiet", "-r", "User", "--", "first")
    place.run("set", "draft", "kept")
    with place.open() as t:
        t.wait("> kept")
        t.key("C-u")
        t.type("/hel")
        t.wait("> /hel")
        time.sleep(1.6)
        count.equal("a command leaves it alone", field(place), "kept")
        t.key("C-u")
        t.type("kept")
        t.wait("> kept")
        t.key("M-e")
        t.wait("saved in place")
        t.type(" more")
        t.wait("first more")
        time.sleep(1.6)
        count.equal("nor does an edit touch it", field(place), "kept")
        wait_for_draft(place, "first more")
        t.kill(15)
        t.wait("ended")
    with place.open() as t:
        t.wait("first more")
        count.check("a signal loses neither", "kept" in t.text(), t.text())
        t.kill(15)
        t.wait("ended")


def in_its_discussion(count, place):
    """What is typed just before another discussion is shown is stored in its own."""
    place.run("new", "--quiet", "other")
    place.run("use", "main")
    with place.open() as t:
        t.wait("main  take")
        t.type("for main")
        t.wait("> for main")
        place.run("use", "other")
        t.wait("other  take", gone=["> for main"])
        place.run("use", "main")
        t.wait("main  take", "> for main")
        wait_for_field(count, "it is back, and stored", place, "for main")
        t.kill(1)
        t.wait("ended")
    count.equal("no file is left", list(place.drafts()), [])


def typed_by_two(count, place):
    """Of two that type at once, the text of the other is in the input history."""
    with place.open() as t:
        t.wait("No messages yet")
        t.type("mine")
        t.wait("> mine")
        place.run("set", "draft", "theirs")
        t.wait("press Up for its text", "> mine")
        wait_for_field(count, "the last one is stored", place, "mine")
        t.key("C-u", "Up")
        t.wait("> theirs")
        count.check("the other is not lost", True)
        t.kill(15)
        t.wait("ended")


def survives_kill(count, place):
    """Whenever the program is killed, what was typed up to the last pause is there, and the store is sound."""
    wanted = ""
    for i in range(6):
        with place.open() as t:
            t.wait("> " + wanted if wanted else "No messages yet")
            t.type(f"{i} ")
            wanted += f"{i} "
            wait_for_draft_or_field(place, wanted)
            time.sleep(0.2 * i)
            t.kill(9)
            t.wait("ended")
        count.check(f"sound {i}", "ok" in place.run("fsck").lower() or "sound" in place.run("fsck").lower(), place.run("fsck"))
    with place.open() as t:
        t.wait("> " + wanted.strip())
        count.check("all of it", True)
        t.kill(15)
        t.wait("ended")


def wait_for_draft_or_field(place, text):
    for _ in range(200):
        if (field(place) or "").rstrip() == text.rstrip() or any(each.rstrip() == text.rstrip() for each in place.draft_texts()):
            return
        time.sleep(0.05)
    raise AssertionError(f"{text!r} is not kept")


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for part in (kill, hangup, terminated, open_edit, leads_elsewhere, each_its_own,
                 is_the_field, before_other_changes, goes_by_the_input_alone, in_its_discussion, typed_by_two,
                 survives_kill):
        tally.part(part)
    tally.end()
