#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server with a low limit of open files. Clients that only connect, at all its addresses
together, cannot use up the descriptors that the store, the request log and hooks need."""
import os
import socket
import sys

import client
from client import Place, Server, Tally

FILES, KEPT = 700, 200


def connect(family, address, count):
    """Opens as many connections as possible; unaccepted ones wait in the listen queue."""
    found = []
    for _ in range(count):
        wire = socket.socket(family)
        wire.settimeout(5)
        try:
            wire.connect(address)
        except OSError:
            wire.close()
            break
        found.append(wire)
    return found


def main():
    tally = Tally()
    with Place() as place:
        limited = place.folder + "/limited"
        with open(limited, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nulimit -n {FILES}\nexec "{client.RETAKE}" "$@"\n')
        os.chmod(limited, 0o700)
        client.RETAKE = limited
        with Server(place) as server:
            one = server.client()
            tally.equal("it answers", one.get("/health").status, 200)
            wires = connect(socket.AF_INET, ("127.0.0.1", server.port), 400)
            wires += connect(socket.AF_INET6, ("::1", server.port), 400)
            wires += connect(socket.AF_UNIX, place.folder + "/retake/sock", 100)
            one.get("/health")
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            tally.check("there is room for other files", used <= FILES - KEPT, used)
            done = one.post("/discussions/main/entries", {"content": "x"})
            tally.equal("existing connections are served", done.status, 201)
            for wire in wires:
                wire.close()
            tally.equal("others are after that", server.client().get("/health").status, 200)
            tally.equal("it ends", server.stop(), 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
