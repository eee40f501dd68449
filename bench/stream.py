#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Latency that Retake adds to each chunk of a streaming reply.

  bench/stream.py [RETAKE]       default: build/retake

A server on 127.0.0.1 sends CHUNKS chunks (400), one every PACE_MS (5), each with its send
time in the text. The readers are `retake ask` and `curl -N`, alternating, ROUNDS times each
(5); measured is the time until each chunk appears on the reader's standard output. Then the
same without pauses and BURST chunks (20000): the total time.

The last line is JSON. Medians of both are similar on an idle machine; on a busy one, compare
the two within one run."""
import json
import multiprocessing
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CHUNKS = int(os.environ.get("CHUNKS", "400"))
PACE_MS = float(os.environ.get("PACE_MS", "5"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
BURST = int(os.environ.get("BURST", "20000"))
RETAKE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/retake")
HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
STAMP = re.compile(rb"t=(\d+);")


def chunk(text):
    return ("data: " + json.dumps({"id": "c", "object": "chat.completion.chunk", "model": "m",
                                   "choices": [{"index": 0, "delta": {"content": text},
                                                "finish_reason": None}]}) + "\n\n").encode()


def serve(listener):
    """One reply per connection; the path contains the number of chunks and the pace."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65536)
        head, _, body = request.partition(b"\r\n\r\n")
        found = re.search(rb"(?i)content-length: *(\d+)", head)
        while found and len(body) < int(found[1]):
            body += connection.recv(65536)
        count, pace = (CHUNKS, PACE_MS / 1000) if b" /paced/" in head else (BURST, 0)
        connection.sendall(HEAD)
        if pace == 0:
            pieces = [chunk(f"t={number};\n") for number in range(count)]
            for at in range(0, count, 50):
                connection.sendall(b"".join(pieces[at:at + 50]))
        due = time.monotonic()
        for _ in range(count if pace else 0):
            due += pace
            time.sleep(max(0, due - time.monotonic()))
            connection.sendall(chunk(f"t={time.monotonic_ns()};\n"))
        connection.sendall(b"data: [DONE]\n\n")
        connection.close()


def read(command, env):
    """(latencies in ns, seconds for all, text) of a reader."""
    begun = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    late, count, rest = [], 0, b""
    while True:
        more = os.read(process.stdout.fileno(), 65536)
        now = time.monotonic_ns()
        if not more:
            break
        rest += more
        for stamp in STAMP.finditer(rest):
            late.append(now - int(stamp[1]))
            count = stamp.end()
        rest, count = rest[count:], 0
    err = process.stderr.read().decode()
    if process.wait() != 0:
        sys.exit(f"{command[0]} failed: {err}")
    return late, time.monotonic() - begun


def figures(late):
    late = sorted(late)
    return {"median_us": round(statistics.median(late) / 1000),
            "p99_us": round(late[len(late) * 99 // 100] / 1000),
            "most_us": round(late[-1] / 1000), "chunks": len(late)}


def main():
    if shutil.which("curl") is None:
        sys.exit("bench/stream.py compares with curl, which is not there")
    listener = socket.create_server(("127.0.0.1", 0))
    root = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = multiprocessing.Process(target=serve, args=(listener,), daemon=True)
    server.start()
    late = {"retake": [], "curl": []}
    whole = {"retake": [], "curl": []}
    with tempfile.TemporaryDirectory() as folder:
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("RETAKE_") and "proxy" not in key.lower()}
        env.update(HOME=folder, XDG_DATA_HOME=folder, XDG_STATE_HOME=folder,
                   XDG_CONFIG_HOME=folder)
        os.mkdir(folder + "/retake")
        with open(folder + "/retake/config.toml", "w", encoding="utf-8") as file:
            for name in ("paced", "burst"):
                file.write(f'[provider.{name}]\nkind = "openai"\nurl = "{root}/{name}"\n')
        for number in range(ROUNDS):
            for name in ("paced", "burst"):
                commands = {
                    "retake": [RETAKE, "--db", f"{folder}/{name}{number}.db", "ask", "-m",
                               name + "/m", "Go"],
                    "curl": ["curl", "-sN", f"{root}/{name}/chat/completions"]}
                for reader, command in commands.items():
                    found, seconds = read(command, env)
                    if len(found) != (CHUNKS if name == "paced" else BURST):
                        sys.exit(f"{reader} lost chunks: {len(found)}")
                    if name == "paced":
                        late[reader] += found
                    else:
                        whole[reader].append(seconds)
    server.terminate()
    result = {name: figures(found) for name, found in late.items()}
    for name, found in whole.items():
        result[name]["burst_s"] = round(statistics.median(found), 3)
    for key in ("median_us", "p99_us"):
        result["added_" + key] = result["retake"][key] - result["curl"][key]
        result["ratio_" + key[:-3]] = round(result["retake"][key] / result["curl"][key], 2)
    for name in ("retake", "curl"):
        print("{:7} median {median_us} us, p99 {p99_us} us, most {most_us} us of {chunks} chunks; "
              "{} chunks at once in {burst_s} s".format(name, BURST, **result[name]))
    print(f"added: median {result['added_median_us']} us, p99 {result['added_p99_us']} us")
    print(json.dumps(result))


main()
