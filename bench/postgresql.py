#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed of a store in PostgreSQL beside pgbench.

    bench/postgresql.py            three minutes

Starts a server with its defaults (fsync on) below TMPDIR and alternates, ROUNDS (3) times for SECONDS (5) each,
with 1 and with 64 clients: pgbench that inserts one row with as many bytes as an append stores (a prepared
INSERT, which is its own transaction), and appends of SIZE (1000) bytes through the engine. The 64 clients are
halved between two processes, each with one handle as in a server, and have each its own project, or share 8 or one
between both processes. Prints the rates, the median ratio of the pairs, and the median time to open a discussion of
ENTRIES (100000) entries and read its last 50 texts; also the time of `retake show` for it, and the rate of appends
with row-level security."""
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RETAKE = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
BENCH = os.environ.get("BENCH", os.path.join(ROOT, "build/obj/bench/postgresql-bench"))
SERVER = os.path.join(ROOT, "tests/postgresql/server.sh")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = int(os.environ.get("SECONDS", "5"))
SIZE = int(os.environ.get("SIZE", "1000"))
ENTRIES = int(os.environ.get("ENTRIES", "100000"))


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Server:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="retake-pg-")
        subprocess.run([SERVER, "make", self.folder], check=True)
        self.process = subprocess.Popen([SERVER, "run", self.folder])
        while not os.path.exists(f"{self.folder}/.s.PGSQL.5432"):
            time.sleep(0.05)
        time.sleep(0.5)
        self.sql("CREATE DATABASE bench", "postgres")
        self.address = f"postgresql://retake@/bench?host={self.folder}"

    def sql(self, text, database="bench"):
        return output("psql", "-X", "-q", "-A", "-t", "-h", self.folder, "-U", "retake", "-d",
                      database, "-c", text).strip()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.folder)

    def pgbench(self, clients, script):
        text = output("pgbench", "-h", self.folder, "-U", "retake", "-n", "-M", "prepared", "-f",
                      script, "-c", str(clients), "-j", "2", "-T", str(SECONDS), "bench")
        return float(text.split("tps = ")[1].split()[0])

    def appends(self, clients, projects=1, processes=1):
        words = [BENCH, "append", self.address, str(clients // processes), str(SECONDS), str(SIZE)]
        started = []
        for number in range(processes):
            own = projects > clients // processes  # then each process has its own ones
            words_of = words + [str(projects // processes if own else projects), str(number if own else 0)]
            started.append(subprocess.Popen(words_of, stdout=subprocess.PIPE, text=True))
        return sum(float(each.communicate()[0]) for each in started)


def security(server):
    """Appends of one client with row-level security, beside those of the owner of the tables."""
    owner = server.address
    server.sql("CREATE ROLE retake_server LOGIN; GRANT USAGE ON SCHEMA retake TO retake_server;"
               "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retake TO retake_server")
    for words in (("user", "new", "ann"), ("member", "ann", "editor")):
        output(RETAKE, "--db", owner, "-p", "client-0-0", *words)
    limited = owner.replace("retake@", "retake_server@")
    rates = {}
    for _ in range(ROUNDS):
        for name, address, identity in (("owner", owner, ""), ("program", limited, ""), ("user", limited, "u1")):
            server.address = address
            os.environ["IDENTITY"] = identity
            rates.setdefault(name, []).append(server.appends(1))
    server.address = owner
    os.environ["IDENTITY"] = ""
    print("row-level security, 1 client, appends per second: " + ", ".join(
        f"{name} {statistics.median(each):.0f}" for name, each in rates.items()))


def main():
    server = Server()
    try:
        server.appends(1)
        size = int(server.sql("SELECT round(avg(length(l.data) + length(b.data))) FROM retake.log l"
                              " JOIN retake.body b ON b.project = l.project AND b.number = l.seq"))
        server.sql("CREATE TABLE inserted(id bigserial PRIMARY KEY, at bigint, step bytea, sum"
                   " bigint, data bytea)")
        script = f"{server.folder}/insert.sql"
        with open(script, "w", encoding="utf-8") as out:
            words = (b"the quick brown fox " * size)[:size].hex()
            out.write("INSERT INTO inserted(at, step, sum, data) VALUES(1, '\\x"
                      + "11" * 16 + f"', 2, '\\x{words}');\n")
        print(f"bytes of an append: {size}")
        for clients, projects, processes in ((1, 1, 1), (64, 64, 2), (64, 8, 2), (64, 1, 2)):
            pairs = [(server.pgbench(clients, script), server.appends(clients, projects, processes))
                     for _ in range(ROUNDS)]
            ratio = statistics.median(ours / theirs for theirs, ours in pairs)
            print(f"{clients} clients, {projects} projects, {processes} processes: ratio {ratio:.2f}; pgbench, retake per second: "
                  + ", ".join(f"{theirs:.0f} {ours:.0f}" for theirs, ours in pairs))
        security(server)
        os.environ["PGOPTIONS"] = "-c synchronous_commit=off"
        output(BENCH, "fill", server.address, str(ENTRIES), "200")
        del os.environ["PGOPTIONS"]
        server.sql("VACUUM ANALYZE")
        print(f"open {ENTRIES} entries: {output(BENCH, 'open', server.address, '21').strip()} ms")
        times = []
        for _ in range(11):
            begun = time.monotonic()
            output(RETAKE, "--db", server.address, "-p", "full", "show", ":-1")
            times.append((time.monotonic() - begun) * 1000)
        print(f"retake show of the last entry: {statistics.median(times):.1f} ms")
    finally:
        server.close()


main()
