#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Orderly shutdown while clients keep sending requests on persistent connections: the exit
status is 0, and every response that was started is complete. ROUNDS=100 sets the number."""
import os
import socket
import sys
import threading
import time

from client import API, WAIT_S, Place, Server, Tally

ROUNDS = int(os.environ.get("ROUNDS", "10"))
CLIENTS = 60


def answer_of(wire):
    """Returns status and body; None: the connection ended before a response."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = wire.recv(65536)
        if not piece:
            return None if data == b"" else ("cut", data)
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:"))
    while len(body) < size:
        piece = wire.recv(65536)
        if not piece:
            return "cut", data
        body += piece
    return int(head.split()[1]), body


def keeps_asking(server, number, statuses):
    pause_s = 0.03 * (number * 7 % 11) / 11
    request = (f"GET {API}/discussions/main/entries HTTP/1.1\r\n"
               f"Host: 127.0.0.1:{server.port}\r\n"
               f"Authorization: Bearer {server.token}\r\n\r\n").encode()
    try:
        with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as wire:
            while True:
                wire.sendall(request)
                got = answer_of(wire)
                if got is None:
                    return
                statuses.append(got[0])
                time.sleep(pause_s)
    except OSError:
        return


def main():
    tally = Tally()
    for number in range(ROUNDS):
        statuses = []
        with Place() as place, Server(place) as server:
            threads = [threading.Thread(target=keeps_asking, args=(server, i, statuses))
                       for i in range(CLIENTS)]
            for thread in threads:
                thread.start()
            end = time.monotonic() + WAIT_S
            while 200 not in statuses and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.2 + 0.01 * (number % 7))
            code = server.stop()
            for thread in threads:
                thread.join()
            with open(place.folder + "/serve.log", encoding="utf-8") as log:
                tally.equal("the server ends", code, 0, log.read())
        tally.check("clients were answered", 200 in statuses)
        tally.equal("as they should be", set(statuses) - {200, 503}, set())
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
