# SPDX-License-Identifier: MIT
"""The summary dialogue of seed 4: yes, no, with instructions, cancelled; a model that fails or
is stopped; hooks that cancel, or provide the summary."""
import http.server
import json
import os
import threading

from talk import FORK, Place, contents, fork, head, ids, newest, run, script, steps, tree_rows, value

QUESTION = [" Summarise the branch you are leaving?" + " " * 21 + "Enter OK  Esc cancel",
            "› Alt+1  No: just go there; the branch stays in the tree",
            "  Alt+2  Yes: a model summarises it, and the summary is added where you continue",
            "  Alt+3  Yes, with instructions"]


def asked(place, row="a1", size=(80, 30), **more):
    """Opens the tree and chooses another entry of the path."""
    t = place.open(size=size, **more)
    t.wait("Good. Schema")
    t.key("F2")
    t.wait("(4/6)")
    t.key(*{"a1": ("Up", "Up"), "u2": ("Up",), "a3": ("End",), "u3": ("End", "Up")}[row])
    t.key("Enter")
    t.wait("Summarise the branch you are leaving?")
    return t


def unchanged(c, place, what, before):
    c.check(f"{what}: nothing has changed", value(place) == before[0] and steps(place) == before[1],
            contents(place))


def hook(place, event, text):
    folder = os.path.join(place.dir, ".config/retake/hooks", event)
    os.makedirs(folder)
    path = os.path.join(folder, "10-ours")
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def dialogue(c, place):
    """Appearance; arrows and letters; Escape and Ctrl+C change nothing."""
    fork(place)
    before = value(place), steps(place)
    t = asked(place)
    at = next(i for i, row in enumerate(t.screen()) if "Summarise" in row)
    c.rows("the question", t, at, QUESTION)
    c.check("the tree stays above it", "─ Tree " + "─" * 73 in t.screen()[:at])
    t.key("Down")
    c.says("down", t, "› Alt+2  Yes")
    t.key("Down")
    c.says("to the last", t, "› Alt+3  Yes, with")
    t.key("Down", "Up")
    c.says("up", t, "› Alt+2  Yes")
    t.key("Up")
    c.says("to the first", t, "› Alt+1  No")
    t.key("Up", "x", "Escape")
    c.says("Escape", t, "Navigation cancelled", "(2/6)", gone=["Summarise"])
    unchanged(c, place, "Escape", before)
    t.key("Enter")
    t.wait("Summarise")
    t.key("C-c")
    c.says("Ctrl+C", t, "Navigation cancelled", "(2/6)", gone=["Summarise"])
    unchanged(c, place, "Ctrl+C", before)
    t.key("Enter")
    t.wait("Summarise")
    t.key("Enter")
    c.says("no summary by default", t, "Moved to entry 2", gone=["Summarise", "─ Tree"])
    c.equal("no summary", (ids(place), head(place)), (["u1", "a1", "u2", "a2"], "a1"))


def typed(c, place):
    """A message that is typed at once, without looking at the question, is in the input afterwards."""
    fork(place)
    t = asked(place)
    t.type("Why is space black?")
    t.wait("> Why is space black?")
    t.key("Enter")
    c.says("it is in the input", t, "Moved to entry 2", "> Why is space black?", gone=["Summarise", "─ Tree"])
    c.equal("the head", head(place), "a1")
    t.key("Enter")
    t.wait(gone=["> Why is space black?"])
    c.store("and can be sent", lambda: "Why is space black?" in [text for _, text in contents(place)], True)


def yes(c, place):
    """Yes: the summary is added as an entry at the new position, the head is there, and undo
    reverts all of it."""
    fork(place)
    before = value(place)
    t = asked(place, RETAKE_MODEL=script(place, {"text": "They chose "}, {"text": "SQLite."}))
    t.key("M-2")
    c.says("said", t, "Moved to entry 2; summarised the branch you left", "They chose SQLite.",
           gone=["─ Tree", "Summarise"])
    shown = place.json("show")["entries"]
    c.equal("the path", [(e["id"], e["content"]) for e in shown[:2]],
            [("u1", "Which database?"), ("a1", "SQLite: one file.")])
    c.equal("the summary", (len(shown), shown[2]["kind"], shown[2]["content"]),
            (3, "branch_summary", "They chose SQLite."))
    c.equal("the head is after it", head(place), shown[2]["id"])
    c.check("what was left is there as it was", {"Good. Schema", "DuckDB is fine too"} <=
            {row["preview"] for row in place.json("tree")})
    c.equal("one step", newest(place)["by"], "tui")
    after = value(place)
    t.key("F2")
    c.says("it has a mark in the tree", t, "[branch summary]: They chose SQLite.  {main_take_1}  ← active")
    t.key("M-u")
    c.says("undone", t, "Undone")
    c.check("everything is unchanged", value(place) == before)
    c.tree("the tree, too", t, [row.replace("›", " ", 1) if row.startswith("›") else
                                row.replace("  • AI: S", "› • AI: S") for row in FORK])
    t.key("M-r")
    c.says("redone", t, "Redone")
    c.check("all is as it was then", value(place) == after)


def yes_to_user(c, place):
    """To an entry of the user: before it, the summary, and its text in the input."""
    fork(place)
    t = asked(place, "u3", RETAKE_MODEL=script(place, {"text": "On SQLite."}))
    t.key("M-2")
    c.says("said", t, "> What about DuckDB?", "On SQLite.", "summarised the branch you left", gone=["─ Tree"])
    c.equal("the path", [text for _, text in place.texts()], ["Which database?", "SQLite: one file.", "On SQLite."])
    t.key("Enter")
    c.says("sent", t, "What about DuckDB?", gone=["> What about"])
    c.store("the question follows the summary", lambda: [x for _, x in place.texts()][2:4],
            ["On SQLite.", "What about DuckDB?"])


class Server:
    """A minimal server in the style of OpenAI that replies or fails."""

    def __init__(self, status=200, text="By the server", holds=None):
        bodies = self.bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if holds is not None:
                    holds.wait(30)
                if status == 200:
                    chunk = {"id": "x", "object": "chat.completion.chunk", "model": "m",
                             "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
                    reply = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
                    kind = "text/event-stream"
                else:
                    reply, kind = b'{"error":{"message":"the server is on fire"}}', "application/json"
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(reply)))
                    self.end_headers()
                    self.wfile.write(reply)
                except OSError:
                    pass # the client disconnected, as intended

            def log_message(self, *ignored):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()

    def env(self):
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self.server.server_port}/v1",
                "OPENAI_API_KEY": "none-of-yours", "RETAKE_MODEL": "openai/m"}


def instructions(c, place):
    """With instructions: the request contains them and the entries that are left, and nothing
    else."""
    fork(place)
    with Server() as server:
        t = asked(place, **server.env())
        t.key("M-3")
        t.wait("Instructions for the summary?")
        t.type("Names of files, please")
        t.key("Escape")
        c.says("Escape leaves it", t, "Navigation cancelled", "(2/6)")
        c.equal("no model was asked", server.bodies, [])
        t.key("Enter")
        t.wait("Summarise")
        t.key("M-3")
        t.wait("Instructions for the summary?")
        t.type("Names of files, please")
        t.key("Enter")
        c.says("summarised", t, "By the server", "summarised the branch you left", gone=["─ Tree"])
        c.equal("one request", len(server.bodies), 1)
        sent = json.dumps(server.bodies[0])
        for text, there in (("Names of files, please", True), ("Use SQLite, not Postgres", True),
                            ("Good. Schema", True), ("DuckDB", False)):
            c.equal(f"is {text!r} in the request", text in sent, there)
        c.equal("the summary", place.texts()[2][1], "By the server")


def to_another_take(c, place):
    """To the end of another take, and to the middle of one: the entries that are left in this
    take are summarised, and none of the other; the summary is added at the new position."""
    for row, there in (("a3", ["Which database?", "SQLite: one file.", "What about DuckDB?", "DuckDB is fine too"]),
                       ("u3", ["Which database?", "SQLite: one file."])):
        with Place() as ours, Server() as server:
            fork(ours)
            t = asked(ours, row, **server.env())
            t.key("M-2")
            c.says(f"{row}: summarised", t, "By the server", "summarised the branch you left", gone=["─ Tree"])
            c.equal(f"{row}: the path", [text for _, text in ours.texts()], there + ["By the server"])
            sent = json.dumps(server.bodies[0]) if server.bodies else ""
            for text, is_sent in (("Use SQLite, not Postgres", True), ("Good. Schema", True), ("DuckDB", False)):
                c.equal(f"{row}: is {text!r} in the request", text in sent, is_sent)


def fails(c, place):
    """A failing server: the reason is shown, and nothing has changed; it works without a
    summary."""
    fork(place)
    before = value(place), steps(place)
    with Server(status=400) as server:
        t = asked(place, **server.env())
        t.key("M-2")
        c.says("why", t, "is on fire", "Nothing was changed", "(2/6)")
        c.check("a model was asked", server.bodies)
        unchanged(c, place, "a server that fails", before)
        t.key("Enter")
        t.wait("Summarise")
        t.key("M-1")
        c.says("without a summary", t, "Moved to entry 2", gone=["─ Tree"])
        c.equal("the head", head(place), "a1")


def fails_again(c, place):
    """A server with a temporary error is asked again after a while: this is visible, and can be
    cancelled."""
    fork(place)
    before = value(place), steps(place)
    with Server(status=500) as server:
        t = asked(place, **server.env())
        t.key("M-2")
        c.says("progress", t, "server error 500, retry")
        t.key("Escape")
        c.says("left at once", t, "Navigation cancelled", "(2/6)", gone=["trying again"])
        unchanged(c, place, "a server that is waited for", before)


def fails_midway(c, place):
    fork(place)
    before = value(place), steps(place)
    t = asked(place, RETAKE_MODEL=script(place, {"text": "Half a "}, {"error": {"message": "worn out"}}))
    t.key("M-2")
    c.says("why", t, "orn out", "Nothing was changed", "(2/6)")
    unchanged(c, place, "half a summary", before)
    t.key("Escape")
    c.says("nothing of it is left on the screen", t, "Esc stop, tree", gone=["Half a", "─ Tree"])


def no_model(c, place):
    """Without a model there is nothing to ask."""
    fork(place)
    t = place.open(size=(80, 30), RETAKE_MODEL=None)
    t.wait("Good. Schema")
    t.key("F2")
    t.wait("(4/6)")
    t.key("Up", "Up", "Enter")
    c.says("gone there", t, "Moved to entry 2; the next message starts a new take", "undo: /undo or", gone=["Summarise", "─ Tree"])
    c.equal("no summary", (ids(place), head(place)), (["u1", "a1", "u2", "a2"], "a1"))
    t.key("M-u")
    c.says("undone", t, "Undone")
    c.equal("the head", head(place), "a2")


def aborted(c, place):
    """Escape during the summary: "Navigation cancelled", and nothing has changed."""
    fork(place)
    before = value(place), steps(place)
    slow = script(place, {"text": "Half a "}, {"wait_ms": 60000}, {"text": "summary"})
    t = asked(place, RETAKE_MODEL=slow)
    for key, after in (("Escape", "(2/6)"), ("C-c", "Esc stop, tree")):
        t.key("M-2")
        c.says("what happens, and what can be done", t, "Summarising the branch you are leaving. Escape cancels", "Half a")
        t.key(key)
        c.says(f"{key} while it runs", t, "Navigation cancelled", after, gone=["Half a", "Summarising"])
        unchanged(c, place, f"{key} while it runs", before)
        if key == "Escape":
            t.key("Enter")
            t.wait("Summarise")
    # Also from the chat.
    t.key("M-Up", "Up", "Up", "Up", "Enter")
    t.wait("Summarise")
    t.key("M-2")
    t.wait("Half a")
    t.key("Escape")
    c.says("from the chat", t, "Navigation cancelled", gone=["Half a"])
    unchanged(c, place, "from the chat", before)
    c.equal("nothing is in the input", [r for r in t.screen() if r.startswith(" >")], [" >"])


def aborted_server(c, place):
    """Escape while the server does not respond."""
    fork(place)
    before = value(place), steps(place)
    holds = threading.Event()
    with Server(holds=holds) as server:
        t = asked(place, **server.env())
        t.key("M-2")
        c.says("it runs", t, "Summarising the branch")
        c.store("it was asked", lambda: len(server.bodies), 1)
        t.key("Escape")
        c.says("left at once", t, "Navigation cancelled")
        unchanged(c, place, "a server that does not answer", before)
        holds.set()


def hook_cancels(c, place):
    fork(place)
    before = value(place), steps(place)
    hook(place, "head.before_move", "cat > /dev/null; echo 'not on a Sunday' >&2; exit 2\n")
    t = asked(place)
    for key in ("M-2", "M-1"):
        t.key(key)
        c.says(f"{key}: its reason", t, "not on a Sunday", "Nothing was changed", "(2/6)", gone=["Summarise"])
        unchanged(c, place, f"a hook that cancels, {key}", before)
        t.key("Up")
        c.says("the tree is still open", t, "(1/6)")
        t.key("Down", "Enter")
        t.wait("Summarise")


def hook_cancels_silently(c, place):
    """"cancel" without a reason: the hook has given its message itself. A hook that is added
    while the screen is open runs, too."""
    fork(place)
    before = value(place), steps(place)
    t = asked(place)
    hook(place, "session_before_tree", "cat > /dev/null; echo '{\"cancel\":true}'\n")
    for key in ("M-2", "M-1"):
        t.key(key)
        t.wait("(2/6)", gone=["Summarise"])
        c.check(f"{key}: nothing is said", not any("ook" in row or "You are where" in row for row in t.screen()),
                t.screen())
        unchanged(c, place, f"a silent hook, {key}", before)
        t.key("Up")
        c.says("the tree is still open", t, "(1/6)")
        t.key("Down", "Enter")
        t.wait("Summarise")


def hook_writes(c, place):
    """A hook that provides the summary: no model is asked."""
    fork(place)
    hook(place, "head.before_move",
         f"cat > {place.dir}/told\necho '{{\"summary\":{{\"summary\":\"By a hook\"}}}}'\n")
    hook(place, "head.after_move", f"cat > {place.dir}/after\n")
    with Server() as server:
        t = asked(place, **server.env())
        t.key("M-2")
        c.says("its summary", t, "By a hook", "summarised the branch you left", gone=["─ Tree"])
        c.equal("no model was asked", server.bodies, [])
    c.equal("the entry", place.json("show")["entries"][2]["content"], "By a hook")
    with open(os.path.join(place.dir, "told"), encoding="utf-8") as told:
        said = json.load(told)
    c.equal("what it was told", (said["via"], said["preparation"]["targetId"], said["preparation"]["oldLeafId"],
                                 said["preparation"]["commonAncestorId"],
                                 [e["id"] for e in said["preparation"]["entriesToSummarize"]],
                                 said["preparation"]["userWantsSummary"]),
            ("tui", "a1", "a2", "a1", ["u2", "a2"], True))

    def after():
        try:
            with open(os.path.join(place.dir, "after"), encoding="utf-8") as told_then:
                event = json.load(told_then)
        except (OSError, ValueError):
            return None
        return event["oldLeafId"], event["fromHook"]
    c.store("and afterwards", after, ("a2", True))


def hook_ignored(c, place):
    """Without a summary, a hook's is not used."""
    fork(place)
    hook(place, "head.before_move", "cat > /dev/null\necho '{\"summary\":{\"summary\":\"By a hook\"}}'\n")
    t = asked(place)
    t.key("M-1")
    c.says("there", t, "Moved to entry 2", gone=["By a hook", "summarised"])
    c.equal("the head", (head(place), ids(place)), ("a1", ["u1", "a1", "u2", "a2"]))


def nothing_left(c, place):
    """If no entries are left, there is no question."""
    fork(place)
    place.run("go", "a1")
    with place.open(size=(80, 30)) as t:
        t.wait("SQLite: one file.")
        t.key("F2")
        t.wait("─ Tree", "(2/6)")
        c.equal("the head is in the middle", tree_rows(t)[1], "(2/6)")
        t.key("Down", "Down", "Enter")
        c.says("downwards", t, "Moved to entry 4", gone=["Summarise", "─ Tree"])
        c.equal("the head", head(place), "a2")


run(dialogue, typed, yes, yes_to_user, instructions, to_another_take, fails, fails_again, fails_midway, no_model, aborted, aborted_server,
    hook_cancels, hook_cancels_silently, hook_writes, hook_ignored, nothing_left)
