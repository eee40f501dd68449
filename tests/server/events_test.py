#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Event streams, cut at any byte and resumed with Last-Event-ID, while the server and another
process write; replies in progress; and a history that is replaced."""
import json
import os
import subprocess
import sys

from client import RETAKE, Place, Server, Tally, chance, seeds


class Other:
    """Another process that writes to the same store: a running `retake apply`."""

    def __init__(self, place):
        self.process = subprocess.Popen([RETAKE, "--db", place.db, "apply"], env=place.env,
                                        cwd=place.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def op(self, op):
        self.process.stdin.write(json.dumps(op).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def some_op(roll, at):
    return roll.choice([
        {"op": "entry.append", "content": "é" * roll.randrange(200), "id": f"e{at}"},
        {"op": "entry.append", "content": f"text {at}", "role": "AI"},
        {"op": "setting.set", "key": "mine", "value": at},
        {"op": "entry.view", "all": True, "collapsed": at % 2 == 0},
        {"op": "take.branch", "at": "@", "name": f"take {at}"} if at % 5 == 0 else
        {"op": "undo"},
        {"op": "redo"}])


def the_cuts(tally, place, server):
    client, other = server.client(), Other(place)
    first = client.op({"op": "entry.append", "content": "the first"}).json["seq"]
    stream = client.events()
    hello = stream.until(lambda event, data: event == "hello")
    tally.check("hello comes first", len(hello) == 1 and hello[0][0] is not None and
                hello[0][2]["seq"] == first, hello)
    last_id = stream.last_id
    stream.close()
    seen, newest, at = [], first, 0
    for seed in seeds("CUTS", 60):
        roll = chance(seed, "cuts")
        stream = None
        if roll.random() < 0.5:  # listens during the changes, or connects later
            stream = client.events("/events", last_id)
        for _ in range(roll.randrange(6)):
            at += 1
            op = some_op(roll, at)
            result = client.op(op).json if roll.random() < 0.5 else other.op(op)
            newest = max(newest, result.get("seq", 0))
        stream = stream or client.events("/events", last_id)
        most = roll.choice([1, 7, 30, 200, 3000])
        limit = roll.randrange(1, 2500)
        got = list(seen[-1:]) or [first]
        while stream.bytes < limit and got[-1] < newest:
            events, is_over = stream.read(most)
            for name, event, data in events:
                if event == "op":
                    got.append(data["seq"])
                    seen.append(data["seq"])
                    tally.check("an operation has an id", name is not None and
                                name.endswith("." + str(data["seq"])), name, data)
            if is_over:
                break
        last_id = stream.last_id
        stream.close()
    stream = client.events("/events", last_id)
    while (seen or [first])[-1] < newest:
        events, is_over = stream.read()
        seen += [data["seq"] for _, event, data in events if event == "op"]
        if is_over:
            break
    stream.close()
    tally.equal("no gap and no repeat", seen, list(range(first + 1, newest + 1)))
    other.close()
    client.close()


def other_process_arrives(tally, place, server):
    """A client listens while only another process writes."""
    client, other = server.client(), Other(place)
    stream = client.events()
    stream.until(lambda event, data: event == "hello")
    for at in range(10):
        seq = other.op({"op": "entry.append", "content": f"from outside {at}",
                        "id": f"outside{at}"})["seq"]
        got = stream.until(lambda event, data: event == "op")
        data = got[-1][2]
        tally.check("what another process writes arrives", data["seq"] == seq and
                    data["op"] == "entry.append" and f"outside{at}" in json.dumps(data), data)
    stream.close()
    other.close()


def one_discussion(tally, server):
    client = server.client()
    client.op({"op": "discussion.new", "name": "a"})
    client.op({"op": "discussion.new", "name": "b"})
    stream = client.events("/discussions/a/events")
    stream.until(lambda event, data: event == "hello")
    for at in range(6):
        client.op({"op": "entry.append", "discussion": "ab"[at % 2], "content": f"n{at}",
                   "id": f"only{at}"})
    got = stream.until(lambda event, data: "only4" in json.dumps(data))
    text = json.dumps([data for _, _, data in got])
    tally.check("its own rows", all(f"only{at}" in text for at in (0, 2, 4)), text)
    tally.check("and no others'", not any(f"only{at}" in text for at in (1, 3)), text)
    stream.close()


def bad_ids(tally, server):
    client = server.client()
    for last_id in ("x", "1", "..", "zz.1", "1.x", "9" * 40 + ".1"):
        stream = client.events("/events", last_id)
        if stream.status == 200:  # an unknown history
            got = stream.until(lambda event, data: event in ("reset", "op", "hello"))
            tally.check("an id of another project is refused",
                        any(event in ("reset", "hello") for _, event, _ in got), last_id, got)
        else:
            tally.equal("a malformed id is refused", stream.status, 400, last_id)
        stream.close()


def another_history(tally, place, server):
    client, other = server.client(), Other(place)
    client.op({"op": "entry.append", "content": "a sesame-body here"})
    stream = client.events()
    stream.until(lambda event, data: event == "hello")
    client.op({"op": "purge", "text": "sesame-body"})
    got = stream.until(lambda event, data: event in ("op", "reset"))
    tally.equal("after purging a text, everything must be read again", got[-1][1], "reset", got)
    client.op({"op": "entry.append", "content": "before"})
    stream.until(lambda event, data: event == "op")
    old_id = stream.last_id
    for who in ("the server", "another process"):
        client.op({"op": "entry.append", "content": "another sesame-secret"})
        # a label is part of the log, which is rewritten when it is removed
        client.op({"op": "label.set", "entry": "@", "label": "the sesame-secret"})
        purge = {"op": "purge", "text": "sesame-secret"}
        done = client.op(purge).json if who == "the server" else other.op(purge)
        tally.check("it is purged", "erased" in done.get("note", ""), done)
        got = stream.until(lambda event, data: event == "reset")
        tally.check(f"{who} purges: listeners are notified", got[-1][1] == "reset" and
                    got[-1][0] is not None, got[-1:])
        tally.check("purged data is not sent again",
                    "sesame" not in json.dumps(got[-1]), got[-1])
        seq = client.op({"op": "entry.append", "content": f"after {who}"}).json["seq"]
        got = stream.until(lambda event, data: event == "op" and data["seq"] == seq)
        tally.equal("and it continues", got[-1][2]["seq"], seq)
        tally.check("in the new history", got[-1][0].split(".")[0] != old_id.split(".")[0],
                    got[-1][0], old_id)
    new_id = stream.last_id
    stream.close()
    stream = client.events("/events", old_id)
    got = stream.until(lambda event, data: event == "reset")
    tally.check("a client with the old history is notified", got[-1][1] == "reset", got)
    stream.close()
    stream = client.events("/events", new_id)
    seq = client.op({"op": "entry.append", "content": "more"}).json["seq"]
    got = stream.until(lambda event, data: event in ("reset", "op"))
    tally.equal("a client with the new history continues", [(event, data.get("seq")) for
                                                            _, event, data in got
                                                            if event != "hello"], [("op", seq)])
    stream.close()
    other.close()


def a_reply(tally, place, server):
    """A slow reply, read by streams that are cut all the time. If the reply ended before the
    next stream was open, its end was not observed: repeat."""
    with open(os.path.join(place.folder, "talk.jsonl"), "w", encoding="utf-8") as file:
        for at in range(60):
            file.write(json.dumps({"text": f"wörd{at} " * 20}) + "\n")
            file.write(json.dumps({"wait_ms": 10}) + "\n")
    client = server.client()
    for seed in range(1, 100):
        if read_in_cuts(tally, place, client, chance(seed, "reply")):
            return
    tally.check("a reply was followed to its end", False)


def read_in_cuts(tally, place, client, roll):
    """False: its end was not observed, or it did not arrive in several pieces."""
    stream = client.events()
    stream.until(lambda event, data: event == "hello")
    started = client.post("/discussions/main/runs", {
        "text": "tell me", "model": "builtin/play:" + os.path.join(place.folder, "talk.jsonl")})
    tally.check("a run is started", started.status in (200, 201, 202), started)
    if started.status >= 400:
        return True
    run = started.json["run"]
    text, ended, deltas, snapshots, cuts = "", None, 0, 0, 0
    while ended is None:
        limit = stream.bytes + (roll.randrange(100, 3000) if cuts < 8 else 1 << 30)
        is_over = False
        while stream.bytes < limit and ended is None and not is_over:
            events, is_over = stream.read(roll.choice([40, 400]))
            for name, event, data in events:
                if event.startswith("run."):
                    tally.check(f"{event} has no id", name is None, name)
                if event.startswith("run.") and data.get("run") == run:
                    if event == "run.snapshot":
                        snapshots += 1
                        text = data.get("text", "")
                    elif event == "run.delta" and "text" in data:
                        deltas += 1
                        tally.equal("a piece goes where the last one ended", data["offset"],
                                    len(text.encode()))
                        text += data["text"]
                    elif event == "run.ended":
                        ended = data
        if ended is None:
            cuts += 1
            stream.close()
            stream = client.events("/events", stream.last_id)
            if client.get("/runs/" + run).json["state"] != "running":
                stream.close()
                return False
    stream.close()
    if deltas == 0 or snapshots == 0:
        return False
    entry = ended.get("entry")
    tally.check("the run has ended well", ended.get("state") == "done" and entry, ended)
    shown = client.get(f"/discussions/main/entries/{entry}").json
    tally.equal("the text is the entry's", text, shown["content"])
    return True


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        the_cuts(tally, place, server)
        other_process_arrives(tally, place, server)
        a_reply(tally, place, server)
        one_discussion(tally, server)
        bad_ids(tally, server)
        another_history(tally, place, server)
        tally.equal("the server ends", server.stop(), 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
