#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Throughput and memory of the server.

  bench/serve.py [RETAKE] [PART …]     default: build/retake, all parts

Parts, each with a new server on a new store:

  read     wrk, 50 connections, GET of one small entry; alternating with a minimal
           libmicrohttpd server (bench/serve/hello.c), ROUNDS times (5) SECONDS each (5)
  write    wrk, POST of an entry, durable: with 1 connection and with CLIENTS (64), in turn
  streams  STREAMS (2000) clients of /events: memory of the server for each, and the time from
           a change until the last of them has received it, ROUNDS times
  pair     the same with the clients distributed over two servers of one store, from the response
           to the change (target: 150 ms); the store is a PostgreSQL database, started for it
  crowd    50 connections that read, alone and together with 1,000 that never end their
           headers, 50 that send a body slowly and 50 that never read their events: p99 and
           memory

wrk and both servers share the processors: only ratios of one run are meaningful. The last
line is JSON."""
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
import client  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = int(os.environ.get("SECONDS", "5"))
CLIENTS = int(os.environ.get("CLIENTS", "64"))
STREAMS = int(os.environ.get("STREAMS", "2000"))
LOOPS = str(min(4, os.cpu_count() or 1))


def unit(text):
    number, word = re.match(r"([\d.]+)(us|ms|s|m)?", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[word or "s"]


def wrk(url, connections, seconds=SECONDS, headers=(), script=None):
    """(requests per second, p99 in ms, responses other than 2xx)"""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    for header in headers:
        command += ["-H", header]
    if script:
        command += ["-s", script]
    text = subprocess.run(command + [url], capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    p99 = unit(re.search(r"^\s+99%\s+(\S+)", text, re.M)[1])
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return rate, p99, int(bad[1]) if bad else 0


def median(values):
    return round(statistics.median(values), 2)


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0


def files_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Hello:
    def __init__(self, folder):
        program = os.path.join(folder, "hello")
        subprocess.run(["cc", "-O2", "-o", program, os.path.join(ROOT, "bench/serve/hello.c"),
                        "-lmicrohttpd"], check=True)
        self.port = free_port()
        self.process = subprocess.Popen([program, str(self.port), LOOPS], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def bearer(server):
    return f"Authorization: Bearer {server.token}"


def an_entry(server):
    answer = server.client().post("/ops/entry.append", {"role": "User", "content": "What is the capital of France?"})
    assert answer.status in (200, 201), answer
    return (f"http://127.0.0.1:{server.port}/retake/v1/discussions/main/entries/"
            f"{answer.json['entry']}")


def part_read(folder):
    hello = Hello(folder)
    rates, ours = [], []
    with client.Place() as place, client.Server(place) as server:
        url = an_entry(server)
        for _ in range(ROUNDS):
            rates.append(wrk(f"http://127.0.0.1:{hello.port}/", 50))
            ours.append(wrk(url, 50, headers=[bearer(server)]))
    hello.close()
    assert not sum(bad for _, _, bad in ours)
    return {"hello_rps": median([r for r, _, _ in rates]), "hello_p99_ms":
            median([p for _, p, _ in rates]), "rps": median([r for r, _, _ in ours]),
            "p99_ms": median([p for _, p, _ in ours]),
            "share": median([b[0] / a[0] for a, b in zip(rates, ours)])}


def part_write(folder):
    script = os.path.join(folder, "post.lua")
    with open(script, "w", encoding="ascii") as out:
        out.write('wrk.method = "POST"\nwrk.body = \'{"role":"User","content":"hello"}\'\n'
                  'wrk.headers["Content-Type"] = "application/json"\n')
    one, many = [], []
    with client.Place() as place, client.Server(place) as server:
        url = f"http://127.0.0.1:{server.port}/retake/v1/ops/entry.append"
        for _ in range(ROUNDS):
            one.append(wrk(url, 1, headers=[bearer(server)], script=script))
            many.append(wrk(url, CLIENTS, headers=[bearer(server)], script=script))
    assert not sum(bad for _, _, bad in one + many), (one, many)
    return {"one_per_s": median([r for r, _, _ in one]),
            f"clients_{CLIENTS}_per_s": median([r for r, _, _ in many]),
            "p99_ms": median([p for _, p, _ in many]),
            "times": median([b[0] / a[0] for a, b in zip(one, many)])}


def open_streams(server, count):
    streams = []
    request = (f"GET /retake/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
               f"{bearer(server)}\r\n\r\n").encode()
    for _ in range(count):
        s = socket.create_connection(("127.0.0.1", server.port))
        s.sendall(request)
        streams.append(s)
    return streams


def wait_for(streams, word, limit_s=30):
    """Waits until each has received this word; returns the time that it took."""
    start = time.monotonic()
    waiting = selectors.DefaultSelector()
    for s in streams:
        s.setblocking(False)
        waiting.register(s, selectors.EVENT_READ, bytearray())
    left = len(streams)
    while left and time.monotonic() - start < limit_s:
        for key, _ in waiting.select(1):
            part = key.fileobj.recv(65536)
            key.data.extend(part)
            if word in key.data or not part:
                waiting.unregister(key.fileobj)
                left -= 1
    assert left == 0, f"{left} streams had nothing"
    return (time.monotonic() - start) * 1000


def part_streams(_):
    times = []
    with client.Place() as place, client.Server(place) as server:
        an_entry(server)
        before = resident_mb(server.process.pid)
        streams = open_streams(server, STREAMS)
        wait_for(streams, b"event: hello")
        after = resident_mb(server.process.pid)
        for i in range(ROUNDS):
            answer = server.client().post("/ops/entry.append", {"content": f"round {i}"})
            assert answer.status in (200, 201), answer
            times.append(wait_for(streams, f"\"seq\":{answer.json['seq']},".encode()))
        end = resident_mb(server.process.pid)
        for s in streams:
            s.close()
    return {"streams": STREAMS, "mb_before": round(before, 1), "mb_with": round(after, 1),
            "mb_after_events": round(end, 1),
            "kb_each": round((end - before) * 1024 / STREAMS, 1),
            "ms_to_reach_all": median(times)}


class Database:
    """A PostgreSQL server with a database for one store."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(dir="/tmp")  # the path of a socket has to be short
        program = os.path.join(ROOT, "tests/postgresql/server.sh")
        subprocess.run([program, "make", self.folder], check=True)
        self.process = subprocess.Popen([program, "run", self.folder])
        while subprocess.run(["psql", "-X", "-q", "-h", self.folder, "-U", "retake", "-d", "postgres", "-c", "CREATE DATABASE bench"],
                             stderr=subprocess.DEVNULL).returncode:
            time.sleep(0.1)
        return f"postgresql://retake@/bench?host={self.folder}"

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def part_pair(_):
    alone, times = [], []
    with Database() as address, client.Place() as place:
        place.db = address
        token = ("--token-file", os.path.join(place.folder, "shared-token"))
        with open(token[1], "w", encoding="ascii") as file:
            file.write("5a" * 32 + "\n")
        os.chmod(token[1], 0o600)
        place.run("add", "first")
        with client.Server(place, *token) as a, client.Server(place, *token) as b:
            one = open_streams(b, 1)
            wait_for(one, b"event: hello")
            streams = open_streams(a, STREAMS // 2) + open_streams(b, STREAMS - STREAMS // 2)
            wait_for(streams, b"event: hello")
            for i in range(4 * ROUNDS):
                answer = (a, b)[i % 2].client().post("/ops/entry.append", {"content": f"round {i}"})
                assert answer.status in (200, 201), answer
                word = f"\"seq\":{answer.json['seq']},".encode()
                times.append(wait_for(streams, word))
                wait_for(one, word)
            for s in streams:
                s.close()
            time.sleep(1)
            for i in range(4 * ROUNDS):  # one stream, of the server that did not get the change
                answer = a.client().post("/ops/entry.append", {"content": f"again {i}"})
                alone.append(wait_for(one, f"\"seq\":{answer.json['seq']},".encode()))
    return {"streams": STREAMS, "ms_to_reach_all": median(times), "ms_most": round(max(times), 1),
            "ms_one_stream_elsewhere": median(alone), "ms_one_most": round(max(alone), 1)}


def part_crowd(_):
    with client.Place() as place, client.Server(place) as server:
        url = an_entry(server)
        memory = resident_mb(server.process.pid)
        alone = [wrk(url, 50, headers=[bearer(server)]) for _ in range(3)]
        time.sleep(1)
        files = files_of(server.process.pid)
        crowd = []
        for _ in range(1000):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
            crowd.append(s)
        for _ in range(50):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall((f"POST /retake/v1/ops/entry.append HTTP/1.1\r\nHost: 127.0.0.1:"
                       f"{server.port}\r\n{bearer(server)}\r\nContent-Type: application/json\r\n"
                       "Content-Length: 100000\r\n\r\n{").encode())
            crowd.append(s)
        crowd += open_streams(server, 50)
        beside = wrk(url, 50, seconds=SECONDS, headers=[bearer(server)])
        most = resident_mb(server.process.pid)
        late = time.monotonic()
        while files_of(server.process.pid) > files + 60 and time.monotonic() - late < 90:
            time.sleep(0.5)
        gone_s = time.monotonic() - late
        for s in crowd:
            s.close()
        late = time.monotonic()
        while files_of(server.process.pid) > files and time.monotonic() - late < 90:
            time.sleep(0.5)
        back_s = time.monotonic() - late
        end = files_of(server.process.pid)
    return {"p99_alone_ms": median([p for _, p, _ in alone]), "p99_crowd_ms": beside[1],
            "rps_alone": median([r for r, _, _ in alone]), "rps_crowd": beside[0],
            "mb_before": round(memory, 1), "mb_crowd": round(most, 1),
            "half_open_gone_after_s": round(gone_s, 1), "files_before": files, "files_after": end,
            "files_back_after_s": round(back_s, 1)}


def main():
    parts = sys.argv[1:]
    if parts and os.path.exists(parts[0]):
        os.environ["RETAKE"] = os.path.abspath(parts.pop(0))
    os.environ.setdefault("RETAKE", os.path.join(ROOT, "build/retake"))
    if not shutil.which("wrk"):
        sys.exit("bench/serve.py needs wrk (Debian: wrk)")
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in parts or ["read", "write", "streams", "pair", "crowd"]:
            result[name] = globals()[f"part_{name}"](folder)
            print(name, json.dumps(result[name]), flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
