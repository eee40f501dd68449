#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""retake user remove --purge, while two servers have the projects open: the user's own projects are deleted
everywhere and their texts leave the store, shared ones are kept and counted, and nothing that belonged to
the user works any more. DB is the address of another store."""
import glob
import os
import sys
import time

from accounts_test import bearer, retake, wait_for
from client import Client, Place, Server, Tally

ENTRIES = "/discussions/main/entries"
SECRET = "mulberry-7731-ocean"
MODEL = "builtin/echo"


def set_up(tally, place, server):
    """The clients of ann and bob in ann's own project and in the shared one."""
    retake(place, "user", "new", "ann", "--identity", "proxy:ann@example.org")
    retake(place, "user", "new", "bob")
    for project, user, role in (("mine", "ann", "owner"), ("mine", "bob", "editor"), ("shared", "ann", "owner"),
                                ("shared", "bob", "owner"), ("visited", "ann", "editor"), ("visited", "bob", "owner")):
        place.run("add", "a beginning", project=project)
        retake(place, "member", user, role, project=project)
    retake(place, "quota", "user", "ann", "requests=1000")
    retake(place, "quota", "project", "mine", "entries=1000")
    tokens = {user: retake(place, "token", "new", user, "--scope", "admin")["token"] for user in ("ann", "bob")}
    clients = {(user, project): bearer(server, tokens[user], project) for user in tokens for project in ("mine", "shared", "visited")}
    ann = clients["ann", "mine"]
    tally.equal("ann writes", [clients["ann", project].post(ENTRIES, {"content": SECRET + " " + project}).status
                               for project in ("mine", "shared", "shared", "visited")], [201] * 4)
    tally.equal("bob writes", [clients["bob", project].post(ENTRIES, {"content": "by bob"}).status
                               for project in ("mine", "shared")], [201] * 2)
    run = ann.post("/discussions/main/runs", {"text": "to a model: " + SECRET, "model": MODEL})
    tally.equal("a run", run.status, 202, run)
    tally.equal("links", [clients["ann", project].post("/links", {}).status for project in ("mine", "shared")], [201] * 2)
    tally.equal("one of bob", clients["bob", "shared"].post("/links", {}).status, 201)
    retake(place, "invite", "new", "mine=reader", "shared=reader", "--at", "https://a.example")
    return tokens, clients


def requests(place):
    """The request logs on this machine that contain the text."""
    found = []
    for path in glob.glob(place.folder + "/state/retake/comms/*.jsonl"):
        with open(path, "rb") as file:
            if SECRET.encode() in file.read():
                found.append(path)
    return found


def check_report(tally, name, report):
    tally.equal(name + ": deleted", [(each["project"], each["other_members"], each["entries"] >= 2) for each in report["deleted"]],
                [("mine", 1, True)])
    tally.equal(name + ": kept", sorted((each["project"], each["steps"], each["entries"], each["reason"]) for each in report["kept"]),
                [("shared", 2, 2, "it has other owners"), ("visited", 1, 1, "the user is not an owner")])
    tally.equal(name + ": accounts", {key: report[key] for key in ("user", "memberships", "tokens", "links", "identity")},
                {"user": "ann", "memberships": 3, "tokens": 1, "links": 2, "identity": True})


def check_store(tally, place):
    """No byte of the deleted project is left in a file; the database is asked with SQL by its own tests."""
    if "://" in place.db:
        return
    for path in glob.glob(place.db + "*"):
        with open(path, "rb") as file:
            tally.check("no text in " + os.path.basename(path), SECRET.encode() + b" mine" not in file.read())


def purge(tally, place, a, b, tokens, clients):
    others = bearer(b, tokens["bob"], "mine")
    machine = Client(b, {"Authorization": "Bearer " + b.token, "Retake-Project": "mine"})
    tally.equal("open on both servers", [others.get(ENTRIES).status, machine.get(ENTRIES).status], [200] * 2)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(each["state"] == "running" for each in clients["ann", "mine"].get("/runs").json):
        time.sleep(0.05)
    tally.equal("the request log", len(requests(place)), 1)
    stream = others.events()
    dry = retake(place, "user", "remove", "ann", "--purge", "--dry-run")
    tally.equal("a dry run", dry["dry_run"], True)
    check_report(tally, "a dry run", dry)
    tally.equal("it changes nothing", [clients["ann", "mine"].get(ENTRIES).status, others.get(ENTRIES).status], [200] * 2)
    done = place.run("user", "remove", "ann", "--purge")
    tally.check("without --yes", done.returncode == 2 and b"--yes" in done.stderr, done)
    report = retake(place, "user", "remove", "ann", "--purge", "--yes")
    check_report(tally, "the report", report)
    tally.check("requests", report["requests"] > 0 and not requests(place), report)

    # The server that has the project open refuses it, whoever asks.
    machine_write = machine.post(ENTRIES, {"content": "late"})
    tally.equal("a write on another server", machine_write.status, 404, machine_write)
    tally.check("a read on another server", wait_for(404, machine, ENTRIES) is not None)
    tally.check("a member", wait_for(404, others, ENTRIES) is not None)
    tally.check("on the first server", wait_for(404, clients["bob", "mine"], ENTRIES) is not None)
    tally.check("the user", wait_for(401, clients["ann", "shared"], ENTRIES) is not None)
    try:
        stream.until(lambda *_: False)
    except OSError:
        tally.check("the events end", False)
    stream.close()
    tally.equal("the others' project", clients["bob", "shared"].get(ENTRIES).status, 200)
    tally.equal("its entries", len(clients["bob", "shared"].get(ENTRIES).json["entries"]), 5)
    return machine


def after(tally, place, machine):
    tally.equal("accounts", [[each["name"] for each in retake(place, "user")], sorted({each["project"] for each in retake(place, "member")}),
                             retake(place, "token")[0]["user"], [each.get("user") or each.get("project") for each in retake(place, "quota")]],
                [["bob"], ["shared", "visited"], "bob", []])
    invitations = retake(place, "invite")
    tally.equal("the invitation of another account", [sorted(each["projects"]) if isinstance(each.get("projects"), dict) else str(each)
                                                      for each in invitations][0].count("mine"), 0, invitations)
    log = [each for each in retake(place, "audit") if each["what"] == "user.purge"]
    tally.check("the audit log", len(log) == 1 and "projects deleted: 1, kept: 2 (entries of the user: 3)" in log[0]["on"], log)
    tally.equal("no project", place.run("show", project="mine").returncode, 3)
    tally.equal("a second time", place.run("user", "remove", "ann", "--purge", "--yes").returncode, 3)
    # A project with this name is a new one, without members, on servers that had the old one open.
    tally.equal("again", place.run("add", "fresh", project="mine").returncode, 0)
    tally.check("on another server", wait_for(200, machine, ENTRIES) is not None)
    tally.equal("only the new entry", [each["content"] for each in machine.get(ENTRIES).json["entries"]], ["fresh"])
    tally.equal("it can be written to", machine.post(ENTRIES, {"content": "next"}).status, 201)
    tally.equal("sound", place.run("fsck").returncode, 0)


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        place.run("add", "hello")
        with Server(place, "--accounts", "--no-socket") as a, Server(place, "--accounts", "--no-socket") as b:
            tokens, clients = set_up(tally, place, a)
            machine = purge(tally, place, a, b, tokens, clients)
            after(tally, place, machine)
        check_store(tally, place)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
