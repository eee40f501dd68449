# SPDX-License-Identifier: MIT
"""Verbs in the tree, each with the resulting state of the store, undone, redone and undone
again."""
import re

from talk import FORK, add, answer, contents, editor, fork, head, ids, newest, run, steps, takes, tree_rows

SIZE = (80, 40)


def tree(place, **more):
    """Opens the tree; the cursor is at the head (row 4 of 6)."""
    t = place.open(size=SIZE, **more)
    t.wait("Good. Schema")
    t.key("F2")
    t.wait("(4/6)")
    return t


def shape(place):
    """[(depth, role, preview, takes)] of the whole tree."""
    return [(r["depth"], r["role"], r["preview"], r["takes"]) for r in place.json("tree")]


def edit(c, place):
    fork(place)
    t = tree(place)

    def do():
        t.key("Up", "M-e")
        answer(t, "User, entry 3 - edits in place; later entries are kept", "!")
    c.verb("edit", place, t, do, "Edited entry 3", "entry.edit",
           lambda p: contents(p)[2:] == [("u2", "Use SQLite, not Postgres!"), ("a2", "Good. Schema")])
    c.tree("the tree as before", t, [FORK[i].replace("› │", "  │") if i == 3 else
                                     FORK[i].replace("  ├", "› ├") for i in range(6)])
    # An edit without a change is not a step.
    t.key("M-e")
    answer(t, "edits in place", "")
    c.says("nothing changed", t, "Nothing was changed")
    t.key("M-e")
    t.wait("edits in place")
    t.type("lost")
    t.key("Escape")
    c.says("cancelled", t, "Cancelled; nothing was changed", gone=["lost"])
    c.equal("and no step", newest(place)["seq"], 8)
    # An entry of another take.
    t.key("End", "M-e")
    answer(t, "AI, \"DuckDB is fine too\" - edits in place", ".")
    c.says("of the other take", t, "Edited entry: DuckDB", "DuckDB is fine too.")
    c.equal("in the store", contents(place, "duck")[3], ("a3", "DuckDB is fine too."))
    c.equal("we stay", place.json("show")["take"], "main")


def edit_lines(c, place):
    """Several lines, with Alt+Enter; an editor with Alt+Shift+E and Ctrl+G."""
    fork(place)
    t = tree(place, EDITOR=editor(place), VISUAL=None)
    t.key("M-e")
    t.wait("edits in place")
    t.key("M-Enter")
    t.type("second line")
    t.key("Enter")
    c.says("edited", t, "Edited entry 4")
    c.equal("two lines", contents(place)[3], ("a2", "Good. Schema\nsecond line"))
    t.key("M-u")
    t.wait("Undone")
    t.key("M-E")
    c.says("by the editor", t, "Edited entry 4")
    c.equal("its text", contents(place)[3][1].replace("\n", ""), "Good. Schema (by the editor)")
    t.key("M-u")
    t.wait("Undone")
    t.key("M-e")
    t.wait("edits in place")
    t.key("C-g")
    t.wait(re.compile(r"^› Good. Schema\n +\(by the editor\)$", re.M))
    t.key("Enter")
    c.says("by the editor out of the field", t, "Edited entry 4")
    c.equal("its text", contents(place)[3][1].replace("\n", ""), "Good. Schema (by the editor)")


def edit_as_take(c, place):
    fork(place)
    t = tree(place)

    def do():
        t.key("Up", "M-t")
        answer(t, "User, entry 3 - edits in a new take", "!")
    c.verb("edit as a take", place, t, do, "step 9", "batch",
           lambda p: contents(p)[2:] == [("u2", "Use SQLite, not Postgres!")] or
           contents(p)[2][1] == "Use SQLite, not Postgres!")
    c.equal("takes as before", takes(place), ["duck", "main"])


def insert(c, place):
    fork(place)
    t = tree(place)

    def after():
        t.key("M-a")
        answer(t, "New entry after AI, entry 4, role User", "One more thing")
    c.verb("add after", place, t, after, "Added entry", "entry.insert",
           lambda p: [e for e in p.texts()][4:] == [("User", "One more thing")])

    def before():
        t.key("M-i")
        answer(t, "New entry before AI, entry 4, role User", "Wait")
    c.verb("add before", place, t, before, "Added entry", "entry.insert",
           lambda p: p.texts()[3:] == [("User", "Wait"), ("AI", "Good. Schema")])


def delete(c, place):
    fork(place)
    t = tree(place)
    c.verb("delete", place, t, lambda: t.key("Up", "M-d"), "Deleted entry: Use SQLite, not Postgres", "entry.delete",
           lambda p: ids(p) == ["u1", "a1", "a2"] and ids(p, "duck") == ["u1", "a1", "u3", "a3"])
    c.verb("delete by its key", place, t, lambda: t.key("Home", "Down", "Down", "DC"), "Deleted entry: Use SQLite, not Postgres", "entry.delete",
           lambda p: ids(p) == ["u1", "a1", "a2"])


def delete_below(c, place):
    fork(place)
    t = tree(place)
    c.verb("delete with all below", place, t, lambda: t.key("Home", "Down", "Down", "M-D"),
           "Deleted 2 entries", "entry.delete",
           lambda p: ids(p) == ["u1", "a1"] and ids(p, "duck") == ["u1", "a1", "u3", "a3"])


def delete_marked(c, place):
    """Actions on marked entries are one step, even in several takes."""
    fork(place)
    t = tree(place)
    t.key("Up", "S-Down")
    c.tree("marked", t, FORK[:2] + [" ✓├⊟ • User: Use SQLite, not Postgres",
                                    "›✓│     • AI: Good. Schema  {main}  ← active",
                                    "  └⊟ User: What about DuckDB?", FORK[5]], "(4/6)  [2 marked]")
    t.key("S-Down")
    c.at("one more", t, "└⊟ User: What about DuckDB?", "(5/6)  [3 marked]")
    t.key("S-Up")
    c.at("back", t, "│     • AI: Good. Schema  {main}  ← active", "(4/6)  [2 marked]")
    c.says("the title counts them", t, "─ Tree  2 marked ")
    c.verb("delete the marked entries", place, t, lambda: t.key("M-d"), "Deleted 2 entries",
           "entry.delete", lambda p: ids(p) == ["u1", "a1"] and ids(p, "duck") == ["u1", "a1", "u3", "a3"])
    c.says("no marks are left", t, "/6)", gone=["marked"])
    t.key("Home", "Down", "Down", "Space", "End", "Space")
    t.wait("2 marked")
    c.verb("delete in two takes at once", place, t, lambda: t.key("M-d"), "Deleted",
           "entry.delete", lambda p: ids(p) == ["u1", "a1", "a2"] and ids(p, "duck") == ["u1", "a1", "u3"])
    t.key("Home", "S-Down")
    t.wait("2 marked")
    t.key("M-0")
    c.says("Alt+0 unmarks all", t, "/6)", gone=["marked"])
    t.key("Home", "Space")
    c.at("Space does not move", t, "• User: Which database?", "(1/6)  [1 marked]")
    t.key("Space")
    c.says("Space unmarks", t, "(1/6)", gone=["marked"])


def move(c, place):
    fork(place)
    t = tree(place)

    def asked():
        t.key("M-M")
        answer(t, "Move AI, entry 4 before which entry?", ":1")
    c.verb("move", place, t, asked, "Moved entry: Good. Schema", "entry.move",
           lambda p: ids(p) == ["a2", "u1", "a1", "u2"])

    def end():
        t.key("Home", "M-M")
        answer(t, "before which entry?", "end")
    c.verb("move to the end", place, t, end, "Moved entry: Which database?", "entry.move",
           lambda p: ids(p) == ["a1", "u2", "a2", "u1"])

    def marked():
        t.key("Home", "Down", "Down", "S-Down", "Home", "M-M")
    c.verb("move the marked entries", place, t, marked, "Moved", "entry.move",
           lambda p: ids(p) == ["u2", "a2", "u1", "a1"])
    t.key("M-M")
    answer(t, "before which entry?", "nobody")
    c.says("no such entry", t, 'No entry matches "nobody"')
    c.equal("nothing changed", ids(place), ["u1", "a1", "u2", "a2"])


def graft(c, place):
    fork(place)
    t = tree(place)
    c.verb("graft", place, t, lambda: t.key("End", "M-G"), "Copied entry 5 ", "take.graft",
           lambda p: [text for _, text in p.texts()] ==
           ["Which database?", "SQLite: one file.", "Use SQLite, not Postgres", "Good. Schema",
            "DuckDB is fine too"])
    t.key("End", "Up", "S-Down")
    t.wait("2 marked")
    c.verb("graft the marked entries", place, t, lambda: t.key("M-G"), "Copied 2 entries; the first is entry 5 ", "take.graft",
           lambda p: [text for _, text in p.texts()][4:] == ["What about DuckDB?", "DuckDB is fine too"])
    t.key("Home", "M-G")
    c.says("of this take", t, "The entry is already in this take")


def branch(c, place):
    fork(place)
    t = tree(place)

    def named():
        t.key("Home", "Down", "M-b")
        answer(t, "New take from AI, entry 2. Name (optional)", "third")
    c.verb("branch", place, t, named, 'Branched "third"', "take.branch",
           lambda p: p.json("show")["take"] == "third" and ids(p) == ["u1", "a1"])

    def nameless():
        t.key("Home", "Down", "M-b")
        answer(t, "New take from AI, entry 2. Name", "")
    c.verb("branch without a name", place, t, nameless, "Branched", "take.branch",
           lambda p: p.json("show")["take"] not in ("main", "duck") and ids(p) == ["u1", "a1"])


def mute(c, place):
    fork(place)
    t = tree(place)

    def muted(p):
        return [e["id"] for e in p.json("show")["entries"] if e["muted"]]
    c.verb("mute", place, t, lambda: t.key("M-H"), "Muted entry 4", "entry.mute",
           lambda p: muted(p) == ["a2"])
    t.key("Home", "S-Down")
    t.wait("2 marked")
    c.verb("mute the marked entries", place, t, lambda: t.key("M-H"), "Muted 2 entries", "entry.mute",
           lambda p: muted(p) == ["u1", "a1"])
    t.key("M-H")
    c.says("seen in the tree", t, "Which database?  (muted)", "SQLite: one file.  (muted)")
    t.key("M-H")
    c.says("and no longer", t, "2 marked", gone=["(muted)"])
    c.equal("in the store", muted(place), [])


def label(c, place):
    fork(place)
    t = tree(place)

    def labels(p):
        return {r["id"]: r["label"] for r in p.json("tree") if r["label"]}

    def one():
        t.key("M-m")
        answer(t, "Label of AI, entry 4 (leave empty to remove)", "good start")
    c.verb("label", place, t, one, 'Labelled entry 4 "good start"', "label.set",
           lambda p: labels(p) == {"a2": "good start"})
    t.key("M-m")
    answer(t, "Label of AI, entry 4", "x")
    c.says("shown in its row", t, "[x] AI: Good. Schema")
    t.key("M-m")
    t.wait("Label of AI, entry 4")
    t.key("C-u", "Enter")
    c.says("taken away", t, "(4/6)", gone=["[x]", "Label of"])
    c.equal("in the store", labels(place), {})
    t.key("Home", "S-Down", "M-m")
    answer(t, "Label of 2 entries", "both")
    c.says("of two", t, "Labelled 2 entries: 1, 2   step ", "[both] User: Which", "[both] AI: SQLite")
    c.equal("in the store", labels(place), {"u1": "both", "a1": "both"})
    t.key("M-m")
    t.wait("Label of 2 entries")
    t.key("C-u", "Enter")
    c.says("taken away from both", t, "Removed the labels of 2 entries: 1, 2   step ", gone=["[both]"])
    c.equal("in the store", labels(place), {})


def role(c, place):
    fork(place)
    t = tree(place)

    def roles(p):
        return [r for r, _ in p.texts()]

    def one():
        t.key("M-R")
        t.wait("Role", "Vendor API")
        t.type("sys")
        t.wait("› System")
        t.key("Enter")
    c.verb("role", place, t, one, "Changed the role of entry 4 to System", "entry.role",
           lambda p: roles(p) == ["User", "AI", "User", "System"])
    t.key("Home", "S-Down")
    t.wait("2 marked")
    c.verb("role of the marked entries", place, t, one, "Changed the role of 2 entries", "entry.role",
           lambda p: roles(p) == ["System", "System", "User", "AI"])


def split(c, place):
    fork(place)
    t = tree(place)

    def do():
        t.key("M-s")
        answer(t, "Split AI, entry 4 before which word?", "Schema")
    c.verb("split", place, t, do, "Split an entry", "entry.split",
           lambda p: [x for _, x in p.texts()][3:] == ["Good. ", "Schema"] or
           [x for _, x in p.texts()][3:] == ["Good.", "Schema"])
    c.verb("merge", place, t, lambda: t.key("Up", "M-S"), "Merged", "entry.merge",
           lambda p: len(p.texts()) == 3 and "Good. Schema" in p.texts()[2][1])
    t.key("M-s")
    answer(t, "before which word?", "not there")
    c.says("not there", t, "The entry does not contain this text; nothing was split")


def takes_of(c, place):
    """Renaming the take that ends here; versions; copying."""
    fork(place)
    t = tree(place)

    def rename():
        t.key("C-r")
        t.wait("New name of the take")
        t.key("C-u")
        t.type("first")
        t.key("Enter")
    c.verb("rename", place, t, rename, "Renamed", "take.rename",
           lambda p: takes(p) == ["duck", "first"])
    place.run("edit", "a2", "Good. Another schema")
    t.wait("Another schema")
    t.key("M-v")
    c.says("versions", t, "Version 1 of 2, step 4", "Version 2 of 2", "Another schema")
    t.key("Escape")
    t.wait("─ Tree")
    t.key("M-y")
    c.says("copied", t, "Copied 20 characters")
    t.key("M-Y")
    c.says("copied up to here", t, "Copied 1")
    shown = t.tmux("show-buffer", check=False)
    t.key("Escape")
    t.wait(gone=["─ Tree"])
    t.key("M-y")
    c.says("pasted", t, "## User", "Good. Another schema")
    c.check("and the clipboard of the terminal has it", shown == "" or "Which database?" in shown, shown)


def again(c, place):
    """Another reply, and continuing one."""
    fork(place)
    t = tree(place)
    t.key("M-A")
    c.says("a separate take", t, "main_take_1")
    c.store("it has the question", lambda: [x for _, x in place.texts()][:3],
            ["Which database?", "SQLite: one file.", "Use SQLite, not Postgres"])
    c.store("and a reply", lambda: len(place.texts()), 4)
    c.equal("the other is as it was", ids(place, "main"), ["u1", "a1", "u2", "a2"])


def leads_on(c, place):
    """Keys that open other screens, and back."""
    fork(place)
    t = tree(place)
    for key, seen in (("M-o", "History of "), ("C-y", "History of "), ("F3", "History of "),
                      ("F4", "Discussions"), ("?", "Keys here"), ("F1", "Keys here"),
                      ("C-p", "Commands"), ("M-x", "to which file?"), ("M-C", "Summarise the beginning")):
        t.key(key)
        c.says(f"{key} leads to {seen}", t, seen)
        t.key("Escape")
        c.says(f"{key}: back", t, "Enter go ", "(4/6)", gone=[seen])
    c.equal("nothing was done", (steps(place), head(place)), (8, "a2"))
    c.equal("the tree is as it was", tree_rows(t)[0], FORK)


def export(c, place):
    """Deletes the take of the row, and nothing else."""
    fork(place)
    place.run("new", "another")
    add(place, "User", "z1", "Zebras")
    place.run("switch", "main")
    t = tree(place)
    for row, take, has, has_not in (("End", "duck", "DuckDB is fine too", "Good. Schema"),
                                    ("Home", "main", "Good. Schema", "DuckDB is fine too")):
        for name in ("talk.md", "talk.json", "talk.toml", "talk.html"):
            t.key(row)
            t.wait("(6/6)" if row == "End" else "(1/6)")
            t.key("M-x")
            t.wait(f"Export take {take} to which file?")
            t.key("C-u")
            t.type(f"~/{take}-{name}")
            t.key("Enter")
            c.says(f"{take} to {name}", t, re.compile(rf"Wrote \S+{take}-{name} "))
            with open(f"{place.dir}/{take}-{name}", encoding="utf-8") as file:
                text = file.read()
            c.check(f"{take} is in {name}", has in text)
            c.check(f"the other take is not, in {name}", has_not not in text)
            c.check(f"the other discussion is not, in {name}", "Zebras" not in text)
            t.key("Up" if row == "End" else "Down")
            t.wait("(5/6)" if row == "End" else "(2/6)")


def live(c, place):
    """Another process changes the store while the tree is open: the change appears, and the
    cursor stays."""
    fork(place)
    t = tree(place)
    t.key("End")
    place.run("edit", "u2", "Changed elsewhere")
    c.says("seen", t, "├⊟ • User: Changed elsewhere", "(6/6)")
    place.run("delete", "u1")
    c.says("the cursor stays at its entry", t, "AI: DuckDB is fine too  {duck}", gone=["• User: Which"])
    c.check("it does", any(r.startswith("›") and "DuckDB is fine" in r for r in t.screen()), t.text())
    place.run("undo")
    place.run("undo")
    c.says("undone elsewhere, too", t, "├⊟ • User: Use SQLite, not Postgres", "(6/6)")


run(edit, edit_lines, edit_as_take, insert, delete, delete_below, delete_marked, move, graft, branch, mute,
    label, role, split, takes_of, again, leads_on, export, live)
