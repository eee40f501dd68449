# SPDX-License-Identifier: MIT
"""Slash commands of the chat: each of them, and their completion."""
import http.server
import json
import os
import re
import threading

from screen import ROOT
from talk import add, contents, fork, head, ids, newest, run, script, steps, takes, value

SIZE = (80, 36)
EVERY = ["/again", "/attach", "/branch", "/branch-here", "/branches", "/clear", "/collapse", "/compact", "/compare", "/continue", "/detach", "/diff", "/discussions", "/edit",
         "/expand", "/export", "/help", "/history", "/import", "/label", "/model", "/new", "/prompt", "/quit", "/redo",
         "/rename", "/resume", "/rm", "/role", "/search", "/tree", "/undo"]


def chat(place, **more):
    t = place.open(size=SIZE, **more)
    t.wait("Good. Schema", "Enter send")
    return t


def say(t, line):
    t.type(line)
    t.wait("> " + line.split(" ", 1)[0])    # a long line is wrapped between words
    t.wait(line.rsplit("/", 1)[-1][-30:])
    t.key("Enter")


def completion(c, place):
    """A slash lists them; Tab completes as far as it is unambiguous."""
    fork(place)
    with place.open(size=(100, 110)) as t:
        t.wait("Good. Schema")
        t.type("/")
        c.says("all are shown", t, *(re.compile(f"^  {name} ", re.M) for name in EVERY))
        for typed, wanted in (("b", "/branch"), ("", "/branch"), ("-", "/branch-here "), (None, None),
                              ("/h", "/h"), (None, None), ("/he", "/help "), (None, None), ("/co", "/co"),
                              ("m", "/compa"), ("c", "/compact "), (None, None), ("/zz", "/zz"), (None, None),
                              ("/un", "/undo "), (None, None), ("/tr", "/tree"), (None, None), ("x", "x")):
            if typed is None:
                t.key("C-u")
                c.says("erased", t, re.compile(r"^ >$", re.M))
                continue
            end = "~" if typed else "=" # something to wait for, even if Tab does nothing
            t.type(typed)
            t.key("Tab")
            t.type(end)
            c.says(f"{typed}: {wanted}", t, re.compile(rf"^ > {re.escape(wanted)}{end}$", re.M))
            t.key("BSpace")
        t.type("y")
        c.says("what follows a complete one", t, "> xy")
        t.key("C-u")
        t.type("/hel")
        c.says("the one that is left", t, re.compile(r"^. /help +\[COMMAND\] +list all commands, or explain one; F1 shows the keys$", re.M))
        t.key("Tab", "Enter")
        c.says("carried out: a list with the names first", t, "Commands", re.compile(r"^. undo +undo the last step +Alt\+U$", re.M))
        t.type("rename")
        c.says("which is searched by typing", t, re.compile(r"^. rename ", re.M), gone=["undo the last step"])
        t.key("Escape")
        t.wait("Enter send", gone=["Up, Down choose"])
        t.key("Up")
        c.says("it is remembered", t, "> /help")


def refused(c, place):
    """An invalid line stays in the input for correction."""
    fork(place)
    t = chat(place)
    say(t, "/tag two words --nothing")
    c.says("tag", t, "tag has no flag", re.compile(r"^ > /tag two words --nothing$", re.M))
    t.key("C-u")
    say(t, "/rename")
    c.says("rename", t, "New name of this discussion", re.compile(r"^› Which database", re.M))
    t.key("C-u")
    t.type("plans")
    t.key("Enter")
    c.says("renamed", t, "Renamed discussion \"main\" to \"plans\"", re.compile(r"^ >$", re.M))
    say(t, "/collapse")
    c.says("collapsed", t, "Changed the display")
    c.equal("all entries", {e["collapsed"] for e in place.json("show")["entries"]}, {True})
    say(t, "/expand")
    c.store("expanded", lambda: {e["collapsed"] for e in place.json("show")["entries"]}, {False})


def free_text(c, place):
    """The rest of the line is the text; flags before it are flags."""
    fork(place)
    t = chat(place)
    for line, wanted in (("/add two words", ["User", "two words"]), ("/add Don't  say \"so\"", ["User", "Don't  say \"so\""]),
                         ("/add -r AI It isn't", ["AI", "It isn't"]), ('/add "quoted words"', ["User", "quoted words"])):
        say(t, line)
        c.store(line, lambda: list(place.texts()[-1]), wanted)
    c.equal("each by the terminal UI", newest(place)["by"], "tui")
    say(t, "/edit :1 Which one, then?")
    c.store("edited", lambda: contents(place)[0][1], "Which one, then?")
    say(t, '/add "never closed')
    c.says("a quote at the beginning", t, "issing closing quote", re.compile(r'^ > /add "never closed$', re.M))
    t.key("C-u")
    say(t, "/set tui.mouse on")
    c.says("a setting of the program", t, "configuration file", "[tui]", "config.toml")
    c.check("is not stored", "tui.mouse" not in place.run("settings", "--all"))
    t.key("C-u")


def compare(c, place):
    """With the other take, or a chosen one."""
    fork(place)
    t = chat(place)
    say(t, "/diff")
    c.says("the other", t, "DuckDB", "Esc close")
    t.key("q")
    t.wait("Enter send")
    place.run("branch", ":1", "third")
    place.run("takes", "switch", "main")
    t.wait("take: main")
    say(t, "/diff")
    c.says("which", t, "Compare with which take", "third", "duck")
    t.type("duck")
    t.key("Enter")
    c.says("chosen", t, "DuckDB", "Esc close")
    t.key("q")


def shown(c, place):
    """Takes, their differences and the next request, each on a readable screen."""
    fork(place)
    place.run("branch", ":3", "edited")
    place.run("edit", "--take", "edited", "u2", "Use SQLite, not MySQL")
    with place.open(size=(140, 40)) as t:
        t.wait("take: edited, 3 of 3")
        say(t, "/takes")
        c.says("the takes, with the words that are only in them", t, re.compile(r"^› 3  edited ← now +3 entries, ", re.M),
               re.compile(r"^  2  duck +4 entries, .*  What about DuckDB\?", re.M), "Tab compare")
        t.key("Up", "Up", "Tab")
        c.says("compared", t, "Differences between two takes", "- main", "+ edited (in view)", "3 entries in both",
               "User 3, edited", "- Use SQLite, not Postgres", "+ Use SQLite, not MySQL", "- AI 4", gone=["Which take"])
        rows = [row for row in t.tmux("capture-pane", "-p", "-e").split("\n") if "MySQL" in row]
        c.check("the words that differ are marked, and only these",
                any(re.search(r"not \x1b\[[0-9;]*4[0-9;]*mMySQL", row) for row in rows), rows)
        t.key("q")
        t.wait("Enter send", gone=["Difference of"])
        say(t, "/takes rename edited last")
        c.says("with words it is the command", t, "take: last, 3 of 3")
        place.run("set", "project_system_prompt", "Be brief.")
        say(t, "/context")
        c.says("the next request", t, "Next request", re.compile(r"^ *About \d+ tokens, for builtin/echo", re.M),
               re.compile(r"^ +entries +\d+ +\d+%  █", re.M), "Instructions of the project", "  Be brief.",
               re.compile(r"^ +:2 +AI +\d+  SQLite: one file\.", re.M))
        t.key("q")
        t.wait("Enter send", gone=["Next request"])


def system_prompt(c, place):
    """It is shown and edited in place; a change from elsewhere is not overwritten."""
    fork(place)
    place.run("set", "project_system_prompt", "Be brief.")
    t = chat(place)
    say(t, "/system")
    t.wait("Instructions of the project, for all its discussions", "› Be brief.")
    t.type(" And kind.")
    t.key("Enter")
    c.store("stored", lambda: "Be brief. And kind." in place.run("settings"), True)
    t.wait("Set the instructions")
    c.says("the header says that there is one", t, re.compile(r"^ Which database\?  take: main, 1 of 2  instructions  ", re.M))
    say(t, "/undo")
    t.wait("Undone")
    say(t, "/system there")
    c.says("another word", t, "/system here")
    t.key("C-u")
    say(t, "/system here")
    t.wait("Instructions of this discussion, as its first entry")
    t.type("Only here.")
    t.key("Enter")
    c.store("the first entry", lambda: [(e["role"], e["content"]) for e in place.json("show")["entries"]][0],
            ("System", "Only here."))
    say(t, "/system here")
    t.wait("› Only here.")
    t.type(" Truly.")
    t.key("Enter")
    c.store("edited in place", lambda: [(e["role"], e["content"]) for e in place.json("show")["entries"]][0],
            ("System", "Only here. Truly."))
    say(t, "/undo 2")
    t.wait("Undone: 2 steps")
    say(t, "/system")
    t.wait("› Be brief.")
    place.run("set", "project_system_prompt", "Be exact.")
    t.type(" And short.")
    t.key("Enter")
    c.says("changed elsewhere", t, "The instructions were changed elsewhere", "press Up")
    c.check("the change made elsewhere is kept", "Be exact." in place.run("settings"))
    t.key("Up")
    c.says("our edit is kept in the input", t, "> Be brief. And short.")


def several(c, place):
    """Several models at once: their replies arrive on the screen, and each is a take."""
    fork(place)
    one = script(place, {"text": "First "}, {"wait_ms": 1500}, {"text": "answer."})
    other = os.path.join(place.dir, "other")
    with open(other, "w", encoding="utf-8") as out:
        out.write(json.dumps({"text": "Second "}) + "\n" + json.dumps({"wait_ms": 4000}) + "\n" +
                  json.dumps({"text": "answer."}) + "\n")
    t = chat(place)
    say(t, f"/ask-models {one} builtin/play:{other}")
    t.wait("Question to these models")
    t.type("Which one?")
    t.key("Enter")
    c.says("the first arrives", t, "First", "(1 more after it)")
    c.says("then the second", t, "Second", gone=["more after it", "Second answer."])
    c.says("all have ended", t, "2 replies, each in a take: /takes lists and compares them", gone=["..."])
    c.equal("the takes", len(place.json("takes")), 3)
    c.equal("the first continues the take", place.texts()[4:], [("User", "Which one?"), ("AI", "First answer.")])


def unknown(c, place):
    fork(place)
    t = chat(place)
    say(t, "/nonsense at all")
    c.says("said, and kept to be mended", t, "There is no command /nonsense. /help lists the commands", "> /nonsense at all")
    t.key("C-u")
    say(t, "//etc is a folder")
    c.says("two slashes: a message", t, re.compile(r"^  /etc is a folder$", re.M))
    c.store("sent", lambda: [x for _, x in place.texts()[4:5]], ["/etc is a folder"])
    t.wait("AI", gone=["..."])
    say(t, "/status")
    c.says("any command of the command line", t, re.compile("^Discussion +main$", re.M))
    t.key("q")
    t.wait("Enter send")
    say(t, "/takes rename main first")
    c.says("and one that changes something", t, "take: first, 1 of 2")
    c.equal("in the store", takes(place), ["duck", "first"])


def screens(c, place):
    """Commands that open a screen."""
    fork(place)
    t = chat(place)
    for line, seen in (("/tree", "─ Tree"), ("/history", "History of "), ("/discussions", "Discussions"),
                       ("/help", "edit your last message"), ("/branches", "Which take"), ("/branch", "Branch before which message?"),
                       ("/model", "Model (PROVIDER/NAME)"), ("/prompt", "Working prompt"), ("/label", "Label of AI, entry 4"),
                       ("/role", "Role"), ("/edit", "User, entry 3"), ("/export", "Export this discussion to which file?"),
                       ("/search sqlite", "found"), ("/search", "Find in this take")):
        say(t, line)
        c.says(f"{line}: {seen}", t, seen, gone=[f"> {line}"])
        t.key("Escape")
        if line == "/search sqlite":
            t.wait("Search:", gone=["sqlite"])
            t.key("Escape")
        c.says(f"{line}: and back", t, "Enter send", gone=[seen])
    say(t, "/import")
    c.says("/import: its file is asked for in the input", t, "Which file?", re.compile(r"^ > /import *$", re.M))
    t.key("C-u")
    c.equal("nothing was done", (steps(place), head(place)), (8, "a2"))


def undo(c, place):
    fork(place)
    t = chat(place)
    was = value(place)
    place.run("edit", "a2", "Changed")
    place.run("edit", "a1", "Changed, too")
    t.wait("Changed, too")
    then = value(place)
    say(t, "/undo")
    c.says("one", t, "Undone: edited entry: ")
    c.equal("the text", contents(place)[1][1], "SQLite: one file.")
    say(t, "/redo")
    c.says("and back", t, "Redone")
    c.check("as it was then", value(place) == then)
    say(t, "/undo 2")
    c.says("two", t, "Undone: 2 steps")
    c.check("as it was", value(place) == was)
    say(t, "/redo 2")
    c.says("and back", t, "Redone: 2 steps")
    c.check("as it was then", value(place) == then)
    say(t, "/undo many")
    c.says("no number", t, "How many steps?")
    c.check("nothing was done", value(place) == then)
    say(t, "/undo 999")
    c.says("more than there are", t, "Undone: 10 steps")
    say(t, "/undo")
    c.says("nothing is left", t, "Nothing to undo")


def branching(c, place):
    fork(place)
    t = chat(place)
    say(t, "/branch-here third")
    c.says("a take", t, 'Branched "third"', "take: third, 3 of 3")
    c.equal("in the store", (place.json("show")["take"], ids(place)), ("third", ["u1", "a1", "u2", "a2"]))
    say(t, "/branches")
    # Seed 2: the current take, and what the others contain.
    t.wait("Which take", re.compile(r"^  1  main +4 entries, ", re.M), re.compile(r"^  2  duck +4 entries, ", re.M),
           re.compile(r"^› 3  third ← now +4 entries, ", re.M))
    t.type("duck")
    t.wait(re.compile(r"^› 2  duck +4 entries", re.M))
    t.key("Enter")
    c.says("to another", t, "take: duck, 2 of 3", "DuckDB is fine too")
    c.equal("in the store", place.json("show")["take"], "duck")
    say(t, "/branches third")
    c.says("by its name", t, "take: third, 3 of 3")
    say(t, "/branches nobody")
    c.says("an unknown take", t, "nobody")
    say(t, "/branches duck")
    t.wait("take: duck, 2 of 3")
    # Seed 2: the branch point can be chosen.
    say(t, "/branch-here :2 early")
    c.says("at a position", t, 'Branched "early"', "take: early, 4 of 4")
    c.equal("in the store", (place.json("show")["take"], ids(place)), ("early", ["u1", "a1"]))
    say(t, "/branches duck")
    t.wait("take: duck, 2 of 4")
    say(t, "/branch-here :99")
    c.says("no such position", t, ":99")
    say(t, "/branch-here")
    t.wait("Branch after which entry", "› 1  :4 AI: DuckDB is fine too", "4  :1 User: Which database?")
    t.key("Down", "Down", "Down", "Enter")
    c.says("at the chosen one", t, "5 of 5")
    c.equal("in the store", ids(place), ["u1"])
    place.run("takes", "rm", place.json("show")["take"])
    place.run("takes", "rm", "early")
    say(t, "/branches duck")
    t.wait("take: duck, 2 of 3")
    # Seed 1's /branch: a message of the user; the entries before it become a new discussion.
    say(t, "/branch ducks")
    t.wait("› 1  What about DuckDB?", "2  Which database?")
    t.key("Enter")
    c.says("the text is in the input", t, "> What about DuckDB?", "ducks  take:")
    c.equal("the path before it", [x for _, x in place.texts()], ["Which database?", "SQLite: one file."])
    c.equal("a discussion", sorted(d["name"] for d in place.json("ls")), ["ducks", "main"])
    c.equal("the other is as it was", [x for _, x in (
        (e["id"], e["content"]) for e in place.json("--discussion", "main", "show")["entries"])][2:],
        ["What about DuckDB?", "DuckDB is fine too"])
    t.key("C-u")
    say(t, "/branch")
    t.wait("› 1  Which database?")
    t.key("Enter")
    c.says("before the first: an empty one", t, "> Which database?", "No messages yet.")


def entries(c, place):
    """Label, role, edit: on the entry at the head or the last one of the user."""
    fork(place)
    t = chat(place)
    say(t, "/label good start")
    c.says("a label", t, "#good start", 'Labelled entry 4 "good start"')
    say(t, "/role System")
    c.says("a role", t, "Changed the role of entry 4 to System")
    c.equal("in the store", [r for r, _ in place.texts()], ["User", "AI", "User", "System"])
    say(t, "/edit")
    t.wait("User, entry 3 - edits in place")
    t.type(", please")
    t.key("Enter")
    c.says("edited", t, "Use SQLite, not Postgres, please", "Edited entry 3")
    c.equal("in the store", contents(place)[2:], [("u2", "Use SQLite, not Postgres, please"), ("a2", "Good. Schema")])
    say(t, "/undo 3")
    t.wait("Undone: 3 steps")
    c.equal("undone", contents(place)[2][1], "Use SQLite, not Postgres")


def settings(c, place):
    fork(place)
    t = chat(place)
    say(t, "/prompt")
    t.wait("Working prompt")
    t.type("Be brief.")
    t.key("Enter")
    c.says("the prompt", t, "rompt", "step 9")
    c.store("in the store", lambda: "Be brief." in place.run("prompt"), True)
    say(t, "/model builtin/summary")
    c.says("the model", t, re.compile(r"builtin/summary +~\d+ tok"))
    say(t, "/model")
    t.wait("Model (PROVIDER/NAME)", "› builtin/summary")
    t.type("echo")
    t.wait("› builtin/echo")
    t.key("Enter")
    c.says("by the list", t, re.compile(r"builtin/echo +~\d+ tok"))
    t.key("C-l")
    t.wait("Model (PROVIDER/NAME)")
    c.says("keys that are missing", t, "For more, set a key: OPENAI_API_KEY, ANTHROPIC_API_KEY")
    t.type("mine/new-one")
    t.key("Enter")
    c.says("an unknown provider", t, 'There is no provider "mine"; available',
           re.compile(r"Nothing was\s+changed"), re.compile(r"builtin/echo +~\d+ tok"))
    say(t, "/model builtin/nope")
    c.says("an unknown built-in model", t, 'No built-in model "nope"', "Nothing was changed",
           re.compile(r"builtin/echo +~\d+ tok"))
    for name in ("builtin/play:", "builtin/play:/dev/null", "builtin/play"):
        say(t, "/model " + name)
        c.says("a model that plays a file", t, "plays a file can be chosen only on the command line",
               "Nothing was changed", re.compile(r"builtin/echo +~\d+ tok"))
    t.key("C-l")
    t.wait("Model (PROVIDER/NAME)")
    t.type("openai/new-one")
    t.key("Enter")
    c.says("any other", t, re.compile(r"openai/new-one +~\d+ tok"))
    say(t, "/undo 4")
    c.says("undone", t, re.compile(r"builtin/echo +~\d+ tok"))
    c.check("the prompt, too", "Be brief." not in place.run("prompt"))


class Lists(http.server.BaseHTTPRequestHandler):
    """A server with two models; the list of /slow is sent when the test allows it."""
    allowed = threading.Event()

    def do_GET(self):
        slow = self.path.startswith("/slow")
        if slow:
            self.allowed.wait(20)
        body = json.dumps({"data": [{"id": name} for name in (["late"] if slow else ["tiny", "huge"])]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def listed_models(c, place):
    """The models in the servers' lists appear as they arrive, and the screen does not wait."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lists)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = os.path.join(place.dir, ".config/retake")
    os.makedirs(folder)
    with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as out:
        for name, path in (("quick", "quick"), ("slow", "slow"), ("gone", None)):
            url = f"http://127.0.0.1:{server.server_port}/{path}/v1" if path else "http://127.0.0.1:1/v1"
            out.write(f'[provider.{name}]\nkind = "openai"\nurl = "{url}"\n')
    with place.open(size=SIZE) as t:
        t.wait("No messages yet")
        t.key("C-l")
        c.says("those that have arrived", t, "  quick/tiny", "  quick/huge", "Loading the providers' model lists …",
               gone=["slow/late", "gone: "])
        t.key("Down")
        c.says("the screen does not wait", t, "› builtin/summary")
        Lists.allowed.set()
        c.says("the others", t, "  slow/late", "› builtin/summary", gone=["Loading the providers' model lists …"])
        c.says("a server that does not answer, and what to do", t,
               "  gone: no server is listening on http://127.0.0.1:1 (connection refused)",
               "Start the server, or correct its URL in config.toml")
        c.check("a provider without a key is not mentioned", "anthropic" not in t.text())
        t.type("ate")
        c.says("found by typing", t, "› slow/late", gone=["quick/tiny"])
        t.key("Enter")
        c.says("chosen", t, 'Set model to "slow/late"')
    server.shutdown()


def replies(c, place):
    fork(place)
    t = chat(place, RETAKE_MODEL=script(place, {"text": "Anew."}))
    say(t, "/again")
    c.says("another reply", t, "Anew.", "take: main_take_1")
    c.store("in a take", lambda: [x for _, x in place.texts()][2:], ["Use SQLite, not Postgres", "Anew."])
    t.wait(gone=["..."])
    say(t, "/continue")
    c.store("and more of it", lambda: place.texts()[3][1].count("Anew."), 2)


def compact(c, place):
    """A summary replaces the first entries."""
    lines = "".join(json.dumps({"op": "entry.append", "role": "AI" if i % 2 else "User",
                                "content": f"entry {i} " + "words " * 3000}) + "\n" for i in range(12))
    place.run("apply", "-q", "-", text=lines)
    with place.open(size=SIZE, RETAKE_MODEL=script(place, {"text": "In short."})) as t:
        t.wait("Enter send")
        say(t, "/compact be short")
        c.says("said", t, re.compile(r"Compacted \d+ entries: about \d+ tokens instead of \d+"))
        c.store("an entry that says so", lambda: [e["kind"] for e in place.json("show")["entries"]].count("compaction"), 1)
        t.key("F2")
        c.says("its mark in the tree", t, "› • [compaction: 54k tokens]  {main}  ← active")
        t.key("M-u")
        c.says("undone", t, "Undone", gone=["[compaction"])
        c.equal("nothing is left of it", len(place.texts()), 12)
        t.key("Escape")
        t.wait(gone=["─ Tree"])
        t.key("M-k")
        t.wait("Summarise the beginning. Instructions for the summary?")
        t.type("names")
        t.key("Enter")
        c.says("by a key", t, re.compile(r"Compacted \d+ entries"))
    with place.open(size=SIZE, RETAKE_MODEL=script(place, {"text": "x "}, {"wait_ms": 60000}, {"text": "y"})) as t:
        t.wait("Enter send")
        t.type("/undo")
        t.key("Enter")
        t.wait("Undone")
        was = value(place)
        say(t, "/compact")
        c.says("it runs", t, "Summary ...")
        t.key("Escape")
        c.says("stopped", t, "Stopped", gone=["Summary ..."])
        c.check("nothing has changed", value(place) == was)


def files(c, place):
    """Export and import."""
    fork(place)
    t = chat(place)
    path = os.path.join(place.dir, "talk.md")
    say(t, f"/export {path}")
    c.says("written", t, "Wrote ")
    with open(path, encoding="utf-8") as file:
        c.check("Markdown", "Good. Schema" in file.read())
    say(t, f"/export {path}")
    c.says("not over another one", t, f"Replace the existing file {path[:30]}")
    t.key("Enter")
    c.says("unless asked to", t, "Nothing was exported")
    say(t, f"/export {path}")
    t.wait("Replace the existing file")
    t.key("y")
    c.says("replaced", t, "Wrote ")
    say(t, "/export")
    c.says("by the title", t, "which-database.html")
    t.type("other.md")
    c.says("a typed name replaces it", t, "other.md", gone=["which-database"])
    t.key("Escape")
    t.wait("Enter send", gone=["other.md"])
    canonical = os.path.join(place.dir, "talk.json")
    say(t, f"/export --format canonical -o {canonical}")
    c.says("by its flags", t, "Wrote ")
    place.run("new", "another")
    add(place, "User", "z1", "Zebras")
    place.run("switch", "main")
    t.wait("Good. Schema")
    say(t, "/export ~/all-takes.json")
    c.says("in the home", t, re.compile(r"Wrote \S+/all-takes.json "))
    with open(os.path.join(place.dir, "all-takes.json"), encoding="utf-8") as file:
        text = file.read()
    c.check("all of the discussion", "Good. Schema" in text and "DuckDB is fine too" in text)
    c.check("and of no other one", "Zebras" not in text)
    openai = os.path.join(place.dir, "messages.json")
    with open(openai, "w", encoding="utf-8") as out:
        out.write('[{"role":"user","content":"From elsewhere"},{"role":"assistant","content":"Welcome"}]')
    say(t, f"/import {openai}")
    c.says("imported, in a notice above the input", t, re.compile(r"2\s+entries,\s+1\s+take,\s+1\s+discussion"),
           "undo: /undo", "Enter send")
    c.store("a discussion", lambda: len(place.json("ls")), 3)
    say(t, "/export ~/talk.xyz")
    c.says("an unknown extension", t, re.compile(r"[Cc]annot tell\s+the\s+format\s+of\s+\S*\s*talk.xyz", re.S))
    say(t, "/ls")
    c.says("rows are aligned", t, re.compile(r"^  another +1 entry", re.M), re.compile(r"^  main +4 ent", re.M),
           re.compile(r"^\* messages +2 ent", re.M))
    t.key("q")
    t.wait("Enter send")
    say(t, "/import /nowhere/at/all")
    c.says("no such file", t, "There is no file /nowhere/at/all")


def attached(c, place):
    """Files of the next message: by a command, by "@" and Tab; not by a path in the text."""
    for name, text in (("note.txt", b"one line\n"), ("shot.png", b"\x89PNG\r\n\x1a\n rest"), ("shot.txt", b"other\n")):
        with open(os.path.join(place.dir, name), "wb") as out:
            out.write(text)
    os.mkdir(os.path.join(place.dir, "folder"))
    with place.open(size=SIZE, RETAKE_MODEL="builtin/echo") as t:
        t.wait("No messages yet")
        say(t, "/attach ~/gone.txt")
        c.says("no such file", t, "There is no file ", "gone.txt")
        c.says("the line stays, to be corrected", t, re.compile(r"^ > /attach ~/gone.txt$", re.M))
        t.key("C-u")
        t.type("/attach ~/no")
        c.says("names are completed", t, re.compile(r"~/note.txt +Tab attaches it"), gone=["@~/note.txt"])
        t.key("Tab")
        c.says("its name, type and size", t, " + note.txt, text/plain, 9 bytes  Backspace at the start removes it")
        t.type("see @~/sho")
        c.says("files that begin so", t, "@~/shot.png", "@~/shot.txt", gone=["@~/note.txt"])
        t.key("Tab")
        t.type("t")
        c.says("one is left", t, re.compile(r"@~/shot.txt +Enter attaches it"))
        t.key("Tab")
        c.says("attached", t, "> see @~/shot.txt", " + shot.txt, text/plain, 6 bytes")
        t.type("but not \"@~/shot.png\"")
        t.key("Enter")
        c.says("in the entry", t, "(file note.txt, text/plain, 9 bytes; file shot.txt, text/plain, 6", "You said: ",
               gone=[" + note.txt"])
        c.equal("stored", [b.get("name") for b in place.json("show")["entries"][0]["content"]],
                [None, "note.txt", "shot.txt"])
        c.store("answered", lambda: len(place.json("show")["entries"]), 2)   # shown before it is stored
        t.type("@~/fol")
        t.wait("@~/folder/")
        t.key("Tab")
        c.says("a folder is not attached", t, "> @~/folder/", gone=[" + folder"])
        t.key("C-u")
        say(t, "/model builtin/text")
        t.wait("builtin/text")
        say(t, "/attach ~/shot.png")
        t.wait(" + shot.png")
        t.type("what is this")
        t.key("Enter")
        c.says("refused", t, "does not accept images", "> what is this", " + shot.png")
        t.key("C-u")
        say(t, "/detach")
        c.says("none", t, "Removed all attached files", gone=[" + shot.png"])
        with open(os.path.join(place.dir, "two words.txt"), "w") as out:
            out.write("x")
        t.key("C-u")
        t.type("and @~/")
        c.says("several", t, "@~/folder/ ", "@~/note.txt", "@~/two words.txt")
        t.key("Tab", "Down")
        c.says("one is selected", t, re.compile(r"^› @~/note.txt", re.M))
        t.key("Enter")
        c.says("Enter attaches it", t, "> and @~/note.txt", " + note.txt", gone=["You said: \"and"])
        t.key("C-u")
        say(t, f"/attach {place.dir}/two words.txt")
        c.says("blanks without quotes", t, " + two words.txt, text/plain, 1 byte")


def exact(c, place):
    """Commands that a text of the conversation names are not changed to those of the chat."""
    with place.open(size=SIZE, RETAKE_MODEL="builtin/echo") as t:
        t.wait("No messages yet")
        t.type("hello")
        t.key("Enter")
        t.wait("choose another model.")
        say(t, "/context --pretty")
        c.says("the request", t, re.compile(r"choose\s+another\s+model"), gone=["/set model"])


def counted(c, place):
    """/context counts tokens as the command line does: exactly where the ranks of the model are installed."""
    ranks = os.environ.get("RETAKE_TOKENS", os.path.join(ROOT, "build/deps/tokens"))
    env = {"RETAKE_MODEL": "openai/gpt-4o", "RETAKE_TOKENS": ranks}
    fork(place)
    known = json.loads(place.run("context", "--tokens", "--json", **env))
    with chat(place, **env) as t:
        say(t, "/context")
        c.says("the tokens", t, re.compile(rf"^ *{'' if known['exact'] else 'About '}{known['tokens']} tokens, for openai/gpt-4o",
                                           re.M))


def places(c, place):
    """Discussions: creating, searching in all, opening."""
    fork(place)
    t = chat(place)
    say(t, "/new")
    c.says("without a name", t, "discussion-2  take:", "No messages yet.")
    t.type("How do birds swim?")
    t.key("Enter")
    c.says("its first question is the title", t, "How do birds swim?  take:")
    say(t, "/new second one")
    c.says("there", t, "second one  take:", "No messages yet.")
    add(place, "User", "v1", "Ducks swim")
    t.wait("Ducks swim")
    say(t, "/search duck")
    c.says("in all of them", t, "3 found", "What about DuckDB?", "Ducks swim")
    t.key("Down", "Down")  # the newest of equal ones is first
    t.wait(re.compile(r"^›.*What about DuckDB", re.M))
    t.key("Enter")
    c.says("there, in its take", t, "take: duck", "What about DuckDB?", "DuckDB is fine too")
    say(t, "/discussions")
    t.wait("second one")
    t.type("second")
    t.wait(re.compile(r"^›.*second one", re.M))
    t.key("Enter")
    c.says("to another", t, "second one  take:", "Ducks swim")
    say(t, "/quit")
    c.says("left", t, "ended 0")
    c.check("last step", newest(place)["seq"] > 0)


def grammar(c, place):
    """Words that are an address, a flag, or more than a chat command accepts go to the command
    line."""
    fork(place)
    t = chat(place)
    say(t, "/role :2 Vendor")
    c.says("the entry of the address", t, "Changed the role of entry")
    c.equal("and no other", [role for role, _ in place.texts()], ["User", "Vendor", "User", "AI"])
    say(t, "/label :1 good")
    c.store("a label of the entry of the address", lambda: place.run("show").count("good"), 1)
    say(t, '/edit :1 "Which store?"')
    c.store("its text", lambda: contents(place)[0][1], "Which store?")
    say(t, '/prompt set "Be brief."')
    c.store("the prompt", lambda: place.json("prompt", "show")["text"], "Be brief.")
    say(t, "/help promote")
    c.says("help of a command", t, "retake promote", "Esc close")
    t.key("q")
    t.wait("Enter send")
    say(t, '/new "two words"')
    c.says("quotes are no part of a name", t, "two words  take")
    c.check("of the discussion", "two words" in [row["name"] for row in place.json("ls")])
    for typed, wanted in (("/trunc", "/truncate "), ("/promo", "/promote "), ("/symb", "/symbols ")):
        t.type(typed)
        t.key("Tab")
        c.says(f"{typed} is completed", t, "> " + wanted.rstrip())
        t.key("C-u")
        t.wait(re.compile(r"^ >$", re.M))


def context_files(c, place):
    """Files below the working directory are sent; a missing file refuses the question."""
    fork(place)
    t = chat(place)
    say(t, "/files add slash.py")
    t.wait("Added slash.py to context_files")
    t.type("With a file?")
    t.key("Enter")
    c.says("answered", t, 'You said: "With a file?"')
    t.wait("another model.", "6 entries")
    say(t, "/context --tokens")
    c.says("what will be sent", t, "slash.py")
    t.key("q")
    t.wait("Enter send")
    sent = place.json("context", "--sent")
    c.check("with the file", "File `slash.py`:" in json.dumps(sent), sent)
    say(t, "/files add files nowhere.c")
    t.wait("Added nowhere.c to files")
    t.type("And without?")
    t.key("Enter")
    c.says("it says which one", t, "nowhere.c")
    c.says("the question is still there", t, "> And without?")
    c.check("nothing was added", "And without?" not in json.dumps(contents(place)))
    t.key("C-u")
    say(t, "/files show")
    c.says("what can be sent, and what cannot", t, "slash.py", "cannot be sent:")


run(completion, refused, free_text, compare, shown, system_prompt, several, unknown, screens, undo, branching, entries, settings, listed_models, replies, compact, files, grammar, context_files, attached, exact, counted, places)
