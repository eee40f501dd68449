# SPDX-License-Identifier: MIT
"""Keys of the tree: display, movement, filters, folds, search, navigation. In the order of seed
4; run by tree_keys_test.sh."""
import re

from talk import FORK, add, cut_preview, fork, head, ids, run, steps, tree_rows, until


def tree(place, size=(80, 24)):
    """Opens the tree; the cursor is at the head (row 4 of 6)."""
    t = place.open(size=size)
    t.wait("Good. Schema")
    t.key("F2")
    t.wait("(4/6)")
    return t


def go(t, *keys):
    """Continues from the entry that these keys lead to, without a summary."""
    t.key(*keys, "Enter")
    t.wait("Summarise the branch you are leaving?")
    t.key("M-1")


def rows(c, place):
    """Connectors, the active mark, half the terminal's height."""
    fork(place)
    with tree(place) as t:
        c.tree("the fork", t, FORK, "(4/6)")
        screen = t.screen()
        top = screen.index("─ Tree " + "─" * 73)
        # Title and footer belong to the program; the tree has half of the other 22 rows.
        c.equal("half of the height: from row", top, 12)
        c.equal("half of the height: to row", screen.index("  (4/6)"), 22)
        c.check("the chat stays above it", "  Good. Schema" in screen[:top])
        for size, height in (((80, 40), 19), ((80, 60), 29), ((80, 24), 11), ((80, 16), 7)):
            t.resize(*size)

            def look():
                s = t.screen()
                at = [i for i, row in enumerate(s) if row.startswith("─ Tree ")]
                foot = [i for i, row in enumerate(s) if re.match(r"  \(4/6\)", row)]
                return foot[0] - at[0] + 1 if at and foot and len(s) >= size[1] else 0
            c.equal(f"height of {size}", until("height", look, height, t), height)
        t.key("Escape")
        c.says("closed", t, "Esc stop, tree", gone=["─ Tree"])
        c.equal("nothing was done", steps(place), 8)


def cells(t, text):
    """The attributes at the text in its row of the tree."""
    colored = t.tmux("capture-pane", "-p", "-e").split("\n")
    plain = t.screen()
    start = next(i for i, row in enumerate(plain) if row.startswith("─ Tree"))
    line = next(row for row in colored[start + 1:]
                if text in re.sub(r"\x1b\[[0-9;]*m", "", row))
    on, seen, at = set(), "", 0
    for code, letters in re.findall(r"((?:\x1b\[[0-9;]*m)*)([^\x1b]*)", line):
        for numbers in re.findall(r"\x1b\[([0-9;]*)m", code):
            todo = [int(n or 0) for n in numbers.split(";")]
            while todo:
                n = todo.pop(0)
                if n == 0:
                    on = set()
                elif n == 38 and todo[:1] == [5]:
                    on = {a for a in on if not isinstance(a, tuple)} | {("ink", todo[1])}
                    todo = todo[2:]
                elif n == 39:
                    on = {a for a in on if not isinstance(a, tuple)}
                elif n in (1, 2, 7):
                    on.add({1: "bold", 2: "faint", 7: "reverse"}[n])
        if text.startswith(letters[:1]) or text in letters:
            at = letters.find(text)
            if at >= 0:
                return on
        seen += letters
    raise AssertionError(f"{text!r} is not in one run of {line!r}")


def looks(c, place):
    """Questions of the user are bright, everything else is dim; the active leaf is highlighted."""
    fork(place)
    with tree(place) as t:
        c.tree("the fork", t, FORK)

        user, reply = cells(t, "Use SQLite, not Postgres"), cells(t, "DuckDB is fine too")
        c.check("a user's words are in the normal ink", not any(isinstance(a, tuple) for a in user), user)
        c.check("a reply's are dimmed", ("ink", 244) in reply, reply)
        active = cells(t, "Good. Schema")
        c.check("the active leaf is highlighted", "reverse" in active, active)
        t.key("Up")
        c.at("one up", t, "├⊟ • User: Use SQLite, not Postgres", "(3/6)")
        c.check("the selected row is marked without colour, too", "reverse" in
                cells(t, "Use SQLite, not Postgres"))
        c.check("an unselected reply on the path is dimmed", ("ink", 244) in cells(t, "Good. Schema"))


def moving(c, place):
    """Depth first, up and down, no wrapping; pages, ends."""
    fork(place)
    names = [row[2:].strip() for row in FORK]
    with tree(place) as t:
        c.at("it begins at the head", t, names[3], "(4/6)")
        for keys, wanted in (("Down", 4), ("Down", 5), ("Down Up", 4), ("M-k", 3), ("M-k", 2), ("Up", 1),
                            ("Up", 0), ("Up M-j", 1), ("Home", 0), ("End", 5),
                            ("PPage", 0), ("NPage", 5), ("Home", 0),
                            # first child; parent (folds(): folds first)
                            ("Right", 1), ("Right", 2), ("M-l", 3), ("Left", 2),
                            # neighbouring takes at a fork
                            ("M-]", 4), ("M-,", 2), ("M-.", 4)):
            t.key(*keys.split())
            c.at(f"{keys}: row {wanted}", t, names[wanted], f"({wanted + 1}/6)")
        c.equal("nothing was done", steps(place), 8)


def folds(c, place):
    fork(place)
    folded = ["  • User: Which database?", "  • AI: SQLite: one file.",
              "› ├⊞ • User: Use SQLite, not Postgres  (+1)  ← active", "  └⊟ User: What about DuckDB?",
              "        AI: DuckDB is fine too  {duck}"]
    with tree(place) as t:
        c.tree("open", t, FORK)
        t.key("Up", "Left")
        c.tree("folded by Left", t, folded, "(3/5)")
        t.key("Right")
        c.tree("unfolded by Right", t, [r.replace("› ", "  ", 1) if i == 3 else
                                       r.replace("  ├", "› ├") for i, r in enumerate(FORK)], "(3/6)")
        t.key("C-Left")
        c.tree("folded by Ctrl+Left", t, folded, "(3/5)")
        t.key("C-Right")
        c.at("unfolded by Ctrl+Right", t, "├⊟ • User: Use SQLite, not Postgres", "(3/6)")
        t.key("M-K")
        c.tree("folded by Alt+Shift+K", t, folded, "(3/5)")
        t.key("Down", "Left")
        c.at("both", t, "└⊞ User: What about DuckDB?  (+1)", "(4/4)")
        t.key("M-F")
        c.at("all unfolded", t, "└⊟ User: What about DuckDB?", "(5/6)")
        t.key("M-J")
        c.at("the end of the branch", t, "AI: DuckDB is fine too  {duck}", "(6/6)")
        c.equal("folds are no steps", steps(place), 8)


def filters(c, place):
    """Ctrl+U, Ctrl+O, Ctrl+T, Ctrl+L, Ctrl+D, Alt+F; the footer names them."""
    fork(place)
    add(place, "Tool", "t1", "output of a tool")
    place.run("label", "a1", "start")
    every = ["  • User: Which database?", "  • [start] AI: SQLite: one file.",
             "  ├⊟ • User: Use SQLite, not Postgres", "  │     • AI: Good. Schema",
             "› │     • [tool]: output of a tool  {main}  ← active",
             "  └⊟ User: What about DuckDB?", "        AI: DuckDB is fine too  {duck}"]
    with place.open(size=(80, 30)) as t:
        t.wait("Good. Schema")
        t.key("F2")
        t.wait("(5/7)")
        got = tree_rows(t)[0]
        every[4] = got[4]
        c.check("the tool's row", "← active" in got[4], got[4])
        c.tree("all", t, every, "(5/7)")
        users = ["  • User: Which database?", "› ├─ • User: Use SQLite, not Postgres  ← active",
                 "  └─ User: What about DuckDB?"]
        t.key("C-u")
        c.tree("users' only", t, users, "(2/3) [user]")
        t.key("C-u")
        c.tree("and no longer", t, [r.replace("›", " ", 1) if "›" in r else
                                    r.replace("  ├", "› ├") for r in every], "(3/7)")
        t.key("C-t")
        c.tree("without tools", t, [r + "  ← active" if "Good" in r else r.replace("  ├", "› ├")
                                    for r in every if "tool" not in r], "(3/6) [no-tools]")
        t.key("C-l")
        c.tree("with labels", t, ["› • [start] AI: SQLite: one file."], "(1/1) [labeled]")
        t.key("C-d")
        c.at("as usual", t, "• [start] AI: SQLite: one file.", "(2/7)")
        t.key("C-o")
        c.at("all", t, "• [start] AI: SQLite: one file.", "(2/7) [all]")
        t.key("C-o")
        c.at("all, no longer", t, "• [start] AI: SQLite: one file.", "(2/7)")
        for word in (" [no-tools]", " [user]", " [labeled]", " [all]", ""):
            t.key("M-f")

            def foot():
                return re.sub(r"^\(\d+/\d+\)", "", tree_rows(t)[1] or "?")
            c.equal(f"Alt+F:{word}", until("Alt+F", foot, word, t), word)
        t.key("End", "C-u")
        c.says("the cursor goes to the nearest above", t, "(3/3) [user]")
        t.key("C-c")
        c.says("closed", t, "Esc stop, tree", gone=["─ Tree"])
        t.key("F2")
        c.at("a reopened tree has no filter", t, every[4][2:].strip(), "(5/7)")


def hidden(c, place):
    """Settings are only visible with Ctrl+O; a compaction has a mark, an extension's message is
    visible."""
    talk = place.dir + "/pi.jsonl"
    head_line = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}'
    def line(kind, entry, parent, more):
        up = "null" if parent is None else f'"{parent}"'
        return (f'{{"type":"{kind}","id":"{entry}","parentId":{up},'
                f'"timestamp":"2026-01-01T00:00:01.000Z",{more}}}')
    with open(talk, "w", encoding="utf-8") as out:
        out.write("\n".join([
            head_line,
            line("model_change", "aaaaaaa1", None, '"provider":"p","modelId":"m"'),
            line("message", "aaaaaaa2", "aaaaaaa1",
                 '"message":{"role":"user","content":"Hello, can you help","timestamp":1}'),
            line("message", "aaaaaaa3", "aaaaaaa2",
                 '"message":{"role":"assistant","content":[{"type":"text","text":"Of course"}],'
                 '"provider":"p","model":"m","stopReason":"stop","timestamp":1}'),
            line("compaction", "aaaaaaa4", "aaaaaaa3",
                 '"summary":"They said hello","firstKeptEntryId":"aaaaaaa3","tokensBefore":12345'),
            line("custom_message", "aaaaaaa5", "aaaaaaa4",
                 '"customType":"note","content":"a hook\'s message","display":true'),
            line("label", "aaaaaaa6", "aaaaaaa5", '"targetId":"aaaaaaa3","label":"here"'),
            line("custom", "aaaaaaa7", "aaaaaaa6", '"customType":"state","data":{}'),
            line("message", "aaaaaaa8", "aaaaaaa7",
                 '"message":{"role":"user","content":"That worked","timestamp":1}')]) + "\n")
    place.run("import", talk)
    name = place.json("ls")[0]["name"]
    place.run("use", name)
    with place.open(size=(80, 40)) as t:
        t.wait("That worked")
        t.key("F2")
        usual = ["  • [model: m]", "  • user: Hello, can you help", "  • [here] AI: Of course",
                 "  • [compaction: 12k tokens]", "  • [note]: a hook's message",
                 "› • user: That worked"]
        c.says("open", t, "[compaction: 12k tokens]")
        got = [re.sub(r"  \{.*", "", row) for row in tree_rows(t)[0]]
        c.equal("labels and states are not in it", [r.lower() for r in got], [r.lower() for r in usual])
        ink = cells(t, "a hook's message")
        c.check("a program's message is in the normal ink", not any(isinstance(a, tuple) for a in ink), ink)
        t.key("C-t")
        c.says("without tools", t, "[no-tools]")
        c.equal("nor settings", len(tree_rows(t)[0]), 5)
        t.key("C-o")
        c.says("all are shown", t, "[all]")
        shown = "\n".join(tree_rows(t)[0])
        for word in ("[model: ", "[label: here]", "[custom: state]"):
            c.check(f"Ctrl+O shows {word}", word in shown, shown)
        t.key("C-u")
        c.says("users only", t, "[user]")
        c.equal("an extension's message is not the user's", len(tree_rows(t)[0]), 2)


def search(c, place):
    fork(place)
    place.run("label", "u3", "other")
    with tree(place) as t:
        t.type("duck")
        c.tree("while it is typed", t, ["  [other] User: What about DuckDB?",
                                        "› AI: DuckDB is fine too  {duck}"], "(2/2)")
        c.says("the query is in the title", t, "─ Tree  search: duck")
        t.key("Enter", "Up")
        c.at("Enter returns the keys to the tree", t, "[other] User: What about DuckDB?", "(1/2)")
        t.key("Down")
        t.wait("(2/2)")
        t.key("M-N")
        c.at("Alt+Shift+N", t, "[other] User: What about DuckDB?", "(1/2)")
        t.key("M-n")
        c.at("Alt+N", t, "AI: DuckDB is fine too  {duck}", "(2/2)")
        t.key("Escape")
        c.at("Escape clears the search, and the selection stays", t,
             "AI: DuckDB is fine too  {duck}", "(6/6)")
        for query, found in (("role:user", 3), ("!sqlite", 4), ("^good", 1), ("too$", 1), ("label:other", 1),
                             ("is:labeled", 1), ("is:active", 4), ("'one", 1), ("sqlite user", 1),
                             ("nothing of this", 0)):
            t.key("/")
            t.type(query)

            def count():
                rows_now, foot = tree_rows(t)
                return int(foot[1:-1].split("/")[1]) if foot and query in t.text() else -1
            c.equal(query, until(query, count, found, t), found)
            t.key("Escape")
            c.says("all again", t, "/6)", gone=["search:"])
        t.key("/")
        t.type("good")
        c.says("searched", t, "(1/1)")
        t.key("C-c")
        c.says("Ctrl+C closes at once", t, "Esc stop, tree", gone=["─ Tree"])
        c.equal("nothing was done", steps(place), 9)
    place.run("edit", "a2", "Good. Here is the schema")
    with place.open(size=(120, 24)) as t:
        c.says("an edit is seen in the chat", t, "AI (edited)")
        t.key("F2", "/")
        t.type("is:edited")
        c.says("in the tree, which finds it, and in the preview", t, "AI: Good. Here is the schema  (edited)", "(1/1)",
               "AI  edited")


def cancel(c, place):
    """Escape, Ctrl+C and F2 close it; nothing has changed."""
    fork(place)
    with place.open(size=(80, 24)) as t:
        t.wait("Good. Schema")
        t.type("half a message")
        for key in ("Escape", "C-c", "F2"):
            t.key("F2")
            t.wait("(4/6)")
            t.key("Up", "Up", key)
            c.says(f"{key} closes it", t, "> half a message", gone=["─ Tree"])
        t.key("F2")
        t.wait("(4/6)")
        t.key("Space", "Escape")
        c.says("Escape clears marks first", t, "(4/6)", gone=["marked"])
        t.key("Escape")
        c.says("and closes then", t, "> half a message", gone=["─ Tree"])
        made = [step for step in place.json("history") if "draft" not in step["what"]]
        c.equal("nothing was done", (len(made), head(place)), (8, "a2"))


def already(c, place):
    fork(place)
    with tree(place) as t:
        t.key("Enter")
        c.says("said", t, "Already at this point", gone=["─ Tree", "Summarise"])
        c.equal("nothing was done", (steps(place), head(place)), (8, "a2"))


def go_to_user(c, place):
    """A user's entry: the head moves before it, and its text is in the input; the next message
    starts a new branch."""
    fork(place)
    with tree(place) as t:
        go(t, "Up")
        c.says("the text is in the input", t, "> Use SQLite, not Postgres", "Moved to entry 2",
               gone=["─ Tree"])
        c.equal("the head is at its parent", head(place), "a1")
        c.equal("one step", steps(place), 9)
        t.type(", please")
        t.key("Enter")
        c.says("sent", t, "Use SQLite, not Postgres, please", gone=["> Use"])
        c.store("a separate branch", lambda: [e for _, e in place.texts()][:3],
                ["Which database?", "SQLite: one file.", "Use SQLite, not Postgres, please"])
        t.wait('You said: "Use SQLite', "Enter send", gone=["AI ..."])
        c.check("the other branches are as they were",
                {"Good. Schema", "DuckDB is fine too"} <= {r["preview"] for r in place.json("tree")})
        t.key("M-u")
        t.wait("Undone")


def go_to_first(c, place):
    """The first entry is a user's: the head moves before the first entry."""
    fork(place)
    with tree(place) as t:
        go(t, "Home")
        c.says("said", t, "> Which database?", "before the first entry")
        c.equal("the head", head(place), None)
        t.key("C-c")
        t.wait(gone=["> Which database?"])
        t.key("M-u")
        c.says("undone", t, "Undone", "Good. Schema")
        c.equal("the head is back", head(place), "a2")


def go_to_reply(c, place):
    """A reply: the head moves there, the input stays empty, and the next message starts a
    branch."""
    fork(place)
    with tree(place) as t:
        go(t, "End")
        c.says("there", t, "DuckDB is fine too", "Moved to entry 4", gone=["─ Tree"])
        c.check("the input is empty", " >" in t.screen(), t.text())
        c.equal("the head", (head(place), ids(place)), ("a3", ["u1", "a1", "u3", "a3"]))
        t.key("F2")
        c.at("the tree keeps its order: oldest first", t, "• AI: DuckDB is fine too  {duck}  ← active", "(6/6)")
        t.key("Escape")
        t.wait(gone=["─ Tree"])
        t.key("M-u")
        c.says("undone", t, "Undone", "Good. Schema")
        c.equal("back", head(place), "a2")
        t.key("M-r")
        c.says("redone", t, "Redone", "DuckDB is fine too")
        c.equal("there again", head(place), "a3")
        # One above the head: only the head's entry is left.
        t.key("F2")
        t.wait("(6/6)")
        go(t, "Up", "Up", "Up", "Up")
        t.wait("Moved to entry 2")
        c.equal("in the middle", head(place), "a1")


def preview(c, place):
    """Side by side if there is room; otherwise as a separate screen."""
    fork(place)
    add(place, "User", "u9", "# Title\n\nmany words " * 3)
    with place.open(size=(100, 30)) as t:
        t.wait("Good. Schema")
        t.key("F2")
        t.wait("← active")
        t.key("Home")
        c.says("there", t, "│ entry 1 of 5")
        screen = t.screen()
        top = next(i for i, row in enumerate(screen) if row.startswith("─ Tree"))
        foot = next(i for i, row in enumerate(screen) if re.match(r"  \(1/7\)", row))
        left, right = cut_preview(screen[top + 1:foot + 1], 50)
        c.equal("the left half", left[0], "› • User: Which database?")
        c.equal("the right half", right[:4], ["User", "entry 1 of 5 in this take", "", "Which database?"])
        t.key("End")
        c.says("of another take", t, "in take duck")
        t.resize(99, 30)
        c.says("not with a column less", t, "(7/7)", gone=["in take duck"])
        t.key("M-p")
        c.says("Alt+P", t, re.compile(r"^ AI, \"DuckDB is fine too\"", re.M), "DuckDB is fine too", gone=["─ Tree"])
        t.key("Escape")
        t.wait("─ Tree")
        t.key("Tab")
        c.says("tab", t, re.compile(r"^ AI, \"DuckDB is fine too\"", re.M))
        t.key("Escape")
        c.says("back in the tree", t, "(7/7)")


run(rows, looks, moving, folds, filters, hidden, search, cancel, already, go_to_user, go_to_first,
    go_to_reply, preview)
