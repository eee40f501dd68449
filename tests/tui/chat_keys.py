# SPDX-License-Identifier: MIT
"""The chat: writing, sending, stopping; selecting an entry and every verb on it; takes, folds,
finding; another process, and another instance, on the same store."""
import json
import re

from talk import add, answer, contents, editor, fork, head, ids, newest, run, script, steps, takes, until, value

SIZE = (80, 30)


def chat(place, *words, size=SIZE, **more):
    t = place.open(*words, size=size, **more)
    t.wait("Good. Schema", "Enter send")
    return t


def field(t):
    """The rows of the input field."""
    rows = t.screen()
    at = max((i for i, row in enumerate(rows) if row.startswith("──")), default=0)
    return [row for row in rows[at + 1:-2] if row.startswith((" >", "   "))]


def welcome(c, place):
    """The first start: an introduction and hints."""
    with place.open(size=SIZE) as t:
        c.says("what to do", t, "No messages yet.", "Write below and press Enter to ask",
               "/import FILE", "choose a model", "? shows the keys")
        t.type("?")
        c.says("? with nothing written", t, "Keys here")
        t.key("Escape")
        t.wait("Write below")
        t.type("why?")
        c.says("? in a text", t, "> why?")
        t.key("Enter")
        c.says("sent", t, "User", "why?", "AI", gone=["> why?", "No messages yet"])
        c.store("kept", lambda: [e["role"] for e in place.json("show")["entries"]], ["User", "AI"])
    with place.open(size=SIZE, RETAKE_MODEL=None) as t:
        t.wait("no model")
        t.type("to nobody")
        t.key("Enter")
        c.says("no model: what to do", t, "No model is set.", "Choose one: Ctrl+L",
               "builtin/echo", "> to nobody", gone=["the setting model"])
        c.equal("nothing was added", len(place.texts()), 2)


def send(c, place):
    """A message and its reply become entries."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "One "}, {"text": "two"}))
    t.type("Count")
    c.says("written", t, "> Count")
    t.key("Enter")
    c.says("the question, and its reply", t, "  Count", "One two", gone=["> Count", "AI ..."])
    c.store("kept", lambda: place.texts()[4:], [("User", "Count"), ("AI", "One two")])
    t.key("M-u")
    c.says("undone", t, "Undone", gone=["  One two"])
    c.store("a reply is a step", lambda: place.texts()[4:], [("User", "Count")])
    t.key("Enter")
    c.says("asked again with nothing written", t, "  One two", gone=["AI ...", "Undone"])
    c.store("answered", lambda: place.texts()[4:], [("User", "Count"), ("AI", "One two")])
    t.key("Enter")
    t.type("x")
    c.says("an answer is not answered", t, "> x")
    c.equal("nothing more", len(place.texts()), 6)


def stop(c, place):
    """A reply is visible as it arrives. Escape and Ctrl+C stop it; the partial reply is kept."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "Half of it "}, {"wait_ms": 60000}, {"text": "never"}))
    for n, key in enumerate(("Escape", "C-c")):
        t.type(f"Go on {n}")
        t.key("Enter")
        c.says("it comes", t, f"  Go on {n}", re.compile(r"^  AI \.\.\.\n  Half of it$", re.M), gone=["> Go on"])
        t.type("next")
        t.key(key)
        c.says(f"{key} stops it", t, "Stopped; the partial reply is kept", "AI (partial)", "> next", gone=["AI ..."])
        c.equal(f"{key}: kept", place.texts()[-1], ("AI", "Half of it "))
        t.key("C-u")
        c.says("erased", t, re.compile("^ >$", re.M))


def lines(c, place):
    """Multi-line input, and editing keys of the field."""
    fork(place)
    t = chat(place)
    t.type("first")
    t.key("M-Enter")
    t.type("second")
    t.key("C-j")
    t.type("third")
    c.equal("three rows", until("rows", lambda: field(t), [" > first", "   second", "   third"], t),
            [" > first", "   second", "   third"])
    t.key("C-a")
    t.type("the ")
    t.key("C-e", "C-w")
    t.type("3rd")
    t.key("Up", "Up", "Home", "M-d")
    t.type("one")
    t.key("M-b", "M-f")
    t.type("!")
    c.equal("edited", until("rows", lambda: field(t), [" > one!", "   second", "   the 3rd"], t),
            [" > one!", "   second", "   the 3rd"])
    t.key("Enter")
    c.says("sent", t, "the 3rd", gone=["> one"])
    c.store("its lines", lambda: place.texts()[4:5], [("User", "one!\nsecond\nthe 3rd")])


def before(c, place):
    """Input history with Up and Down; Escape restores the current text."""
    fork(place)
    t = chat(place)
    for text in ("one", "two"):
        t.type(text)
        t.key("Enter")
        t.wait(re.compile(r"^ >$", re.M), f'You said: "{text}"', gone=["AI ..."])
    t.type("draft")
    for keys, shown in (("Up", "two"), ("Up", "one"), ("Up Down", "two"), ("Down", "draft")):
        t.key(*keys.split())
        c.says(f"{keys}: {shown}", t, re.compile(f"^ > {shown}$", re.M))
    t.key("Escape")
    c.says("Escape keeps it", t, "press Up", re.compile(r"^ >$", re.M))
    t.key("Up")
    c.says("it does", t, "> draft")
    t.key("C-c")
    c.says("Ctrl+C empties it", t, re.compile(r"^ >$", re.M))
    t.key("Up")
    c.says("and keeps it, too", t, "> draft")


def paste(c, place):
    """A million characters with line breaks and control characters."""
    fork(place)
    t = chat(place)
    t.paste("short\nof two lines")
    c.equal("a paste does not send", until("paste", lambda: field(t), [" > short", "   of two lines"], t),
            [" > short", "   of two lines"])
    t.key("C-c")
    t.wait(gone=["> short"])
    text = "".join(f"line {i} of what is pasted, wide: äöü 你好\n" for i in range(26000)) + "the end"
    assert len(text.encode()) > 1 << 20
    t.paste(text)
    c.says("folded", t, re.compile(r"^ > \[pasted 26,001 lines\]$", re.M), "Tab shows the paste")
    t.key("Tab")
    c.says("its end is seen", t, "the end")
    t.key("Enter")
    c.store("all of it is sent", lambda: place.texts()[4][1] == text if len(place.texts()) > 4 else None, True)
    t.wait("That makes", "Enter send", gone=["AI ..."])
    t.type("still there")
    c.says("it is continued", t, "> still there")


def outside(c, place):
    """Editing the input in an external editor."""
    fork(place)
    t = chat(place, EDITOR=editor(place))
    t.type("written")
    t.key("C-g")
    c.says("what it wrote", t, "by the editor")
    t.key("Enter")
    c.store("sent", lambda: [x.replace("\n", "") for _, x in place.texts()[4:5]], ["written (by the editor)"])
    t.close()
    with place.open(size=SIZE, EDITOR="false") as t:
        t.wait("Enter send")
        t.type("kept")
        t.key("C-g")
        c.says("an editor that fails", t, "The editor (false) exited with status 1", "> kept")


def leaving(c, place):
    fork(place)
    for keys, what in ((("C-d",), "Ctrl+D"), (("C-q",), "Ctrl+Q"), (("C-c", "C-c"), "Ctrl+C twice")):
        t = chat(place)
        for key in keys:
            t.key(key)
        c.says(what, t, "ended 0", gone=["Good. Schema"])
        t.close()
    t = chat(place)
    t.key("C-c")
    c.says("said first", t, "again to quit")
    t.type("a")
    t.key("C-d")
    t.type("b")
    c.says("Ctrl+D does nothing if the input is not empty", t, "> ab")
    t.key("C-c")
    c.says("emptied", t, re.compile(r"^ >$", re.M))
    t.key("Escape")
    c.says("said", t, "again for the tree")
    t.key("Escape")
    c.says("Escape twice", t, "─ Tree")
    c.equal("nothing was done", steps(place), 8)


def select(c, place):
    """Selecting an entry: appearance, movement, and back to the input."""
    fork(place)
    t = chat(place)
    t.key("M-Up")
    c.rows("the last is selected", t, 10, ["› AI" + " " * 75 + "4", "▌ Good. Schema"])
    c.says("its keys are in the footer", t, "Enter continue  Alt+E edit  Space mark  Alt+A add")
    for key, row in (("Up", "› User < 1/2 >"), ("M-k", "› AI"), ("M-j", "› User < 1/2 >"), ("Home", "› User   "),
                     ("End", "› AI"), ("Up", "› User < 1/2 >")):
        t.key(key)
        c.says(f"{key}: {row}", t, row)
    t.key("Down", "Down")
    c.says("below the last: writing", t, "Enter send", gone=["›"])
    t.type("e")
    c.says("letters are letters", t, "> e")
    t.key("C-c", "M-Up")
    t.wait("› AI")
    t.key("Escape")
    c.says("Escape: writing", t, "Enter send", gone=["›"])
    t.key("M-Up")
    t.wait("› AI")
    t.type("quit u and delete")
    c.says("letters are written", t, "Enter send", "> quit u and delete", gone=["›"])
    t.key("C-c", "M-Up")
    t.wait("› AI")
    t.key("Escape")
    c.says("Escape: writing", t, "Enter send", gone=["›"])
    c.equal("nothing was done", steps(place), 8)


def selected(place, key="M-Up", **more):
    t = chat(place, **more)
    t.key("M-Up")
    t.wait("› AI")
    for k in key.split()[1:]:
        t.key(k)
    return t


def roles(place):
    return [role for role, _ in place.texts()]


def verbs_text(c, place):
    """Edit, insert, split, merge, in an editor, as a new take."""
    fork(place)
    t = selected(place, EDITOR=editor(place))

    def do(keys, question, text, *ends):
        def press():
            t.key(*keys.split())
            if question:
                answer(t, question, text, *ends)
        return press
    c.verb("e", place, t, do("M-e", "AI, entry 4 - edits in place", "!"), "Edited entry 4", "entry.edit",
           lambda p: contents(p)[3] == ("a2", "Good. Schema!"))
    c.verb("a", place, t, do("M-a", "New entry after AI, entry 4, role User", "more"), "Added entry",
           "entry.insert", lambda p: p.texts()[4:] == [("User", "more")])
    c.verb("i", place, t, do("End M-i", "New entry before AI, entry 4, role User", "wait"), "Added entry",
           "entry.insert", lambda p: p.texts()[3:] == [("User", "wait"), ("AI", "Good. Schema")])
    c.verb("t", place, t, do("End M-t", "AI, entry 4 - edits in a new take", "?"), "take: main_take_1", "batch",
           lambda p: p.texts()[3] == ("AI", "Good. Schema?") and contents(p, "main")[3][1] == "Good. Schema")
    c.verb("s", place, t, do("End M-s", "Split AI, entry 4 before which word?", "Schema"),
           "Split an entry", "entry.split", lambda p: len(p.texts()) == 5)
    c.verb("S", place, t, do("Home M-S", None, None), "Merged", "entry.merge",
           lambda p: len(p.texts()) == 3 and p.texts()[0][1].startswith("Which database?"))
    c.verb("E", place, t, do("End M-E", None, None), "Edited entry 4", "entry.edit",
           lambda p: contents(p)[3][1].replace("\n", "") == "Good. Schema (by the editor)")
    # Unchanged, and cancelled.
    was = steps(place)
    t.key("End", "M-e")
    answer(t, "edits in place", "")
    c.says("no change", t, "Nothing was changed")
    t.key("M-e")
    t.wait("edits in place")
    t.type("lost")
    t.key("Escape")
    c.says("cancelled", t, "Cancelled; nothing was changed")
    c.equal("no step", newest(place)["seq"], 8)
    c.equal("no steps", steps(place), was)


def verbs_place(c, place):
    """Delete, move, mute, role, label, branch, on one entry and on several."""
    fork(place)
    t = selected(place)

    def muted(p):
        return [e["id"] for e in p.json("show")["entries"] if e["muted"]]

    def labels(p):
        return {r["id"]: r["label"] for r in p.json("tree") if r["label"]}

    def marked(*keys):
        def press():
            t.key("M-0", "Home", "S-Down")
            t.wait(re.compile("^✓ AI", re.M))
            t.key(*keys)
        return press
    c.verb("d", place, t, lambda: t.key("M-d"), "Deleted entry: Good. Schema", "entry.delete",
           lambda p: ids(p) == ["u1", "a1", "u2"])
    c.verb("d on two", place, t, marked("M-d"), "Deleted 2 entries", "entry.delete",
           lambda p: ids(p) == ["u2", "a2"])
    c.verb("D", place, t, lambda: t.key("Home", "Down", "M-D"), "Deleted 3 entries", "entry.delete",
           lambda p: ids(p) == ["u1"])
    c.verb("H", place, t, lambda: t.key("End", "M-H"), "Muted entry 4", "entry.mute", lambda p: muted(p) == ["a2"])
    c.verb("H on two", place, t, marked("M-H"), "Muted 2 entries", "entry.mute",
           lambda p: muted(p) == ["u1", "a1"])

    def move():
        t.key("End", "M-M")
        answer(t, "Move AI, entry 4 before which entry? (number, label, end)", "1")
    c.verb("M", place, t, move, "Moved entry: Good. Schema", "entry.move", lambda p: ids(p) == ["a2", "u1", "a1", "u2"])

    def move_two():
        marked("M-M")()
        answer(t, "Move 2 entries before which entry?", "end")
    c.verb("M on two", place, t, move_two, "Moved", "entry.move", lambda p: ids(p) == ["u2", "a2", "u1", "a1"])

    def role():
        t.wait("Role")
        t.type("sys")
        t.wait("› System")
        t.key("Enter")
    t.key("M-0")
    t.wait(gone=["✓"])
    c.verb("R", place, t, lambda: (t.key("End", "M-R"), role()), "Changed the role of entry 4 to System",
           "entry.role", lambda p: roles(p) == ["User", "AI", "User", "System"])
    c.verb("R on two", place, t, lambda: (marked("M-R")(), role()), "Changed the role of 2 entries", "entry.role",
           lambda p: roles(p) == ["System", "System", "User", "AI"])

    def label():
        t.key("End", "M-m")
        answer(t, "Label of AI, entry 4 (leave empty to remove)", "good")
    c.verb("m", place, t, label, 'Labelled entry 4 "good"', "label.set", lambda p: labels(p) == {"a2": "good"})

    def branch():
        t.key("Home", "Down", "M-b")
        answer(t, "New take from AI, entry 2. Name (optional)", "third")
        t.wait('Branched "third"')     # the input is focused
        t.key("M-Up")
        t.wait("› AI")
    c.verb("b", place, t, branch, 'Branched "third"', "take.branch",
           lambda p: p.json("show")["take"] == "third" and ids(p) == ["u1", "a1"])
    t.key("M-G")
    c.says("P says where it can be done", t, "The entry is already in this take")


def verbs_look(c, place):
    """Actions without a change: fold, copy, versions, read, other screens."""
    fork(place)
    place.run("edit", "a2", "Good. Schema\n\nwith a second paragraph")
    with place.open(size=SIZE) as t:
        t.wait("second paragraph")
        t.key("M-Up")
        t.wait("› AI")
        t.key("Tab")
        c.says("folded", t, "Collapsed to its first line", "Good. Schema …", gone=["second paragraph"])
        c.store("kept", lambda: [e["collapsed"] for e in place.json("show")["entries"]],
                [False, False, False, True])
        c.equal("it is not a step", steps(place), 9)
        t.key("Tab")
        c.says("unfolded", t, "Expanded", "second paragraph")
        t.key("M-y")
        c.says("y", t, "Copied 37 characters")
        t.key("M-Y")
        c.says("Y", t, re.compile(r"Copied 1\d\d characters"))
        t.key("M-v")
        c.says("v", t, "Version 2 of 2", "second paragraph")
        t.key("Escape")
        t.wait("Enter continue")
        t.key("M-p")
        c.says("p", t, " AI, entry 4", gone=["SQLite: one file."])
        t.key("Escape")
        t.wait("Enter continue")
        for key, seen in (("M-T", "─ Tree"), ("F2", "─ Tree"), ("M-o", "History of "), ("C-y", "History of "),
                          ("F3", "History of "), ("F4", "Discussions"), ("?", "Keys here"), ("F1", "Keys here"),
                          ("C-p", "Commands"), ("M-x", "to which file?"), ("M-C", "Summarise the beginning"),
                          ("C-l", "Model (PROVIDER/NAME)")):
            t.key(key)
            c.says(f"{key} leads to {seen}", t, seen)
            t.key("Escape")
            c.says(f"{key}: back", t, "Enter continue", gone=[seen])
        c.equal("nothing was done", steps(place), 9)


def go_on(c, place):
    """Enter on an entry moves the head there, as in the tree."""
    fork(place)
    t = selected(place, "M-Up Up")
    t.wait("› User < 1/2 >")
    t.key("Enter")
    t.wait("Summarise")
    t.key("M-1")
    c.says("its text is in the input", t, "> Use SQLite, not Postgres", "Moved to entry 2", "← active", gone=["›"])
    c.equal("the head", head(place), "a1")
    t.key("C-c", "M-Up", "Enter")
    c.says("back to the last", t, "Moved to entry 4", gone=["› AI"])
    c.equal("the head is at the end", head(place), "a2")
    t.key("M-Up", "Enter")
    c.says("another reply", t, "Already at this point")


def again(c, place):
    """Another reply, and continuing one; in the chat and on a selected entry."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "Anew."}))
    t.key("M-a")
    c.says("Alt+A", t, "Anew.", "take: main_take_1")
    c.store("a separate take", lambda: [x for _, x in place.texts()][2:], ["Use SQLite, not Postgres", "Anew."])
    c.equal("the other is as it was", ids(place, "main"), ["u1", "a1", "u2", "a2"])
    t.key("M-[")
    c.says("back to the other", t, "Switched to take")
    t.key("M-u", "M-c")
    c.store("Alt+C", lambda: place.texts()[3][1].count("Anew."), 2)
    t.wait("Anew.Anew.", gone=["..."])
    t.key("M-Up")
    t.wait("› AI")
    t.key("M-A")
    c.store("three takes", lambda: len(takes(place)), 4)
    t.wait("main_take_2", gone=["..."])


def other_takes(c, place):
    """Switching takes with Alt+] and Alt+[, also on a selected entry."""
    fork(place)
    t = chat(place)
    for key, name, text in (("M-]", "duck", "DuckDB is fine too"), ("M-]", "main", "Good. Schema"),
                            ("M-[", "duck", "DuckDB is fine too"), ("M-,", "main", "Good. Schema"),
                            ("M-.", "duck", "DuckDB is fine too")):
        t.key(key)
        c.says(f"{key}: {name}", t, f"take: {name}, ", text, "/2 >")
        c.equal(f"{key}: in the store", place.json("show")["take"], name)
    t.key("M-Up")
    t.wait("› AI")
    for key, name in (("M-]", "main"), ("M-[", "duck"), ("Right", "main"), ("Left", "duck"), ("M-.", "main"), ("M-,", "duck")):
        t.key(key)
        c.says(f"{key}: {name}", t, f"take: {name}, ")
        c.equal(f"{key}: in the store", place.json("show")["take"], name)


def one_take(c, place):
    add(place, "User", "u1", "Good. Schema")
    t = chat(place)
    t.key("M-]")
    c.says("said", t, "There is only one take. Alt+B on an entry starts another")


def folded(c, place):
    """Thinking and tool output: Ctrl+T and Ctrl+O."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(
        place, {"thinking": "I wonder\nwhy"}, {"text": "Because."},
        {"call": {"id": "c1", "name": "read", "arguments": {"path": "x"}}}))
    t.type("Why?")
    t.key("Enter")
    c.says("folded", t, "[thinking, 2 lines, Ctrl+T]", "Because.", "calls read", gone=["I wonder"])
    add(place, "Tool", "t1", "line one\nline two")
    c.says("the tool's is folded, too", t, "[tool result, 2 lines, Ctrl+O]", gone=["line one"])
    t.key("C-t")
    c.says("Ctrl+T", t, "I wonder", "why", gone=["[thinking,"])
    t.key("C-o")
    c.says("Ctrl+O", t, "line one", "line two", gone=["[tool result,"])
    t.key("C-t", "C-o")
    c.says("and back", t, "[thinking, 2 lines, Ctrl+T]", "[tool result, 2 lines, Ctrl+O]",
           gone=["I wonder", "line one"])
    t.key("M-Up")
    t.wait("› Tool")
    t.key("C-t", "C-o")
    c.says("with an entry selected", t, "I wonder", "line two")


def thought_in_place(c, place):
    """Thinking within a reply is folded in place and left out of other rows. A reply that
    updates the prompt says so."""
    fork(place)
    place.run("set", "prompt_updates", "block")
    t = chat(place, RETAKE_MODEL=script(place, {
        "text": "My plan. <thinking>A secret\nthought.</thinking>\n\nChanged.\n\n```prompt\nUse French.\n```\n"}))
    t.type("Change it")
    t.key("Enter")
    c.says("folded between the texts", t, re.compile(
        r"My plan\.\n+  \[thinking, 2 lines, Ctrl\+T\]\n+  Changed\."), "rompt updated",
        gone=["secret", "<think"])
    t.key("C-t")
    c.says("unfolded there", t, re.compile(r"My plan\.\n+  A secret\n  thought\.\n+  Changed\."),
           gone=["[thinking"])
    t.key("C-t")
    c.says("folded again", t, "[thinking, 2 lines", gone=["secret"])
    t.key("F2")
    c.says("the tree leaves it out", t, "─ Tree", re.compile(r"AI: My plan\.\s+Changed\."),
           gone=["secret", "<think"])
    c.store("the prompt is kept", lambda: place.run("prompt").strip(), "Use French.")


def aside(c, place):
    """Without auto_add_history the exchange gets a separate take, and the visible one is
    unchanged."""
    fork(place)
    place.run("set", "auto_add_history", "false")
    t = chat(place, RETAKE_MODEL=script(place, {"text": "Elsewhere."}))
    t.type("Aside?")
    t.key("Enter")
    c.says("says where it is", t, re.compile(r"auto_add_history is off: .*switch to its\s+take,\s+main_take_1", re.S),
           "Good. Schema", gone=["Elsewhere.", "retake "])
    c.equal("in that take", contents(place, "main_take_1")[-1][1], "Elsewhere.")
    c.equal("and not in this one", ids(place), ["u1", "a1", "u2", "a2"])


def reset(c, place):
    """A reset stops the reply and says so; one undo restores both."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "slow "}, {"wait_ms": 60000}, {"text": "end"}))
    t.type("Q?")
    t.key("Enter")
    t.wait("slow")
    t.type("/reset")
    t.key("Enter")
    c.says("stopped", t, "Stopped: the discussion was reset", "No messages yet.", gone=["AI ...", "slow"])
    c.equal("nothing comes into the new one", contents(place), [])
    t.key("M-u")
    c.says("one undo", t, "Undone", "Good. Schema", "Q?", "slow")


def find(c, place):
    """Ctrl+F, Alt+N, Alt+Shift+N; no match."""
    lines_of = "".join(json.dumps({"op": "entry.append", "role": "AI" if i % 2 else "User",
                                   "content": f"entry {i}" + (" with a Needle" if i % 20 == 7 else "")}) + "\n"
                       for i in range(100))
    place.run("apply", "-q", "-", text=lines_of)
    with place.open(size=SIZE) as t:
        t.wait("entry 99")
        t.key("C-f")
        answer(t, "Find in this take", "needle")
        c.says("the last one", t, "entry 87 with a Needle", re.compile(r"^› AI +88$", re.M))
        for key, at in (("M-n", 7), ("M-n", 27), ("M-N", 7), ("M-N", 87)):
            t.key(key)
            c.says(f"{key}: {at}", t, f"entry {at} with a Needle", re.compile(rf"^› AI +{at + 1}$", re.M))
        t.key("Escape")
        t.wait("Enter send")
        t.key("C-f")
        t.wait("Find in this take")
        t.key("C-u")
        t.type("nowhere")
        t.key("Enter")
        c.says("not there", t, "Not found in this take: nowhere")
        # Far up, and to both ends.
        t.key("M-Home")
        c.says("the beginning", t, "entry 0", "more below: Alt+End")
        t.key("NPage")
        c.says("a page down", t, "entry 9", gone=["entry 0\n"])
        t.key("M-End")
        c.says("the end", t, "entry 99", gone=["more below"])
        t.key("PPage")
        c.says("a page up", t, "more below", gone=["entry 99"])
        last = re.findall(r"entry \d+\n", t.text())[-1]
        place.run("add", "-q", "new at the end")
        t.key("PPage")
        t.wait("more below", gone=[last])
        t.key("NPage")
        c.says("what is added below does not move the view", t, "more below", last, gone=["new at the end"])
        t.key("M-End")
        c.says("it is there", t, "new at the end")


def live(c, place):
    """Changes by another process are visible without a key; the text of the input is kept."""
    fork(place)
    t = chat(place)
    t.type("being written")
    place.run("edit", "a2", "Changed elsewhere")
    c.says("an edit", t, "Changed elsewhere", "(edited)", "> being written", gone=["Good. Schema"])
    add(place, "User", "x1", "Added elsewhere")
    c.says("an entry", t, "Added elsewhere", "> being written")
    place.run("undo")
    c.says("undone", t, "> being written", gone=["Added elsewhere"])
    place.run("takes", "switch", "duck")
    c.says("a switch", t, "take: duck", "DuckDB is fine too", "> being written")
    place.run("new", "another")
    place.run("--discussion", "main", "label", "a3", "mine")
    c.says("a label; and starting another discussion there does not close this one", t, "#mine",
           "DuckDB is fine too", "take: duck")


def two(c, place):
    """Two instances on one store: each shows the other's changes; undo is shared."""
    fork(place)
    a = chat(place)
    b = chat(place, RETAKE_MODEL=script(place, {"text": "From b "}, {"wait_ms": 300}, {"text": "slowly"}))
    a.type("From a")
    a.key("Enter")
    b.wait("From a")
    a.wait('You said: "From a"', gone=["..."])
    c.store("both", lambda: len(place.texts()), 6)
    b.type("Question of b")
    b.key("Enter")
    c.says("the question is seen at once", a, "Question of b")
    c.says("and the reply, when it is one", a, "From b slowly")
    b.wait("  From b slowly", gone=["..."])
    a.key("M-u")
    c.says("undone by the other", b, "Question of b", gone=["  From b slowly"])
    a.wait("Undone", gone=["  From b slowly"])
    b.key("M-r")
    c.says("and redone", a, "  From b slowly")
    # Both make a change: both are kept.
    a.key("M-Up")
    a.wait("› AI")
    b.key("M-Up")
    b.wait("› AI")
    a.key("M-m")
    answer(a, "Label of AI, entry 8", "last")
    c.says("a label", b, "#last")
    b.key("M-e")
    answer(b, "edits in place", "!")
    c.says("an edit", a, "From b slowly!", "#last")
    c.store("value", lambda: len(value(place)[0]["entries"]), 8)


def while_running(c, place):
    """During a reply: writing, moving, editing earlier entries."""
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "Long "}, {"wait_ms": 60000}, {"text": "tail"}))
    t.type("Q")
    t.key("Enter")
    t.wait("AI ...", "Long")
    t.type("second")
    t.key("Enter")
    c.says("not two at once", t, "Still receiving a reply", "> second")
    t.key("F2")
    c.says("the tree", t, "─ Tree", "User: Q")
    t.key("Escape")
    c.says("closing it does not stop the reply", t, "AI ...", "Long", gone=["─ Tree"])
    t.key("M-Up", "Up")
    t.wait(re.compile("^› AI +4$", re.M))
    t.key("Home", "M-e")
    answer(t, "edits in place", " At all?")
    c.says("an edit during the reply", t, "Edited entry 1", "AI ...")
    t.key("Escape")
    c.says("writing again, and what Escape does now", t, "Esc stops the reply", gone=["Enter go on"])
    t.key("Escape")
    c.says("stopped", t, "Stopped; the partial reply is kept", gone=["AI ..."])
    c.equal("all is there", [x for _, x in place.texts()],
            ["Which database? At all?", "SQLite: one file.", "Use SQLite, not Postgres", "Good. Schema", "Q", "Long "])
    # Leaving during a reply keeps the partial reply.
    t.key("C-u")
    t.type("Last")
    t.key("Enter")
    t.wait(re.compile(r"^  AI \.\.\.\n  Long$", re.M))
    t.key("C-q")
    c.says("left", t, "ended 0")
    c.equal("kept", place.texts()[-1], ("AI", "Long "))


run(welcome, send, stop, lines, before, paste, outside, leaving, select, verbs_text, verbs_place, verbs_look,
    go_on, again, other_takes, one_take, folded, thought_in_place, aside, reset, find, live, two, while_running)
