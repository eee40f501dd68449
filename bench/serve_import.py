#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of the server during a large import, and how long another project's writer waits.

  bench/serve_import.py [RETAKE] [MIB]     default: build/retake, 64

A file of MIB MiB with conversations of 45 bytes, one per line, is sent to POST /import. At
the same time a second client adds an entry to another project every few milliseconds. Prints
the peak of resident memory, the memory a second after the import, and the second client's
waits; the last line is JSON. The waits include the disk's, so the same writer is measured
alone first."""
import json
import os
import statistics
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if len(sys.argv) > 1:
    os.environ["RETAKE"] = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
import client  # noqa: E402

MIB = int(sys.argv[2]) if len(sys.argv) > 2 else 64
LINE = b'{"messages":[{"role":"user","content":"x"}]}\n'
PAUSE_S = 0.005
ALONE_S = 5
client.WAIT_S = 1800


def memory(pid, name):
    """In MiB, from /proc."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1]) / 1024
    return 0


class Writer(threading.Thread):
    """Adds entries to a project until it is stopped; waits in ms."""

    def __init__(self, server):
        super().__init__()
        self.client = server.client("other")
        self.waits, self.begun = [], []
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.is_set():
            begun = time.monotonic()
            answer = self.client.post("/discussions/main/entries", {"content": "y"})
            self.waits.append((time.monotonic() - begun) * 1000)
            self.begun.append(begun)
            if answer.status != 201:
                raise RuntimeError(answer)
            time.sleep(PAUSE_S)

    def stop(self):
        self.stopped.set()
        self.join()
        waits = sorted(self.waits)
        longest = sorted(zip(self.waits, self.begun), reverse=True)[:5]
        return {"longest_at_s": [(round(at - self.begun[0], 1), round(ms)) for ms, at in longest],
                "writes": len(waits), "p50_ms": round(statistics.median(waits), 2),
                "p99_ms": round(waits[int(len(waits) * 0.99)], 2), "max_ms": round(waits[-1], 2)}


def main():
    with client.Place() as place:
        body = LINE * (MIB * 1024 * 1024 // len(LINE))
        place.run("add", "first", project="other")
        place.run("add", "first")
        with client.Server(place) as server:
            pid = server.process.pid
            alone = Writer(server)
            alone.start()
            time.sleep(ALONE_S)
            found = {"mib": MIB, "conversations": len(body) // len(LINE),
                     "before_mib": round(memory(pid, "VmRSS"), 1), "alone": alone.stop()}
            beside = Writer(server)
            beside.start()
            begun = time.monotonic()
            answer = server.client().request("POST", client.API + "/import?format=openai", body,
                                             {"Content-Type": "application/octet-stream"})
            found["seconds"] = round(time.monotonic() - begun, 1)
            found["beside"] = beside.stop()
            found["status"] = answer.status
            found["answer"] = answer.json
            found["peak_mib"] = round(memory(pid, "VmHWM"), 1)
            time.sleep(1)
            found["after_mib"] = round(memory(pid, "VmRSS"), 1)
    for name, value in found.items():
        print(f"{name:>14}  {value}")
    print(json.dumps(found))
    return 0 if answer.status < 300 else 1


if __name__ == "__main__":
    sys.exit(main())
