#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Hook API: the list read, replaced and restored; fields; callbacks; and none of it without
signing in."""
import json
import pathlib
import sys
import threading
import time

from client import Client, Place, Server, Tally

CALLBACKS = ["save_context_preset", "load_context_preset", "delete_context_preset",
             "set_ui_file_paths", "set_ui_screenshot_paths", "set_context_files_for_test",
             "set_screenshots_for_test", "_toggle_command_palette", "get_app_debug_info",
             "save_context_preset_force", "set_ui_attr", "set_context_files",
             "simulate_save_preset"]
SNAPSHOT = {"ai_input": "", "project_system_prompt": "", "global_system_prompt": "",
            "base_system_prompt": "", "use_default_base_prompt": True, "temperature": 0,
            "top_p": 1, "max_tokens": 8192, "auto_add_history": True, "disc_entries": [],
            "files": [], "context_files": [], "screenshots": []}
VALUES = {"symbols_sent": True, "ai_input": "draft", "project_system_prompt": "p", "global_system_prompt": "g",
          "base_system_prompt": "b", "use_default_base_prompt": False, "temperature": 0.5,
          "top_p": 0.25, "max_tokens": 100, "auto_add_history": False, "files": ["a.c"],
          "context_files": [{"path": "b.c"}], "screenshots": ["s.png"], "current_model": "x/y",
          "edit_notices": "all", "current_prompt": "a cat", "active_track": "night",
          "disc_roles": ["User", "Judge"], "undo_capacity": 5000, "role_map": {"Judge": "system"},
          "prompt_updates": "json",
          "compact_auto": True, "compact_reserve_tokens": 7, "compact_keep_tokens": 8}
READ_ONLY = ["ai_status", "discussion_names", "take_names", "can_undo", "can_redo",
             "prompt_edited", "context_presets", "seq", "ai_response", "last_question",
             "last_role", "active_project", "active_project_path", "discussion_count",
             "take_count", "entry_count", "label_count", "head_position", "user_entry_count",
             "ai_entry_count", "muted_count", "collapsed_count", "edited_count",
             "partial_count", "content_bytes", "current_provider", "token_usage", "usage",
             "last_request", "comms_log", "git_commit", "app_debug_info"]
# Functions of the program that the API comes from, without a counterpart here: each response says
# why.
NO_MEANING = ["show_command_palette", "ui_focus_agent", "ui_manual_approve", "mma_status",
              "active_tier", "active_persona", "ui_separate_message_panel"]


def api(client, method, path, body=None, headers=None):
    return client.request(method, path, body, headers)


def entries(client):
    return api(client, "GET", "/api/session").json["session"]["entries"]


def undo(tally, client, answer):
    """Undoes a change as its response describes."""
    how = answer.json.get("undo") or answer.json["op"]["undo"]
    done = api(client, how["method"], how["path"], {})
    tally.equal("it is undone as it says", done.status, 200, how, done)


def the_list(tally, place, client):
    tally.equal("an empty list", entries(client), [])
    given = [{"role": "User", "content": "one", "mine": {"a": [1, "é"]}},
             {"role": "AI", "content": "two", "usage": {"input_tokens": 3}, "collapsed": True},
             {"role": "User", "content": "three", "ts": "2026-06-08T12:00:00Z"}]
    answer = api(client, "POST", "/api/session", {"session": {"entries": given}})
    tally.equal("a list is set", answer.status, 200, answer)
    tally.equal("it says so", answer.json.get("status"), "updated")
    tally.equal("what was done", answer.json.get("changed"),
                {"added": 3, "edited": 0, "deleted": 0, "moved": 0, "shown": 0})
    now = entries(client)
    for wanted, got in zip(given, now):
        tally.equal("an entry as it was given", {key: got.get(key) for key in wanted}, wanted)
    tally.equal("no entry more", len(now), 3)

    before = place.canonical()
    rows = answer.json["seq"]
    same = api(client, "POST", "/api/session", {"session": {"entries": now}})
    tally.check("the same list is not a step", same.json.get("unchanged") is True and
                same.json["seq"] == rows, same)
    seed = [{key: entry[key] for key in ("role", "content", "ts", "collapsed")} for entry in now]
    same = api(client, "POST", "/api/session", {"session": {"entries": seed}})
    tally.check("nor is it without ids", same.json.get("unchanged") is True, same)
    tally.check("and nothing has changed", place.canonical() == before)

    for shape in ({"session": {"entries": now[::-1]}}, {"session": now[::-1]}, now[::-1],
                  {"entries": now[::-1]}):
        answer = api(client, "POST", "/api/session", shape)
        tally.equal("a list in any shape", [entry["id"] for entry in entries(client)],
                    [entry["id"] for entry in now[::-1]], answer)
        tally.equal("is two moves", answer.json["changed"]["moved"], 2)
        undo(tally, client, answer)
        tally.check("one undo restores it byte for byte", place.canonical() == before)

    edited = json.loads(json.dumps(now))
    edited[1]["content"] = "TWO"
    edited[1]["mark"] = "m"
    del edited[0]
    edited.append({"role": "Critic", "content": "four"})
    answer = api(client, "POST", "/api/session", {"session": {"entries": edited}})
    tally.equal("what was done of each kind", answer.json.get("changed"),
                {"added": 1, "edited": 1, "deleted": 1, "moved": 0, "shown": 0}, answer)
    got = entries(client)
    tally.equal("it keeps its id", got[0]["id"], now[1]["id"])
    tally.equal("and its fields", (got[0]["usage"], got[0]["mark"]), ({"input_tokens": 3}, "m"))
    revisions = client.get(f"/discussions/main/entries/{now[1]['id']}/revisions").json
    tally.check("and its revisions", len(revisions) == 2 and revisions[0]["content"] == "two",
                revisions)
    undo(tally, client, answer)
    tally.check("one undo for all of it", place.canonical() == before)
    api(client, "POST", "/retake/v1/redo", {})
    tally.equal("and one redo", [entry["content"] for entry in entries(client)],
                ["TWO", "three", "four"])

    for body in ({}, {"session": {}}, {"session": {"entries": 3}}, [1], [{"role": ""}],
                 [{"content": 7}], [{"ts": "soon"}],
                 [{"id": got[0]["id"]}, {"id": got[0]["id"]}], [{"op": "purge"}]):
        before = place.canonical()
        answer = api(client, "POST", "/api/session", body)
        tally.check("a value that is not a list is refused", answer.status == 400 and
                    answer.headers["content-type"] == "application/problem+json", body, answer)
        tally.check("and changes nothing", place.canonical() == before)
    answer = api(client, "POST", "/api/session", b"[{")
    tally.equal("malformed JSON", answer.status, 400, answer)
    emptied = api(client, "POST", "/api/session", [])
    tally.equal("an empty list empties", (emptied.status, entries(client)), (200, []))


def conditions(tally, client):
    api(client, "POST", "/api/session", [{"role": "User", "content": "x"}])
    read = api(client, "GET", "/api/session")
    tally.check("a list has a tag", read.tag is not None, read.headers)
    client.op({"op": "entry.append", "content": "meanwhile"})
    stale = api(client, "POST", "/api/session", [], {"If-Match": read.tag})
    tally.equal("a list from before is stale", stale.status, 412, stale)
    tally.equal("and nothing was replaced", len(entries(client)), 2)
    stale = api(client, "POST", "/api/session", entries(client), {"If-Match": read.tag})
    tally.equal("even if nothing would change", stale.status, 412, stale)
    read = api(client, "GET", "/api/session")
    fresh = api(client, "POST", "/api/session", [], {"If-Match": read.tag})
    tally.equal("with the new tag it is done", fresh.status, 200, fresh)
    headers = {"Idempotency-Key": "one-and-the-same-key"}
    first = api(client, "POST", "/api/session", [{"role": "User", "content": "k"}], headers)
    again = api(client, "POST", "/api/session", [{"role": "User", "content": "k"}], headers)
    tally.check("a retry is answered as before", again.status == first.status and
                again.json == first.json, first, again)
    tally.equal("and done once", len(entries(client)), 1)


def many_at_once(tally, server):
    """Several clients append to the list they have read: no successful change is lost."""
    lost = []

    def add(name):
        client = server.client()
        for at in range(15):
            for _ in range(200):
                read = api(client, "GET", "/api/session")
                wanted = read.json["session"]["entries"]
                wanted.append({"role": "User", "content": f"{name} {at}"})
                if api(client, "POST", "/api/session", wanted,
                       {"If-Match": read.tag}).status == 200:
                    break
            else:
                lost.append(name)
        client.close()

    api(server.client(), "POST", "/api/session", [])
    threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.equal("no request failed", lost, [])
    got = sorted(entry["content"] for entry in entries(server.client()))
    tally.equal("all added entries exist", got,
                sorted(f"{name} {at}" for name in "abcd" for at in range(15)))


def lists_against_lists(tally, server):
    """Clients replace the whole list unconditionally while others append: each replacement
    applies to the current list, so the last one wins, and no other entry remains beside it."""
    client = server.client()
    api(client, "POST", "/api/session", [])
    answers = []

    def replace(name):
        mine = server.client()
        for at in range(20):
            answers.append(api(mine, "POST", "/api/session",
                               [{"role": "User", "content": f"{name} {at} {n}"}
                                for n in range(4)]))
        mine.close()

    def append():
        mine = server.client()
        for at in range(40):
            answers.append(mine.op({"op": "entry.append", "content": f"appended {at}"}))
        mine.close()

    threads = [threading.Thread(target=replace, args=(name,)) for name in "abc"] + \
        [threading.Thread(target=append)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.equal("all responses are as expected",
                {answer.status for answer in answers} - {200, 201, 412}, set())
    lists = [entry["content"] for entry in entries(client)
             if not entry["content"].startswith("appended")]
    tally.check("the list is exactly one of them", len(lists) == 4 and
                len({content.rsplit(" ", 1)[0] for content in lists}) == 1, entries(client))


def fields(tally, place, client):
    api(client, "POST", "/api/reset")
    state = api(client, "GET", "/api/state").json
    for name, value in SNAPSHOT.items():
        tally.equal(f"{name} at the beginning", state.get(name), value)
    for name in READ_ONLY:
        tally.check(f"{name} is there", name in state, list(state))
        answer = api(client, "PUT", "/api/state/" + name, {"value": 1})
        tally.equal(f"{name} can be read only", answer.status, 409, answer)
    for name, value in VALUES.items():
        before = place.canonical()
        seq = api(client, "GET", "/api/state/seq").json["value"]
        for way, path in (("PUT", name), ("POST", "ui_" + name)):
            answer = api(client, way, "/api/state/" + path, {"value": value})
            tally.equal(f"{name} is set", answer.status, 200, answer)
        got = api(client, "GET", "/api/state/" + name).json
        tally.equal(f"{name} as it was set", got, {"field": name, "value": value})
        tally.equal(f"{name}: one step",
                    api(client, "GET", "/api/state/seq").json["value"], seq + 1)
        api(client, "POST", "/retake/v1/undo", {})
        tally.check(f"{name}: one undo", place.canonical() == before)
        api(client, "POST", "/retake/v1/redo", {})
    for name in ("temperature", "top_p", "max_tokens", "ai_input", "use_default_base_prompt",
                 "files", "disc_roles", "disc_entries", "current_prompt"):
        answer = api(client, "PUT", "/api/state/" + name, {"value": {"no": 1}})
        tally.equal(f"{name}: another type is refused", answer.status, 400, answer)
    answer = api(client, "PUT", "/api/state/temperature", {"value": None})
    tally.equal("null is the default",
                api(client, "GET", "/api/state/temperature").json["value"], 0, answer)
    tally.equal("no such field", api(client, "GET", "/api/state/bogus").status, 404)
    tally.equal("no value", api(client, "PUT", "/api/state/top_p", {}).status, 400)
    answer = api(client, "PUT", "/api/state/disc_entries", {"value": [{"role": "AI",
                                                                       "content": "e"}]})
    tally.equal("entries as a field", [entry["content"] for entry in entries(client)], ["e"],
                answer)
    client.op({"op": "discussion.new", "name": "other"})
    tally.equal("which discussion",
                api(client, "GET", "/api/state/active_discussion").json["value"], "other")
    api(client, "PUT", "/api/state/active_discussion", {"value": "main"})
    tally.equal("and back", api(client, "GET", "/api/state/active_discussion").json["value"],
                "main")
    tally.equal("their names",
                sorted(api(client, "GET", "/api/state/discussion_names").json["value"]),
                ["main", "other"])
    tally.equal("no run is active", api(client, "GET", "/api/state/ai_status").json["value"], "idle")
    tally.equal("of another discussion",
                api(client, "GET", "/api/state/disc_entries?discussion=other").json["value"], [])


def computed(tally, place, client):
    """Read-only fields are updated by changes."""
    def field(name):
        return api(client, "GET", "/api/state/" + name).json["value"]

    def follows(name, value):
        tally.equal(f"{name} follows", field(name), value)
        tally.equal(f"{name} among all", api(client, "GET", "/api/state").json[name], value)

    api(client, "POST", "/api/reset")
    follows("ai_status", "session reset")
    state = api(client, "GET", "/api/state").json
    tally.check("fifty fields and more", len(state) >= 50, len(state))
    types = client.get("/openapi.json").json["components"]["schemas"]["HookState"]["properties"]
    tally.equal("each has a type", sorted(types), sorted(state))
    kinds = {"string": str, "boolean": bool, "integer": int, "number": (int, float),
             "array": list, "object": dict, "null": type(None)}
    for name, value in state.items():
        tally.check(f"{name} has its type",
                    any(isinstance(value, kinds[kind]) for kind in types[name]["type"]), value)
        tally.equal(f"{name} alone", api(client, "GET", "/api/state/" + name).status, 200)
    tally.equal("what can be set", sorted(name for name in types if not types[name].get("readOnly")),
                sorted(set(SNAPSHOT) | set(VALUES) | {"active_discussion", "active_take"}))
    for name in NO_MEANING:
        for answer in (api(client, "GET", "/api/state/" + name),
                       api(client, "PUT", "/api/state/" + name, {"value": 1})):
            tally.equal(f"{name} says why not", (answer.status, bool(answer.json.get("detail"))),
                        (501, True), answer)
    follows("ai_response", "")
    follows("usage", None)
    client.op({"op": "entry.append", "role": "User", "content": "Why?", "id": "q"})
    follows("ai_status", "idle")
    follows("last_question", "Why?")
    client.op({"op": "entry.append", "role": "AI", "content": "é.", "id": "r", "muted": True,
               "collapsed": True, "partial": True,
               "usage": {"input_tokens": 3, "output_tokens": 4}})
    client.op({"op": "entry.append", "role": "AI", "content": "So.",
               "usage": {"input_tokens": 5, "cache_read_input_tokens": 2}})
    client.op({"op": "label.set", "entry": "q", "label": "start"})
    client.op({"op": "entry.edit", "entry": "q", "content": "Why not?"})
    nothing = {"cache_creation_input_tokens": 0}
    for name, value in {"ai_response": "So.", "last_question": "Why not?", "last_role": "AI",
                        "entry_count": 3, "user_entry_count": 1, "ai_entry_count": 2,
                        "muted_count": 1, "collapsed_count": 1, "edited_count": 1,
                        "partial_count": 1, "label_count": 1, "head_position": 3,
                        "content_bytes": 14,
                        "token_usage": {"input_tokens": 8, "output_tokens": 4,
                                        "cache_read_input_tokens": 2, **nothing},
                        "usage": {"input_tokens": 5, "output_tokens": 0,
                                  "cache_read_input_tokens": 2, **nothing}}.items():
        follows(name, value)
    client.op({"op": "head.move", "entry": "q"})
    follows("head_position", 1)
    client.op({"op": "take.branch", "at": "q"})
    follows("take_count", 2)
    client.op({"op": "discussion.new", "name": "second"})
    follows("discussion_count", 2)
    follows("current_provider", None)
    api(client, "PUT", "/api/state/current_model", {"value": "builtin/echo"})
    follows("current_provider", "builtin")
    tally.equal("no request yet", field("comms_log"), [])
    follows("last_request", None)
    run = client.post("/discussions/second/runs", {"text": "Hello"}).json
    while client.get("/runs/" + run["run"]).json["state"] == "running":
        time.sleep(0.05)
    log = field("comms_log")
    tally.equal("the record of requests", [line["what"] for line in log], ["request", "reply"])
    tally.equal("its last request", field("last_request")["model"], "echo")
    check_rotated(tally, place, field, log[0])
    tally.check("the reply", field("ai_response").startswith('You said: "Hello"'))
    about = field("app_debug_info")
    tally.equal("debug info", (about["discussion"], about["entries"], about["running"]),
                ("second", 2, False))
    follows("active_project", about["project"])


def check_rotated(tally, place, field, line):
    """The newest hundred lines, in order, if the log consists of several files."""
    folder = pathlib.Path(place.folder) / "state/retake/comms"
    one = sorted(folder.glob("*.jsonl"))[-1]
    files = []
    for day in range(1, 4):  # 80 lines each, all older than the server's log file
        files.append(one.with_name(f"2001010{day}T000000Z" + one.name[one.name.rindex("-"):]))
        with open(files[-1], "w", encoding="utf-8") as file:
            for i in range(80):
                file.write(json.dumps({**line, "request": f"reply/{day * 1000 + i}"}) + "\n")
    names = [each["request"] for each in field("comms_log")]
    tally.equal("the newest lines of all files", names[:98],
                [f"reply/{2000 + i}" for i in range(62, 80)] +
                [f"reply/{3000 + i}" for i in range(80)])
    tally.equal("then those of the newest file", (len(names), names[-2:]),
                (100, [line["request"]] * 2))
    for file in files:
        file.unlink()


def typing(tally, client):
    """A change over HTTP is one step."""
    api(client, "POST", "/api/reset")
    api(client, "PUT", "/api/state/top_p", {"value": 0.5})
    for text in ("h", "he", "hel", "hell", "hello"):
        api(client, "PUT", "/api/state/ai_input", {"value": text})
    answer = client.post("/undo", {})
    tally.equal("one undo reverts the typed text",
                (answer.json["steps"], api(client, "GET", "/api/state/ai_input").json["value"],
                 api(client, "GET", "/api/state/top_p").json["value"]), (1, "", 0.5))
    client.post("/redo", {})
    tally.equal("and one redo restores it",
                api(client, "GET", "/api/state/ai_input").json["value"], "hello")
    for value in (-1, "x", 1.5):
        answer = api(client, "PUT", "/api/state/undo_capacity", {"value": value})
        tally.equal(f"undo_capacity {value} is refused", answer.status, 400, answer)


def callbacks(tally, client):
    listed = {row["name"]: row for row in api(client, "GET", "/api/callbacks").json["callbacks"]}
    tally.equal("all callbacks of the seed", sorted(listed), sorted(CALLBACKS))
    for name, row in listed.items():
        tally.check(f"{name} says what it does, or why nothing",
                    ("does" in row) != ("has_none" in row), row)
        answer = api(client, "POST", "/api/callbacks/" + name, {"args": [1, 2, 3]})
        tally.equal(f"{name} with too much", answer.status, 501 if "has_none" in row else 400,
                    answer)

    def call(name, *args):
        answer = api(client, "POST", "/api/callbacks/" + name, {"args": list(args)})
        tally.equal(f"{name} is done", answer.status, 200, answer)
        return answer.json

    def value(name):
        return api(client, "GET", "/api/state/" + name).json["value"]

    call("set_ui_file_paths", ["1.c", "2.c"])
    tally.equal("files", value("files"), ["1.c", "2.c"])
    call("save_context_preset", "work")
    tally.equal("a preset", list(value("context_presets")), ["work"])
    call("set_ui_file_paths", [])
    call("load_context_preset", "work")
    tally.equal("brought back", value("files"), ["1.c", "2.c"])
    call("delete_context_preset", "work")
    tally.equal("and forgotten", value("context_presets"), {})
    for name in ("save_context_preset_force", "simulate_save_preset"):
        call(name, name)
        tally.check(name, name in value("context_presets"))
    for name, field in (("set_context_files", "context_files"),
                        ("set_context_files_for_test", "context_files"),
                        ("set_ui_screenshot_paths", "screenshots"),
                        ("set_screenshots_for_test", "screenshots")):
        call(name, [name])
        tally.equal(name, value(field), [name])
    call("set_ui_attr", "ui_ai_input", "typed")
    tally.equal("an attribute", value("ai_input"), "typed")
    info = call("get_app_debug_info")
    tally.equal("what it works on", info["result"]["active_discussion"], "main")
    tally.equal("an attribute that is none",
                api(client, "POST", "/api/callbacks/set_ui_attr", {"args": ["x", 1]}).status, 404)
    tally.equal("no such preset", api(client, "POST", "/api/callbacks/load_context_preset",
                                      {"args": ["none"]}).status, 404)
    tally.equal("no such callback",
                api(client, "POST", "/api/callbacks/rm", {"args": []}).status, 404)


def the_rest(tally, place, client):
    before = place.canonical()
    answer = api(client, "POST", "/api/reset")
    tally.equal("a reset", (answer.status, entries(client)), (200, []), answer)
    history = api(client, "GET", "/api/history").json
    tally.check("is in the history", history["history"][0]["op"] == "project.reset" and
                history["can_undo"] is True and history["can_redo"] is False, history)
    api(client, "POST", "/retake/v1/undo", {})
    tally.check("one undo restores everything", place.canonical() == before)
    tally.check("and can be redone", api(client, "GET", "/api/history").json["can_redo"])
    tally.equal("pages", len(api(client, "GET", "/api/history?limit=2").json["history"]), 2)
    tally.equal("status", api(client, "GET", "/status").json,
                {"status": "ok", "ai_status": "idle"})


def who_may(tally, server):
    nobody = Client(server, {})
    for method, path in (("GET", "/api/session"), ("POST", "/api/session"),
                         ("GET", "/api/state"), ("GET", "/api/state/files"),
                         ("PUT", "/api/state/files"), ("POST", "/api/state/files"),
                         ("GET", "/api/callbacks"), ("POST", "/api/callbacks/set_context_files"),
                         ("POST", "/api/reset"), ("GET", "/api/history"), ("GET", "/status")):
        answer = api(nobody, method, path, None if method == "GET" else {})
        tally.equal(f"{method} {path} requires signing in", answer.status, 401, answer)
    owner = server.client()
    tally.equal("another method", api(owner, "DELETE", "/api/session").status, 405)
    tally.equal("another path", api(owner, "GET", "/api/sessions").status, 404)
    one, other = server.browser(), server.browser()
    api(one, "POST", "/api/session", [{"role": "User", "content": "mine"}])
    tally.equal("a browser has a separate list", len(entries(one)), 1)
    tally.equal("and no other has it", entries(other), [])


def main():
    tally = Tally()
    with Place() as place, Server(place, "--isolate") as server:
        client = server.client()
        the_list(tally, place, client)
        conditions(tally, client)
        many_at_once(tally, server)
        lists_against_lists(tally, server)
        fields(tally, place, client)
        computed(tally, place, client)
        typing(tally, client)
        callbacks(tally, client)
        the_rest(tally, place, client)
        who_may(tally, server)
        tally.equal("the server ends", server.stop(), 0)
        fsck = place.run("fsck")
        tally.equal("the store is whole", fsck.returncode, 0, fsck.stdout)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
