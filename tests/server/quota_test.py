#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits of users, teams and projects on two servers of one store: what would exceed one is refused with
the limit, the use and the next step; what adds nothing stays possible. DB is the address of another store."""
import os
import sys
import time

from accounts_test import bearer, retake
from client import Client, Place, Server, Tally, quote

FRESH_S = 0.4  # until servers use new limits
WRITTEN_S = 3.5  # until a server uses what another one has counted
BINARY = {"Content-Type": "application/octet-stream"}
MODEL = "builtin/echo"
ENTRIES = "/discussions/main/entries"


def limits(place, *args):
    retake(place, "quota", *args)
    time.sleep(FRESH_S)


def refused(tally, name, answer, status, *words):
    """A refusal names the limit and the use."""
    tally.equal(name, [answer.status, (answer.json or {}).get("code")], [status, "quota_exceeded"], answer)
    for word in words:
        tally.check(f"{name}: {word}", word in answer.json.get("detail", ""), answer)


def use_of(place, **subject):
    for each in retake(place, "quota"):
        if all(each.get(key) == value for key, value in subject.items()):
            return each.get("use")
    return None


def entries(tally, place, ann, bob):
    """A limit of a user: of this user, until it is raised; the command line is not limited."""
    limits(place, "user", "ann", "entries=2")
    before = ann.post(ENTRIES, {"content": "one"}).status
    # The entries that ann had added before the limit count as well.
    answer = ann.post(ENTRIES, {"content": "two"})
    tally.equal("up to the limit", [before, answer.status], [201, 201], answer)
    answer = ann.post(ENTRIES, {"content": "three"})
    refused(tally, "beyond it", answer, 403, "the user ann", "2 of at most 2 entries", "retake quota user ann entries=NUMBER")
    tally.equal("nothing was added", len(ann.get(ENTRIES).json["entries"]), 3)
    refused(tally, "a batch", ann.post("/batch", {"ops": [{"op": "entry.append", "content": "x"}]}), 403, "entries")
    refused(tally, "by name", ann.post("/ops/entry.append", {"content": "x"}), 403, "entries")
    refused(tally, "an import", ann.request("POST", "/retake/v1/import?format=markdown", b"# a\n\n## User\n\nx\n", BINARY), 403, "entries")
    refused(tally, "a run", ann.post("/discussions/main/runs", {"text": "x", "model": MODEL}), 403, "entries")
    tally.equal("another user", bob.post(ENTRIES, {"content": "x"}).status, 201)
    tally.equal("an edit adds no entry", ann.put(ENTRIES + "/:2/content", {"content": "changed"}).status, 200)
    tally.equal("reading, undo, deletion, export, purge",
                [ann.get(ENTRIES).status, ann.post("/discussions/main/undo", {}).status,
                 ann.post("/discussions/main/redo", {}).status,
                 ann.request("DELETE", "/retake/v1" + ENTRIES + "/:2").status, ann.get("/export").status,
                 ann.post("/purge", {"text": "changed"}).status], [200] * 6)
    tally.equal("the command line", place.run("add", "by hand", project="work").returncode, 0)
    limits(place, "user", "ann", "entries=3")
    tally.equal("a higher limit", ann.post(ENTRIES, {"content": "three"}).status, 201)
    limits(place, "user", "ann", "entries=none")
    tally.equal("no limit", [ann.post(ENTRIES, {"content": "x"}).status for _ in range(2)], [201, 201])
    tally.equal("none is listed", retake(place, "quota"), [])


def bytes_of(tally, place, ann):
    """Texts, files and imports; also those of a run."""
    time.sleep(WRITTEN_S)
    limits(place, "project", "work", "bytes=2K")
    used = use_of(place, project="work")["bytes"]
    tally.check("what was stored before counts", 100 < used < 2000, used)
    room = 2000 - used
    refused(tally, "a text", ann.post(ENTRIES, {"content": "x" * room}), 403, "the project work", "at most 2000 bytes")
    refused(tally, "an edit", ann.put(ENTRIES + "/:1/content", {"content": "x" * room}), 403, "bytes")
    refused(tally, "a file", ann.request("POST", "/retake/v1/attachments?name=a", b"x" * (room + 1), BINARY), 403, "bytes")
    refused(tally, "an import", ann.request("POST", "/retake/v1/import?format=markdown", b"# a\n\n## User\n\n" + b"x" * room, BINARY), 403, "bytes")
    refused(tally, "the hook API", ann.request("PUT", "/api/state/project_system_prompt", {"value": "x" * room}), 403, "bytes")
    tally.equal("a smaller text", ann.post(ENTRIES, {"content": "x" * (room // 2)}).status, 201)
    tally.equal("a dry run", ann.request("POST", "/retake/v1/import?format=markdown&dry_run=1", b"# a\n\n## User\n\n" + b"x" * room, BINARY).status, 200)
    limits(place, "project", "work", "bytes=0")
    refused(tally, "below what is stored", ann.post(ENTRIES, {"content": ""}), 403, "bytes")
    tally.equal("undo is possible", ann.post("/discussions/main/undo", {}).status, 200)
    limits(place, "project", "work", "bytes=none")


def end_run(client, run):
    for _ in range(200):
        found = client.get("/runs/" + run["run"]).json
        if found["state"] != "running":
            return found
        time.sleep(0.02)
    return None


def requests(tally, place, ann, server):
    """Per day; a refusal says when to try again."""
    limits(place, "user", "ann", "requests=2")
    first = ann.post("/discussions/main/runs", {"text": "hello", "model": MODEL})
    tally.equal("a run", first.status, 202, first)
    end_run(ann, first.json)
    answer = ann.post("/discussions/main/runs", {"text": "two", "models": [MODEL, "builtin/upper"]})
    refused(tally, "two at once", answer, 429, "1 of at most 2 model requests today", "00:00 UTC")
    tally.check("when to retry", 0 < int(answer.headers["retry-after"]) <= 86400, answer.headers)
    second = ann.post("/discussions/main/runs", {"how": "again", "model": MODEL})
    tally.equal("another reply", second.status, 202, second)
    end_run(ann, second.json)
    refused(tally, "a third", ann.post("/discussions/main/runs", {"text": "x", "model": MODEL}), 429, "requests")
    tally.equal("an entry is not a request", ann.post(ENTRIES, {"content": "x"}).status, 201)
    limits(place, "user", "ann", "requests=none", "tokens=1")
    answer = ann.post("/discussions/main/runs", {"text": "x", "model": MODEL})
    refused(tally, "tokens", answer, 429, "of at most 1 tokens today")
    limits(place, "user", "ann", "tokens=1000000")
    tally.equal("more tokens", ann.post("/discussions/main/runs", {"text": "x", "model": MODEL}).status, 202)
    limits(place, "user", "ann", "tokens=none")


def teams_and_users(tally, place, ann, bob):
    """A team shares its limit; each user without a limit of the kind has that of all users."""
    retake(place, "team", "add", "crew", "ann")
    retake(place, "team", "add", "crew", "bob")
    limits(place, "team", "crew", "entries=2")
    tally.equal("a team", [ann.post(ENTRIES, {"content": "x"}).status, bob.post(ENTRIES, {"content": "x"}).status], [201, 201])
    for name, client in (("ann", ann), ("bob", bob)):
        refused(tally, "a team's limit counts for " + name, client.post(ENTRIES, {"content": "x"}), 403, "the team crew", "2 of at most 2")
    limits(place, "team", "crew", "entries=none")
    limits(place, "users", "projects=2")  # both own work
    made = [ann.post("/projects", {"name": name}) for name in ("ann/1", "ann/2")]
    tally.equal("a project", made[0].status, 201, made[0])
    refused(tally, "a second project", made[1], 403, "the user ann", "owns 2 of at most 2 projects")
    limits(place, "user", "ann", "projects=3")
    tally.equal("an own limit", [ann.post("/projects", {"name": f"ann/{i}"}).status for i in (2, 3)], [201, 403])
    tally.equal("of others", [bob.post("/projects", {"name": f"bob/{i}"}).status for i in (1, 2)], [201, 403])
    limits(place, "user", "ann", "projects=none")
    limits(place, "users", "projects=none")


def several(tally, place, first, second):
    """What one server has counted counts on the other, and after a restart."""
    time.sleep(WRITTEN_S)
    limits(place, "user", "cat", "entries=6")
    a, b = first, second
    tally.equal("on the first", [a.post(ENTRIES, {"content": "x"}).status for _ in range(4)], [201] * 4)
    time.sleep(WRITTEN_S)
    got = [b.post(ENTRIES, {"content": "x"}).status for _ in range(4)]
    tally.equal("on the second", got, [201, 201, 403, 403])
    time.sleep(WRITTEN_S)
    tally.equal("and on the first", a.post(ENTRIES, {"content": "x"}).status, 403)
    tally.equal("the sum", use_of(place, user="cat"), {"entries": 6})


def over_http(tally, admin, ann):
    tally.equal("an administrator", [admin.put("/quotas/user/ann", {"entries": 10**6, "tokens": 5}).status,
                                     admin.put("/quotas/users", {"bytes": 10**9}).status,
                                     admin.put("/quotas/project/work", {"bytes": 10**9}).status,
                                     admin.put("/quotas/team/crew", {"requests": 7}).status], [200] * 4)
    listed = admin.get("/quotas").json
    tally.equal("the list", [each["limits"] for each in listed if each.get("user") != "cat"],
                [{"bytes": 10**9}, {"requests": 7}, {"entries": 10**6, "tokens": 5}, {"bytes": 10**9}], listed)
    tally.equal("not valid", [admin.put("/quotas/user/ann", body).status for body in ({}, {"bytes": -1}, {"bytes": "1K"}, {"apples": 1})], [400] * 4)
    tally.equal("not there", [admin.put("/quotas/user/nobody", {"bytes": 1}).status, admin.put("/quotas/disk/x", {"bytes": 1}).status], [404, 400])
    tally.equal("others", [ann.get("/quotas").status, ann.put("/quotas/user/ann", {"bytes": None}).status], [403, 403])
    own = {next(key for key in ("user", "team", "project", "each_user") if key in each): each["limits"] for each in ann.get("/account").json["quotas"]}
    tally.equal("users see their own", own, {"user": {"entries": 10**6, "tokens": 5}, "team": {"requests": 7}, "project": {"bytes": 10**9}, "each_user": {"bytes": 10**9}})
    each = next(each for each in ann.get("/account").json["quotas"] if "each_user" in each)
    tally.check("with their use of what each may use", each["use"]["bytes"] > 0, each)
    tally.equal("removed", admin.put("/quotas/user/ann", {"entries": None, "tokens": None}).status, 200)
    rows = [row["on"] for row in admin.get("/audit").json if row["what"] == "quota.set"]
    tally.check("the audit log", "user ann entries=1000000 tokens=5" in rows and "users projects=2" in rows, rows)
    notes = [row for row in admin.get("/audit").json if row["what"] == "refused.quota"]
    tally.check("refusals are in it", any(row["by"] == "ann" and "at most 2 entries" in row["on"] for row in notes), notes)


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        place.run("add", "first", project="work")
        for name in ("ann", "bob", "cat"):
            retake(place, "user", "new", name)
            retake(place, "member", name, "owner", project="work")
        retake(place, "user", "new", "boss", "--admin")
        tokens = {name: retake(place, "token", "new", name, "--scope", "admin")["token"] for name in ("ann", "bob", "cat", "boss")}
        tally.equal("wrong words", [place.run("quota", *words).returncode for words in (["user", "ann"], ["user", "ann", "bytes=x"],
                    ["user", "ann", "apples=1"], ["user", "nobody", "bytes=1"], ["disk", "x", "bytes=1"], ["project", "work", "projects=1"])],
                    [2, 2, 2, 3, 2, 2])
        with Server(place, "--accounts", "--no-socket") as a, Server(place, "--accounts", "--no-socket") as b:
            ann, bob = bearer(a, tokens["ann"], "work"), bearer(a, tokens["bob"], "work")
            entries(tally, place, ann, bob)
            bytes_of(tally, place, ann)
            requests(tally, place, ann, a)
            teams_and_users(tally, place, ann, bob)
            several(tally, place, bearer(a, tokens["cat"], "work"), bearer(b, tokens["cat"], "work"))
            over_http(tally, bearer(a, tokens["boss"], "work"), ann)
        tally.check("what was counted last is kept", use_of(place, user="cat")["entries"] == 6)
        retake(place, "user", "remove", "cat")
        tally.equal("a removed user has no limit", use_of(place, user="cat"), None)
        tally.equal("sound", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
