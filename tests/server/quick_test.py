#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Slow requests are handled by workers. The current version of an entry is answered by the event
loop; an earlier version is not, because it may require the whole history while other clients
wait."""
import sys

from client import Place, Server, Tally


def main():
    tally = Tally()
    with Place() as place:
        place.apply([{"op": "entry.append", "content": "one"}])
        for at_op in ("at_op", "at%5fop"):
            # A new server for each check: a worker is counted as idle a moment after its response,
            # so a second request may be given to another one.
            with Server(place) as server:
                one = server.client()
                path = "/discussions/main/entries/:1"
                tally.equal("an entry", one.get(path).status, 200)
                tally.equal("no worker was needed", one.get("/server").json["workers"], 0)
                tally.equal("as it was", one.get(f"{path}?take=main&{at_op}=1").status, 200)
                tally.equal("one was needed for that", one.get("/server").json["workers"], 1)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
