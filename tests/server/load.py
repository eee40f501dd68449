#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Load test of one server with all kinds of clients for SECONDS: readers, writers, undo and
redo, imports and exports, model runs, event streams of which some are cut and some never
read, browsers, another process on the same store, clients that are slow or disconnect,
purges, resets.

There are two projects at a time, replaced after each PERIOD:

  kept    nothing is undone here, so the final state is known: each acknowledged entry once; a
          counter that is changed with If-Match; the replies of runs
  wild    random operations of every kind, undo and jumps, resets

Invariants are checked during the test (responses, events) and at the end: see Load.settle.
SEED seeds the clients; the order of events depends on the machine. PAUSE_MS is the
approximate pause of each client between two requests."""
import collections
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from client import API, RETAKE, WAIT_S, Client, Place, Server, Stream, Tally, chance, quote
from same_state_test import Script, by_route, routes

SECONDS = float(os.environ.get("SECONDS", "8"))
PERIOD = float(os.environ.get("PERIOD", "300"))
PAUSE_S = float(os.environ.get("PAUSE_MS", "40")) / 1000
SEED = int(os.environ.get("SEED", "1"))
END_S = 50           # timeout for the end of the server
SETTLE_S = 60        # timeout for streams to reach the end of the log
STREAMS = 40
STORE = 20           # descriptors of the store: five connections and shared ones
TAGGED = re.compile(r"#\w+\.")
# Possible statuses of random operations: most of them name objects that do not exist.
RANDOM = (200, 201, 400, 404, 409, 413)
FINE = (200, 201)


class Over(Exception):
    """The time or the period is over."""


class Shared(Tally):
    """A thread-safe counter."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def check(self, name, ok, *detail):
        with self.lock:
            return super().check(name, ok, *detail)


class Generation:
    """The two projects of a period, and their expected state."""

    def __init__(self, number):
        self.number = number
        self.kept = f"kept{number}"
        self.wild = f"wild{number}"
        self.lock = threading.Lock()
        self.entries = {}        # tag in the text: id of the entry, or None (unknown)
        self.maybe = set()       # tags of unacknowledged entries
        self.counts = 0          # number of increments
        self.counter = None
        self.secrets = []        # purged
        self.runs = {}           # name: its result
        self.rows = {}           # (project, epoch): {seq: data}
        self.is_over = False

    def keep(self, tag, entry):
        with self.lock:
            self.entries[tag] = entry


class Load:
    def __init__(self, tally, place, server):
        self.tally = tally
        self.place = place
        self.server = server
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.counts = collections.Counter()
        self.slowest = 0.0
        self.until = time.monotonic() + SECONDS
        self.is_over = self.streams_over = False
        self.generation = None
        self.old = []
        self.threads = []
        self.watchers = []

    # ---- shared by the clients ----

    def count(self, what, by=1):
        with self.lock:
            self.counts[what] += by

    def begin(self):
        """Creates new projects. The old ones are checked when all clients have left them."""
        number = len(self.old) + (self.generation is not None)
        new = Generation(number)
        owner = self.server.client()
        for name in (new.kept, new.wild):
            self.expect(owner.post("/projects", {"name": name}), FINE, "a project")
        kept = self.server.client(new.kept)
        for name in ("counter", "runs", "imports"):
            self.expect(kept.post("/discussions", {"name": name}), FINE, "a discussion")
        made = kept.post("/discussions/counter/entries", {"content": "0"})
        self.expect(made, FINE, "the counter")
        new.counter = made.json["entry"]
        self.expect(kept.post("/discussions/main/switch"), FINE, "a switch")
        owner.close()
        kept.close()
        if self.generation is not None:
            self.generation.is_over = True
            self.old.append(self.generation)
        self.generation = new

    def expect(self, answer, statuses, what):
        with self.lock:
            self.statuses[answer.status] += 1
        return self.tally.check(f"{what}: status {answer.status}", answer.status in statuses, answer)

    def spawn(self, function, *args):
        thread = threading.Thread(target=self.guarded, args=(function, *args), daemon=True,
                                  name=function.__name__)
        thread.start()
        self.threads.append(thread)
        return thread

    def guarded(self, function, *args):
        try:
            function(*args)
        except Over:
            pass
        except Exception as bad:  # any exception of a client is a failure
            import traceback
            self.tally.check(f"{function.__name__} continues", False, repr(bad),
                             traceback.format_exc())

    def worker(self, name, number):
        return Worker(self, f"{name} {number}")

    # ---- the end ----

    def settle(self):
        """Final checks: no client changes anything any more."""
        for generation in self.old:
            self.look_kept(generation)
        self.look_kept(self.generation)
        for watcher in self.watchers:
            watcher.follow_to_end()
        self.look_rows()

    def look_kept(self, generation):
        client = self.server.client(generation.kept)
        texts, ids = collections.Counter(), {}
        for name in ("main", "imports"):
            at = 0
            while at is not None:
                got = client.get(f"/discussions/{name}/entries?from={at}&count=2000").json
                for entry in got["entries"]:
                    for tag in TAGGED.findall(json.dumps(entry.get("content"))):
                        texts[tag] += 1
                        ids[tag] = entry["id"]
                at = got["next"]
        where = f"{generation.kept}: "
        lost = [tag for tag in generation.entries if texts[tag] == 0]
        twice = [tag for tag, count in texts.items() if count > 1]
        unknown = [tag for tag in texts
                   if tag not in generation.entries and tag not in generation.maybe]
        other = [tag for tag, entry in generation.entries.items()
                 if entry is not None and texts[tag] == 1 and ids[tag] != entry]
        self.tally.equal(where + "what was acknowledged is there", lost, [])
        self.tally.equal(where + "what was asked for once is there once", twice, [])
        self.tally.equal(where + "nothing else is there", unknown, [])
        self.tally.equal(where + "entries have the ids that were told", other, [])
        self.count("entries acknowledged", len(generation.entries))
        counter = client.get(f"/discussions/counter/entries/{generation.counter}").json
        self.tally.equal(where + "no change of the counter is lost", counter["content"],
                         str(generation.counts))
        for name, run in generation.runs.items():
            for entry in [run.get("entry")] + [r.get("entry") for r in run.get("replies", [])]:
                if run["state"] in ("done", "stopped") and entry is not None:
                    answer = client.get(f"/discussions/runs/entries/{entry}?take={run['take']}")
                    if answer.status == 404:  # with several replies, each is in a separate take
                        answer = client.get(f"/discussions/runs/entries/{entry}")
                    self.tally.check(where + f"the reply of {name} is there",
                                     answer.status == 200 or run["how"] == "again", run, answer)
        for secret in generation.secrets:
            found = client.get("/search?q=" + quote(secret)).json
            self.tally.equal(where + "what was purged is not found", found, [])
        client.close()

    def look_rows(self):
        """Streams of one discussion have missed nothing that a stream of the project received."""
        for watcher in self.watchers:
            watcher.look_missed()

    def descriptors(self):
        kinds = collections.Counter()
        folder = f"/proc/{self.server.process.pid}/fd"
        for name in os.listdir(folder):
            try:
                target = os.readlink(f"{folder}/{name}")
            except OSError:
                continue
            kinds[re.sub(r"[^a-z].*", "", target) if not target.startswith("/") else
                  "store" if target.startswith(self.place.db) else "file"] += 1
        return kinds

    def first_run(self):
        """One run, so that descriptors that runs open once and keep are open."""
        client = self.server.client(self.generation.kept)
        run = client.post("/discussions/imports/runs", {"text": "?", "model": "builtin/echo"}).json
        while client.get(f"/runs/{run['run']}").json["state"] == "running":
            time.sleep(0.05)
        client.close()

    def calm(self, wanted=None):
        """Open descriptors when no client is connected: when they match `wanted`, or after a
        timeout."""
        until = time.monotonic() + 40
        while True:
            self.touch()
            time.sleep(0.3)
            kinds = self.descriptors()
            if time.monotonic() > until or (wanted is not None and self.streams() == 0 and
                                            all(kinds[kind] <= wanted.get(kind, 0)
                                                for kind in kinds)):
                return kinds
            if wanted is None and self.connections() <= 1:
                return kinds

    def touch(self):
        """Changes every project: a closed stream is noticed at the second write to it, otherwise
        after up to 30 s."""
        for generation in [*self.old, self.generation]:
            for project in (generation.kept, generation.wild):
                client = self.server.client(project)
                self.expect(client.put("/settings/mine", {"value": time.monotonic()}), FINE,
                            "a last change")
                client.close()

    def now(self, what):
        client = self.server.client()
        now = client.get("/server").json
        client.close()
        return now[what]

    def streams(self):
        return self.now("streams")

    def connections(self):
        return self.now("connections")

    def memory_kb(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s*(\d+)", file.read())[1])


class Worker:
    """A client of some kind: a connection to each project of the period, and a random generator."""

    def __init__(self, load, name):
        self.load = load
        self.name = re.sub(r"\W", "", name)
        self.roll = chance(SEED, name)
        self.clients = {}
        self.made = 0
        self.generation = load.generation

    def close(self):
        for client in self.clients.values():
            client.close()
        self.clients = {}

    def pause(self, times=1.0):
        """Waits, and switches to the projects of the current period. Raises Over when the time
        is up."""
        end = time.monotonic() + self.roll.random() * 2 * times * PAUSE_S
        while True:
            if self.load.is_over:
                self.close()
                raise Over
            left = end - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, 0.2))
        if self.generation is not self.load.generation:
            self.close()
            self.generation = self.load.generation

    def client(self, project):
        if project not in self.clients:
            self.clients[project] = self.load.server.client(project)
        return self.clients[project]

    @property
    def kept(self):
        return self.client(self.generation.kept)

    @property
    def wild(self):
        return self.client(self.generation.wild)

    def ask(self, client, method, path, statuses, body=None, headers=None):
        """Sends a request, and retries while the server is busy."""
        for _ in range(200):
            began = time.monotonic()
            answer = client.request(method, API + path, body, headers)
            took = time.monotonic() - began
            if took > self.load.slowest:
                self.load.slowest = took
            if answer.status != 503:
                break
            with self.load.lock:
                self.load.statuses[503] += 1
            time.sleep(0.05)
        self.load.expect(answer, statuses, f"{self.name}: {method} {path} {str(body)[:200]}")
        return answer

    def tag(self):
        self.made += 1
        return f"#{self.name}x{self.generation.number}x{self.made}."


# ---- reading ----

def reads(load, number):
    self = load.worker("reader", number)
    while True:
        self.pause()
        roll = self.roll
        client = roll.choice([self.kept, self.wild])
        disc = "main" if client is self.kept else roll.choice(["main", "d1", "d2"])
        seq = self.ask(client, "GET", "/info", FINE).json["seq"]
        at = roll.choice(["", "", f"at_op={roll.randrange(seq + 1)}"])
        path = roll.choice([
            f"/discussions/{disc}/entries?from={roll.randrange(50)}&count=50&{at}",
            f"/discussions/{disc}/entries?count=20&role=AI",
            f"/discussions/{disc}/tree?{at}", f"/discussions/{disc}/tree?columns=true&{at}",
            f"/discussions/{disc}/tree?columns=true&from=5&count=9&preview=8",
            f"/discussions/{disc}/entries/:{roll.randrange(1, 9)}?{at}",
            f"/discussions/{disc}/entries/:1/revisions",
            f"/discussions/{disc}/takes?{at}", f"/discussions/{disc}/labels?{at}",
            f"/discussions/{disc}/context?provider=openai&{at}",
            f"/discussions/{disc}/settings?{at}", f"/discussions/{disc}/history?limit=20",
            f"/discussions/{disc}/takes/t1/diff/t2", f"/history?limit=30",
            f"/history/{roll.randrange(1, seq + 2)}", f"/search?q={roll.choice(['alpha', 'no'])}",
            "/search?q=" + quote('role:User "beta"'), f"/discussions?{at}", "/settings", "/roles",
            "/runs", "/models", "/health", "/openapi.json", "/projects", "/server"])
        # A purge between the two requests replaces the history.
        answer = self.ask(client, "GET", path, (200, 404))
        if answer.status == 200:
            load.tally.check(f"{path} is JSON", answer.json is not None, answer)
        if answer.tag is not None and roll.random() < 0.3:
            self.ask(client, "GET", path, (200, 304, 404), headers={"If-None-Match": answer.tag})
        if roll.random() < 0.1 and answer.status == 200 and "entries?" in path:
            ids = [entry["id"] for entry in answer.json["entries"][:9]]
            self.ask(client, "POST", f"/discussions/{disc}/entries/read", (200, 404),
                     {"ids": ids + ["nobody"]})


# ---- writers of the kept project ----

def writes(load, number):
    """Adds entries, each with a unique tag, in every possible way."""
    self = load.worker("writer", number)
    while True:
        self.pause()
        roll, generation = self.roll, self.generation
        how = roll.random()
        if how < 0.35:
            tag = self.tag()
            ways = [("/discussions/main/entries", {"content": tag + " alpha"}),
                    ("/ops/entry.append?discussion=main", {"content": tag, "role": "AI"}),
                    ("/ops/entry.append", {"content": tag, "discussion": "main"}),
                    ("/discussions/main/entries/insert", {"content": tag, "after": "@"}),
                    ("/discussions/main/entries/insert", {"content": tag, "before": "@"}),
                    ("/discussions/main/entries",
                     {"content": [{"type": "text", "text": tag}], "extra": 1})]
            path, body = roll.choice(ways if generation.entries else ways[:3])
            done = self.ask(self.kept, "POST", path, FINE, body)
            if done.status in FINE:
                generation.keep(tag, done.json["entry"])
        elif how < 0.5:
            again_with_key(self)
        elif how < 0.6:
            tags = [self.tag() for _ in range(roll.randrange(2, 6))]
            done = self.ask(self.kept, "POST", "/discussions/main/batch", FINE, {
                "ops": [{"op": "entry.append", "content": tag} for tag in tags],
                "atomic": roll.random() < 0.5})
            if done.status in FINE:
                for tag, result in zip(tags, done.json["results"]):
                    generation.keep(tag, result["entry"])
        elif how < 0.68:
            tags = [self.tag() for _ in range(2)]
            self.ask(self.kept, "POST", "/discussions/main/batch", (400, 404, 409), {
                "ops": [{"op": "entry.append", "content": tag} for tag in tags] +
                [{"op": "entry.delete", "entry": "nobody"}]})
        elif how < 0.8:
            edits(self)
        else:
            counts(self)


def again_with_key(self):
    """Sends the same request up to three times, once without waiting for the response."""
    generation, tag = self.generation, self.tag()
    key = {"Idempotency-Key": f"{self.name}-{tag}"}
    body = {"content": tag}
    first = None
    if self.roll.random() < 0.3:
        vanish(self, generation.kept, "POST", "/discussions/main/entries", body, key)
    for _ in range(self.roll.randrange(1, 4)):
        done = self.ask(self.kept, "POST", "/discussions/main/entries", FINE, body, key)
        if done.status not in FINE:
            return
        generation.keep(tag, done.json["entry"])
        if first is not None:
            self.load.tally.equal("the answer to the same request", done.body, first.body)
            self.load.tally.equal("it is said that it was given before",
                                  done.headers.get("idempotency-replayed"), "true")
        first = done
    if self.roll.random() < 0.2:
        self.ask(self.kept, "POST", "/discussions/main/entries", (422,),
                 {"content": "something else"}, key)


def epoch_of(tag):
    return tag.strip('"').split(".")[0]


def edits(self):
    """Edits an entry of this client only, with the valid ETag and with an outdated one."""
    generation, tag = self.generation, self.tag()
    made = self.ask(self.kept, "POST", "/discussions/main/entries", FINE, {"content": "first"})
    if made.status not in FINE:
        return
    path = f"/discussions/main/entries/{made.json['entry']}"
    held = self.ask(self.kept, "GET", path, FINE).tag
    body = {"content": tag + " beta", "role": "AI", "muted": True}
    done = self.ask(self.kept, "PATCH", path, (200, 412), body, {"If-Match": held})
    if done.status == 412:  # a purge in any project has changed all tags
        now = self.ask(self.kept, "GET", path, FINE).tag
        self.load.tally.check("If-Match is valid without other writers", epoch_of(now) != epoch_of(held),
                              held, now, done)
        done = self.ask(self.kept, "PATCH", path, FINE, body)
    if done.status in FINE:
        generation.keep(tag, made.json["entry"])
    self.ask(self.kept, "PUT", path + "/content", (412,), {"content": "lost"}, {"If-Match": held})
    if self.roll.random() < 0.3:
        self.ask(self.kept, "PUT", f"/discussions/main/labels/{self.name}", FINE,
                 {"entry": made.json["entry"]})


def counts(self):
    """Increments the counter; no two clients write the same value."""
    generation = self.generation
    path = f"/discussions/counter/entries/{generation.counter}"
    for _ in range(4):
        seen = self.ask(self.kept, "GET", path, FINE)
        if seen.status not in FINE:
            return
        done = self.ask(self.kept, "PUT", path + "/content", (200, 412),
                        {"content": str(int(seen.json["content"]) + 1)}, {"If-Match": seen.tag})
        if done.status == 200:
            with generation.lock:
                generation.counts += 1
            return


def applies(load, number):
    """Another process on the same store."""
    self = load.worker("apply", number)
    while True:
        self.pause(25)
        generation = self.generation
        tags = [self.tag() for _ in range(self.roll.randrange(1, 6))]
        for tag in tags:
            generation.maybe.add(tag)
        got = load.place.apply([{"op": "entry.append", "discussion": "main", "content": tag}
                                for tag in tags], project=generation.kept)
        load.tally.equal("another process writes", ["entry" in one for one in got],
                         [True] * len(tags), got)
        for tag, one in zip(tags, got):
            if "entry" in one:
                generation.keep(tag, one["entry"])
        load.count("entries of another process", len(tags))
        got = load.place.apply([{"op": "entry.append", "content": "alpha beta"}, {"op": "undo"}],
                               project=generation.wild)
        load.tally.equal("another process is answered", len(got), 2, got)


# ---- writers of the wild project ----

class Named(Script):
    """Random operations with names that no other client uses."""

    def __init__(self, name, number):
        super().__init__(f"{SEED} {name} {number}")
        self.mark = f"{name}x{number}x"

    def name(self, letter):
        return super().name(letter) .replace(letter, letter + self.mark, 1)

    MAKERS = {**Script.MAKERS, "purge": 0.1, "reset": 0.2}


def roams(load, number):
    """Random operations, by their route, by name, or in a batch."""
    self = load.worker("rover", number)
    script, of = Named(self.name, 0), self.generation
    places = routes(self.ask(self.wild, "GET", "/openapi.json", (200,)).json)
    while True:
        self.pause()
        if of is not self.generation:
            of = self.generation
            script = Named(self.name, of.number)
        headers = {}
        allowed = RANDOM
        if self.roll.random() < 0.15:
            headers["If-Match"] = self.ask(self.wild, "GET", "/discussions", FINE).tag or "*"
            allowed = (*RANDOM, 412)
        if self.roll.random() < 0.15:
            headers["Idempotency-Key"] = self.tag()
        if self.roll.random() < 0.15:
            ops = [script.op() for _ in range(self.roll.randrange(1, 5))]
            done = self.ask(self.wild, "POST", "/batch", allowed,
                            {"ops": ops, "atomic": self.roll.random() < 0.5}, headers)
            for result in (done.json or {}).get("results", []):
                script.learn(result)
            continue
        op = script.op()
        route = by_route(op, self.roll, places) if self.roll.random() < 0.6 else None
        if route is None:
            fields = {key: value for key, value in op.items() if key != "op"}
            route = "POST", "/ops/" + op["op"], fields
        method, path, body = route
        body = None if method == "DELETE" and not body else body
        done = self.ask(self.wild, method, path, allowed, body, headers)
        script.learn(done.json)
        if headers.get("Idempotency-Key") and self.roll.random() < 0.5:
            # A key whose request failed is not kept; a purge forgets the results it has blanked.
            self.ask(self.wild, method, path, (*allowed, 412), body, headers)


def moves(load, number):
    """Undo, redo and jumps."""
    self = load.worker("mover", number)
    while True:
        self.pause(2)
        seq = self.ask(self.wild, "GET", "/info", FINE).json["seq"]
        how = self.roll.random()
        if how < 0.5:
            self.ask(self.wild, "POST", self.roll.choice(["/undo", "/discussions/main/undo"]),
                     RANDOM, {"count": self.roll.randrange(1, 6)})
        elif how < 0.8:
            self.ask(self.wild, "POST", self.roll.choice(["/redo", "/discussions/main/redo"]),
                     RANDOM, {"count": self.roll.randrange(1, 6)})
        elif how < 0.95:
            self.ask(self.wild, "POST", "/discussions/main/jump", RANDOM,
                     {"to": self.roll.randrange(max(0, seq - 60), seq + 1)})
        elif how < 0.99:
            self.ask(self.wild, "POST", f"/history/{seq}/revert", RANDOM)
        else:
            self.ask(self.wild, "POST", "/reset", FINE)


# ---- files ----

def files(load, number):
    self = load.worker("files", number)
    while True:
        self.pause(12)
        generation, tag = self.generation, self.tag()
        lines = [{"role": "user", "content": tag}, {"role": "assistant", "content": "so " * 50}]
        body = json.dumps({"messages": lines}).encode()
        name = self.roll.choice(["canonical", "toml", "pi", "openai", "markdown"])
        project = self.roll.choice([generation.kept, generation.wild])
        client = self.client(project)
        got = self.ask(client, "GET", f"/export?format={name}&all=true&lossless=true",
                       (200, 400, 409))
        headers = {"Content-Type": "application/octet-stream"}
        if got.status == 200 and name == "canonical":
            self.ask(self.wild, "POST", f"/import?name=in{self.made}x{number}&dry_run=true",
                     (200, 201, 409), got.body, headers)
        self.ask(client, "GET", "/discussions/main/export?format=markdown", (200, 404, 409))
        if self.roll.random() < 0.5:
            headers["Idempotency-Key"] = tag
        done = self.ask(self.wild, "POST", f"/import?name=in{number}{self.made}", FINE, body,
                        headers)
        if "Idempotency-Key" in headers:
            self.ask(self.wild, "POST", f"/import?name=in{number}{self.made}", FINE, body, headers)
        load.tally.check("an import says what came in", done.json.get("entries") == 2, done)


# ---- models ----

def runs(load, number):
    self = load.worker("runner", number)
    slow = "builtin/play:" + os.path.join(load.place.folder, "slow.jsonl")
    while True:
        self.pause(10)
        generation, how, client = self.generation, self.roll.random(), self.kept
        body = {"how": "ask", "text": "why " * self.roll.randrange(1, 80), "model": "builtin/echo"}
        if how < 0.15:
            body = {"how": "again", "n": 2, "model": "builtin/echo"}
        elif how < 0.4:
            body = {"how": "ask", "text": "slowly", "model": slow}
        elif how < 0.5:
            body = {"how": "compact", "model": "builtin/summary", "keep": 20}
        elif how < 0.55:
            body = {"how": "continue", "model": "builtin/echo"}
        headers = {"Idempotency-Key": self.tag()} if self.roll.random() < 0.3 else {}
        begun = self.ask(client, "POST", "/discussions/runs/runs",
                         (202,) if body["how"] == "ask" else (202, 400, 404, 409), body, headers)
        if begun.status != 202:
            continue
        if headers:
            twice = self.ask(client, "POST", "/discussions/runs/runs", (202,), body, headers)
            load.tally.equal("a run is not begun twice", twice.json.get("run"), begun.json["run"])
        name = begun.json["run"]
        if self.roll.random() < 0.3:
            time.sleep(self.roll.random())
            self.ask(client, "DELETE", f"/runs/{name}", (200,))
        wait_for_run(self, client, generation, name, body)


def wait_for_run(self, client, generation, name, body):
    """Other clients ask in the same discussion, so some requests are refused."""
    while True:
        run = self.ask(client, "GET", f"/runs/{name}", (200,)).json
        if run.get("state") != "running":
            break
        time.sleep(0.1)
    self.load.count("runs " + str(run.get("state")))
    ok = run.get("state") in ("done", "stopped") or (
        run.get("problem", {}).get("code") in ("refused", "conflict", "not_found", "busy") and
        body["how"] != "ask")
    self.load.tally.check(f"a run ends: {body['how']}", ok, run)
    with generation.lock:
        generation.runs[name] = run


# ---- events ----

class Watcher:
    """Follows a project's events: each row once and in order; texts without gaps."""

    def __init__(self, load, number):
        self.load = load
        self.number = number
        self.roll = chance(SEED, f"watcher {number}")
        self.in_kept = number % 5 < 3
        self.disc = [None, None, "main", "runs"][number % 4] if self.in_kept else \
            [None, None, "main"][number % 3]
        self.is_cut = number % 3 == 0
        self.generation = None
        self.seq = self.epoch = None
        self.seen = collections.defaultdict(set)   # (project, epoch): rows
        self.begins = {}                           # (project, epoch): the row before the first
        self.ends = {}
        self.missed = []

    def run(self):
        while not self.load.streams_over:
            if self.generation is not self.load.generation:
                self.generation = self.load.generation
                self.project = getattr(self.generation, "kept" if self.in_kept else "wild")
                self.client = self.load.server.client(self.project)
                self.last_id = None
            path = "/events" if self.disc is None else f"/discussions/{self.disc}/events"
            try:
                stream = self.client.events(path, self.last_id)
            except ConnectionError:
                self.load.count("streams late")  # the machine was too slow for ten seconds
                continue
            self.load.count("streams")
            if not self.load.tally.check("a stream begins", stream.status in (200, 404),
                                         stream.status):
                return
            if stream.status == 404:  # the discussion was renamed by a rover
                stream.close()
                self.disc = None
                continue
            self.follow(stream)
            stream.close()
            self.client.close()
            if self.load.is_over and not self.load.streams_over and stream.is_over:
                return

    def follow(self, stream):
        resumed, self.is_new, self.moved = self.last_id, True, None
        self.texts = {}
        stream.is_over = False
        cut = time.monotonic() + self.roll.random() * 6 if self.is_cut else None
        while not self.load.streams_over and self.generation is self.load.generation:
            events, stream.is_over = stream.read(self.roll.choice([64, 700, 65536]))
            for event in events:
                self.take(event, resumed)
            self.last_id = stream.last_id
            if stream.is_over:
                self.load.tally.check("only the server's end ends a stream", self.load.is_over)
                return
            if cut is not None and time.monotonic() > cut and not self.load.is_over:
                self.load.count("streams cut")
                return

    def take(self, event, resumed):
        at, name, data = event
        tally = self.load.tally
        self.load.count("events")
        if self.moved is not None:
            tally.equal("a client with an old epoch is notified", (name, at), ("reset", self.moved))
            self.moved = None
        if self.is_new:
            tally.equal("a stream begins with hello", name, "hello")
            if resumed is not None and at != resumed:
                self.moved = at
            self.is_new = False
        if name in ("hello", "reset"):
            tally.equal(f"{name} has its position", at, f"{data['epoch']}.{data['seq']}")
            self.epoch, self.seq = data["epoch"], data["seq"]
            key = self.project, self.epoch
            if name == "reset":
                self.load.count("resets")
            if name == "reset" or resumed is None:
                self.begins.setdefault(key, []).append(self.seq)
                self.ends.setdefault(key, []).append(self.seq)
        elif name == "op":
            self.take_row(at, data)
        elif name.startswith("run."):
            self.take_run(name, data)
        else:
            tally.check("reported rows exist", name in ("flight", "flight.ended"), event)

    def take_row(self, at, data):
        tally = self.load.tally
        seq = data["seq"]
        if self.disc is None:
            tally.equal("rows follow each other", seq, self.seq + 1, self.project)
        else:
            tally.check("rows go forwards", seq > self.seq, seq, self.seq)
        tally.equal("a row has its id", at, f"{self.epoch}.{seq}")
        self.seq = seq
        key = self.project, self.epoch
        self.ends[key][-1] = seq
        self.seen[key].add(seq)
        row = {name: data.get(name) for name in ("seq", "kind", "op", "by", "at")}
        with self.generation.lock:
            known = self.generation.rows.setdefault(key, {})
            if self.disc is None:
                known[seq] = (row, data.get("discussions"), "project" in data)
            elif seq in known:
                tally.equal("a row is the same for all", row, known[seq][0])

    def take_run(self, name, data):
        tally, run = self.load.tally, data["run"]
        if name == "run.started":
            tally.check("a run begins once", run not in self.texts, data)
            self.texts[run] = {}
        elif name == "run.snapshot":
            tally.check("a run is reported once", run not in self.texts, data)
            self.texts[run] = None     # possibly incomplete: only later deltas are checked
        elif name == "run.delta":
            self.load.count("deltas")
            if not tally.check("a run has begun", run in self.texts, data):
                return
            kind = next(k for k in ("text", "thinking", "call") if k in data)
            if self.texts[run] is not None:
                place = kind, data.get("reply", 0), data.get("block", 0)
                known = self.texts[run].get(place, b"")
                tally.equal("a text has no gap", data["offset"], len(known), data)
                self.texts[run][place] = known + data[kind].encode()
        elif name == "run.ended":
            tally.check("a run that has begun ends", run in self.texts, data)
            self.texts.pop(run, None)
            if self.disc is None and "seq" in data and data.get("state") == "done":
                self.load.count("runs seen to their end")

    def follow_to_end(self):
        """Waits until it has seen everything so far (a filtered stream: look_missed)."""
        if self.disc is not None:
            return
        client = self.load.server.client(self.project)
        seq = client.get("/info").json["seq"]
        client.close()
        until = time.monotonic() + SETTLE_S
        while self.seq != seq and time.monotonic() < until:
            time.sleep(0.02)
        self.load.tally.equal(f"stream {self.number} of {self.project} has seen all", self.seq, seq)

    def look_missed(self):
        if self.disc not in ("main", "runs") or not self.in_kept:
            return
        number = {"main": "d1", "runs": "d3"}[self.disc]
        for generation in [*self.load.old, self.load.generation]:
            for key, rows in generation.rows.items():
                for begin, end in zip(self.begins.get(key, []), self.ends.get(key, [])):
                    missed = [seq for seq, (_, discs, is_project) in rows.items()
                              if begin < seq <= end and seq not in self.seen[key] and
                              (number in (discs or []) or is_project)]
                    self.load.tally.equal(f"stream of {key} {self.disc} has missed nothing",
                                          missed, [])


def never_reads(load, number):
    """A stream that is never read; the server closes it after a while, and another one is
    opened."""
    streams = []
    while not load.streams_over:
        generation = load.generation
        project = generation.kept if number % 2 else generation.wild
        wire = socket.create_connection(("127.0.0.1", load.server.port), WAIT_S)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sendall(f"GET {API}/events HTTP/1.1\r\nHost: 127.0.0.1:{load.server.port}\r\n"
                     f"Authorization: Bearer {load.server.token}\r\n"
                     f"Retake-Project: {project}\r\n\r\n".encode())
        load.count("streams that are never read")
        until = time.monotonic() + 90
        while time.monotonic() < until and not load.streams_over:
            time.sleep(0.1)
        wire.close()
    return streams


# ---- misbehaving clients ----

def head_of(load, project, method, path, body, headers):
    lines = [f"{method} {API}{path} HTTP/1.1", f"Host: 127.0.0.1:{load.server.port}",
             f"Authorization: Bearer {load.server.token}", f"Retake-Project: {project}"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def vanish(self, project, method, path, body, headers, part=1.0):
    """Sends part of a request, and resets the connection."""
    data = None if body is None else json.dumps(body).encode()
    whole = head_of(self.load, project, method, path, data, headers) + (data or b"")
    wire = socket.create_connection(("127.0.0.1", self.load.server.port), WAIT_S)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    try:
        wire.sendall(whole[:int(len(whole) * part)])
    except ConnectionError:
        pass    # timed out
    if self.roll.random() < 0.5:
        time.sleep(self.roll.random() * 0.02)
    wire.close()
    self.load.count("clients that vanished")


def vanishes(load, number):
    self = load.worker("ghost", number)
    while True:
        self.pause(3)
        how = self.roll.random()
        if how < 0.3:
            tag = self.tag()
            self.generation.maybe.add(tag)
            vanish(self, self.generation.kept, "POST", "/discussions/main/entries",
                   {"content": tag}, None, self.roll.choice([1.0, 1.0, self.roll.random()]))
        elif how < 0.6:
            vanish(self, self.generation.kept, "GET",
                   self.roll.choice(["/export", "/discussions/main/entries", "/events",
                                     "/discussions/main/tree"]), None, None)
        elif how < 0.7:
            # It is unknown whether the run started; the reply is kept in either case.
            vanish(self, self.generation.kept, "POST", "/discussions/runs/runs",
                   {"text": "are you there?", "model": "builtin/echo"}, None)
        else:
            vanish(self, self.generation.wild, "POST", "/ops/entry.append",
                   {"content": "beta " * 4000}, None, self.roll.random())


def is_slow(load, number):
    """Sends a request and reads the response in small pieces."""
    self = load.worker("slow", number)
    while True:
        self.pause(5)
        tag = self.tag()
        self.generation.maybe.add(tag)
        generation = self.generation
        data = json.dumps({"content": tag + " slow" * 20}).encode()
        whole = head_of(load, generation.kept, "POST", "/discussions/main/entries", data,
                        {"Connection": "close"}) + data
        answer = b""
        with socket.create_connection(("127.0.0.1", load.server.port), WAIT_S) as wire:
            try:
                for at in range(0, len(whole), 40):
                    wire.sendall(whole[at:at + 40])
                    time.sleep(0.03)
                while True:
                    piece = wire.recv(self.roll.choice([1, 7, 100]))
                    if not piece:
                        break
                    answer += piece
                    time.sleep(0.001)
            except ConnectionError:
                pass
        if not answer:
            load.count("slow late")     # as with streams: ten seconds for the headers
            continue
        head, _, body = answer.partition(b"\r\n\r\n")
        if load.tally.check("a slow client is answered", head.startswith(b"HTTP/1.1 201"), answer):
            generation.keep(tag, json.loads(body)["entry"])
        load.count("slow requests")
        whole = head_of(load, generation.kept, "GET", "/export", None, {"Connection": "close"})
        size = 0
        with socket.create_connection(("127.0.0.1", load.server.port), WAIT_S) as wire:
            wire.sendall(whole)
            while size < 300000:
                piece = wire.recv(20000)
                if not piece:
                    break
                size += len(piece)
                time.sleep(0.01)


# ---- browsers ----

def browses(load, number):
    self = load.worker("browser", number)
    while True:
        self.pause(20)
        try:
            browser = load.server.browser()
        except RuntimeError as bad:
            load.tally.check("a browser signs in", False, bad)
            continue
        load.count("browsers")
        stream = browser.events()
        load.tally.equal("a browser has its events", stream.status, 200)
        for _ in range(self.roll.randrange(1, 8)):
            self.pause(3)
            self.ask(browser, "POST", "/discussions/main/entries", FINE, {"content": "mine"})
            self.ask(browser, "GET", "/discussions/main/entries", FINE)
            self.ask(browser, "POST", "/undo", RANDOM)
        load.tally.equal("another's project is not there for it",
                         browser.get("/discussions/main/tree",
                                     **{"Retake-Project": self.generation.kept}).status, 200)
        self.ask(browser, "GET", "/projects", (404,))
        self.ask(browser, "POST", "/logout", (200,), {})
        self.ask(browser, "GET", "/discussions", (401,))
        while not stream.read()[1]:
            pass               # the stream ends after signing out
        stream.close()
        browser.close()


# ---- purges ----

def purges(load, number):
    self = load.worker("purger", number)
    while True:
        self.pause(60)
        generation = self.generation
        secret = f"sesame{number}x{generation.number}x{self.made}"
        self.made += 1
        key = {"Idempotency-Key": secret[::-1]}
        made = self.ask(self.kept, "POST", "/discussions/imports/entries", FINE,
                        {"content": f"the word is {secret}"}, key)
        self.ask(self.kept, "PUT", f"/discussions/imports/entries/{made.json['entry']}/content",
                 FINE, {"content": f"no, {secret}!"})
        if self.roll.random() < 0.5:
            run = self.ask(self.kept, "POST", "/discussions/imports/runs", (202,),
                           {"text": f"is it {secret}?", "model": "builtin/echo"})
            name = run.json["run"]
            while self.ask(self.kept, "GET", f"/runs/{name}", (200,)).json["state"] == "running":
                time.sleep(0.1)
        done = self.ask(self.kept, "POST", "/purge", FINE, {"text": secret})
        with generation.lock:
            generation.secrets.append(secret)
        load.count("purges")
        load.tally.check("a purge is done", done.status in FINE, done)
        self.ask(self.wild, "POST", "/purge", RANDOM, {"text": "sesame-key"})


# ---- main ----

ROLES = [(reads, 3), (writes, 3), (roams, 2), (moves, 1), (files, 1), (runs, 2), (applies, 1),
         (vanishes, 1), (is_slow, 1), (browses, 2), (purges, 1)]


def end_while_busy(load):
    """Shuts down the server with active runs and open streams: it ends normally, and keeps the
    received text."""
    client = load.server.client(load.generation.kept)
    slow = "builtin/play:" + os.path.join(load.place.folder, "endless.jsonl")
    names = []
    told = []     # texts of acknowledged entries
    streams = [client.events() for _ in range(4)]
    for i in range(6):
        made = client.post("/discussions/runs/runs", {"text": f"last {i}", "model": slow})
        load.expect(made, (202,), "a run at the end")
        names.append(made.json["run"])
    states = [client.get(f"/runs/{name}").json["state"] for name in names]
    load.tally.equal("runs are going at the end", set(states), {"running"})
    client.close()
    askers = [load.spawn(asks_to_the_end, load, i, told) for i in range(6)]
    time.sleep(0.3)
    began = time.monotonic()
    code = load.server.stop()
    took = time.monotonic() - began
    load.tally.equal("the server ends", code, 0)
    load.tally.check(f"it ends within {END_S} s", took < END_S, took)
    for asker in askers:
        asker.join(WAIT_S)
    print(f"ended with {code} after {took:.1f} s, {states.count('running')} runs going, "
          f"{len(told)} entries meanwhile")
    for stream in streams:
        ended = False
        while not ended:
            try:
                ended = stream.read()[1]
            except (http.client.IncompleteRead, ConnectionError):
                ended = True   # in the middle of a response
        stream.close()
    return told


def asks_to_the_end(load, number, told):
    client = load.server.client(load.generation.kept)
    made = 0
    while True:
        made += 1
        text = f"to the end {number} {made}."
        try:
            answer = client.post("/discussions/main/entries", {"content": text})
            client.get("/discussions/main/entries?count=9")
        except (http.client.HTTPException, OSError):
            return
        if number % 2 == 0:
            client.close()
        load.expect(answer, (201, 503), "an entry at the end")
        if answer.status == 201:
            told.append(text)


def look_at_store(load, told):
    # no timeout: after an hour of load this takes minutes
    done = subprocess.run([RETAKE, "--db", load.place.db, "fsck"], env=load.place.env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    load.tally.equal("fsck", done.returncode, 0, done.stdout.decode(), done.stderr.decode())
    kept = load.place.canonical(load.generation.kept).decode()
    for i in range(6):
        load.tally.check(f"the question of run {i} at the end is kept", f"last {i}" in kept)
    lost = [text for text in told if kept.count(json.dumps(text)) != 1]
    load.tally.equal("what was acknowledged to the end is there, once", lost, [])
    secrets = [s for g in [*load.old, load.generation] for s in g.secrets]
    for folder, _, names in os.walk(load.place.folder):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            found = [s for s in secrets if s.encode() in data]
            load.tally.equal(f"nothing purged is in {name}", found, [])


def main():
    tally = Shared()
    with Place() as place, Server(place, "--isolate") as server:
        with open(os.path.join(place.folder, "slow.jsonl"), "w", encoding="utf-8") as script:
            for i in range(60):
                script.write(json.dumps({"text": f"piece {i}, "}) + "\n" + '{"wait_ms":30}\n')
        with open(script.name, encoding="utf-8") as script, \
                open(os.path.join(place.folder, "endless.jsonl"), "w", encoding="utf-8") as endless:
            endless.write(script.read() + '{"wait_ms":600000}\n')
        load = Load(tally, place, server)
        load.begin()
        load.first_run()
        early = load.calm()
        warm = None
        for i in range(STREAMS):
            if i < 4:
                load.spawn(never_reads, load, i)
                continue
            watcher = Watcher(load, i)
            load.watchers.append(watcher)
            watcher.thread = load.spawn(watcher.run)
        workers = [load.spawn(role, load, i) for role, count in ROLES for i in range(count)]
        began = turned = said = time.monotonic()
        while time.monotonic() < load.until:
            time.sleep(min(0.5, max(0, load.until - time.monotonic())))
            now = time.monotonic()
            if now - turned > PERIOD:
                turned = now
                load.begin()
            if warm is None and now - began > min(60, SECONDS / 2):
                warm = load.memory_kb()
            if now - said > 60:
                said = now
                print(f"{now - began:.0f} s: {sum(load.statuses.values())} requests, "
                      f"{load.counts['events']} events, {tally.failed} failed, "
                      f"{load.memory_kb() >> 10} MB, {dict(load.descriptors())}", flush=True)
        load.is_over = True
        for thread in workers:
            thread.join(WAIT_S + 10)
            tally.check(f"{thread.name} comes to its end", not thread.is_alive())
        load.settle()
        load.streams_over = True
        load.touch()   # wakes up waiting streams
        for watcher in load.watchers:
            watcher.thread.join(WAIT_S)
            tally.check("a stream comes to its end", not watcher.thread.is_alive())
        late = load.calm({**early, "store": STORE})
        print("descriptors early", dict(early), "late", dict(late))
        print(f"memory warm {warm >> 10} MB, at the end {load.memory_kb() >> 10} MB")
        for kind in late:
            tally.check(f"no descriptor is left over: {kind}",
                        late[kind] <= (STORE if kind == "store" else early[kind]), early, late)
        counts = server.client().get("/server").json
        tally.equal("no stream is left over", counts["streams"], 0, counts)
        tally.check("only slow clients were disconnected",
                    load.counts["streams late"] + load.counts["slow late"] <= counts["late"],
                    load.counts, counts)
        print("the server counts", counts)
        told = end_while_busy(load)
        print("statuses", dict(sorted(load.statuses.items())))
        print("counts", dict(sorted(load.counts.items())))
        print(f"{sum(load.statuses.values())} requests in {time.monotonic() - began:.0f} s, "
              f"the slowest took {load.slowest:.1f} s; "
              f"periods {len(load.old) + 1}, seed {SEED}", flush=True)
        look_at_store(load, told)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
