#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""First use of the server: flags work as documented, responses name possible next steps, and the
offered commands work."""
import sys

from client import Client, Place, Server, Tally, quote


def undo_links(tally, place, client):
    """Every change can be undone in the way that its response describes."""
    client.post("/discussions", {"name": "spare"})
    client.post("/discussions/main/switch", {})
    entry = client.post("/discussions/main/entries", {"content": "one"}).json["entry"]
    client.post("/discussions/main/entries", {"content": "two"})
    changes = [
        ("a discussion", "POST", "/discussions", {"name": "other"}),
        ("an entry", "POST", "/discussions/main/entries", {"content": "three"}),
        ("a branch", "POST", f"/discussions/main/entries/{entry}/branch", {}),
        ("the head", "PUT", "/discussions/main/head", {"entry": entry}),
        ("a take of its own", "PATCH", f"/discussions/main/entries/{entry}",
         {"content": "new", "mode": "take"}),
        ("two texts", "PATCH", f"/discussions/main/entries/{entry}",
         {"content": "new", "role": "AI"}),
        ("a batch", "POST", "/batch", {"ops": [
            {"op": "entry.append", "content": "x"},
            {"op": "label.set", "entry": entry, "label": "here"},
            {"op": "entry.edit", "entry": entry, "content": "y"}]}),
        ("a role", "POST", "/roles", {"role": "Judge"}),
        ("a discussion that goes", "DELETE", "/discussions/spare", None),
        ("everything", "POST", "/reset", {}),
    ]
    for name, method, path, body in changes:
        before = place.canonical()
        done = client.request(method, "/retake/v1" + path, body)
        how = (done.json or {}).get("op", {}).get("undo")
        if not tally.check(f"{name}: is changed and says how to undo it",
                           done.status in (200, 201) and how is not None, done):
            continue
        back = client.request(how["method"], how["path"], how.get("body", {}))
        tally.check(f"{name}: can be undone as it says", back.status == 200, how, back)
        tally.check(f"{name}: and then it is as before", place.canonical() == before, how)


def words(tally, client):
    got = client.post("/discussions/main/entries", {"text": "hello?"})
    tally.check("a text by another name is noticed", "content" in str(got.json.get("notes")), got)
    got = client.post("/discussions/main/runs", {"text": "hello?", "id": "mine"})
    tally.check("a run takes nothing that it does not know",
                got.status == 400 and "id" in got.json["detail"], got)
    got = client.request("DELETE", "/retake/v1/discussions/main/entries")
    tally.check("another method is named", got.status == 405 and "GET" in got.json["detail"], got)
    tally.equal("one form of codes", got.json["code"], "method_not_allowed")
    got = client.get("/nowhere")
    tally.equal("no such route is not_found", (got.status, got.json["code"]), (404, "not_found"))


def kept(tally, place, client):
    """Repeated reads return the current state: after a change, a purge, and a change by another
    process."""
    entry = client.post("/discussions/main/entries", {"content": "before"}).json["entry"]
    path = "/discussions/main/entries/" + entry
    for _ in range(3):
        tally.equal("the same again", client.get(path).json["content"], "before")
    client.put(path + "/content", {"content": "after"})
    tally.equal("changed here", client.get(path).json["content"], "after")
    place.apply([{"op": "entry.edit", "entry": entry, "content": "elsewhere"}])
    tally.equal("changed elsewhere", client.get(path).json["content"], "elsewhere")
    client.op({"op": "entry.view", "entry": entry, "collapsed": True})
    tally.equal("shown otherwise", client.get(path).json["collapsed"], True)
    client.op({"op": "purge", "entry": entry})
    tally.equal("purged", client.get(path).json["content"], "")
    place.apply([{"op": "entry.append", "id": "mine", "content": "a secret-word here"}])
    client.get("/discussions/main/entries/mine")
    place.apply([{"op": "purge", "text": "secret-word"}])
    tally.check("purged elsewhere",
                "secret-word" not in client.get("/discussions/main/entries/mine").body.decode())


def required(tally):
    with Place() as place, Server(place, "--require-if-match") as server:
        for client in (server.client(), server.browser()):
            first = client.get("/discussions/main")
            for method, path, body in (("POST", "/discussions/main/entries", {"content": "a"}),
                                       ("POST", "/ops/entry.append", {"content": "a"}),
                                       ("PUT", "/discussions/main/head", {"entry": None}),
                                       ("POST", "/undo", {}),
                                       ("POST", "/batch", {"ops": [{"op": "undo"}]}),
                                       ("POST", "/discussions/main/runs", {"text": "a"})):
                got = client.request(method, "/retake/v1" + path, body)
                tally.equal(f"without If-Match: {path}", got.status, 428, got)
            got = client.post("/discussions/main/entries", {"content": "a"},
                              {"If-Match": first.tag})
            tally.equal("with it", got.status, 201, got)


def let_into(tally, place, server):
    """A link for one project."""
    owner = server.client()
    owner.post("/discussions/main/entries", {"content": "for whom it is meant"})
    got = owner.post("/codes", {"project": "nowhere"})
    tally.equal("a project that is not there", got.status, 404, got)
    for name in ("default", "of \"its\" own"):
        if name != "default":
            tally.equal("a project is made", owner.post("/projects", {"name": name}).status, 201)
        code = owner.post("/codes", {"project": name}).json["code"]
        entered = Client(server, {}).request("GET", "/?code=" + quote(code))
        cookie = entered.headers["set-cookie"].split(";")[0]
        browser = Client(server, {"Cookie": cookie, "Origin": f"http://127.0.0.1:{server.port}"})
        tally.equal(f"a browser that is let into {name}", browser.get("/info").json["project"], name)
    shown = place.run("serve", "--login", project="default")
    tally.check("and from the command line", shown.returncode == 0 and b"?code=" in shown.stdout,
                shown)


def main():
    tally = Tally()
    with Place() as place:
        with Server(place) as server:
            client = server.client()
            undo_links(tally, place, client)
            words(tally, client)
            kept(tally, place, client)
            let_into(tally, place, server)
            tally.equal("it ends", server.stop(), 0)
    required(tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
