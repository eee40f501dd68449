#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Isolation: every pair of six browsers, and every route of the API that names an object, with
the names and numbers of the other browser's objects. Foreign names must not be found, numbers
must refer to the browser's own objects, and nothing else may change."""
import json
import re
import sys

from client import API, Place, Server, Tally, quote

BROWSERS = 6
# Routes that create the object they name, or accept only a few fixed names.
MAKES = {("put", "key"), ("delete", "key"), ("put", "name"), ("put", "which"), ("post", "op")}


class User:
    def __init__(self, server, at):
        self.at = at
        self.client = server.browser()
        self.secret = f"canary-of-{at}-x7Qz"
        c = self.client
        c.op({"op": "discussion.new", "name": f"private {at}"})
        self.discussion = f"private {at}"
        self.entry = f"own-{at}"
        for n in range(4 + at):
            c.op({"op": "entry.append", "content": f"{self.secret} {n}",
                  "id": self.entry if n == 1 else f"own-{at}-{n}"})
        made = c.op({"op": "entry.append", "content": self.secret + " made"})
        self.made = made.json["entry"]
        c.op({"op": "take.branch", "at": self.entry, "name": f"side {at}"})
        self.take = f"side {at}"
        c.op({"op": "entry.append", "content": self.secret + " aside"})
        self.label = f"label {at}"
        c.op({"op": "label.set", "entry": self.entry, "label": self.label})
        c.op({"op": "prompt.update", "text": self.secret + " prompt"})
        self.preset = f"preset {at}"
        c.op({"op": "preset.save", "name": self.preset})
        self.role = f"role {at}"
        c.op({"op": "role.add", "role": self.role})
        c.op({"op": "setting.set", "key": "draft", "value": self.secret + " draft"})
        run = c.post("/discussions/" + quote(self.discussion) + "/runs",
                     {"text": self.secret + " run", "model": "builtin/echo"})
        self.run = run.json["run"]
        while c.get("/runs/" + self.run).json["state"] == "running":
            pass
        self.seq = c.get("/info").json["seq"]

    def export(self):
        return self.client.get("/export?format=canonical&all=true").body

    def name_of(self, param):
        return {"discussion": self.discussion, "entry": self.entry, "at": self.entry,
                "take": self.take, "a": self.take, "b": self.take, "label": self.label,
                "name": self.preset, "role": self.role, "run": self.run,
                "seq": str(self.seq), "key": f"key-{self.at}", "which": "files",
                "op": "entry.edit"}.get(param)


def fields(user, path):
    """A body with which the request would succeed if the objects existed."""
    entry = user.entry
    return {"content": "overwritten", "role": "Overwritten", "text": "overwritten",
            "model": "builtin/echo", "at": entry if path.endswith("takes") else 1,
            "id": None, "name": "overwritten", "value": 1, "items": [], "entry": entry,
            "label": "overwritten", "track": "overwritten", "pairs": 0, "ids": [entry],
            "after": entry, "from": user.take if path.endswith("graft") else entry, "to": entry,
            "entries": [entry], "collapsed": True,
            "failure": {"code": "upstream", "detail": "overwritten"},
            "ops": [{"op": "entry.edit", "entry": entry, "content": "overwritten"}]}


def body_of(user, spec, path):
    """Only the members that the route accepts."""
    content = spec.get("requestBody", {}).get("content", {}).get("application/json", {})
    text = json.dumps(content)
    known = {key: value for key, value in fields(user, path).items()
             if f'"{key}"' in text and value is not None}
    if path.endswith("/jump"):
        known = {"to": 0}
    if path.endswith(("/undo", "/redo")):
        known = {}
    if path.endswith("/purge"):
        known = {"entry": user.entry}
    if path.endswith("/entries/delete"):
        known = {"from": user.entry, "to": user.entry}
    if path.endswith("/entries/{entry}"):
        known.pop("name", None)
        known.pop("from", None)
        known.pop("to", None)
    if path.endswith("{entry}/extract"):
        known.pop("entry", None)
    if path.endswith("/view") and "{entry}" not in path:
        known["all"] = True
        known.pop("entry", None)
    if path.endswith("/runs"):
        known = {"text": "overwritten", "model": "builtin/echo"}
    return known if "requestBody" in spec else None


def attempts(mine, theirs, method, path, spec):
    """Returns (path, body, must be 404): all foreign; foreign objects in the browser's own discussion."""
    params = re.findall(r"{(\w+)}", path)
    makes = any((method, param) in MAKES for param in params)
    full = path
    for param in params:
        full = full.replace("{" + param + "}", quote(theirs.name_of(param) or "x"))
    body = body_of(theirs, spec, path)
    numbers = {"run", "seq"} & set(params)
    if path.endswith("/advice"):  # impossible operations have no side effects: an empty list
        yield full, body, False
        return
    yield full, body, "discussion" in params or not (makes or numbers)
    if "discussion" in params:
        own = path.replace("{discussion}", quote(mine.discussion))
        for param in params:
            own = own.replace("{" + param + "}", quote(theirs.name_of(param) or "x"))
        names_theirs = any(param in ("entry", "at", "take", "a", "b", "label") or
                           (param == "name" and method != "put") for param in params) or \
            any(f'"{theirs.entry}"' in json.dumps(body or {}) for _ in (0,))
        if names_theirs:  # reading by ids reports the missing ones
            yield own, body, not path.endswith("/read")
        numbered = path.replace("{discussion}", "d2")
        for param, value in (("take", "t2"), ("a", "t1"), ("b", "t2"), ("entry", theirs.made),
                             ("at", theirs.made)):
            numbered = numbered.replace("{" + param + "}", quote(value))
        for param in params:
            numbered = numbered.replace("{" + param + "}", quote(theirs.name_of(param) or "x"))
        if method == "get":
            yield numbered, None, False
    if "take" in json.dumps([item.get("name") for item in spec.get("parameters", [])]) and \
            "discussion" in params and "take" not in params:
        own = path.replace("{discussion}", quote(mine.discussion))
        for param in params:
            own = own.replace("{" + param + "}", quote(mine.name_of(param) or "x"))
        yield own + "?take=" + quote(theirs.take), body_of(mine, spec, path), True


def one_pair(tally, mine, theirs, routes):
    asked = 0
    for method, path, spec in routes:
        for full, body, must_miss in attempts(mine, theirs, method, path, spec):
            name = f"{mine.at} asks {method.upper()} {full}"
            if "/events" in path:
                stream = mine.client.events(full)
                if stream.status == 200:
                    events, _ = stream.read()
                    tally.check(f"{name}: no foreign data",
                                theirs.secret not in json.dumps(events), events)
                stream.close()
                continue
            before = mine.client.get("/info").json["seq"] if must_miss else None
            answer = mine.client.request(method.upper(), API + full, body)
            asked += 1
            tally.check(f"{name}: no foreign data", theirs.secret.encode() not in answer.body and
                        theirs.secret not in json.dumps(answer.headers), answer)
            if must_miss:
                tally.equal(f"{name}: there is no such thing", answer.status, 404, body, answer)
                tally.equal(f"{name}: nothing was done",
                            mine.client.get("/info").json["seq"], before)
            else:
                tally.check(f"{name}: no failure of the server", answer.status < 500, answer)
    return asked


def other_ways(tally, server, users):
    """Headers, the hook API, the list of projects, the epoch of another history."""
    mine, theirs = users[0], users[1]
    info = theirs.client.get("/info").json
    tally.check("each has a separate project",
                len({user.client.get("/info").json["project"] for user in users}) == len(users))
    for header in ({"Retake-Project": info["project"]}, {"Retake-Project": "default"},
                   {"Authorization": "Bearer " + "0" * 64},
                   {"Cookie": mine.client.headers["Cookie"] + "x"}):
        for path in ("/discussions", "/export?format=canonical&all=true", "/search?q=canary",
                     "/history", "/info", "/runs", "/settings"):
            answer = mine.client.request("GET", API + path, headers=header)
            tally.check(f"{path} with {list(header)[0]}: no foreign data",
                        theirs.secret.encode() not in answer.body and
                        theirs.discussion.encode() not in answer.body, header, answer)
    for method, path in (("GET", "/projects"), ("POST", "/projects"), ("GET", "/server"),
                         ("POST", "/codes")):
        answer = mine.client.request(method, API + path, None if method == "GET" else
                                     {"name": "x"})
        tally.check(f"{method} {path} is the owner's", answer.status in (403, 404), answer)
    for path in ("/api/session?discussion=" + quote(theirs.discussion),
                 "/api/state?discussion=" + quote(theirs.discussion),
                 "/api/state/disc_entries?take=" + quote(theirs.take),
                 "/api/history?discussion=" + quote(theirs.discussion)):
        answer = mine.client.request("GET", path)
        tally.equal(f"{path}: there is no such thing", answer.status, 404, answer)
    for path in ("/api/session", "/api/state", "/api/history"):
        answer = mine.client.request("GET", path)
        tally.check(f"{path}: own data", answer.status == 200 and
                    theirs.secret.encode() not in answer.body, answer)
    answer = mine.client.request("POST", "/api/session", [{"id": theirs.entry}])
    tally.check("a foreign entry is not found by its id", answer.status < 500 and
                theirs.secret.encode() not in mine.export(), answer)
    answer = mine.client.get("/search?q=" + quote(theirs.secret))
    tally.check("foreign texts are not found", theirs.secret.encode() not in
                answer.body.replace(quote(theirs.secret).encode(), b""), answer)
    stream = mine.client.events("/events", f"{info['epoch']}.1")
    if stream.status == 200:
        events, _ = stream.read()
        tally.check("a foreign event id returns no foreign data",
                    theirs.secret not in json.dumps(events) and
                    theirs.label not in json.dumps(events), events)
    stream.close()


def main():
    tally = Tally()
    with Place() as place, Server(place, "--isolate") as server:
        users = [User(server, at) for at in range(BROWSERS)]
        spec = users[0].client.get("/openapi.json").json
        routes = [(method, path.removeprefix(API), what)
                  for path, methods in spec["paths"].items()
                  for method, what in methods.items()
                  if method in ("get", "post", "put", "patch", "delete") and "{" in path]
        tally.check("there are routes with names", len(routes) > 50, len(routes))
        asked = 0
        for mine in users:
            others = [user for user in users if user is not mine]
            before = {user.at: user.export() for user in others}
            for theirs in others:
                asked += one_pair(tally, mine, theirs, routes)
            for user in others:
                tally.check(f"all data of {user.at} is unchanged after {mine.at} has tried",
                            user.export() == before[user.at])
        tally.check("every pair and route was tried", asked > 30 * len(routes), asked)
        other_ways(tally, server, users)
        tally.equal("the server ends", server.stop(), 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
