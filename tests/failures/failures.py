#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Failures of a team's installation (examples/team) while 64 writers append through the load
balancer:

  tests/failures/failures.py [KIND …]        default: all kinds

  server       kill -9 of one `retake serve`
  servers      kill -9 of all of them
  backend      kill -9 of a process of the database that serves a connection
  primary      kill -9 of the primary and of its Patroni, which stay down until the standby is promoted
  cut          no byte passes between one server and the database for 1 to 8 seconds
  pool         kill -9 of PgBouncer
  disk         the disk of the primary is full for 3 to 6 seconds (needs root: a tmpfs for each node)
  connections  the database accepts no connections of the servers for 3 to 6 seconds

Each writer sends one append after the other, and repeats a request without an answer with the same
idempotency key until it is confirmed; every fifth request is a batch of three appends. Readers
look at the newest entries all the time. After each run every confirmed append must exist exactly
once, on both servers, and no reader may have seen a part of a batch. Prints a row for each kind.

RUNS (20): of each kind. WRITERS (64). SEED. RETAKE: the program. DIR: for the installation. PORT (7500):
the first of 14 ports."""
import collections
import http.client
import importlib.machinery
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
API = "/retake/v1"
RUNS = int(os.environ.get("RUNS", "20"))
WRITERS = int(os.environ.get("WRITERS", "64"))
PORT = int(os.environ.get("PORT", "7500"))
PROJECTS, DISCUSSIONS, BATCH = 4, 4, 3
GIVE_UP_S = 120
KINDS = ("server", "servers", "backend", "primary", "cut", "pool", "disk", "connections")


def load_team():
    loader = importlib.machinery.SourceFileLoader("team", os.path.join(ROOT, "examples/team/team"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("team", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


team_module = load_team()


class Cut:
    """A network between one server and the pooler."""

    def __init__(self, port, to):
        self.port, self.to = port, to
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, HERE + "/cut.py", str(self.port), str(self.to)])

    def stop(self):
        self.process.kill()
        self.process.wait()

    def cut(self, rng, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        if rng.random() < 0.5:
            self.process.send_signal(signal.SIGCONT)  # everything that was sent arrives late
        else:
            self.stop()                               # connections are lost
            self.start()


class Client:
    """One connection to the load balancer or a server. request() does not retry."""

    def __init__(self, port, token, timeout=15):
        self.port, self.timeout, self.wire = port, timeout, None
        self.headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def request(self, method, path, body=None, **headers):
        """(status, value); status 0: no answer."""
        names = {key.replace("_", "-"): value for key, value in headers.items()}
        try:
            if self.wire is None:
                self.wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
            self.wire.request(method, API + path, None if body is None else json.dumps(body), {**self.headers, **names})
            answer = self.wire.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else text
        except (OSError, http.client.HTTPException, ValueError) as error:
            if self.wire is not None:
                self.wire.close()
            self.wire = None
            return 0, error


def insist(client, *args, **headers):
    """Repeats a request until it is carried out; returns (value, attempts), or (None, attempts)."""
    until, attempts, pause = time.monotonic() + GIVE_UP_S, 0, 0.02
    while time.monotonic() < until:
        attempts += 1
        status, value = client.request(*args, **headers)
        if 200 <= status < 300:
            return value, attempts
        if 400 <= status < 500 and status not in (409, 429):
            raise RuntimeError(f"refused: {args} {status} {value}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    return None, attempts


class Run:
    """The writers and readers of one run, in new projects."""

    def __init__(self, team, name):
        self.team, self.name = team, name
        self.token = team.secret("token")
        self.is_over = threading.Event()
        self.acknowledged = collections.defaultdict(list)  # by (project, discussion): contents
        self.open_ended, self.problems, self.partial = [], [], 0
        self.attempts = self.looks = 0
        self.intervals = []     # (begin, end) of each acknowledged request
        self.lock = threading.Lock()
        client = self.client()
        for p in range(PROJECTS):
            project = f"{name}-{p}"
            self.create(client, "/projects", {"name": project})
            for d in range(DISCUSSIONS):
                self.create(client, "/ops/discussion.new", {"name": f"d{d}"}, Retake_Project=project)

    def client(self, port=None):
        return Client(port or self.team.port["web"], self.token)

    @staticmethod
    def create(client, path, body, **headers):
        until = time.monotonic() + 30
        while (status := client.request("POST", path, body, **headers))[0] not in (200, 201, 409):
            if time.monotonic() > until:
                raise RuntimeError(f"{path} {body}: {status}")
            time.sleep(0.2)

    def place(self, number):
        return f"{self.name}-{number % PROJECTS}", f"d{number // PROJECTS % DISCUSSIONS}"

    def write(self, number):
        project, discussion = self.place(number)
        client, at = self.client(), 0
        while not self.is_over.is_set():
            at += 1
            stem = f"w{number}.{at}"
            texts = [f"{stem}.{i}/{BATCH}" for i in range(BATCH)] if at % 5 == 0 else [stem]
            body = {"content": stem} if len(texts) == 1 else {
                "ops": [{"op": "entry.append", "content": text} for text in texts]}
            path = f"/discussions/{discussion}/" + ("entries" if len(texts) == 1 else "batch")
            begin = time.monotonic()
            try:
                answer, attempts = insist(client, "POST", path, body, Retake_Project=project, Idempotency_Key=stem)
            except RuntimeError as error:
                with self.lock:
                    self.problems.append(str(error))
                return
            with self.lock:
                self.attempts += attempts
                if answer is None:
                    self.open_ended += texts
                    self.problems.append(f"no answer within {GIVE_UP_S} s: {stem}")
                else:
                    self.acknowledged[project, discussion] += texts
                    self.intervals.append((begin, time.monotonic()))

    def read(self, number):
        """Batches that are visible in part."""
        client = self.client()
        while not self.is_over.is_set():
            number += 1
            project, discussion = self.place(number)
            status, value = client.request("GET", f"/discussions/{discussion}/entries?last=60", Retake_Project=project)
            if status != 200:
                time.sleep(0.05)
                continue
            bad = partial([entry["content"] for entry in value["entries"]], value["from"] == 0)
            with self.lock:
                self.looks += 1
                self.partial += len(bad)
                self.problems += [f"partial: {text} of {project}" for text in bad]

    def start(self):
        self.threads = [threading.Thread(target=self.write, args=(at,)) for at in range(WRITERS)]
        self.threads += [threading.Thread(target=self.read, args=(at,)) for at in range(4)]
        for thread in self.threads:
            thread.start()

    def finish(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def contents(self, port, project, discussion):
        client, out, at = self.client(port), [], 0
        while True:
            value, _ = insist(client, "GET", f"/discussions/{discussion}/entries?from={at}&count=2000", Retake_Project=project)
            out += [entry["content"] for entry in value["entries"]]
            if value["next"] is None:
                return out
            at = value["next"]

    def check(self):
        """(lost, duplicated)"""
        lost = twice = 0
        for server in team_module.SERVERS:
            for (project, discussion), texts in self.acknowledged.items():
                there = collections.Counter(self.contents(self.team.port[server], project, discussion))
                missing = [text for text in texts if text not in there]
                double = [text for text, count in there.items() if count > 1]
                for name, found in (("lost", missing), ("twice", double)):
                    self.problems += [f"{name}: {text} of {project} {discussion} on {server}" for text in found[:5]]
                lost, twice = lost + len(missing), twice + len(double)
                bad = partial(list(there), True)
                self.partial += len(bad)
                self.problems += [f"partial in the end: {text}" for text in bad]
        return lost, twice

    def longest(self):
        return max((end - begin for begin, end in self.intervals), default=0)

    def after(self, when):
        """How long after a time the last of the requests under way then was answered."""
        return max((end - when for begin, end in self.intervals if begin <= when < end), default=0)


def partial(contents, is_whole):
    """Batches of which only a part is there; the first of a window may be cut."""
    parts, order = collections.Counter(), []
    for text in contents:
        if "/" in text:
            stem = text[:text.rindex(".")]
            if not parts[stem]:
                order.append(stem)
            parts[stem] += 1
    if not is_whole and order and "/" in contents[0]:
        order.pop(0)
    return [stem for stem in order if parts[stem] % BATCH]


class Place:
    """The installation, with its own supervisor in a thread of this process."""

    def __init__(self, has_small_disk):
        self.has_small_disk = has_small_disk
        self.folder = os.environ.get("DIR") or tempfile.mkdtemp(prefix="rt-fail-", dir="/tmp")
        self.cuts = {}
        self.is_over = threading.Event()
        names = team_module.SERVERS
        ports = {name: PORT + 12 + at for at, name in enumerate(names)}
        self.team = team_module.Team(self.folder, PORT, ports)
        self.team.check()
        self.mounted = []

    def __enter__(self):
        team = self.team
        team.prepare()
        for name in team_module.DATABASES if self.has_small_disk else ():
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2g,mode=700", "tmpfs", team.path("data", name)], check=False, stderr=subprocess.DEVNULL).returncode == 0:
                self.mounted.append(team.path("data", name))
                team.give(team.path("data", name))
        for name, port in team.pool_ports.items():
            self.cuts[name] = Cut(port, team.port["pooled"])
        self.thread = threading.Thread(target=self.supervise)
        self.thread.start()
        self.wait()
        return self

    def supervise(self):
        while not self.is_over.is_set():
            self.team.tend()
            try:
                self.team.create()
            except (subprocess.SubprocessError, OSError):
                pass
            time.sleep(0.1)
        self.team.stop()  # here: the parts end with the thread that started them

    def wait(self, limit_s=180):
        until = time.monotonic() + limit_s
        while not self.team.is_complete():
            if time.monotonic() > until:
                raise RuntimeError("the installation did not become complete; logs: " + self.team.path("log"))
            time.sleep(0.3)

    def __exit__(self, kind, *_):
        self.is_over.set()
        self.thread.join()
        for cut in self.cuts.values():
            cut.stop()
        for folder in self.mounted:
            subprocess.run(["umount", "-l", folder], check=False)
        if kind is None and "DIR" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- failures; each returns the time of the promotion, if there was one ----

    @staticmethod
    def kill(pid):
        try:
            if pid:
                os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def server(self, rng):
        self.kill(self.team.pid(rng.choice(team_module.SERVERS)))

    def servers(self, _):
        for name in team_module.SERVERS:
            self.kill(self.team.pid(name))

    def pool(self, _):
        self.kill(self.team.pid("pgbouncer"))

    def backend(self, rng):
        primary = self.team.primary()
        pids = self.team.sql("SELECT pid FROM pg_stat_activity WHERE usename = 'retake'").split()
        self.kill(int(rng.choice(pids)))
        return self.promoted(primary, 6)

    def promoted(self, primary, limit_s):
        """The time when another node became the primary; None: it did not, within this time."""
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            now = self.team.primary()
            if now not in (None, primary):
                return time.monotonic()
            time.sleep(0.05)
        return None

    def primary(self, _):
        primary = self.team.primary()
        self.team.kill(primary)
        when = self.promoted(primary, 60)
        if when is None:
            raise RuntimeError("no promotion within 60 s")
        time.sleep(3)
        self.team.revive(primary)
        return when

    def cut(self, rng):
        self.cuts[rng.choice(team_module.SERVERS)].cut(rng, rng.uniform(1, 8))

    def disk(self, rng):
        primary = self.team.primary()
        path = self.team.path("data", primary, "filler")
        with open(path, "wb") as file:
            try:
                while True:
                    file.write(b"\0" * (1 << 20))
            except OSError:
                pass
        when = self.promoted(primary, rng.uniform(3, 6))
        os.unlink(path)
        return when

    def connections(self, rng):
        stop = time.monotonic() + rng.uniform(3, 6)
        self.team.sql("ALTER ROLE retake CONNECTION LIMIT 0")
        while time.monotonic() < stop:
            self.team.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'retake'")
            time.sleep(0.3)
        self.team.sql("ALTER ROLE retake CONNECTION LIMIT -1")


def one(place, kind, number, rng, totals):
    run = Run(place.team, f"{kind}-{number}")
    run.start()
    try:
        time.sleep(rng.uniform(0.5, 3))
        when = getattr(place, kind)(rng)
        time.sleep(1)
        place.wait()
        time.sleep(0.5)
    finally:
        run.finish()
    lost, twice = run.check()
    acknowledged = sum(map(len, run.acknowledged.values()))
    totals["runs"] += 1
    totals["acknowledged"] += acknowledged
    totals["lost"] += lost
    totals["duplicated"] += twice
    totals["partial"] += run.partial
    totals["repeated"] += run.attempts - len(run.intervals)
    totals["unanswered"] += len(run.open_ended)
    totals["pause"] = max(totals["pause"], run.longest())
    if when is not None:
        totals["promotions"] += 1
        totals["after"] = max(totals["after"], run.after(when))
    print(f"{kind} {number}: {acknowledged} acknowledged, {lost} lost, {twice} duplicated, {run.partial} partial of {run.looks} looks, "
          f"{run.attempts - len(run.intervals)} repeated, longest pause {run.longest():.1f} s"
          + (f", {run.after(when):.1f} s after the promotion" if when is not None else ""), flush=True)
    for problem in run.problems[:10]:
        print("FAILED:", problem, flush=True)
    return not run.problems


def main():
    kinds = sys.argv[1:] or list(KINDS)
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    print(f"seed {seed}, {RUNS} runs each, {WRITERS} writers", flush=True)
    rng, passed, failed, rows = random.Random(seed), 0, 0, []
    for kind in kinds:
        with Place(kind == "disk") as place:
            if kind == "disk" and len(place.mounted) < len(team_module.DATABASES):
                print("disk: skipped: a small disk cannot be mounted here (needs root)")
                continue
            totals = collections.Counter()
            for number in range(RUNS):
                if one(place, kind, number, rng, totals):
                    passed += 1
                else:
                    failed += 1
            rows.append((kind, totals))
            size = place.team.sql("SELECT pg_database_size('retake')").strip()
            print(f"{kind}: size of the database: {int(size) // 1000000} MB", flush=True)
            fsck = subprocess.run([place.team.retake, "--db", f"postgresql://retake@127.0.0.1:{place.team.port['pooled']}/retake", "-p", f"{kind}-0-0", "fsck"],
                                  env={**os.environ, "PGPASSFILE": place.team.path("secrets/pgpass")}, capture_output=True, text=True, check=False)
            if fsck.returncode:
                failed += 1
                print("FAILED: fsck:", fsck.stdout, fsck.stderr)
    columns = ("runs", "acknowledged", "repeated", "lost", "duplicated", "partial", "unanswered", "promotions")
    print("\n| failure | " + " | ".join(columns) + " | longest pause | after promotion |\n|" + "---|" * (len(columns) + 3))
    for kind, totals in rows:
        print(f"| {kind} | " + " | ".join(f"{totals[name]:,}" for name in columns) + f" | {totals['pause']:.1f} s | "
              + (f"{totals['after']:.1f} s |" if totals["promotions"] else "|"))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
