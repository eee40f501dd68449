#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several servers on one store, as with a load balancer: each request of a client goes to another
one. Sign-in, sign-out, tokens, keys for repeated requests, and events work on whichever answers. DB is
the address of another store."""
import itertools
import os
import sys
import threading
import time

from client import Client, Place, Server, Tally, quote

HOST = "desk.example:443"


class Balanced:
    """Sends each request to the next server, with one set of headers."""

    def __init__(self, servers, headers):
        self.clients = [Client(server, headers) for server in servers]
        self.turn = itertools.cycle(self.clients)

    def get(self, path, **headers):
        return next(self.turn).get(path, **headers)

    def post(self, path, body=None, headers=None):
        return next(self.turn).post(path, body, headers)


def sign_in(server, code, **headers):
    """The answer, and the cookie."""
    answer = Client(server, {"Host": HOST, **headers}).request("GET", "/?code=" + quote(code))
    return answer, answer.headers.get("set-cookie", "").split(";")[0]


def browser(cookie):
    return {"Host": HOST, "Origin": "https://" + HOST.removesuffix(":443"), "Cookie": cookie}


def tokens(tally, servers):
    token = {"Authorization": "Bearer " + "5a" * 32}
    client = Balanced(servers, token)
    tally.equal("one token for all", {client.get("/info").status for _ in range(6)}, {200})
    tally.equal("and no other", Client(servers[0], {"Authorization": "Bearer " + "5b" * 32}).get("/info").status, 401)
    first = client.post("/discussions/main/entries", {"content": "once"}, {"Idempotency-Key": "k1"})
    second = client.post("/discussions/main/entries", {"content": "once"}, {"Idempotency-Key": "k1"})
    tally.equal("a repeated request on another server", (second.body, second.headers.get("idempotency-replayed")), (first.body, "true"))
    return client


def sessions(tally, servers, client):
    a, b, c = servers
    code = client.post("/codes", {}).json["code"]
    answer, cookie = sign_in(b, code)
    tally.equal("a code of another server", answer.status, 303)
    tally.check("the cookie is named after the host", cookie.startswith("retake_443="), cookie)
    statuses = [sign_in(server, code)[0].status for server in servers]
    tally.equal("works once, anywhere", statuses, [403, 403, 403])
    page = Balanced((c, a, b), browser(cookie))
    tally.equal("the cookie on all servers at once", [page.get("/info").status for _ in range(3)], [200] * 3)
    forged = cookie[:-4] + "0000"
    tally.equal("but not another one", [Client(each, browser(forged)).get("/info").status for each in servers], [401] * 3)
    tally.equal("nor one with a large body", Client(c, browser(forged)).post("/discussions/main/entries", {"content": "x" * 100000}).status, 413)
    tally.equal("a change by the page", page.post("/discussions/main/entries", {"content": "from the page"}).status, 201)
    stream = Client(a, browser(cookie)).events()
    tally.equal("sign out", Client(b, browser(cookie)).post("/logout").status, 200)
    tally.equal("there at once", Client(b, browser(cookie)).get("/info").status, 401)
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and any(Client(each, browser(cookie)).get("/info").status == 200 for each in servers):
        time.sleep(0.05)
    tally.check("elsewhere soon", time.monotonic() < deadline - 1.5)
    client.post("/discussions/main/entries", {"content": "not for it"})
    try:
        stream.until(lambda *_: False)
    except OSError:
        tally.check("its events have ended", False)
    stream.close()
    # One code, many at once: one browser gets in.
    code, results = client.post("/codes", {}).json["code"], []
    threads = [threading.Thread(target=lambda at=at: results.append(sign_in(servers[at % 3], code)[0].status)) for at in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.equal("a code that is used at the same time", sorted(results), [303] + [403] * 11)


def events(tally, servers, client):
    """A change reaches streams of all servers; a stream continues on another server."""
    token = dict(client.clients[0].headers)
    streams = [Client(server, token).events() for server in servers]
    times, last = [], None
    for at in range(20):
        sent = time.monotonic()
        seq = client.post("/discussions/main/entries", {"content": str(at)}).json["seq"]
        for stream in streams:
            event = stream.until(lambda kind, data, seq=seq: kind == "op" and data["seq"] == seq)
            times.append(time.monotonic() - sent)
            last = event
    # SLOW: times the 150 ms of an idle machine
    tally.check("changes arrive in time, at the median", sorted(times)[len(times) // 2] < 0.15 * float(os.environ.get("SLOW", "4")), sorted(times)[-3:])
    for stream in streams:
        stream.close()
    tally.check("events", last is not None)
    missed = [client.post("/discussions/main/entries", {"content": "missed"}).json["seq"] for _ in range(5)]
    tag = client.get("/info").json
    tally.equal("the epoch is written as in events", len(tag["epoch"]), 16)
    again = Client(servers[1], token).events(last_id=f"{tag['epoch']}.{missed[0] - 1}")
    got = []
    seen = again.until(lambda kind, data: kind == "op" and (got.append(data["seq"]) or len(got) == 5))
    tally.equal("a stream continues on another server", (again.status, got), (200, missed), seen)
    again.close()


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        token_file = os.path.join(place.folder, "shared-token")
        with open(token_file, "w", encoding="ascii") as file:
            file.write("5a" * 32 + "\n")
        os.chmod(token_file, 0o600)
        flags = ("--token-file", token_file, "--host", HOST, "--no-socket")
        place.run("add", "first")
        with Server(place, *flags) as a, Server(place, *flags) as b, Server(place, *flags) as c:
            servers = (a, b, c)
            client = tokens(tally, servers)
            sessions(tally, servers, client)
            events(tally, servers, client)
        tally.equal("sound", place.run("fsck").returncode, 0)
        os.chmod(token_file, 0o644)
        done = place.run("serve", "--port", "0", "--token-file", token_file)
        tally.check("a token that others can read is refused", done.returncode == 1 and b"chmod" in done.stderr, done)
        done = place.run("serve", "--port", "0", "--token-file", place.folder + "/none")
        tally.check("a missing token is an error", done.returncode == 3 and b"no token file" in done.stderr, done)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
