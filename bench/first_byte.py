#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long `retake ask` takes until the first byte of its request leaves, in a long take.

  bench/first_byte.py [RETAKE]       default: build/retake

ENTRIES entries (100000) of about 1 KiB; a budget of BUDGET tokens (128000); ROUNDS questions
each (5) to a model with estimated token counts and to one with exact counts. The time is
measured from the start of the program to the first byte at a server on 127.0.0.1; it includes
storing the question durably."""
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ENTRIES = int(os.environ.get("ENTRIES", "100000"))
BUDGET = os.environ.get("BUDGET", "128000")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
RETAKE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/retake")
WORDS = ("the quick brown fox jumps over a lazy dog and returns to where it came from with 42 "
         "others").split()
ANSWER = b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'
first_bytes = []


def serve(listener):
    while True:
        connection, _ = listener.accept()
        head = connection.recv(1)
        first_bytes.append(time.monotonic())
        while b"\r\n\r\n" not in head:
            head += connection.recv(65536)
        head, _, body = head.partition(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while size > len(body):
            body += connection.recv(1 << 20)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                           b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER)
        connection.close()


def main():
    random.seed(1)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        env = {key: value for key, value in os.environ.items()
               if key == "RETAKE_TOKENS" or not key.startswith("RETAKE_")}
        env.update(HOME=folder, XDG_DATA_HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
        os.mkdir(folder + "/retake")
        with open(folder + "/retake/config.toml", "w", encoding="utf-8") as file:
            file.write(f'[provider.s]\nkind = "openai"\n'
                       f'url = "http://127.0.0.1:{listener.getsockname()[1]}"\n')
        with open(folder + "/in.jsonl", "w", encoding="utf-8") as file:
            for number in range(ENTRIES):
                text = " ".join(random.choice(WORDS) for _ in range(200))
                file.write(json.dumps({"op": "entry.append", "role": ("User", "AI")[number % 2],
                                       "content": text}) + "\n")
        base = [RETAKE, "--db", folder + "/b.db"]
        subprocess.run(base + ["--relaxed", "apply", folder + "/in.jsonl"], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        for name, model in (("estimated", "s/unknown"), ("counted", "s/gpt-4o")):
            times = []
            for _ in range(ROUNDS):
                begun = time.monotonic()
                subprocess.run(base + ["-q", "ask", "-m", model, "--budget", BUDGET, "Well?"],
                               env=env, check=True, stdout=subprocess.DEVNULL)
                times.append((first_bytes[-1] - begun) * 1000)
            result[name + "_ms"] = round(statistics.median(times))
    print(json.dumps(result))


main()
