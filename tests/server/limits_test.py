#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The limits of the server: one below, at, and one above each; and clients that are slow, that
never read, or that disconnect in the middle of something.

This does not measure the server's speed. Where something must happen in time, a flag makes
the limit short, and the test waits many times as long."""
import concurrent.futures
import os
import socket
import struct
import sys
import time

from client import API, Place, Server, Tally

PATIENCE_S = 60
KIB, MIB = 1 << 10, 1 << 20


# ---- helpers ----

def connect(server, small=False):
    wire = socket.socket()
    if small:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.settimeout(PATIENCE_S)
    wire.connect(("127.0.0.1", server.port))
    return wire


def head(server, line, *headers):
    return "\r\n".join([line + " HTTP/1.1", f"Host: 127.0.0.1:{server.port}",
                        f"Authorization: Bearer {server.token}", *headers]).encode() + b"\r\n\r\n"


def status_of(wire):
    """The status of the next response; 0: the connection ended without one."""
    got = b""
    try:
        while b"\r\n\r\n" not in got:
            piece = wire.recv(65536)
            if not piece:
                return 0, got
            got += piece
        size = [int(line.split(b":")[1]) for line in got.split(b"\r\n")
                if line.lower().startswith(b"content-length:")]
        while size and len(got.partition(b"\r\n\r\n")[2]) < size[0]:
            piece = wire.recv(65536)
            if not piece:
                break
            got += piece
    except ConnectionError:
        if b"\r\n\r\n" not in got:
            return 0, got
    return int(got.split(b" ")[1]), got


def ask(server, data):
    with connect(server) as wire:
        try:
            wire.sendall(data)
        except (ConnectionError, BrokenPipeError):
            pass    # answered before the whole request was sent
        return status_of(wire)


def is_over(wire, seconds=PATIENCE_S):
    """Does the other end close within this time?"""
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            wire.settimeout(max(0.01, end - time.monotonic()))
            if not wire.recv(65536):
                return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return False


# ---- resources of the process ----

def resident(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * KIB
    raise RuntimeError("no VmRSS")


def holdings(server):
    """Number of sockets, other descriptors, and threads."""
    folder = f"/proc/{server.process.pid}/"
    kinds = []
    for name in os.listdir(folder + "fd"):
        try:
            kinds.append(os.readlink(folder + "fd/" + name).startswith("socket:"))
        except OSError:
            pass    # closed in the meantime
    return sum(kinds), len(kinds) - sum(kinds), len(os.listdir(folder + "task"))


# ---- sizes ----

def sizes(tally, place, server):
    def target(size):
        start = API + "/health?x="
        return ask(server, head(server, "GET " + start + "a" * (size - len(start))))[0]

    for by, wanted in ((-1, 200), (0, 200), (1, 414), (8 * KIB, 414)):
        tally.equal(f"a target of 8 KiB {by:+}", target(8 * KIB + by), wanted)

    plain = head(server, f"GET {API}/health")
    fields = [line.split(b": ", 1) for line in plain.split(b"\r\n")[1:] if line]
    used = sum(len(name) + len(value) for name, value in fields)

    def headers(size, count):
        """Headers with this many bytes of names and values."""
        rest = size - used
        each, names = rest // (count - len(fields)), []
        for at in range(count - len(fields)):
            some = each if at else rest - each * (count - len(fields) - 1)
            names.append("X: " + "a" * (some - 1))
        return ask(server, head(server, f"GET {API}/health", *names))

    for by, wanted in ((-1, 200), (0, 200), (1, 431), (16 * KIB, 431)):
        got, text = headers(32 * KIB + by, 10)
        tally.equal(f"headers of 32 KiB {by:+}", got, wanted, text[:300])
        tally.check("and it says so in our own words", wanted == 200 or
                    b"urn:retake:problem:headers-too-large" in text, text[:600])
    for by, wanted in ((-1, 200), (0, 200), (1, 431)):
        tally.equal(f"100 headers {by:+}", headers(8 * KIB, 100 + by)[0], wanted)
    # Too large for the buffer of libmicrohttpd, which answers by itself or closes the connection.
    for name, data in (("target", head(server, "GET /" + "a" * MIB)),
                       ("header", head(server, f"GET {API}/health", "X: " + "a" * MIB)),
                       ("name of a header", head(server, f"GET {API}/health", "a" * MIB + ": x")),
                       ("line without end", b"GET /" + b"a" * MIB)):
        got, text = ask(server, data)
        tally.check(f"a {name} of 1 MiB is not taken", got in (0, 400, 413, 414, 431), text[:300])

    route = f"POST {API}/ops/entry.append"

    def body(size, chunked):
        text = b'{"content":"x"}'
        text += b" " * (size - len(text))
        kind = "Content-Type: application/json"
        if not chunked:
            return ask(server, head(server, route, kind, f"Content-Length: {size}") + text)[0]
        parts = b"".join(b"%x\r\n" % len(text[at:at + 100000]) + text[at:at + 100000] + b"\r\n"
                         for at in range(0, size, 100000))
        return ask(server, head(server, route, kind, "Transfer-Encoding: chunked") + parts +
                   b"0\r\n\r\n")[0]

    for chunked in (False, True):
        for by, wanted in ((-1, 201), (0, 201), (1, 413), (256 * KIB, 413)):
            tally.equal(f"a body of 8 MiB {by:+}{' in chunks' if chunked else ''}",
                        body(8 * MIB + by, chunked), wanted)
    before = place.canonical()
    for name, size in (("one more", 8 * MIB + 1), ("16 EiB", 10 ** 18 - 1)):
        got, text = ask(server, head(server, route, "Content-Type: application/json",
                                     f"Content-Length: {size}"))
        tally.check(f"{name} is refused before it is sent", got == 413 and
                    b"urn:retake:problem:too-large" in text, text[:600])
    got, text = ask(server, head(server, f"POST {API}/import",
                                 "Content-Type: application/octet-stream",
                                 f"Content-Length: {(1 << 30) + 1}"))
    tally.equal("an import of more than 1 GiB is refused before it is sent", got, 413, text[:300])
    with connect(server) as wire:
        wire.sendall(head(server, f"POST {API}/import", "Content-Type: application/octet-stream",
                          f"Content-Length: {1 << 30}", "Expect: 100-continue"))
        got, text = status_of(wire)
        tally.equal("one of 1 GiB may come", got, 100, text[:300])
    tally.check("what is refused has changed nothing", place.canonical() == before)


def answered_by_the_library(tally, place, server):
    """Requests that libmicrohttpd answers before our code is called (docs/security.md). Version
    0.9.75 writes the headers of such a response twice, later versions once; in either case
    the connection ends and nothing is done."""
    before = place.canonical()
    route = f"POST {API}/ops/entry.append"
    kind = "Content-Type: application/json"
    for length in ("+5", "0x5", "-1", "5, 5", "5 5", "", "9" * 20):
        with connect(server) as wire:
            wire.sendall(head(server, route, kind, f"Content-Length: {length}") + b"{}   ")
            got, piece = b"", b"x"
            while piece:
                try:
                    piece = wire.recv(65536)
                except ConnectionError:
                    break
                got += piece
        blocks = got.count(b"HTTP/1.1 ")
        tally.check(f"a length of {length!r} is refused", got.split(b" ")[1:2] in ([b"400"], [b"413"]) and
                    blocks in (1, 2), got)
        tally.equal("and the connection ends with it", got.count(b"Connection: close"), blocks, got)
        tally.check("with one body at most", got.count(b"</html>") <= 1, got)
    chunked = head(server, route, kind, "Transfer-Encoding: chunked")
    got, text = ask(server, chunked + b"2;" + b"x" * 60000 + b"\r\n{}\r\n0\r\n\r\n")
    tally.check("a chunk with a large extension is refused", got in (400, 413, 431, 500), text)
    got, text = ask(server, chunked + b"f" * 16 + b"\r\n" + b" " * (10 * MIB))
    tally.check("a chunk of any declared size is counted as it comes", got in (0, 400, 413), text)
    tally.check("none of it has changed anything", place.canonical() == before)


def sizes_and_codes(tally):
    with Place() as place, Server(place) as server:
        sizes(tally, place, server)
        answered_by_the_library(tally, place, server)
        codes(tally, server)


def large_import(tally):
    """Imports 20 MiB, buffered in an unlinked file."""
    with Place() as source, Place() as place, Server(place) as server:
        text = "".join(f"{n:07x} " for n in range(64 * KIB))      # 512 KiB
        source.apply([{"op": "entry.append", "content": f"{n} {text}"} for n in range(40)])
        data = source.canonical()
        tally.check("there are 20 MiB", len(data) > 20 * MIB)
        answer = server.client().request("POST", API + "/import?format=canonical", data,
                                         {"Content-Type": "application/octet-stream"})
        tally.check("an import of 20 MiB", answer.status in (200, 201) and
                    answer.json.get("entries") == 40, answer)
        export = server.client().request("GET", API + "/export?format=pi&lossless=true").body
        tally.check("is there whole", all(f"{n} {text}".encode() in export for n in range(40)))
        left = [name for folder, _, names in os.walk(place.folder) for name in names
                if "upload" in name]
        tally.equal("leaves no file", left, [])
        # Cut off in the middle: nothing of it is imported.
        rows = server.client().get("/info").json["seq"]
        with connect(server) as wire:
            wire.sendall(head(server, f"POST {API}/import",
                              "Content-Type: application/octet-stream",
                              f"Content-Length: {len(data)}") + data[:10 * MIB])
        tally.equal("half an import is none", server.client().get("/info").json["seq"], rows)


def codes(tally, server):
    some = [server.client().post("/codes", {}).json["code"] for _ in range(257)]
    tally.equal("codes differ", len(set(some)), 257)
    got = []
    for code in some:
        with connect(server) as wire:
            wire.sendall((f"GET /?code={code} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                          "\r\n").encode())
            got.append(status_of(wire)[0])
    tally.equal("256 codes wait, the oldest is gone", got, [403] + [303] * 256)


def connections(tally):
    """As many connections as are allowed; further ones wait for a free place."""
    with Place() as place, Server(place, "--connections", "40") as server:
        wires = []
        for _ in range(60):
            wire = connect(server)
            wire.sendall(head(server, f"GET {API}/events"))
            wire.settimeout(0.2)
            wires.append(wire)

        def answered():
            count = 0
            for wire in wires:
                try:
                    count += wire.recv(1, socket.MSG_PEEK) == b"H"
                except TimeoutError:
                    pass
                except ConnectionError:
                    pass
            return count

        end = time.monotonic() + PATIENCE_S
        count = answered()
        while count < 20 and time.monotonic() < end:
            count = answered()
        tally.check("of 60 connections at most 40 are served", 20 <= count <= 40, count)
        served = []
        for wire in wires:
            try:
                served.append(wire.recv(1, socket.MSG_PEEK) == b"H")
            except (TimeoutError, ConnectionError):
                served.append(False)
        for wire, is_served in zip(wires, served):
            if is_served:
                wire.close()
        wires = [wire for wire, is_served in zip(wires, served) if not is_served]
        # A closed stream is only noticed when something is written to it.
        end = time.monotonic() + PATIENCE_S
        count = 0
        while count == 0 and time.monotonic() < end:
            place.apply([{"op": "entry.append", "content": "x"}])
            count = answered()
        tally.check("when they go, others come in", count > 0, count)
        for wire in wires:
            wire.close()
        tally.equal("and it still answers", place.run("list").returncode, 0)


# ---- slow clients ----

def drip(wire, data, began, seconds=PATIENCE_S):
    """Sends a byte five times a second. Returns the time from `began`, which was before the
    connection existed, until the server closed it; None: not within the timeout."""
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    wire.settimeout(0.2)
    at = 0
    while time.monotonic() - began < seconds:
        try:
            wire.sendall(data[at % len(data):at % len(data) + 1])
            at += 1
            if not wire.recv(65536):
                return time.monotonic() - began
        except TimeoutError:
            continue
        except (ConnectionError, BrokenPipeError):
            return time.monotonic() - began
    return None


def late(tally):
    with Place() as place, Server(place, "--headers-ms", "1500", "--body-idle-ms", "1500",
                                  "--idle-ms", "2000") as server:
        counted = server.client().get("/server").json["late"]
        fine = head(server, f"GET {API}/health")
        endless = b"X-Header: aaaaaaaaaaaaaaaaaaaaaa\r\n"
        post = head(server, f"POST {API}/ops/entry.append", "Content-Type: application/json",
                    "Content-Length: 100000")
        chunks = head(server, f"POST {API}/ops/entry.append", "Content-Type: application/json",
                      "Transfer-Encoding: chunked")
        upload = head(server, f"POST {API}/import", "Content-Type: application/octet-stream",
                      "Content-Length: 1000000000")
        cases = {"a request line byte by byte": (b"", b"GET /" + b"a" * 4000),
                 "headers byte by byte": (b"GET / HTTP/1.1\r\n", endless),
                 "empty lines before a request": (b"", b"\r\n"),
                 "headers of a second request": (fine + b"GET / HTTP/1.1\r\n", endless),
                 "the line of a second request": (fine, b"GET /" + b"a" * 4000),
                 "a body byte by byte": (post, b" "),
                 "chunks byte by byte": (chunks, b"1\r\n \r\n"),
                 "the size of a chunk": (chunks, b"0"),
                 "an import byte by byte": (upload, b"x")}
        silent = {"nothing at all": b"", "half a header": b"GET / HTTP/1.1\r\nHo",
                  "half a body": post + b"{", "after an answer": fine}

        def dripped(start, rest):
            began = time.monotonic()
            with connect(server) as wire:
                wire.sendall(start)
                return drip(wire, rest, began)

        def was_silent(start):
            with connect(server) as wire:
                wire.sendall(start)
                return is_over(wire)

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            times = {name: pool.submit(dripped, *both) for name, both in cases.items()}
            ends = {name: pool.submit(was_silent, start) for name, start in silent.items()}
        for name, took in times.items():
            took = took.result()
            tally.check(f"{name} is ended", took is not None and took >= 1, took)
        for name, ended in ends.items():
            tally.check(f"{name} and silence is ended", ended.result())
        now = server.client().get("/server").json
        tally.check("it has counted them", now["late"] >= counted + 9, now)

        # Responses that are never read: far larger than the system's buffers.
        text = "".join(f"{n:07x} " for n in range(256 * KIB))
        for n in range(8):
            server.client().op({"op": "entry.append", "content": f"{n} {text}"})
        wires = []
        for _ in range(20):
            wire = connect(server, small=True)
            wire.sendall(head(server, f"GET {API}/export?format=pi"))
            wires.append(wire)
        client = server.client()
        end = time.monotonic() + PATIENCE_S
        count = 99
        while count > 1 and time.monotonic() < end:
            time.sleep(0.3)
            count = client.get("/server").json["connections"]
        tally.equal("a client that never reads is disconnected", count, 1)
        for wire in wires:
            wire.close()
        # 300 clients that send no complete request do not block others.
        wires = [connect(server) for _ in range(300)]
        for wire in wires:
            try:
                wire.sendall(b"GET / HTTP/1.1\r\nX: ")
            except ConnectionError:
                pass    # timed out already
        tally.equal("with 300 idle connections", server.client().get("/health").status, 200)
        for wire in wires:
            wire.close()


def default_headers(tally):
    """Default limit: ten seconds for headers."""
    with Place() as place, Server(place) as server:
        began = time.monotonic()
        with connect(server) as wire:
            wire.sendall(b"GET / HTTP/1.1\r\n")
            took = drip(wire, b"X-Header: aaaaaaaaaaaaaaaaaaaaaa\r\n", began, 60)
            tally.check("headers have ten seconds", took is not None and 9 < took < 50, took)


# ---- streams that are never read ----

def changes(server, count):
    client = server.client()
    for _ in range(count // 5000):
        ops = [{"op": "label.set", "entry": "@", "label": "label" if n % 2 else "other"}
               for n in range(5000)]
        answer = client.post("/batch", {"ops": ops, "atomic": False})
        if answer.status != 200:
            raise RuntimeError(str(answer))


def unread_stream(tally):
    with Place() as place:
        with Server(place) as server:
            unread(tally, server)


def unread(tally, server):
    server.client().op({"op": "entry.append", "content": "x"})
    for _ in range(3):
        changes(server, 20000)      # memory of the changes themselves
    wires = []
    for _ in range(20):
        wire = connect(server, small=True)
        wire.sendall(head(server, f"GET {API}/events"))
        wires.append(wire)
    # Each has a position in the log, from which it receives everything.
    end = time.monotonic() + PATIENCE_S
    for wire in wires:
        while b"event: hello" not in wire.recv(2048, socket.MSG_PEEK) and time.monotonic() < end:
            time.sleep(0.05)
    before = resident(server)
    changes(server, 20000)
    after = resident(server)
    tally.check("20 unread streams buffer nothing of 20,000 changes",
                after - before < 32 * MIB, f"{before} {after}")
    print(f"20,000 changes and 20 streams that nobody reads: VmRSS grows by "
          f"{(after - before) // KIB} KiB")
    for wire in wires[1:]:
        wire.close()
    # One of them reads after all, or reconnects if it was disconnected.
    seq = server.client().get("/info").json["seq"]
    last, got, end = None, b"", time.monotonic() + 2 * PATIENCE_S
    wire, seen = wires[0], []
    while (not seen or seen[-1] < seq) and time.monotonic() < end:
        try:
            piece = wire.recv(65536)
        except ConnectionError:
            piece = b""
        if not piece:
            wire.close()
            wire, got = connect(server), b""
            wire.sendall(head(server, f"GET {API}/events", f"Last-Event-ID: {last}"))
            continue
        got += piece
        *events, got = got.split(b"\n\n")
        for event in events:
            place_of = [line[4:] for line in event.split(b"\n") if line.startswith(b"id: ")]
            if place_of:
                last = place_of[0].decode()
            if b"event: op" in event:
                seen.append(int(last.split(".")[1]))
    wire.close()
    tally.check("missed events arrive later, in order and once",
                len(seen) >= 20000 and seen == list(range(seen[0], seq + 1)),
                f"{len(seen)} {seen[:3]} {seen[-3:]} {seq}")


# ---- clients that disconnect ----

def leave(wire, hard):
    if hard:    # a reset instead of an orderly close
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def gone(tally):
    """1,000 clients that disconnect in the middle of something. A disconnection right after sent
    data is not always noticed at once; then it counts as a timeout."""
    with Place() as place, Server(place, "--headers-ms", "2000", "--body-idle-ms", "2000",
                                  "--idle-ms", "3000") as server:
        sockets, _, threads = holdings(server)
        client = server.client()
        client.op({"op": "entry.append", "content": "z" * 4 * MIB})
        client.close()
        post = head(server, f"POST {API}/ops/entry.append", "Content-Type: application/json",
                    "Content-Length: 5000")
        whole = head(server, f"POST {API}/discussions/d1/entries/read",
                     "Content-Type: application/json", "Content-Length: 13") + b'{"ids":["@"]}'
        upload = head(server, f"POST {API}/import", "Content-Type: application/octet-stream",
                      f"Content-Length: {4 * MIB}")
        kinds = {"before a request": b"", "in the line": b"GET /retake", "in the headers":
                 head(server, f"GET {API}/info")[:-10], "in a body": post + b'{"content":',
                 "in an upload": upload + b"x" * MIB, "in an answer":
                 head(server, f"GET {API}/export?format=pi"), "before an answer": whole,
                 "in a stream": head(server, f"GET {API}/events"),
                 "between requests": head(server, f"GET {API}/health") * 3 + b"GET "}
        names = list(kinds)

        def visit(count):
            for at in range(count):
                name = names[at % len(names)]
                wire = connect(server)
                try:
                    wire.sendall(kinds[name])
                    if name in ("in an answer", "in a stream"):
                        wire.recv(100)
                except ConnectionError:
                    pass    # timed out: the machine was too slow for two seconds
                leave(wire, at % 2 == 1)

        def settle(sockets):
            """A closed stream is only noticed when something is written to it."""
            end = time.monotonic() + PATIENCE_S
            now = holdings(server)
            while (now[0] > sockets or now[2] > threads) and time.monotonic() < end:
                place.apply([{"op": "label.set", "entry": "@", "label": str(time.monotonic())}])
                time.sleep(0.3)
                now = holdings(server)
            return now

        visit(200)      # the store keeps some files open for parallel readers
        start = settle(sockets)
        before = place.canonical()
        visit(1000)
        tally.check("incomplete requests were not executed", place.canonical() == before)
        now = settle(sockets)
        tally.equal("sockets are back where they were", now[0], sockets)
        # The store has up to four connections for parallel readers.
        tally.check("other files, too", now[1] <= start[1] + 12, f"{start} {now}")
        tally.check("and threads", now[2] <= threads, f"{threads} {now}")
        counts = server.client().get("/server").json
        tally.check("no connection and no stream is left", counts["connections"] == 1 and
                    counts["streams"] == 0, counts)
        tally.equal("it still answers", server.client().get("/health").status, 200)
        tally.equal("and ends in order", server.stop(), 0)


def main():
    tally = Tally()
    only = sys.argv[1:]

    def run(part):
        if only and part.__name__ not in only:
            return
        began = time.monotonic()
        part(tally)
        if os.environ.get("TIMES"):
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)

    # Parts that mostly wait run in parallel.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(run, part) for part in (default_headers, late, connections, gone)]
        for part in (sizes_and_codes, large_import, unread_stream):
            run(part)
        for one in waiting:
            one.result()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
