#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that disconnect (TRUST N4): runs they started continue without them, stopping a run
closes the connection to the model's server, and no resources are leaked. LEAVES=10000 sets
the number."""
import json
import os
import random
import re
import select
import socket
import struct
import sys
import threading
import time

from client import API, WAIT_S, Place, Server, Tally

LEAVES = int(os.environ.get("LEAVES", "200"))
THREADS = 8
PIECE_S = 0.02
LONG = 30000           # pieces: ten minutes, longer than any timeout here
STOP_S = 40            # timeout for a stop to reach the model server; usually about a second
STORE = 20             # descriptors: five connections and shared ones
MEMORY = 4             # tolerated growth factor


class Heard:
    """One request to the model server."""

    def __init__(self, pieces):
        self.pieces = pieces
        self.said = ""
        self.began = time.monotonic()
        self.gone = None      # time of the disconnection
        self.is_whole = False


class Model(threading.Thread):
    """A slow model server in the style of OpenAI: "N" at the end of a question is the number of
    pieces of the reply; with 0 it sends nothing and waits."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listening.getsockname()[1]
        self.heard = []
        self.start()

    def run(self):
        while True:
            wire, _ = self.listening.accept()
            threading.Thread(target=self.answer, args=(wire,), daemon=True).start()

    @staticmethod
    def read(wire):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = wire.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        size = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1])
        while len(body) < size:
            body += wire.recv(65536)
        return json.loads(body)

    @staticmethod
    def is_gone(wire, wait_s):
        """Has the client closed its connection within this time?"""
        readable, _, _ = select.select([wire], [], [], wait_s)
        if not readable:
            return False
        try:
            return wire.recv(1) == b""
        except ConnectionError:
            return True

    def answer(self, wire):
        with wire:
            asked = self.read(wire)
            if asked is None:
                return
            content = [m["content"] for m in asked["messages"] if m["role"] == "user"][-1]
            content = content if isinstance(content, str) else content[-1]["text"]
            heard = Heard(int(re.search(r"(\d+)$", content)[1]))
            self.heard.append(heard)
            wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         b"Connection: close\r\n\r\n")
            for i in range(heard.pieces or LONG):
                if self.is_gone(wire, PIECE_S):
                    heard.gone = time.monotonic()
                    return
                if heard.pieces == 0:
                    continue
                delta = {"model": "slow", "choices": [{"index": 0,
                                                      "delta": {"content": f"piece {i}, "}}]}
                try:
                    wire.sendall(b"data: " + json.dumps(delta).encode() + b"\n\n")
                except ConnectionError:
                    heard.gone = time.monotonic()
                    return
                heard.said += f"piece {i}, "
            end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
            wire.sendall(b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n")
            heard.is_whole = True


class Leaver:
    """A client that reads part of a response, or nothing, and disconnects."""

    def __init__(self, server):
        self.server = server

    def ask(self, method, path, body=None, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {API}{path} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}",
                 f"Authorization: Bearer {self.server.token}", *headers]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        wire = socket.create_connection(("127.0.0.1", self.server.port), WAIT_S)
        wire.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        return wire

    @staticmethod
    def leave(wire, how):
        if how == "reset":
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "half":
            wire.shutdown(socket.SHUT_WR)
        wire.close()


def ended(client, name):
    until = time.monotonic() + WAIT_S
    while True:
        run = client.get(f"/runs/{name}").json
        if run.get("state") != "running" or time.monotonic() > until:
            return run
        time.sleep(0.02)


def begun(client, model, pieces):
    """Starts a run; returns when the model server has received its request."""
    count = len(model.heard)
    made = client.post("/discussions/main/runs",
                       {"text": f"say it slowly {pieces}", "model": "slow/one"})
    until = time.monotonic() + WAIT_S
    while len(model.heard) == count and time.monotonic() < until:
        time.sleep(0.005)
    return made, model.heard[-1]


def has_arrived(client, name, text):
    """Polls, as the server may not have processed the last message yet."""
    until = time.monotonic() + WAIT_S
    while text not in client.get(f"/runs/{name}").json.get("text", "") and \
            time.monotonic() < until:
        time.sleep(0.005)


def content_of(client, run):
    return client.get(f"/discussions/main/entries/{run['entry']}?take={run['take']}").json


# ---- runs continue ----

def follow(wire, words):
    seen = b""
    while words not in seen:
        piece = wire.recv(4096)
        if not piece:
            raise RuntimeError(f"the events have ended without {words}: {seen}")
        seen += piece


def check_goes_on(tally, server, client, model):
    leaver = Leaver(server)
    for how in ("close", "reset", "half"):
        # It listens from the start: the end of a run that ended before is not reported.
        wire = leaver.ask("GET", "/events")
        follow(wire, b"event: hello")
        made, heard = begun(client, model, 40)
        follow(wire, b"piece 3,")
        leaver.leave(wire, how)
        run = ended(client, made.json["run"])
        tally.equal(f"{how}: the run continues when its follower disconnects", run["state"], "done")
        until = time.monotonic() + WAIT_S
        while not heard.is_whole and heard.gone is None and time.monotonic() < until:
            time.sleep(0.005)     # until the model's thread has recorded it
        tally.check(f"{how}: the model could finish", heard.is_whole and heard.gone is None)
        kept = content_of(client, run)
        tally.equal(f"{how}: its reply is kept whole", kept["content"], heard.said)
        tally.check(f"{how}: and is not partial", not kept.get("partial"), kept)

    # The client does not wait for the response.
    for how in ("close", "reset"):
        count = len(model.heard)
        names = {run["run"] for run in client.get("/runs").json}
        wire = leaver.ask("POST", "/discussions/main/runs",
                          {"text": "do it without me 30", "model": "slow/one"})
        while len(model.heard) == count:
            time.sleep(0.005)
        leaver.leave(wire, how)
        new = [run["run"] for run in client.get("/runs").json if run["run"] not in names]
        if not tally.equal(f"{how}: one run was begun", len(new), 1, new):
            continue
        run = ended(client, new[0])
        tally.equal(f"{how}: the run continues when its client disconnects", run["state"], "done", run)
        tally.equal(f"{how}: its whole reply is kept", content_of(client, run)["content"],
                    model.heard[-1].said)


# ---- stopping closes the model's connection ----

def check_stops(tally, client, model):
    for pieces in (LONG, 0):
        made, heard = begun(client, model, pieces)
        if pieces:
            has_arrived(client, made.json["run"], "piece 5,")
        asked = time.monotonic()
        done = client.request("DELETE", f"{API}/runs/{made.json['run']}")
        tally.equal("a run is stopped", done.status, 200, done)
        run = ended(client, made.json["run"])
        until = time.monotonic() + WAIT_S
        while heard.gone is None and time.monotonic() < until:
            time.sleep(0.005)
        took = (heard.gone or time.monotonic()) - asked
        print(f"the model's server heard of the stop after {took * 1000:.0f} ms")
        tally.check("the connection to the model server is closed", heard.gone is not None and took < STOP_S,
                    took)
        tally.equal("it is said that it was stopped", run["state"], "stopped", run)
        if pieces == 0:
            tally.check("where nothing had arrived nothing is kept", "entry" not in run, run)
            question = client.get(f"/discussions/main/entries/{run['question']}")
            tally.equal("but the question is", question.json.get("content"), "say it slowly 0")
            continue
        kept = content_of(client, run)
        tally.check("what had arrived is kept", kept["content"].startswith("piece 0, piece 1, ")
                    and heard.said.startswith(kept["content"].rstrip()), kept, heard.said)
        tally.check("as a part", kept.get("partial") is True, kept)


# ---- no leaks ----

def of_process(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        text = file.read()
    held = {"memory_kb": int(re.search(r"VmRSS:\s*(\d+)", text)[1]),
            "threads": int(re.search(r"Threads:\s*(\d+)", text)[1]), "store": 0, "descriptors": 0}
    folder = f"/proc/{server.process.pid}/fd"
    for name in os.listdir(folder):
        try:
            target = os.readlink(f"{folder}/{name}")
        except OSError:
            continue
        held["store" if target.startswith(server.place.db) else "descriptors"] += 1
    return held


def calm(server, client, wanted=None):
    """The resources of the server process when this client is the only one: when they match
    `wanted`, or after a timeout. A closed stream is only noticed when something is written to
    it, so changes are made; idle workers end after a while."""
    until = time.monotonic() + WAIT_S
    while True:
        client.put("/settings/mine", {"value": time.monotonic()})
        time.sleep(0.2)
        workers = client.get("/server").json["workers"]
        held = of_process(server)
        counts = client.get("/server").json
        held["threads"] -= workers
        # A worker that started or ended between the two readings is only in one of them.
        is_calm = counts["streams"] == 0 and counts["connections"] == 1 and \
            counts["workers"] == workers and not any(
                run["state"] == "running" for run in client.get("/runs").json)
        if is_calm and (wanted is None or (held["threads"] <= wanted["threads"] and
                                           held["descriptors"] <= wanted["descriptors"])):
            return held
        if time.monotonic() > until:
            held.update(counts)
            return held


def leaves(server, count, seed):
    roll = random.Random(seed)
    leaver = Leaver(server)
    for _ in range(count):
        how = roll.random()
        if how < 0.05:
            wire = leaver.ask("POST", "/discussions/side/runs",
                              {"text": "are you there?", "model": "builtin/echo"})
        elif how < 0.15:
            wire = leaver.ask("GET", "/discussions/main/events", headers=("Last-Event-ID: 1.1",))
        elif how < 0.25:
            wire = leaver.ask("POST", "/discussions/side/entries", {"content": "bye"})
        else:
            wire = leaver.ask("GET", "/events")
        try:
            if roll.random() < 0.7:
                wire.recv(roll.choice([1, 100, 4096]))
        except ConnectionError:
            pass
        leaver.leave(wire, roll.choice(["close", "reset", "half"]))


def many_leave(server, count):
    threads = [threading.Thread(target=leaves, args=(server, count // THREADS, i))
               for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_leaves(tally, server, client, model):
    client.post("/discussions", {"name": "side"})
    many_leave(server, 80)    # allocates everything that is kept
    early = calm(server, client)
    made, heard = begun(client, model, LONG)
    began = time.monotonic()
    many_leave(server, LEAVES)
    took = time.monotonic() - began
    tally.check("a run without clients continues", heard.gone is None)
    client.request("DELETE", f"{API}/runs/{made.json['run']}")
    tally.equal("until it is stopped", ended(client, made.json["run"])["state"], "stopped")
    late = calm(server, client, early)
    print(f"{LEAVES} left in {took:.1f} s; before {early}, after {late}")
    tally.equal("no stream is left over", late.get("streams", 0), 0, late)
    tally.check("no thread is left over", late["threads"] <= early["threads"], early, late)
    tally.check("no descriptor is left over", late["descriptors"] <= early["descriptors"], early,
                late)
    tally.check("the store is open a few times at most", late["store"] <= STORE, late)
    tally.check("no memory, about", late["memory_kb"] <= early["memory_kb"] * MEMORY, early, late)


def main():
    tally = Tally()
    model = Model()
    with Place() as place:
        config = os.path.join(place.folder, "config/retake")
        os.makedirs(config)
        with open(config + "/config.toml", "w", encoding="utf-8") as file:
            file.write(f'[provider.slow]\nkind = "openai"\nurl = "http://127.0.0.1:{model.port}/v1"\n')
        with Server(place) as server:
            client = server.client()
            check_goes_on(tally, server, client, model)
            check_stops(tally, client, model)
            check_leaves(tally, server, client, model)
            client.close()
            tally.equal("the server ends", server.stop(), 0)
        done = place.run("fsck")
        tally.equal("fsck", done.returncode, 0, done.stdout, done.stderr)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
