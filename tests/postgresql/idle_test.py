# SPDX-License-Identifier: MIT
"""idle_test.py SOCKET_FOLDER ADDRESS: transactions of a server with open projects that have no clients."""
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
from client import Client, Place, Server, Tally  # noqa: E402

PROJECTS, SECONDS = 30, 3


def transactions(folder):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", folder, "-U", "retake", "-d", "test", "-c",
                           "SELECT xact_commit FROM pg_stat_database WHERE datname = 'test'"], capture_output=True, text=True, check=True)
    return int(done.stdout)


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
            before = transactions(sys.argv[1])
            time.sleep(SECONDS)
            used = transactions(sys.argv[1]) - before
            print(f"{used} transactions in {SECONDS} s")
            # Maintenance every 15 s takes a few for each project; asking for texts to index took ten a second.
            tally.check("few transactions while idle", used < 10 * PROJECTS, used)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
