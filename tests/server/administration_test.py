#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Administration of accounts over HTTP: every route by every role, with the status that
docs/accounts.md documents; a role cannot raise itself; the last administrator and the last owner
stay. DB is the address of another store."""
import os
import sys
import time

from accounts_test import bearer, retake
from client import Client, Place, Server, Tally, quote

ROLES = ("reader", "commenter", "editor", "owner")
FRESH_S = 0.3  # until a server uses changes made by a program

# Method, path, body, right, and the status if it is allowed. The name x does not exist.
ROUTES = [
    ("GET", "/account", None, "open", 200),
    ("GET", "/members", None, "manage", 200),
    ("PUT", "/members/x", {"role": "owner"}, "manage", 404),
    ("PUT", "/members/@x", {"role": "reader"}, "manage", 404),
    ("PUT", "/members/nora", {"role": "reader"}, "manage", 200),
    ("PUT", "/members/nora", {"role": "king"}, "manage", 400),
    ("PUT", "/members/nora", {}, "manage", 400),
    ("DELETE", "/members/nora", None, "manage", 200),
    ("GET", "/links", None, "manage", 200),
    ("POST", "/links", {"days": 1}, "manage", 201),
    ("POST", "/links", {"discussion": "nowhere"}, "manage", 404),
    ("POST", "/links", {"days": "many"}, "manage", 400),
    ("DELETE", "/links/999999", None, "manage", 404),
    ("DELETE", "/links/x", None, "manage", 404),
    ("GET", "/users", None, "server", 200),
    ("POST", "/users", {"name": "Not valid"}, "server", 400),
    ("PATCH", "/users/x", {"admin": True}, "server", 404),
    ("PATCH", "/users/nora", {"admin": "yes"}, "server", 400),
    ("DELETE", "/users/x", None, "server", 404),
    ("GET", "/users/nora/tokens", None, "server", 200),
    ("GET", "/users/x/tokens", None, "server", 404),
    ("POST", "/users/nora/tokens", {"scope": "read"}, "server", 201),
    ("DELETE", "/users/nora/tokens/999999", None, "server", 404),
    ("GET", "/users/nora/identities", None, "server", 200),
    ("GET", "/users/x/identities", None, "server", 404),
    ("DELETE", "/users/nora/identities", None, "server", 200),
    ("DELETE", "/users/x/identities", None, "server", 404),
    ("GET", "/invitations", None, "server", 200),
    ("POST", "/invitations", {"roles": {"work": "reader"}, "days": 1}, "server", 201),
    ("POST", "/invitations", {"roles": {"work": "king"}}, "server", 400),
    ("POST", "/invitations", {"roles": ["work"]}, "server", 400),
    ("POST", "/invitations", {"roles": {"nowhere": "reader"}}, "server", 404),
    ("DELETE", "/invitations/999999", None, "server", 404),
    ("DELETE", "/invitations/x", None, "server", 404),
    ("GET", "/audit", None, "server", 200),
    ("GET", "/teams", None, "server", 200),
    ("PUT", "/teams/crew/users/nora", {}, "server", 200),
    ("DELETE", "/teams/crew/users/nora", None, "server", 200),
    ("DELETE", "/teams/crew/users/nora", None, "server", 404),
    ("GET", "/tokens", None, "self", 200),
    ("POST", "/tokens", {"name": "<b>", "scope": "read", "days": 1}, "self", 201),
    ("POST", "/tokens", {"scope": "everything"}, "self", 400),
    ("POST", "/tokens", {"projects": ["nowhere"]}, "self", 404),
    ("DELETE", "/tokens/999999", None, "self", 404),
]


def expected(right, allowed, who):
    """The documented answer for a role, "none", "admin", or a limited account."""
    if right == "open":
        return allowed
    if right == "manage":
        if who in ("owner", "admin", "machine"):
            return allowed
        return 404 if who in ("none", "limited") else 403
    if right == "server":
        return allowed if who in ("admin", "machine") else 403
    if who == "machine":  # without a user there are no tokens
        return allowed if allowed == 400 else 404
    return allowed if who in ("none", *ROLES, "admin") else 403


def accounts(place, server):
    """A client for each kind of account."""
    found = {}
    for name in ("nora", "none", *ROLES, "admin"):
        retake(place, "user", "new", name, *(["--admin"] if name == "admin" else []))
        if name in ROLES:
            retake(place, "member", name, name, project="work")
        if name != "nora":
            found[name] = bearer(server, retake(place, "token", "new", name, "--scope", "admin")["token"], "work")
    for name in ("read", "write"):
        found[name] = bearer(server, retake(place, "token", "new", "owner", "--scope", name)["token"], "work")
    limited = retake(place, "token", "new", "owner", "--scope", "admin", "--only", "other")["token"]
    found["limited"] = bearer(server, limited, "work")
    found["link"] = bearer(server, retake(place, "link", "new", project="work")["link"], "work")
    found["machine"] = server.client("work")
    return found


def every_route(tally, clients):
    for who, client in clients.items():
        for method, path, body, right, allowed in ROUTES:
            answer = client.request(method, "/retake/v1" + path, body)
            if who == "machine" and right == "self" and "tokens" in path:
                tally.check(f"{who}: {method} {path}", answer.status in (400, 404), answer)
                continue
            tally.equal(f"{who}: {method} {path} {body}", answer.status, expected(right, allowed, who), answer)
    answer = Client(clients["machine"].server, {}, "work").get("/members")
    tally.equal("without an account", answer.status, 401)
    hidden = [clients["none"].request("GET", "/retake/v1/members", headers={"Retake-Project": name}).body.replace(name.encode(), b"?")
              for name in ("work", "nowhere")]
    tally.equal("a project that is not visible does not exist", *hidden)


def raising(tally, place, server, clients):
    """No role gives itself a higher one, nor does what it creates."""
    for who in ("none", *ROLES[:3], "link", "read", "write"):
        for role in ROLES:
            answer = clients[who].put(f"/members/{who}", {"role": role})
            tally.check(f"{who} does not become {role}", answer.status in (403, 404), answer)
        answer = clients[who].request("PATCH", f"/retake/v1/users/{who}", {"admin": True})
        tally.equal(f"{who} does not become administrator", answer.status, 403)
    editor = clients["editor"]
    made = editor.post("/tokens", {"scope": "admin"}).json
    own = bearer(server, made["token"], "work")
    tally.equal("an own token has the role", [own.get("/discussions").status, own.get("/members").status], [200, 403])
    listed = [each["id"] for each in editor.get("/tokens").json]
    tally.check("it is listed, without a secret", made["id"] in listed and made["token"].encode() not in editor.get("/tokens").body)
    tally.equal("another user cannot revoke it", clients["owner"].request("DELETE", f"/retake/v1/tokens/{made['id']}").status, 404)
    tally.equal("the user can", editor.request("DELETE", f"/retake/v1/tokens/{made['id']}").status, 200)
    tally.equal("it is refused at once", own.get("/discussions").status, 401)
    brief = retake(place, "token", "new", "editor", "--scope", "admin", "--days", "1")["token"]
    bearer(server, brief, "work").post("/tokens", {"name": "longer", "days": 100})
    ends = {each.get("name"): each.get("until") for each in editor.get("/tokens").json}
    tally.check("a token does not outlive the one that made it", ends["longer"] in ends.values() and ends["longer"] < time.strftime("%Y-%m-%d", time.gmtime(time.time() + 3 * 86400)), ends)
    tally.equal("an owner of a project does not administer another",
                clients["owner"].put("/members/owner", {"role": "owner"}, {"Retake-Project": "other"}).status, 404)
    link = clients["owner"].post("/links", {"discussion": "main"}).json
    tally.equal("a link of another project", clients["admin"].request("DELETE", f"/retake/v1/links/{link['id']}", headers={"Retake-Project": "other"}).status, 404)
    tally.equal("a link is revoked", clients["owner"].request("DELETE", f"/retake/v1/links/{link['id']}").status, 200)
    tally.equal("and refused at once", bearer(server, link["link"], "work").get("/discussions/d1").status, 401)


def demoted(tally, place, server, clients):
    """A role that is lost cannot be given back to oneself, not even at once."""
    retake(place, "member", "editor", "owner", project="work")
    time.sleep(FRESH_S)
    tally.equal("an owner", clients["editor"].get("/members").status, 200)
    retake(place, "member", "editor", "reader", project="work")
    tally.equal("no longer", clients["editor"].put("/members/editor", {"role": "owner"}).status, 403)
    retake(place, "member", "editor", "editor", project="work")


def last_ones(tally, clients):
    owner, admin = clients["owner"], clients["admin"]
    for name, answer in {
            "the last owner stays owner": owner.put("/members/owner", {"role": "editor"}),
            "the last owner stays member": owner.request("DELETE", "/retake/v1/members/owner"),
            "the last owner stays user": admin.request("DELETE", "/retake/v1/users/owner"),
            "the last owner stays enabled": admin.request("PATCH", "/retake/v1/users/owner", {"disabled": True}),
            "the last administrator stays one": admin.request("PATCH", "/retake/v1/users/admin", {"admin": False}),
            "the last administrator stays enabled": admin.request("PATCH", "/retake/v1/users/admin", {"disabled": True}),
            "the last administrator stays user": admin.request("DELETE", "/retake/v1/users/admin")}.items():
        tally.check(name, answer.status == 409 and b"first" in answer.body, answer)
    tally.equal("a team as owner", [admin.put("/teams/bosses/users/nora", {}).status,
                                    owner.put("/members/@bosses", {"role": "owner"}).status,
                                    owner.put("/members/owner", {"role": "editor"}).status], [200, 200, 200])
    answer = admin.request("DELETE", "/retake/v1/teams/bosses/users/nora")
    tally.check("its last user stays in it", answer.status == 409, answer)
    tally.equal("an administrator gives the role back", admin.put("/members/owner", {"role": "owner"}).status, 200)
    tally.equal("then the team may go", admin.request("DELETE", "/retake/v1/teams/bosses/users/nora").status, 200)
    tally.equal("a user with a second administrator", [admin.post("/users", {"name": "second", "admin": True}).status,
                                                      admin.request("PATCH", "/retake/v1/users/second", {"disabled": True}).status,
                                                      admin.request("PATCH", "/retake/v1/users/admin", {"admin": False}).status,
                                                      admin.request("DELETE", "/retake/v1/users/second").status], [201, 200, 409, 200])


def invited(tally, place, server, clients):
    """An administrator invites a person over HTTP; a revoked invitation is refused."""
    admin = clients["admin"]
    made = admin.post("/invitations", {"roles": {"work": "reader", "other": "editor"}, "name": "ivy", "days": 1})
    tally.check("an invitation", made.status == 201 and made.json["path"] == "/sign-in/invite?invite=" + made.json["invite"], made)
    listed = {each["id"]: each for each in admin.get("/invitations").json}
    tally.equal("it is listed", (listed[made.json["id"]]["name"], listed[made.json["id"]]["roles"]), ("ivy", ["work=reader", "other=editor"]))
    tally.check("without the secret", made.json["invite"].encode() not in admin.get("/invitations").body)
    accepted = Client(server, {}).request("GET", made.json["path"] + "&accept=1")
    tally.check("it is accepted", accepted.status == 200 and "retake_" in accepted.headers.get("set-cookie", ""), accepted)
    time.sleep(FRESH_S)
    tally.check("the roles", {"user": "ivy", "project": "work", "role": "reader"} in admin.get("/members").json, admin.get("/members"))
    tally.check("it works once", made.json["id"] not in [each["id"] for each in admin.get("/invitations").json])
    again = admin.post("/invitations", {"roles": {"work": "owner"}}).json
    tally.equal("revoked", admin.request("DELETE", f"/retake/v1/invitations/{again['id']}").status, 200)
    tally.equal("and refused", Client(server, {}).request("GET", again["path"] + "&accept=1&name=mallory").status, 403)
    until = {each["id"]: each.get("until") for each in admin.get("/invitations").json}
    tally.check("7 days by default", any(value is not None for value in until.values()), until)
    retake(place, "user", "change", "nora", "--identity", "proxy:nora@example.org")
    time.sleep(FRESH_S)
    tally.equal("an identity", admin.get("/users/nora/identities").json, [{"identity": "proxy:nora@example.org"}])
    tally.equal("is removed", [admin.request("DELETE", "/retake/v1/users/nora/identities").status, admin.get("/users/nora/identities").json], [200, []])
    by = {(each["by"], each["what"], each["from"]) for each in retake(place, "audit")}
    tally.check("the audit log", {("admin", "invite.new", "http"), ("admin", "invite.revoke", "http"), ("admin", "user.identity", "http")} <= by, by)


def browsers(tally, server):
    """A page of another site cannot administer; the page of this one can."""
    code = server.client().post("/codes", {"user": "owner"}).json["code"]
    cookie = Client(server, {}).request("GET", "/?code=" + quote(code)).headers["set-cookie"].split(";")[0]
    page = Client(server, {"Cookie": cookie, "Origin": f"http://127.0.0.1:{server.port}"}, "work")
    tally.equal("its own page", page.put("/members/nora", {"role": "reader"}).status, 200)
    for name, headers in {"another origin": {"Origin": "http://evil.example"}, "no origin": {"Origin": None},
                          "another site": {"Sec-Fetch-Site": "cross-site"}, "a form": {"Content-Type": "text/plain"}}.items():
        changed = {key: value for key, value in {**page.headers, **headers}.items() if value is not None}
        answer = Client(server, changed).put("/members/nora", {"role": "owner"})
        tally.check(name, answer.status in (403, 415), answer)
    rights = page.get("/account").json
    tally.equal("its rights", [rights["kind"], rights["user"], rights["rights"]],
                ["user", "owner", ["open", "self", "create", "read", "comment", "edit", "manage"]])


def audited(tally, place, server, clients):
    """Sign-ins, exports, purges and refusals, each with the id of its request; of refusals one row for an
    identity, a kind and a minute."""
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    reader, owner, admin = clients["reader"], clients["owner"], clients["admin"]
    for _ in range(5):
        reader.put("/discussions/main/entries/:1/content", {"content": "x"})
        reader.post("/purge", {"text": "nothing"})
        Client(server, {}, "work").get("/discussions")
        Client(server, {"Authorization": "Bearer rtk_" + "x" * 43}, "work").get("/discussions")
        Client(server, {}).request("GET", "/?code=0123456789abcdef")
    exported = reader.get("/export")
    tally.equal("a dry run", reader.get("/discussions/main/export?format=html&redact=1&dry_run=1").status, 200)
    owner.post("/purge", {"text": "nothing"})
    owner.post("/batch", {"ops": [{"op": "purge", "text": "nothing"}]})
    owner.post("/ops/purge", {"text": "nothing"})
    page = Client(server, {}).request("GET", "/?code=" + quote(server.client().post("/codes", {"user": "reader"}).json["code"]))
    tally.equal("a browser", page.status, 303)
    time.sleep(1)
    rows = admin.get("/audit?since=" + begun).json
    counts = {}
    for row in rows:
        counts[row["by"], row["what"]] = counts.get((row["by"], row["what"]), 0) + 1
    refused = [(row["by"], row["what"], row["at"][:16]) for row in admin.get("/audit").json if "refused" in row["what"]]
    tally.equal("one row for a kind of refusal and a minute", len(refused), len(set(refused)), refused)
    tally.check("each kind", {("reader", "refused.forbidden"), ("unknown", "refused.unknown"), ("none", "refused.not-visible"),
                              ("unknown", "sign-in.refused")} <= {row[:2] for row in refused}, refused)
    tally.equal("exports, purges, sign-ins", [counts.get(("reader", "export")), counts.get(("owner", "purge")), counts.get(("reader", "sign-in"))], [1, 3, 1], rows)
    ids = {row["what"]: row["request"] for row in rows if row["by"] == "reader"}
    tally.equal("with the id of the request", ids["export"], exported.headers["x-request-id"])
    tally.equal("by user", {row["by"] for row in admin.get("/audit?user=reader&since=" + begun).json}, {"reader"})
    tally.equal("the command", retake(place, "audit", "--user", "reader", "--since", begun), admin.get("/audit?user=reader&since=" + begun).json)
    tally.equal("the newest", admin.get("/audit?user=reader&limit=1").json, admin.get("/audit?user=reader").json[-1:])
    tally.equal("an invalid day", [admin.get("/audit?since=never").status, place.run("audit", "--since", "never").returncode], [400, 2])


def used(tally, clients):
    """The day of the last request is in the lists: one row for all requests of a day."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    days = [each.get("used") for each in clients["editor"].get("/tokens").json]
    tally.check("the last day of a token", today in days, days)
    unused = clients["admin"].post("/users/nora/tokens", {"name": "unused"}).json["id"]
    listed = {each["id"]: each.get("used") for each in clients["admin"].get("/users/nora/tokens").json}
    tally.equal("a new token", listed[unused], None)


def main():
    tally = Tally()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        for project in ("work", "other"):
            place.run("add", "first", project=project)
        with Server(place, "--accounts", "--no-socket") as server:
            clients = accounts(place, server)
            time.sleep(FRESH_S)
            every_route(tally, clients)
            raising(tally, place, server, clients)
            demoted(tally, place, server, clients)
            last_ones(tally, clients)
            invited(tally, place, server, clients)
            browsers(tally, server)
            audited(tally, place, server, clients)
            used(tally, clients)
        with Server(place, "--no-socket") as plain:
            tally.equal("without accounts", [plain.client().get(path).status for path in ("/users", "/members", "/tokens", "/account")],
                        [404, 404, 404, 200])
        by = {(each["by"], each["what"], each["from"]) for each in retake(place, "audit")}
        tally.check("the audit log names the user", ("owner", "member.set", "http") in by, by)
        tally.equal("sound", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
