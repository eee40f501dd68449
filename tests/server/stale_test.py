#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client reads; another client or process writes; then the first one writes."""
import sqlite3
import sys

from client import Place, Server, Tally, chance, quote, seeds

ENTRIES = 6
PAIRS_OF_ONE = 50  # pairs that share a discussion


def here(disc, path=""):
    return f"/discussions/{quote(disc)}{path}"


def entry_path(disc, entry, rest=""):
    return here(disc, f"/entries/{entry}{rest}")


def state(client, disc):
    answer = client.get(here(disc, "/export?format=canonical&all=true"))
    return answer.body


def size_of(place):
    """Number of rows and bodies in the log."""
    with sqlite3.connect(f"file:{place.db}?mode=ro", uri=True) as db:
        return tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                     for table in ("log", "body"))


def write_of(roll, disc, entry, text):
    """A random way to change an entry: method, path, body, and whether its text becomes this
    one."""
    return roll.choice([
        ("PUT", entry_path(disc, entry, "/content"), {"content": text}, True),
        ("PUT", entry_path(disc, entry, "/content"), {"content": text}, True),
        ("PATCH", entry_path(disc, entry), {"content": text}, True),
        ("PATCH", entry_path(disc, entry), {"content": text, "role": "Critic"}, True),
        ("POST", "/ops/entry.edit?discussion=" + quote(disc), {"entry": entry, "content": text},
         True),
        ("POST", "/batch?discussion=" + quote(disc),
         {"ops": [{"op": "entry.edit", "entry": entry, "content": text}]}, True),
        ("PUT", entry_path(disc, entry, "/role"), {"role": text[:8]}, False),
        ("POST", entry_path(disc, entry, "/mute"), {}, False),
        ("DELETE", entry_path(disc, entry), None, False),
        ("POST", entry_path(disc, entry, "/move"), {"before": ":1"}, False),
    ])


def send(client, write, headers=None):
    method, path, body, _ = write
    return client.request(method, "/retake/v1" + path, body, headers)


def texts(client, disc, entry):
    rows = client.get(entry_path(disc, entry, "/revisions")).json
    return [row.get("content") for row in rows] if isinstance(rows, list) else []


def after_refusal(tally, roll, client, disc, entry, mine, theirs, name):
    """The three resolutions of a conflict, each of which must work."""
    how = roll.choice(["overwrite", "take", "discard"])
    read = client.get(entry_path(disc, entry))
    tally.check(f"{name}: it can be read again", read.status == 200 and read.tag, read)
    if read.status != 200:
        return
    if how == "overwrite":
        done = client.put(entry_path(disc, entry, "/content"), {"content": mine},
                          {"If-Match": read.tag})
        tally.equal(f"{name}: overwritten", done.status, 200, done)
        tally.equal(f"{name}: with mine", client.get(entry_path(disc, entry)).json["content"],
                    mine)
        tally.check(f"{name}: and theirs is a revision", theirs in texts(client, disc, entry))
    elif how == "take":
        take = client.get(here(disc)).json["take"]["name"]
        done = client.request("PATCH", "/retake/v1" + entry_path(disc, entry),
                              {"content": mine, "mode": "take"}, {"If-Match": read.tag})
        if not tally.equal(f"{name}: kept as a take", done.status, 201, done):
            return
        other = done.json["take"]
        shown = client.get(entry_path(disc, done.json["entry"], "?take=" + quote(other))).json
        tally.equal(f"{name}: mine is in the new take", shown["content"], mine)
        shown = client.get(entry_path(disc, entry, "?take=" + quote(take))).json
        tally.equal(f"{name}: theirs is where it was", shown["content"], theirs)
        client.post(here(disc, f"/takes/{quote(take)}/switch"))
    else:
        tally.equal(f"{name}: theirs stays", read.json["content"], theirs)


def pair(tally, seed, place, one, other, disc):
    roll = chance(seed, "stale")
    name = f"seed {seed}"
    window = one.get(here(disc, "/entries")).json["entries"]
    while len(window) < ENTRIES:
        one.post(here(disc, "/entries"), {"content": f"text {seed} {len(window)}"})
        window = one.get(here(disc, "/entries")).json["entries"]
    entry = roll.choice(window)["id"]
    read = one.get(entry_path(disc, entry))
    whole = one.get(here(disc, "/entries"))
    mine, theirs = f"mine {seed}", f"theirs {seed}"

    meanwhile = roll.choice(["the same", "the same", "the same", "another", "nothing"])
    target = entry if meanwhile == "the same" else roll.choice(
        [item["id"] for item in window if item["id"] != entry])
    if meanwhile != "nothing":
        if roll.random() < 0.05:  # by another process
            done = place.apply([{"op": "entry.edit", "discussion": disc, "entry": target,
                                 "content": theirs}])
            tally.check(f"{name}: another process writes", "seq" in done[0], done)
        else:
            done = other.put(entry_path(disc, target, "/content"), {"content": theirs})
            tally.equal(f"{name}: the other writes", done.status, 200, done)

    write = write_of(roll, disc, entry, mine)
    condition = roll.choice(["entry", "entry", "discussion", "both", "none"])
    tags = {"entry": read.tag, "discussion": whole.tag,
            "both": f"{whole.tag}, {read.tag}", "none": None}[condition]
    holds = {"nothing": True, "the same": False,
             "another": condition in ("entry", "both")}[meanwhile] or condition == "none"
    before = state(one, disc)
    rows = size_of(place) if roll.random() < 0.1 else None
    done = send(one, write, {"If-Match": tags} if tags else None)
    if rows is not None:
        now = size_of(place)
        tally.check(f"{name}: nothing becomes less", now[0] >= rows[0] and now[1] >= rows[1],
                    rows, now)
    if holds:
        tally.check(f"{name}: a current change is done", done.status in (200, 201), write, tags, done)
        if condition == "none" and meanwhile == "the same" and write[3]:
            kept = texts(one, disc, entry)
            tally.check(f"{name}: both texts are kept", mine in kept and theirs in kept, kept)
        return
    tally.equal(f"{name}: a stale change is refused", done.status, 412, write, condition, meanwhile,
                done)
    tally.check(f"{name}: as a problem", done.json is not None and
                done.json.get("code") == "conflict" and
                done.headers.get("content-type") == "application/problem+json", done)
    tally.check(f"{name}: and changes nothing", state(one, disc) == before, write)
    if meanwhile == "the same":
        after_refusal(tally, roll, one, disc, entry, mine, theirs, name)


def other_tags(tally, one, other):
    """Tags of the project, of deleted objects, and malformed tags."""
    settings = one.get("/settings")
    other.put("/settings/model", {"value": "builtin/echo"})
    done = one.put("/settings/model", {"value": "builtin/summary"}, {"If-Match": settings.tag})
    tally.equal("a stale setting", done.status, 412, done)
    tally.equal("stays", one.get("/settings").json["model"], "builtin/echo")
    settings = one.get("/settings")
    done = one.put("/settings/model", {"value": "builtin/summary"}, {"If-Match": settings.tag})
    tally.equal("with the new tag it is set", done.status, 200, done)
    made = one.post("/discussions/main/entries", {"content": "x"})
    path = "/discussions/main/entries/" + made.json["entry"]
    done = one.put(path + "/content", {"content": "y"}, {"If-Match": "*"})
    tally.equal("a star is valid while the object exists", done.status, 200, done)
    done = one.put(path + "/content", {"content": "z"}, {"If-Match": made.tag})
    tally.equal("the tag of its making does not", done.status, 412, done)
    for bad in ("x", '"', '"a" "b"', "W/", ","):
        done = one.put(path + "/content", {"content": "z"}, {"If-Match": bad})
        tally.check("a malformed tag is refused", done.status in (400, 412), bad, done)
    weak = one.get(path).tag
    done = one.put(path + "/content", {"content": "z"}, {"If-Match": "W/" + weak})
    tally.equal("a weak tag is never valid", done.status, 412, done)
    tally.equal("and its text stays", one.get(path).json["content"], "y")
    old = one.get("/discussions/main/entries")
    one.post("/undo")
    one.post("/redo")
    done = one.post("/discussions/main/entries", {"content": "w"}, {"If-Match": old.tag})
    tally.equal("undone and redone is the same state", done.status, 201, done)


def seen(tally, one, other):
    """Equal tags mean equal states: a change of anything that was read gives another tag, and
    the old one is refused."""
    entry = one.post("/discussions/main/entries", {"content": "seen"}).json["entry"]
    changes = [
        ("a setting of the project", "/discussions/main/settings",
         lambda: other.put("/settings/model", {"value": "builtin/echo"}),
         ("PUT", "/discussions/main/settings/model", {"value": "builtin/summary"})),
        ("a role", "/discussions/main/settings",
         lambda: other.op({"op": "role.add", "role": "Judge"}),
         ("PUT", "/discussions/main/settings/model", {"value": "builtin/summary"})),
        ("the name of the discussion", "/discussions/d1",
         lambda: other.request("PATCH", "/retake/v1/discussions/d1", {"name": "elsewhere"}),
         ("PATCH", "/discussions/d1", {"name": "third"})),
        ("an entry, for who saw the settings", "/settings",
         lambda: other.put(f"/discussions/d1/entries/{entry}/content", {"content": "other"}),
         ("PUT", f"/discussions/d1/entries/{entry}/content", {"content": "lost"})),
        ("a label", f"/discussions/d1/entries/{entry}",
         lambda: other.op({"op": "label.set", "entry": entry, "label": "named"}),
         ("PATCH", f"/discussions/d1/entries/{entry}", {"role": "AI"})),
        ("a purge", f"/discussions/d1/entries/{entry}",
         lambda: other.op({"op": "purge", "entry": entry}),
         ("PATCH", f"/discussions/d1/entries/{entry}", {"role": "AI"})),
    ]
    for name, path, change, (method, late, body) in changes:
        read = one.get(path)
        done = change()
        tally.check(f"{name}: it is changed", done.status in (200, 201), done)
        got = one.request(method, "/retake/v1" + late, body, {"If-Match": read.tag})
        tally.equal(f"{name}: the old tag is no longer valid", got.status, 412, got)
    tally.check("the list of discussions has no tag", one.get("/discussions").tag is None)
    one.request("PATCH", "/retake/v1/discussions/d1", {"name": "main"})


def racing(tally, server):
    """Eight clients increment a counter in one entry, each with the tag it has read: no
    increment is lost."""
    import threading
    one = server.client()
    entry = one.post("/discussions/main/entries", {"content": "0"}).json["entry"]
    path = "/discussions/main/entries/" + entry
    refused = []

    def count(times):
        client = server.client()
        while times > 0:
            read = client.get(path)
            done = client.put(path + "/content", {"content": str(int(read.json["content"]) + 1)},
                              {"If-Match": read.tag})
            if done.status == 200:
                times -= 1
            else:
                refused.append(done.status)
        client.close()

    threads = [threading.Thread(target=count, args=(12,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.equal("every count is there", one.get(path).json["content"], "96")
    tally.check("conflicts were reported", set(refused) <= {412}, set(refused))


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        one, other = server.client(), server.client()
        one.post("/discussions/main/entries", {"content": "the first"})
        start = size_of(place)
        other_tags(tally, one, other)
        seen(tally, one, other)
        racing(tally, server)
        disc = None
        for at, seed in enumerate(seeds("SCRIPTS", 300)):
            if at % PAIRS_OF_ONE == 0:
                disc = f"d{at}"
                made = one.post("/discussions", {"name": disc})
                tally.equal("a discussion is made", made.status, 201, made)
            pair(tally, seed, place, one, other, disc)
            if at % 20 == 0:
                now = size_of(place)
                tally.check("rows and bodies never fall", now[0] >= start[0] and
                            now[1] >= start[1], start, now)
                start = now
        tally.equal("the server ends", server.stop(), 0)
        tally.equal("the store is whole", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
