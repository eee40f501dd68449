#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""group_test.py SOCKET_FOLDER ADDRESS: clients of one `retake serve` in as many projects, so that commits
share pipelines. One that fails or waits for a lock keeps no other from being written. After a crash of
the database, rows that the server had read, but which were lost, are forgotten."""
import os
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
from client import Place, Server, Tally  # noqa: E402

PROJECTS = [f"p{at}" for at in range(16)]
PSQL = ["psql", "-X", "-q", "-A", "-t", "-h", sys.argv[1], "-U", "retake", "-d", "test"]
ID = "(SELECT id FROM retake.project WHERE name = '{}'::bytea)"


def sql(text):
    return subprocess.run([*PSQL, "-c", text], capture_output=True, text=True, check=True).stdout.split()


def write(server, project, until, answers):
    client = server.client(project)
    while time.monotonic() < until:
        begun = time.monotonic()
        answer = client.post("/discussions/main/entries", {"content": f"{project} {len(answers)}"})
        answers.append((answer.status, time.monotonic() - begun))


def write_all(server, seconds):
    """(status, seconds) of all requests, by project."""
    answers = {project: [] for project in PROJECTS}
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=write, args=(server, p, until, answers[p])) for p in PROJECTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def contents(client):
    return [entry["content"] for entry in client.get("/discussions/main/entries?last=1000").json["entries"]]


def failing(tally, server):
    sql("CREATE TABLE kinds(name text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO kinds VALUES(current_setting('synchronous_commit')); RETURN NULL; END $$;"
        " CREATE CONSTRAINT TRIGGER note AFTER INSERT ON retake.log DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION note(); CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$; CREATE TRIGGER fail BEFORE INSERT ON retake.log"
        f" FOR EACH ROW WHEN (new.project = {int(sql('SELECT ' + ID.format('p3'))[0])}) EXECUTE FUNCTION fail()")
    answers = write_all(server, 2)
    kinds = sql("SELECT name FROM kinds")
    tally.check("commits that a later one makes durable", kinds.count("off") > 20 and kinds.count("on") > 20,
                kinds.count("off"), kinds.count("on"))
    failed = {p for p in PROJECTS if any(status != 201 for status, _ in answers[p])}
    tally.equal("only one fails", failed, {"p3"})
    tally.check("always", all(status == 507 for status, _ in answers["p3"]), answers["p3"])
    sql("DROP TRIGGER fail ON retake.log; DROP TRIGGER note ON retake.log")
    for project in PROJECTS:
        wanted = ["start"] + [f"{project} {at}" for at, (status, _) in enumerate(answers[project]) if status == 201]
        tally.equal("what was confirmed, each once: " + project, contents(server.client(project))[-len(wanted):], wanted)


def waiting(tally, server):
    with subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdin.write(f"BEGIN; SELECT 1 FROM retake.project WHERE id = {ID.format('p5')} FOR UPDATE;\n")
        holder.stdin.flush()
        holder.stdout.readline()
        threading.Timer(4, lambda: (holder.stdin.write("COMMIT;\n"), holder.stdin.close())).start()
        answers = write_all(server, 2.5)
    times = {p: max(seconds for _, seconds in answers[p]) for p in PROJECTS}
    tally.check("the one whose project is locked waits", times.pop("p5") > 2, times)
    tally.check("the others do not", max(times.values()) < 2, times)
    tally.check("all are written", all(status == 201 for each in answers.values() for status, _ in each))


OF_Q = f"project = {ID.format('q')}"
LAST = f"seq = (SELECT seq FROM retake.project WHERE id = {ID.format('q')})"
BODY = f"number = (SELECT body FROM retake.project WHERE id = {ID.format('q')})"
DELETE = (f"DELETE FROM retake.log WHERE {OF_Q} AND {LAST}; DELETE FROM retake.body WHERE {OF_Q} AND {BODY};"
          f"DELETE FROM retake.root WHERE {OF_Q}; DELETE FROM retake.node WHERE {OF_Q};")


def keep_instead(place):
    """A project with one row, and another row, kept outside of it."""
    place.run("add", "start", project="q")
    place.apply([{"op": "entry.append", "role": "Witness", "content": "instead"}], project="q")
    sql(f"CREATE TABLE logs AS SELECT * FROM retake.log WHERE {OF_Q} AND {LAST};"
        f"CREATE TABLE bodies AS SELECT * FROM retake.body WHERE {OF_Q} AND {BODY}; {DELETE}"
        f"UPDATE retake.project SET seq = seq - 1, body = body - 1 WHERE id = {ID.format('q')}")


def lost(tally, server, place):
    """As after a crash in which the last row, read by the server, did not reach the disk, and another
    program has written a row since."""
    client = server.client("q")
    tally.equal("at first", contents(client), ["start"])
    place.run("add", "lost", project="q")
    tally.equal("a row of another program", contents(client), ["start", "lost"])
    sql(f"BEGIN; {DELETE} INSERT INTO retake.log SELECT * FROM logs; INSERT INTO retake.body SELECT * FROM bodies; COMMIT;"
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retake'")
    answer = client.post("/discussions/main/entries", {"content": "after it"})
    tally.equal("a change", answer.status, 201, answer)
    entries = client.get("/discussions/main/entries?last=1000").json["entries"]
    tally.equal("the rows that exist", [each["content"] for each in entries], ["start", "instead", "after it"])
    tally.equal("and the role in the log", entries[1]["role"], "Witness")
    tally.equal("sound", place.run("fsck").returncode, 0)


def main():
    tally = Tally()
    with Place() as place:
        place.db = sys.argv[2]
        for project in PROJECTS:
            place.run("add", "start", project=project)
        keep_instead(place)
        with Server(place) as server:
            failing(tally, server)
            waiting(tally, server)
            lost(tally, server, place)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
