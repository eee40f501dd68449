#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of one server through another server of the same store: visible while they arrive, stopped,
followed to their end, and continued after their server was killed. DB is the address of another
store."""
import http.client
import json
import os
import socket
import sys
import threading
import time

from client import Place, Server, Tally

SLOW = float(os.environ.get("SLOW", "4"))  # times the limits of an idle machine


def wait(ready, limit_s=20):
    """The first true result within the time; None: there was none."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        got = ready()
        if got:
            return got
        time.sleep(0.05)
    return None


class Follower:
    """The events of a stream, collected in the background: (time, kind, data)."""

    def __init__(self, client, path="/events"):
        self.events = []
        self.stream = client.events(path)
        self.stream.until(lambda kind, _: kind == "hello")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            self.stream.until(lambda kind, data: self.events.append((time.monotonic(), kind, data)))
        except (OSError, ValueError, http.client.HTTPException):
            pass  # closed

    def close(self):
        self.stream.got.fp.raw._sock.shutdown(socket.SHUT_RDWR)  # ends the read of the thread
        self.thread.join()
        self.stream.close()

    def of(self, run, *kinds):
        return [(at, kind, data) for at, kind, data in list(self.events)
                if data.get("run") == run and kind in kinds]


def play(place, name, *lines):
    path = os.path.join(place.folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return "builtin/play:" + path


def start(client, **body):
    return client.post("/discussions/main/runs", body).json["run"]


def shown(client, run):
    return client.get("/runs/" + run).json or {}


def visible(tally, a, b, model):
    """Started on a, followed and stopped through b."""
    events, here = Follower(b), Follower(b, "/discussions/main/events")
    run = start(a, text="On what?", model=model)
    tally.equal("at once on the other one", (shown(b, run).get("state"), shown(b, run).get("how")), ("running", "ask"))
    tally.check("with its text", wait(lambda: shown(b, run).get("text") == "It depends"), shown(b, run))
    tally.equal("listed on both", [[r["run"] for r in c.get("/runs").json].count(run) for c in (a, b)], [1, 1])
    for each in (events, here):
        got = wait(lambda each=each: [e for e in each.of(run, "run.snapshot") if e[2].get("text") == "It depends"])
        tally.check("its text in the events of the other one", got, each.events)
    tally.equal("nothing else about it", [k for _, k, d in events.events if k.startswith("flight")], [])
    begin = time.monotonic()
    answer = b.request("DELETE", "/retake/v1/runs/" + run)
    tally.equal("stopped through the other one", (answer.status, answer.json["run"]), (200, run))
    tally.check("it ends", wait(lambda: shown(a, run)["state"] == "stopped"), shown(a, run))
    tally.check("soon", time.monotonic() - begin < 0.75 * SLOW, time.monotonic() - begin)
    ended = wait(lambda: events.of(run, "run.ended"))
    tally.check("its end in the events of the other one", ended and len(ended) == 1 and ended[0][2]["state"] == "stopped" and "text" not in ended[0][2], ended)
    rows = [at for at, kind, data in events.events if kind == "op" and data["seq"] == ended[0][2]["seq"]]
    tally.check("after its row", rows and rows[0] <= ended[0][0])
    tally.check("and later on request", wait(lambda: shown(b, run) == shown(a, run)), shown(a, run), shown(b, run))
    entry = b.get("/discussions/main/entries/" + shown(b, run)["entry"]).json
    tally.equal("the part is kept", (entry["content"], entry["partial"]), ("It depends", True))
    tally.equal("a second time is no error", b.request("DELETE", "/retake/v1/runs/" + run).status, 200)
    for each in (events, here):
        each.close()


def short(tally, a, b):
    """Runs that end before the first look."""
    events = Follower(b)
    runs = [start(a, text=f"Question {n}", model="builtin/echo") for n in range(3)]
    for run in runs:
        tally.check("the end of a short run", wait(lambda run=run: events.of(run, "run.ended")), events.events[-5:])
        tally.equal("with its text", (shown(b, run)["state"], shown(b, run)["text"]), ("done", shown(a, run)["text"]))
    events.close()
    tally.equal("no other runs", b.get("/runs/r1-000000").status, 404)
    tally.equal("nor stopped", b.request("DELETE", "/retake/v1/runs/r1-000000").status, 404)
    tally.equal("nor with long names", b.get("/runs/" + "r" * 100).status, 404)


def purged(tally, a, b, model):
    """A purge during a run: its server still has texts in memory, and writes none of them to the store."""
    a.post("/ops/entry.append", {"discussion": "main", "role": "User", "content": "open sesame now"})
    run = start(a, text="Still there?", model=model)
    tally.check("it arrives", wait(lambda: shown(b, run).get("text") == "It depends"))
    answer = b.request("POST", "/retake/v1/ops/purge", {"text": "open sesame"})
    tally.equal("purged through the other one", (answer.status, answer.json.get("unchanged")), (200, None))
    b.request("DELETE", "/retake/v1/runs/" + run)
    tally.check("it ends", wait(lambda: shown(b, run)["state"] == "stopped"), shown(b, run))
    tally.equal("without texts", [name for name in ("text", "thinking", "note") if name in shown(b, run)], [])


def summary(tally, a, b, model):
    """It has no reply in flight."""
    run = start(a, how="compact", keep=1, model=model)
    tally.equal("a summary", (shown(b, run).get("state"), shown(b, run).get("how")), ("running", "compact"))
    tally.equal("stopped", b.request("DELETE", "/retake/v1/runs/" + run).status, 200)
    tally.check("it ends", wait(lambda: shown(b, run)["state"] == "stopped"), shown(b, run))


def group(tally, a, b, models):
    """Several models: one of them is stopped through the other server."""
    runs = [r["run"] for r in a.post("/discussions/main/runs", {"text": "Both?", "models": models}).json["runs"]]
    tally.equal("several", [shown(b, run).get("group") for run in runs], [runs[0]] * 2)
    b.request("DELETE", "/retake/v1/runs/" + runs[1])
    tally.check("one ends", wait(lambda: shown(b, runs[1])["state"] == "stopped"))
    tally.equal("the other goes on", shown(b, runs[0])["state"], "running")
    b.request("DELETE", "/retake/v1/runs/" + runs[0])
    tally.check("then it ends, too", wait(lambda: shown(b, runs[0])["state"] == "stopped"))


def killed(tally, server, b, model):
    """The server dies while a reply arrives; it is continued through the other one."""
    events, a = Follower(b), server.client()
    run = start(a, text="And now?", model=model)
    tally.check("it arrives", wait(lambda: shown(b, run).get("text") == "It depends"))
    server.process.kill()
    server.process.wait()
    got = wait(lambda: shown(b, run)["state"] == "failed" and shown(b, run))
    tally.check("it has failed", got and "can be continued" in got["problem"]["detail"] and "ended" in got, got)
    last = b.get("/discussions/main/entries/@").json
    tally.equal("what arrived is kept", (last["content"], last.get("partial")), ("It depends", True))
    tally.check("its end in the events", wait(lambda: events.of(run, "run.ended")), events.events)
    events.close()
    again = start(b, how="continue", model=model.replace("slow", "rest"))
    tally.check("continued", wait(lambda: shown(b, again)["state"] == "done"), shown(b, again))
    tally.equal("as one reply", b.get("/discussions/main/entries/@").json["content"], "It depends on everything.")


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        token_file = os.path.join(place.folder, "shared-token")
        with open(token_file, "w", encoding="ascii") as file:
            file.write("5a" * 32 + "\n")
        os.chmod(token_file, 0o600)
        flags = ("--token-file", token_file, "--no-socket")
        slow = play(place, "slow.jsonl", {"text": "It depends"}, {"wait_ms": 60000}, {"text": " on everything."})
        other = play(place, "slow-other.jsonl", {"text": "It depends"}, {"wait_ms": 60000})
        play(place, "rest.jsonl", {"text": " on everything."})
        place.run("add", "first")
        with Server(place, *flags) as one, Server(place, *flags) as two:
            a, b = one.client(), two.client()
            visible(tally, a, b, slow)
            short(tally, a, b)
            purged(tally, a, b, slow)
            summary(tally, a, b, play(place, "slow-summary.jsonl", {"wait_ms": 60000}, {"text": "x"}))
            group(tally, a, b, [slow, other])
            done = start(a, text="Last one", model="builtin/echo")
            tally.check("done", wait(lambda: shown(a, done)["state"] == "done"))
            killed(tally, one, b, slow)
            one.process.stdout.close()
            one.process = None
            with Server(place, *flags) as three:
                tally.check("a new server shows earlier runs", wait(lambda: shown(three.client(), done).get("state") == "done"))
                late = start(b, text="And then?", model=slow)
                tally.check("and follows those of others", wait(lambda: shown(three.client(), late).get("text") == "It depends"))
                tally.equal("a server that is stopped", two.stop(), 0)
                tally.check("says how its runs ended", wait(lambda: shown(three.client(), late).get("state") == "stopped"), shown(three.client(), late))
        tally.equal("sound", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
