#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers are stopped while clients send requests on open connections and listen to events: each
server ends by itself without output, and leaves a valid store."""
import http.client
import os
import sys
import threading

from client import Place, Server, Tally

ASKING = 12
BEFORE = 40  # responses of each kind before the stop


def ask(server, has_begun, statuses):
    client = server.client()
    try:
        for count in range(1000000):
            answer = client.post("/discussions/main/entries", {"content": str(count)}) \
                if count % 8 == 0 else client.get("/discussions")
            statuses.add(answer.status)
            if count == BEFORE:
                has_begun.release()
    except (OSError, http.client.HTTPException):
        pass  # the server has ended
    finally:
        has_begun.release()


def once(tally, at):
    with Place() as place, Server(place) as server:
        begun, statuses = threading.Semaphore(0), set()
        streams = [server.client().events() for _ in range(4)]
        threads = [threading.Thread(target=ask, args=(server, begun, statuses))
                   for _ in range(ASKING)]
        for thread in threads:
            thread.start()
        for _ in threads:
            begun.acquire()
        tally.equal(f"end {at}: in order", server.stop(), 0)
        for thread in threads:
            thread.join()
        for stream in streams:
            try:
                stream.until(lambda *_: False)
            except (OSError, http.client.HTTPException):
                pass  # cut off
            stream.close()
        tally.check(f"end {at}: late requests were refused", statuses <= {200, 201, 503}, statuses)
        with open(os.path.join(place.folder, "serve.log"), encoding="utf-8") as file:
            said = [line for line in file.read().splitlines()
                    if line and "created a new store" not in line]
        tally.equal(f"end {at}: no output", said, [])
        tally.equal(f"end {at}: the store is whole", place.run("fsck").returncode, 0)


def main():
    tally = Tally()
    for at in range(int(os.environ.get("TIMES", "8"))):
        once(tally, at)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
