# SPDX-License-Identifier: MIT
"""idle_test.py SOCKET_FOLDER ADDRESS [PROJECTS]: transactions of a server with open projects, without and with event streams."""
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
from client import Client, Place, Server, Tally  # noqa: E402

PROJECTS = int(sys.argv[3]) if len(sys.argv) > 3 else 30
SECONDS = 3
ASKED = 20 + 4 * 2  # in a second: rows of the log, and two kinds of side rows


def transactions(folder):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", folder, "-U", "retake", "-d", "test", "-c",
                           "SELECT xact_commit FROM pg_stat_database WHERE datname = 'test'"], capture_output=True, text=True, check=True)
    return int(done.stdout)


def count_in(seconds):
    before = transactions(sys.argv[1])
    time.sleep(seconds)
    return transactions(sys.argv[1]) - before


def main():
    tally = Tally()
    with Place() as place:
        place.db = sys.argv[2]
        place.run("add", "first")
        with Server(place) as server:
            client = server.client()
            for at in range(PROJECTS):
                client.post("/projects", {"name": f"p{at}"})
                Client(server, client.headers, f"p{at}").post("/discussions/main/entries", {"content": "x"})
            time.sleep(2)
            used = count_in(SECONDS)
            print(f"{used} transactions in {SECONDS} s")
            # Maintenance every 15 s takes a few for each project; asking for texts to index took ten a second.
            tally.check("few transactions while idle", used < 10 * PROJECTS, used)
            streams = [Client(server, client.headers, f"p{at}").events() for at in range(PROJECTS)]
            for stream in streams:
                stream.until(lambda event, _: event == "hello")
            time.sleep(2)
            used = count_in(SECONDS)
            print(f"{used} transactions in {SECONDS} s with {len(streams)} streams in as many projects")
            # The same for any number of projects; each alone took 10 to 40 in a second. The server's statistics are late.
            tally.check("as many as for one project", used < 4 * ASKED * SECONDS, used)
            begun = time.monotonic()
            place.run("add", "from elsewhere", project="p0")
            streams[0].until(lambda event, _: event == "op")
            print(f"a change of another program arrived {1000 * (time.monotonic() - begun):.0f} ms after its command began")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
