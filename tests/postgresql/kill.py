#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill.py SERVER ADDRESS SECONDS: several writers, and clients of a `retake serve` in as many projects,
whose commits share pipelines, while the server's processes are killed and the server restarts. Every answer must be true afterwards: a confirmed entry exists once, one that was
refused as busy does not exist, and no entry exists twice. Then the store is intact.

RETAKE: the program. SEED: of the kills."""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "server"))
import client as served  # noqa: E402

RETAKE = os.environ["RETAKE"]
SERVER, ADDRESS, SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])
WRITERS = 3
SERVED = [f"served{at}" for at in range(12)]


class Server:
    """The server process; restarted at once when it has been stopped."""

    def __init__(self):
        self.start()

    def start(self):
        self.process = subprocess.Popen([HERE + "/server.sh", "run", SERVER, "-c", "fsync=off",
                                         "-c", "restart_after_crash=on"])
        while not self.sql("SELECT 1"):
            time.sleep(0.05)

    def stop(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def restart(self):
        self.stop(signal.SIGQUIT)
        self.start()

    def sql(self, text, database="postgres"):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", SERVER, "-U", "retake", "-d",
                               database, "-c", text], capture_output=True, text=True)
        return done.stdout.split() if done.returncode == 0 else []

    def backends(self):
        return [int(pid) for pid in self.sql(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'retake'")]


def write(project, until, answers):
    """Appends one entry after another; answers: (content, status)."""
    number = 0
    while time.monotonic() < until:
        with subprocess.Popen([RETAKE, "--db", ADDRESS, "-p", project, "apply", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            while time.monotonic() < until:
                number += 1
                content = f"{project} {threading.get_ident()} {number}"
                try:
                    program.stdin.write(json.dumps({"op": "entry.append", "role": "User",
                                                    "content": content}) + "\n")
                    program.stdin.flush()
                    line = program.stdout.readline()
                except BrokenPipeError:
                    line = ""
                if not line:        # it could not open the store
                    answers.append((content, "io"))
                    break
                answer = json.loads(line)
                answers.append((content, answer.get("error", {}).get("code", "ok")))
            try:
                program.stdin.close()
            except BrokenPipeError:
                pass


def write_served(server, project, until, answers):
    """The same through the HTTP interface of one process."""
    client, number = server.client(project), 0
    while time.monotonic() < until:
        number += 1
        content = f"{project} {number}"
        answer = client.post("/discussions/main/entries", {"content": content})
        answers.append((content, "ok" if answer.status == 201 else answer.json["code"]))


def disturb(server, rng):
    """Returns the name of the disturbance."""
    what = rng.choice(["kill", "terminate", "terminate", "terminate", "restart"])
    if what == "restart":
        server.restart()
        return what
    pids = server.backends()
    if not pids:
        return "nothing"
    pid = rng.choice(pids)
    if what == "kill":
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended since
            return "nothing"
    else:
        server.sql(f"SELECT pg_terminate_backend({pid})")
    return what


def contents(project):
    done = subprocess.run([RETAKE, "--db", ADDRESS, "-p", project, "export", "--format",
                           "canonical"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [entry["content"] for d in json.loads(done.stdout)["discussions"]
            for take in d["takes"] for entry in take["entries"]]


def check(answers, present):
    """Returns a list of problems."""
    there = collections.Counter(present)
    problems = [f"twice: {content}" for content, count in there.items() if count > 1]
    for content, status in answers:
        if status == "ok" and content not in there:
            problems.append(f"confirmed but lost: {content}")
        if status not in ("ok", "io") and content in there:
            problems.append(f"refused as {status} but written: {content}")
    return problems


def run(server, rng, threads, until):
    for thread in threads:
        thread.start()
    done = {}
    while time.monotonic() < until:
        time.sleep(rng.uniform(0.02, 0.3))
        what = disturb(server, rng)
        done[what] = done.get(what, 0) + 1
    for thread in threads:
        thread.join()
    return done


def main():
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    rng = random.Random(seed)
    print(f"seed {seed}")
    server = Server()
    server.sql("CREATE DATABASE killed")
    place = served.Place()
    place.db = ADDRESS
    for project in ["shared", "alone"] + SERVED:
        while subprocess.run([RETAKE, "--db", ADDRESS, "-p", project, "add", "start"],
                             stdout=subprocess.DEVNULL).returncode:
            time.sleep(0.2)
    # Which commits were made durable by a later one: at the end of a transaction.
    server.sql("CREATE TABLE kinds(name text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
               " INSERT INTO kinds VALUES(current_setting('synchronous_commit')); RETURN NULL; END $$;"
               " CREATE CONSTRAINT TRIGGER note AFTER INSERT ON retake.log DEFERRABLE INITIALLY DEFERRED"
               " FOR EACH ROW EXECUTE FUNCTION note()", "killed")
    answers = {project: [] for project in ["shared", "alone"] + SERVED}
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=write, args=(p, until, answers[p]))
               for p in ["shared"] * (WRITERS - 1) + ["alone"]]
    with place, served.Server(place) as http:
        threads += [threading.Thread(target=write_served, args=(http, p, until, answers[p])) for p in SERVED]
        done = run(server, rng, threads, until)
    problems = []
    for project, given in answers.items():
        problems += check(given, contents(project))
        counts = {}
        for _, status in given:
            counts[status] = counts.get(status, 0) + 1
        print(f"{project}: {counts}")
        if counts.get("ok", 0) < 5:
            problems.append(f"{project}: hardly anything was written")
    print(f"disturbed: {done}")
    kinds = collections.Counter(server.sql("SELECT name FROM kinds", "killed"))
    print(f"commits: {dict(kinds)}")
    if kinds["off"] < 10:
        problems.append("hardly any commits shared a pipeline")
    fsck = subprocess.run([RETAKE, "--db", ADDRESS, "-p", "shared", "fsck"], capture_output=True,
                          text=True)
    if fsck.returncode:
        problems.append(fsck.stdout + fsck.stderr)
    server.stop(signal.SIGQUIT)
    for problem in problems[:20]:
        print("FAILED: " + problem)
    print(f"{0 if problems else 1} passed, {1 if problems else 0} failed")
    return 1 if problems else 0


sys.exit(main())
