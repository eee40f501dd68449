#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Malformed requests to the server and to Node's strict parser, side by side.

For each row of wire.py: if Node refuses it, we must refuse it; if Node accepts it, we must
not find more requests in it. Rows where libmicrohttpd is lenient before our code is called
are in HIDDEN, and docs/security.md describes the consequences; a row in HIDDEN that is
refused is a failure, too, so that the list stays correct. At the end the server must still
work, and the store must be unchanged.
"""
import concurrent.futures
import json
import os
import shutil
import socket
import subprocess
import sys
import time

import client
import wire

HERE = os.path.dirname(os.path.abspath(__file__))

# class: names. See docs/security.md, "Requests that libmicrohttpd changes".
HIDDEN = {
    "request line": {"target with NUL"},
    "header name": {"no name", "folded", "folded by a tab", "folded blank line",
                    "folded Transfer-Encoding", "folded Content-Length"},
    "header value": {"NUL"},
    "line end": {"LF after the request line", "LF at the end of headers", "CR LF LF"},
    "length": {"NUL behind"},
    "coding": {"NUL"},
    "chunk": {"size ends by LF", "chunk ends by LF", "last ends by LF", "end ends by LF",
              "extension with CR", "extension with NUL", "semicolon alone"},
}

STRICT_NODE = 20

# Timeouts of silence after which a response is complete; the second one is for a busy machine.
PATIENCES_S = (0.6, 8)

passed = failed = 0


def check(name, is_good, words=""):
    global passed, failed
    if is_good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {words}")


def talk(port, data, patience=0.6):
    """Reads until the other end closes the connection or is silent for a while."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=client.WAIT_S) as s:
        try:
            s.sendall(data)
            s.settimeout(patience)
            while True:
                part = s.recv(65536)
                if not part:
                    return got, True
                got += part
        except TimeoutError:
            return got, False
        except OSError:
            return got, True


def answers(got):
    """The statuses of the responses in these bytes, using Content-Length or chunks."""
    found = []
    while got:
        head, cut, rest = got.partition(b"\r\n\r\n")
        if not cut or not head.startswith(b"HTTP/1."):
            break
        found.append(int(head.split(b" ", 2)[1]))
        headers = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        if b"chunked" in headers.get(b"transfer-encoding", b""):
            end = rest.find(b"0\r\n\r\n")
            got = rest[end + 5:] if end >= 0 else b""
        else:
            got = rest[int(headers.get(b"content-length", b"0")):]
    return found


def taken(statuses):
    """How many requests were understood: 404 for an unknown operation counts, too."""
    return sum(status < 300 or status in (404, 401) for status in statuses)


def find_node():
    """A suitable Node; older ones, as in Debian, are less strict."""
    for node in (shutil.which("node"), os.path.join(HERE, "../../build/deps/node/node")):
        if node and os.path.exists(node):
            version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
            if int(version.stdout.lstrip("v").split(".")[0]) >= STRICT_NODE:
                return node
    return None


def main():
    node = find_node()
    if not node:
        print(f"wire_test: skipped, there is no Node {STRICT_NODE} (setup/deps.sh browser)")
        return 77
    peer = subprocess.Popen([node, os.path.join(HERE, "strict_peer.mjs")],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    peer_port = int(peer.stdout.readline())
    with client.Place() as place, client.Server(place) as server:
        place.apply([{"op": "entry.append", "content": "hello"}])
        before = place.canonical()
        authorization = b"Authorization: Bearer " + server.token.encode()

        def ours(data):
            host = f"127.0.0.1:{server.port}".encode()
            data = data.replace(b"H\r\n", host + b"\r\n").replace(b"\r\nA\r\n",
                                                                  b"\r\n" + authorization + b"\r\n")
            return data.replace(b"\nA\n", b"\n" + authorization + b"\n").replace(
                b"\rA\r", b"\r" + authorization + b"\r")

        def theirs(data):
            return data.replace(b"\r\nA\r\n", b"\r\nX-A: 1\r\n").replace(
                b"\nA\n", b"\nX-A: 1\n").replace(b"\rA\r", b"\rX-A: 1\r")

        # The server may have been too slow: unexpected results are tried again with a longer
        # timeout.
        for name, data, count in wire.fine():
            for what, port, request in (("", server.port, ours(data)),
                                        (" / Node", peer_port, theirs(data))):
                for patience in PATIENCES_S:
                    got, is_over = talk(port, request, patience)
                    if is_over or taken(answers(got)) == count:
                        break
                check(f"fine / {name}{what}", taken(answers(got)) == count, answers(got))
        lenient = {}

        def both(row):
            for patience in PATIENCES_S:
                got, is_over = talk(server.port, ours(row[2]), patience)
                other, other_is_over = talk(peer_port, theirs(row[2]), patience)
                us, them = answers(got), answers(other)
                if (is_over and other_is_over or
                        (taken(us) > taken(them)) == (row[1] in HIDDEN.get(row[0], ()))):
                    break
            return row, us, them

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            asked = list(pool.map(both, wire.rows()))
        for (kind, name, _), us, them in asked:
            more = taken(us) > taken(them)
            if more:
                lenient.setdefault(kind, []).append(name)
            expected = name in HIDDEN.get(kind, ())
            check(f"{kind} / {name}", more == expected,
                  f"we answer {us}, Node {them}" + (", but it is in HIDDEN" if expected else ""))
        if os.environ.get("SHOW_HIDDEN"):
            print(json.dumps(lenient, indent=1))
        check("it still answers", server.client().get("/health").status == 200)
        check("nothing has changed", place.canonical() == before)
    peer.stdin.close()
    peer.wait(client.WAIT_S)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
