#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reset during model runs, in this or another process: the runs stop, nothing of them is added
to the new discussion, and one undo restores the previous state."""
import json
import os
import subprocess
import sys
import time

from client import RETAKE, Place, Server, Tally

WAIT_S = 20


def until(what):
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.05)
    return None


def script(place):
    path = os.path.join(place.folder, "slow.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(200):
            file.write('{"text":"word "}\n{"wait_ms":200}\n')
    return path


def in_the_server(tally, place, client, path):
    made = client.post("/discussions/main/runs", {"text": "Q", "model": "builtin/play:" + path})
    tally.equal("a run begins", made.status // 100, 2, made)
    name = made.json["run"]
    until(lambda: "word" in client.get(f"/runs/{name}").json.get("text", ""))
    tally.equal("ai_status", client.request("GET", "/status").json["ai_status"], "running")
    tally.equal("reset", client.request("POST", "/api/reset", {}).status, 200)
    tally.check("the run ends", until(lambda: client.get(f"/runs/{name}").json["state"] != "running"))
    tally.equal("nothing is in the new discussion",
                client.get("/discussions/main/entries").json["entries"], [])
    tally.equal("ai_status then", client.request("GET", "/status").json["ai_status"], "session reset")
    tally.check("ai_status as a field", "session reset" in
                client.request("GET", "/api/state/ai_status").json.values())
    client.post("/discussions/main/entries", {"content": "fresh"})
    tally.equal("after something is done", client.request("GET", "/status").json["ai_status"],
                "idle")
    place.run("undo", "2")
    shown = json.loads(place.run("show", "--json").stdout)
    tally.equal("undo restores the question", shown["entries"][0]["content"], "Q", shown)


def in_another_process(tally, place, path):
    place.run("discussion", "new", "other")
    ask = subprocess.Popen([RETAKE, "--db", place.db, "ask", "-m", "builtin/play:" + path, "Q2"],
                           env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        tally.check("it writes", until(lambda: b"word" in os.read(ask.stdout.fileno(), 4096)))
        place.run("reset")
        tally.check("the other process stops", until(lambda: ask.poll() is not None))
        shown = json.loads(place.run("show", "--json").stdout)
        tally.equal("nothing is in the new discussion", shown["entries"], [])
        place.run("undo")
        shown = json.loads(place.run("show", "--json").stdout)
        tally.equal("undo restores the question", shown["entries"][0]["content"], "Q2", shown)
    finally:
        ask.kill()
        ask.wait()


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        in_the_server(tally, place, server.client(), script(place))
    with Place() as place:
        in_another_process(tally, place, script(place))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
