#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests that are repeated with their Idempotency-Key get the same response, even if their
objects no longer exist; and the result of a batch whose last part failed."""
import sys

from client import API, Place, Server, Tally

MAIN = API + "/discussions/main"


def again(tally, what, client, meanwhile, method, path, body=None):
    key = {"Idempotency-Key": what.replace(" ", "-")}
    first = client.request(method, path, body, key)
    tally.check(what, first.status in (200, 201), first)
    meanwhile()
    seq = client.get("/info").json["seq"]
    second = client.request(method, path, body, key)
    tally.equal(what + ", again", (second.status, second.body), (first.status, first.body))
    tally.equal(what + ", said to be a replay", second.headers.get("idempotency-replayed"), "true")
    tally.equal(what + ", done once", client.get("/info").json["seq"], seq)


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        one = server.client()
        ids = [one.post("/discussions/main/entries", {"content": str(n)}).json["entry"]
               for n in range(3)]
        one.put("/discussions/main/labels/here", {"entry": ids[0]})
        again(tally, "a label is taken away", one, lambda: None, "DELETE", MAIN + "/labels/here")
        again(tally, "a take is made", one,
              lambda: one.request("DELETE", f"{MAIN}/entries/{ids[1]}?take=main"),
              "PATCH", f"{MAIN}/entries/{ids[1]}?take=main",
              {"content": "x", "mode": "take", "name": "other"})
        done = one.post("/batch", {"atomic": False, "ops": [
            {"op": "entry.append", "content": "x"}, {"op": "entry.delete", "entry": "zz"}]}).json
        tally.equal("a batch says up to where it got", done["seq"], done["results"][0]["seq"], done)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
