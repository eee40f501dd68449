#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two servers with accounts on one store: what the command line changes counts on both within half a
second. Roles, tokens, share links, browsers of users, forged secrets. DB is the address of another store."""
import json
import os
import re
import sys
import time

from client import Client, Place, Server, Tally, quote

LIMIT_S = 0.5
SLOW_S = 5  # a machine that is busy with other tests


def retake(place, *args, project=None):
    done = place.run(*args, "--json", project=project)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout)


def bearer(server, secret, project=None):
    return Client(server, {"Authorization": "Bearer " + secret}, project)


def wait_for(status, client, path):
    """Seconds until the answer has this status, or None."""
    begun = time.monotonic()
    while time.monotonic() - begun < SLOW_S:
        if client.get(path).status == status:
            return time.monotonic() - begun
        time.sleep(0.01)
    return None


def within_limit(tally, name, seconds):
    tally.check(name, seconds is not None, "not within", SLOW_S)
    if seconds is not None:
        print(f"# {name}: {seconds * 1000:.0f} ms")
        tally.check(name + " in time", seconds < LIMIT_S or os.getloadavg()[0] > 2 * os.cpu_count(), seconds)


def roles(tally, place, a, b):
    token = retake(place, "token", "new", "ann", "--scope", "admin")["token"]
    ann = bearer(b, token, "work")
    answer = ann.get("/discussions")
    missing = bearer(b, token, "nowhere").get("/discussions")
    tally.equal("a project without a role", (answer.status, answer.body.replace(b"work", b"nowhere")),
                (404, missing.body))
    tally.equal("not in the list", ann.get("/projects").json, [])
    for role, comment, edit, purge in (("reader", 403, 403, 403), ("commenter", 201, 403, 403),
                                       ("editor", 201, 200, 403), ("owner", 201, 200, 200)):
        retake(place, "member", "ann", role, project="work")
        within_limit(tally, f"the role {role} on another server",
                     wait_for(200, ann, "/discussions"))
        time.sleep(LIMIT_S)
        got = [ann.post("/discussions/main/entries", {"content": "x"}).status,
               ann.put("/discussions/main/entries/:1/content", {"content": role}).status,
               ann.post("/purge", {"text": "nothing"}).status]
        tally.equal("what a role may do: " + role, got, [comment, edit, purge])
    tally.equal("in the list", [each["name"] for each in ann.get("/projects").json], ["work"])
    tally.equal("not the server", ann.get("/server").status, 403)
    retake(place, "team", "add", "crew", "bob")
    retake(place, "member", "@crew", "reader", project="work")
    bob = bearer(a, retake(place, "token", "new", "bob")["token"], "work")
    within_limit(tally, "the role of a team", wait_for(200, bob, "/discussions"))
    retake(place, "team", "remove", "crew", "bob")
    within_limit(tally, "no longer in the team", wait_for(404, bob, "/discussions"))
    return ann


def revocation(tally, place, a, b):
    """Revoked by a program, refused by both servers."""
    for what in ("revoke", "disable", "remove"):
        made = retake(place, "token", "new", "ann")
        clients = [bearer(server, made["token"], "work") for server in (a, b)]
        tally.equal("a new token is known at once", [client.get("/discussions").status for client in clients], [200, 200])
        stream = clients[0].events()
        if what == "revoke":
            retake(place, "token", "revoke", str(made["id"]))
        elif what == "disable":
            retake(place, "user", "change", "ann", "--disabled")
        else:
            retake(place, "member", "ann", "none", project="work")
        status = 404 if what == "remove" else 401
        for client in clients:
            within_limit(tally, f"{what}: refused", wait_for(status, client, "/discussions"))
        begun = time.monotonic()
        while not stream.read()[1] and time.monotonic() - begun < SLOW_S:
            pass
        within_limit(tally, f"{what}: events end", time.monotonic() - begun)
        if what == "disable":
            retake(place, "user", "change", "ann")
            within_limit(tally, "and enabled", wait_for(200, bearer(b, retake(place, "token", "new", "ann")["token"], "work"), "/discussions"))
    retake(place, "member", "ann", "reader", project="work")


def forged(tally, place, a):
    made = retake(place, "token", "new", "ann")["token"]
    changed = made[:-1] + ("A" if made[-1] != "A" else "B")
    link = retake(place, "link", "new", project="work")["link"]
    for name, value in {"another last letter": changed, "shorter": made[:-1], "longer": made + "A",
                        "no prefix": made[4:], "another kind": "rtl_" + made[4:], "a link as a token": "rtk_" + link[4:],
                        "upper case": made.upper(), "a hash": "ab" * 32, "empty": " ", "NUL": made + "%00",
                        "only the prefix": "rtk_", "an invitation": "rti_" + made[4:]}.items():
        tally.equal("forged: " + name, bearer(a, value, "work").get("/discussions").status, 401)
    tally.equal("in the query", Client(a, {}).get("/discussions?token=" + made).status, 401)
    tally.equal("twice", Client(a, {"Authorization": f"Bearer {made}, Bearer {made}"}).get("/discussions").status, 401)
    limited = bearer(a, retake(place, "token", "new", "ann", "--only", "other", "--scope", "read")["token"], "work")
    tally.equal("limited to another project", limited.get("/discussions").status, 404)
    reads = bearer(a, link, "work")
    tally.equal("a link reads", reads.get("/discussions").status, 200)
    tally.equal("and only that", [reads.post("/discussions/main/entries", {"content": "x"}).status,
                                  reads.post("/projects", {"name": "x"}).status], [403, 403])
    tally.equal("and no other project", bearer(a, link, "other").get("/discussions").status, 404)


def browsers(tally, place, a, b):
    owner = a.client()
    tally.equal("the owner's token", owner.get("/discussions", **{"Retake-Project": "work"}).status, 200)
    tally.equal("a code needs a user", owner.post("/codes", {}).status, 400)
    tally.equal("an unknown user", owner.post("/codes", {"user": "zoe"}).status, 404)
    code = owner.post("/codes", {"user": "ann"}).json["code"]
    answer = Client(a, {}).request("GET", "/?code=" + quote(code))
    tally.check("a cookie for http", "Secure" not in answer.headers.get("set-cookie", ""))
    with Server(place, "--accounts", "--no-socket", "--public-url", "https://retake.example") as behind_tls:
        other = behind_tls.client().post("/codes", {"user": "ann"}).json["code"]
        tally.check("a cookie for https", "; Secure" in Client(behind_tls, {}).request(
            "GET", "/?code=" + quote(other)).headers.get("set-cookie", ""))
    cookie = answer.headers.get("set-cookie", "").split(";")[0]
    page = Client(a, {"Cookie": cookie, "Origin": f"http://127.0.0.1:{a.port}"}, "work")
    tally.equal("a browser of a user", page.get("/discussions").status, 200)
    tally.equal("with the user's role", page.post("/discussions/main/entries", {"content": "x"}).status, 403)
    tally.equal("and no other project", Client(a, {"Cookie": cookie}, "other").get("/discussions").status, 404)
    pages = [Client(a, {"Cookie": cookie}).request("GET", "/?project=" + name) for name in ("other", "nowhere")]
    tally.equal("the page does not tell which projects exist",
                (pages[0].status, hidden(pages[0])), (pages[1].status, hidden(pages[1])))
    done = place.run("user", "remove", "ann")
    tally.check("the report of a removal", b"token" in done.stdout, done)
    within_limit(tally, "a removed user's browser", wait_for(401, page, "/discussions"))
    return cookie


def hidden(page):
    """Without the hash of the name that was given."""
    return re.sub(rb'(name="retake-store" content=")\w+', rb"\1", page.body)


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        for project in ("work", "other"):
            place.run("add", "first", project=project)
        retake(place, "user", "new", "ann")
        retake(place, "user", "new", "bob")
        with Server(place, "--accounts", "--no-socket") as a, Server(place, "--accounts", "--no-socket") as b:
            roles(tally, place, a, b)
            revocation(tally, place, a, b)
            forged(tally, place, a)
            tally.check("the history names the user", b"ann" in place.run("history", project="work").stdout)
            cookie = browsers(tally, place, a, b)
            port = a.port
        # A browser of a user has no right on a server without accounts.
        with Server(place, "--no-socket", port=port) as plain:
            tally.equal("without accounts", Client(plain, {"Cookie": cookie}).get("/info").status, 401)
        names = [each["name"] for each in json.loads(place.run("projects", "--json").stdout)]
        tally.equal("the accounts are no project", [name for name in names if name not in ("work", "other", "main", "default")], [])
        audit = [each["what"] for each in retake(place, "audit")]
        tally.check("the audit log", {"user.new", "token.new", "token.revoke", "member.set", "user.remove", "link.new"} <= set(audit), audit)
        tally.equal("sound", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
