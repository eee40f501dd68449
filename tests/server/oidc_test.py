#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two servers of one store and a provider of OpenID Connect: sign-in that begins on one server and ends on
the other, forged and wrong answers, invitations, users named by a proxy. DB is the address of another
store."""
import ctypes.util
import hashlib
import hmac
import html
import http.client
import json
import os
import re
import sys
import threading
import time
import urllib.parse

from client import Answer, Client, Place, Server, Tally, quote

try:
    from oidc_provider import SECRET, Key, Provider, encode
except ImportError:
    print("skipped: python3-cryptography is not installed")
    sys.exit(0)
if ctypes.util.find_library("cjose") is None:
    print("skipped: libcjose is not installed")
    sys.exit(0)

HOST = "127.0.0.1:9555"
PROXY_SECRET = "p" * 40
ARRIVES = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def retake(place, *args, project=None):
    done = place.run(*args, "--json", project=project)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout)


class Browser:
    """Cookies that both servers get, as servers with the same address do."""

    def __init__(self):
        self.cookies = {}

    def get(self, server, path, **headers):
        text = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        wire.request("GET", path, headers={"Host": HOST, **({"Cookie": text} if text else {}), **headers})
        got = wire.getresponse()
        answer = Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())
        wire.close()
        for line in got.headers.get_all("Set-Cookie", []):
            name, _, value = line.split(";")[0].partition("=")
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer


def begin(tally, browser, server, path="/sign-in/oidc"):
    answer = browser.get(server, path)
    tally.equal("sent to the service", answer.status, 303, answer)
    return answer.headers.get("location", "")


def sign_in(tally, provider, browser, a, b, change=None, path="/sign-in/oidc"):
    """The whole way; change(query) may change the response."""
    query, code = provider.authorize(begin(tally, browser, a, path))
    response = {"state": query["state"], "code": code}
    if change:
        change(response)
    return browser.get(b, "/sign-in/callback?" + urllib.parse.urlencode(response), **ARRIVES)


def signed_in(browser, server):
    return browser.get(server, "/retake/v1/projects").status == 200


def cause(answer):
    found = re.search(rb'role="alert">(.*?)</p>', answer.body, re.S)
    return html.unescape(found.group(1).decode()) if found else ""


def complete_flow(tally, place, provider, a, b):
    browser = Browser()
    tally.check("the page names the service", b"Sign in with Example" in browser.get(a, "/").body)
    refused = sign_in(tally, provider, browser, a, b)
    identity = f"oidc:{provider.issuer} 1001"
    tally.check("an unknown identity is refused", refused.status == 403 and identity in cause(refused) and
                b"invitation" in refused.body, refused)
    tally.check("and not signed in", not signed_in(browser, a))
    retake(place, "user", "change", "ann", "--identity", identity)
    answer = sign_in(tally, provider, browser, a, b)
    tally.check("signed in", answer.status == 200 and b"signed in as ann" in answer.body, answer)
    tally.check("on both servers", signed_in(browser, a) and signed_in(browser, b))
    tally.check("the cookie of the sign-in is gone", list(browser.cookies) == ["retake_9555"], browser.cookies)
    tally.equal("led home by this site", answer.headers.get("refresh"), "0; url=/")
    page = Client(a, {"Host": HOST, "Origin": "http://" + HOST, "Cookie": f"retake_9555={browser.cookies['retake_9555']}"}, "work")
    tally.equal("with the user's rights", [page.get("/discussions").status, Client(a, page.headers, "other").get("/discussions").status],
                [200, 404])
    tally.equal("signs out", page.post("/logout").status, 200)
    tally.check("signed out", not signed_in(browser, a))
    used = provider.used[-1]
    tally.equal("the secret in a header, the verifier in the body", [used["basic"], used["secret"], len(used["code_verifier"]) >= 43],
                [True, SECRET, True])
    for key in ("ES256", "PS256"):
        provider.keys.append(Key("key-" + key, key))
        tally.equal("a new key, " + key, sign_in(tally, provider, browser, b, a).status, 200)
    provider.keys = [Key("after")]
    tally.equal("all keys replaced", sign_in(tally, provider, browser, a, b).status, 200)
    retake(place, "user", "change", "ann", "--disabled")
    answer = sign_in(tally, provider, browser, a, b)
    tally.check("a disabled user", answer.status == 403 and "disabled" in cause(answer), answer)
    retake(place, "user", "change", "ann")


def session_is_new(tally, provider, a, b):
    """Session fixation: a cookie that was there before is not the session."""
    browser = Browser()
    browser.cookies["retake_9555"] = fixed = "ab" * 32
    answer = sign_in(tally, provider, browser, a, b)
    tally.check("a new session", answer.status == 200 and browser.cookies["retake_9555"] != fixed, answer)
    old = Browser()
    old.cookies["retake_9555"] = fixed
    tally.check("and not the old one", not signed_in(old, a))


def forged_tokens(tally, provider, a, b):
    """Each is refused with its cause, and no session is made."""
    now = int(time.time())
    good, other, weak = provider.keys[-1], Key("other"), Key("weak", bits=1024)
    modulus = good.private.public_key().public_numbers().n.to_bytes(256, "big")

    def mac(key):
        return lambda data: hmac.new(key, data, hashlib.sha256).digest()

    cases = {
        "alg none": ({"header": {"alg": "none"}, "signer": lambda data: b""}, "algorithm"),
        "HS256 with the public key": ({"header": {"alg": "HS256"}, "signer": mac(good.pem)}, "algorithm"),
        "HS256 with the modulus": ({"header": {"alg": "HS256"}, "signer": mac(modulus)}, "algorithm"),
        "RS512": ({"header": {"alg": "RS512"}}, "algorithm"),
        "another key's signature": ({"signer": other.sign}, "signature"),
        "an empty signature": ({"signer": lambda data: b""}, "signature"),
        "ES256 with an RSA key": ({"header": {"alg": "ES256"}}, "key"),
        "unknown key id": ({"header": {"kid": "unknown"}}, "does not list"),
        "a key in the token": ({"header": {"kid": "mine", "jwk": {**other.public, "kid": "mine"}}, "signer": other.sign}, "does not list"),
        "the address of a key": ({"header": {"kid": "mine", "jku": "https://127.0.0.1:1/keys"}, "signer": other.sign}, "does not list"),
        "a weak key": ({"header": {"kid": "weak"}, "signer": weak.sign, "listed": [good.public, weak.public]}, "2048"),
        "a key for encryption": ({"header": {"kid": "enc"}, "listed": [{**good.public, "kid": "enc", "use": "enc"}]}, "does not list"),
        "two keys without an id": ({"header": {"kid": None}, "listed": [good.public, other.public]}, "several keys"),
        "critical extensions": ({"header": {"crit": ["exp"]}}, "critical"),
        "wrong issuer": ({"extra": {"iss": provider.issuer + "x"}}, "iss"),
        "no issuer": ({"extra": {"iss": None}}, "iss"),
        "wrong audience": ({"extra": {"aud": "another"}}, "aud"),
        "wrong audiences": ({"extra": {"aud": ["another", "third"], "azp": "retake-test"}}, "aud"),
        "several audiences without azp": ({"extra": {"aud": ["retake-test", "another"]}}, "azp"),
        "issued to another client": ({"extra": {"azp": "another"}}, "azp"),
        "expired": ({"extra": {"exp": now - 3600}}, "expired"),
        "no expiry": ({"extra": {"exp": None}}, "exp"),
        "an expiry that is no number": ({"extra": {"exp": str(now + 300)}}, "exp"),
        "not yet valid": ({"extra": {"nbf": now + 3600}}, "nbf"),
        "issued in the future": ({"extra": {"iat": now + 3600}}, "future"),
        "wrong nonce": ({"extra": {"nonce": "another"}}, "nonce"),
        "no nonce": ({"extra": {"nonce": None}}, "nonce"),
        "another access token": ({"extra": {"at_hash": encode(b"0" * 16)}}, "at_hash"),
        "no subject": ({"extra": {"sub": None}}, "sub"),
        "a long subject": ({"extra": {"sub": "x" * 256}}, "sub"),
        "a subject with a space": ({"extra": {"sub": "1 1"}}, "sub"),
    }
    for name, (wrong, word) in cases.items():
        provider.reset()
        for member, value in wrong.items():
            setattr(provider, member, value)
        browser = Browser()
        answer = sign_in(tally, provider, browser, a, b)
        tally.check("refused: " + name, answer.status == 403 and word in cause(answer), answer.status, cause(answer))
        tally.check("with the next step: " + name, b"Sign in again" in answer.body)
        tally.check("not signed in: " + name, not signed_in(browser, a))
    provider.reset()
    tally.equal("an audience in a list", sign_in_with(tally, provider, a, b, {"aud": ["retake-test"]}).status, 200)
    tally.equal("a minute between the clocks", sign_in_with(tally, provider, a, b, {"iat": now + 30, "nbf": now + 30}).status, 200)
    return len(cases)


def sign_in_with(tally, provider, a, b, extra):
    provider.extra = extra
    answer = sign_in(tally, provider, Browser(), a, b)
    provider.reset()
    return answer


def wrong_responses(tally, place, provider, a, b):
    def check(name, answer, word, status=403):
        tally.check("refused: " + name, answer.status == status and word in cause(answer), answer.status, cause(answer))

    browser = Browser()
    check("another state", sign_in(tally, provider, browser, a, b, lambda r: r.update(state="x" * 43)), "latest sign-in")
    check("no state", sign_in(tally, provider, browser, a, b, lambda r: r.pop("state")), "latest sign-in")
    check("no code", sign_in(tally, provider, browser, a, b, lambda r: r.pop("code")), "no code")
    check("an invented code", sign_in(tally, provider, browser, a, b, lambda r: r.update(code="invented")), "invalid_grant")
    check("another issuer", sign_in(tally, provider, browser, a, b, lambda r: r.update(iss="https://evil.example")), "issuer")
    check("cancelled", sign_in(tally, provider, browser, a, b, lambda r: (r.pop("code"), r.update(error="access_denied"))), "access_denied")
    answer = sign_in(tally, provider, browser, a, b, lambda r: (r.pop("code"), r.update(error="<script>")))
    check("an error with marks", answer, "unknown", 502)
    # Another browser must not finish what this one has begun (login CSRF).
    query, code = provider.authorize(begin(tally, browser, a))
    path = "/sign-in/callback?" + urllib.parse.urlencode({"state": query["state"], "code": code})
    check("in a browser that has begun nothing", Browser().get(b, path, **ARRIVES), "did not start a sign-in")
    other = Browser()
    begin(tally, other, b)
    check("in a browser that has begun another", other.get(b, path, **ARRIVES), "latest sign-in")
    kept = dict(browser.cookies)
    tally.equal("the browser that has begun it", browser.get(b, path, **ARRIVES).status, 200)
    again = Browser()
    again.cookies = dict(kept)
    provider.codes[code] = query  # a provider that accepts a code twice
    check("the same state twice", again.get(a, path, **ARRIVES), "completed before")
    again.cookies = dict(kept)
    check("the same code twice", again.get(b, path, **ARRIVES), "invalid_grant")
    # The cookie cannot be changed.
    query, code = provider.authorize(begin(tally, browser, a))
    name = next(each for each in browser.cookies if "signin" in each)
    path = "/sign-in/callback?" + urllib.parse.urlencode({"state": query["state"], "code": code})
    value = browser.cookies[name]
    for what, changed in {"time": re.sub(r"\.(\d+)\.", lambda m: f".{int(m[1]) + 10**9}.", value), "no MAC": value.rpartition(".")[0],
                          "an invitation": value.replace("..", "." + "ab" * 32 + "."), "MAC": value[:-1] + ("A" if value[-1] != "A" else "B"),
                          "nothing": "...", "long": value * 9}.items():
        browser.cookies[name] = changed
        tally.check("refused: a changed cookie, " + what, browser.get(b, path, **ARRIVES).status == 403)
    # Requests that a page of another site can make.
    for headers in ({**ARRIVES, "Sec-Fetch-Dest": "iframe"}, {**ARRIVES, "Sec-Fetch-Mode": "no-cors"}, {**ARRIVES, "Origin": "https://evil.example"}):
        tally.equal("only as a page", browser.get(b, path, **headers).status, 403)
    tally.equal("not from other sites", browser.get(b, "/", **ARRIVES).status, 403)
    tally.equal("HEAD uses nothing", Client(a, {"Host": HOST}).request("HEAD", "/sign-in/oidc").status, 405)
    forged = Client(a, {"Host": "evil.example"}).request("GET", "/sign-in/oidc")
    tally.equal("another Host", forged.status, 403)
    tally.equal("the address is configured", query["redirect_uri"], f"http://{HOST}/sign-in/callback")
    # PKCE: the provider refuses without the verifier, and with another one.
    query, code = provider.authorize(begin(tally, browser, a))
    provider.codes[code]["code_challenge"] = "A" * 43
    answer = browser.get(b, "/sign-in/callback?" + urllib.parse.urlencode({"state": query["state"], "code": code}), **ARRIVES)
    check("a code that was asked for with another verifier", answer, "invalid_grant")


def bad_provider(tally, place, provider):
    """What the service itself can do wrong. Each server starts without knowing it."""
    def slow(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(300):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)

    def huge(handler):
        handler.send(b"[" + b"0," * 500000 + b"0]")

    well_known = "/.well-known/openid-configuration"
    cases = {
        "another issuer": ({"describe": {"issuer": "https://evil.example"}}, "different issuer"),
        "no TLS elsewhere": ({"describe": {"token_endpoint": "http://evil.example/token"}}, "https"),
        "no address": ({"describe": {"authorization_endpoint": "javascript:alert(1)"}}, "https"),
        "no PKCE": ({"describe": {"code_challenge_methods_supported": ["plain"]}}, "PKCE"),
        "not found": ({"answer": {well_known: lambda handler: handler.send({}, 404)}}, "404"),
        "no JSON": ({"answer": {well_known: lambda handler: handler.send(b"<html>")}}, "JSON"),
        "too large": ({"answer": {well_known: huge}}, "larger"),
        "keys too large": ({"answer": {"/keys": huge}}, "larger"),
        "keys gone": ({"answer": {"/keys": lambda handler: handler.send({}, 500)}}, "500"),
        "a redirection": ({"answer": {well_known: lambda handler: handler.send(b"", 302)}}, "302"),
        "deep JSON": ({"answer": {well_known: lambda handler: handler.send(b"[" * 100000)}}, "JSON"),
    }
    with Server(place, *ARGS(provider), port=0) as server:
        for name, (wrong, word) in cases.items():
            provider.reset()
            for member, value in wrong.items():
                setattr(provider, member, value)
            answer = Browser().get(server, "/sign-in/oidc")
            tally.check("the service: " + name, answer.status == 502 and word in cause(answer), answer.status, cause(answer))
        provider.reset()
        provider.answer = {well_known: slow}
        begun = time.monotonic()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(Browser().get(server, "/sign-in/oidc")))
        thread.start()
        quick = 0
        while thread.is_alive():
            before = time.monotonic()
            Client(server, {"Host": HOST}).request("GET", "/healthz")
            quick = max(quick, time.monotonic() - before)
            time.sleep(0.05)
        print(f"# slow service: refused after {time.monotonic() - begun:.1f} s, other requests within {quick * 1000:.0f} ms")
        tally.check("a slow service", answers and answers[0].status == 502 and 9 < time.monotonic() - begun < 15, answers)
        tally.check("others do not wait", quick < 1 or os.getloadavg()[0] > 2 * os.cpu_count(), quick)
        provider.reset()
        for name, answer, word in (("token: garbage", lambda h: h.send(b"\xff\xfe"), "JSON"), ("token: no ID token", lambda h: h.send({"access_token": "x"}), "no ID token"),
                                   ("token: not a token", lambda h: h.send({"id_token": "a.b", "access_token": "x"}), "not a signed token"),
                                   ("token: large", huge, "larger"), ("token: wrong client", lambda h: h.send({"error": "invalid_client"}, 401), "secret")):
            provider.answer = {"/token": answer}
            got = sign_in(tally, provider, Browser(), server, server)
            tally.check(name, got.status in (403, 502) and word in cause(got), got.status, cause(got))
        provider.reset()
        tally.equal("and then as it should", sign_in(tally, provider, Browser(), server, server).status, 200)


def creating(tally, place, provider):
    with Server(place, *ARGS(provider), "--oidc-create") as server:
        names = []
        for subject, name in (("2001", "Bob"), ("2002", "bob"), ("2003", "Bób Ünal"), ("2004", "machine"), ("2005", ""), ("2006", "../../x"), ("2001", "Other")):
            provider.subject, provider.name = subject, name
            answer = sign_in(tally, provider, Browser(), server, server)
            found = re.search(rb"signed in as ([^.<]+?)\. <a", answer.body)
            names.append(found.group(1).decode() if found else answer.body)
        tally.equal("names of new users", names, ["bob", "bob-2", "b-b-nal", "machine-2", "user", "x", "bob"])
    provider.reset()


def invitations(tally, place, provider, a, b):
    made = retake(place, "invite", "new", "work=editor", "other=reader", "--at", f"http://{HOST}/")
    link = urllib.parse.urlsplit(made["link"])
    path = link.path + "?" + link.query
    tally.equal("the list", retake(place, "invite")[0]["roles"], ["work=editor", "other=reader"])
    browser = Browser()
    for _ in range(2):
        page = browser.get(a, path, **ARRIVES)
        tally.check("looking at it uses nothing", page.status == 200 and b"Accept the invitation" in page.body, page)
    tally.equal("not accepted from another site", browser.get(a, path + "&accept=1&name=eve", **ARRIVES).status, 403)
    for name, status in (("Eve", 400), ("", 400), ("ann", 403), ("machine", 403)):
        tally.equal("a name that cannot be: " + name, browser.get(b, path + "&accept=1&name=" + quote(name)).status, status)
    answer = browser.get(b, path + "&accept=1&name=eve")
    tally.check("accepted", answer.status == 200 and b"signed in as eve" in answer.body, answer)
    tally.check("on both servers", signed_in(browser, a) and signed_in(browser, b))
    roles = {each["project"]: each["role"] for each in retake(place, "member") if each.get("user") == "eve"}
    tally.equal("with its roles", roles, {"work": "editor", "other": "reader"})
    tally.check("once", browser.get(a, path).status == 403 and browser.get(a, path + "&accept=1&name=mallory").status == 403)
    # By the service.
    provider.subject, provider.name = "3001", "Grace"
    made = retake(place, "invite", "new", "work=reader")
    secret = made["invite"]
    guest = Browser()
    answer = sign_in(tally, provider, guest, a, b, path="/sign-in/oidc?invite=" + secret)
    tally.check("accepted with the service", answer.status == 200 and b"signed in as grace" in answer.body, answer)
    # Higher roles for a user who exists; a lower one changes nothing.
    for role, wanted in (("owner", "owner"), ("reader", "owner")):
        secret = retake(place, "invite", "new", "work=" + role)["invite"]
        answer = guest.get(b, f"/sign-in/invite?invite={secret}&accept=1")
        tally.equal("a user who is signed in", answer.status, 200)
        tally.equal("roles", [each["role"] for each in retake(place, "member", project="work") if each.get("user") == "grace"], [wanted])
    made = retake(place, "invite", "new", "--name", "heidi")
    retake(place, "invite", "revoke", str(made["id"]))
    tally.equal("revoked", Browser().get(a, f"/sign-in/invite?invite={made['invite']}&accept=1").status, 403)
    named = retake(place, "invite", "new", "--name", "heidi")["invite"]
    tally.check("a given name", b"signed in as heidi" in Browser().get(a, f"/sign-in/invite?invite={named}&accept=1&name=other").body)
    for wrong in ("", "rti_" + "A" * 43, "rtk_" + named[4:], named[:-1]):
        tally.equal("no invitation", Browser().get(a, "/sign-in/invite?accept=1&name=x&invite=" + wrong).status, 403)
    tally.check("only its hash is stored", named.encode() not in open(place.db, "rb").read() if os.path.exists(place.db) else True)
    provider.reset()


def proxy_sign_ins(place, name):
    return sum((each["what"], each["by"], each["on"]) == ("sign-in", name, "proxy") for each in retake(place, "audit"))


def proxied(tally, place):
    secret_file = os.path.join(place.folder, "proxy-secret")
    with open(secret_file, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
        file.write(PROXY_SECRET + "\n")
    with Server(place, "--accounts", "--no-socket", "--proxy-user", "X-Forwarded-User", "--proxy-secret-file", secret_file,
                "--proxy-sign-out", "https://login.example.org/out?a=1&b=2") as server:
        def ask(*headers, path="/retake/v1/discussions", method="GET"):
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
            text = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\nRetake-Project: work\r\n{lines}\r\n"
            return int(server.raw(text.encode()).split(b" ")[1])

        good, user = ("Retake-Proxy-Secret", PROXY_SECRET), ("X-Forwarded-User", "eve")
        before = proxy_sign_ins(place, "eve")
        tally.equal("named by the proxy", ask(good, user), 200)
        for _ in range(5):
            ask(good, user)
        ask(good, user, ("Authorization", "Bearer " + "rtk_" + "A" * 43))
        time.sleep(1.5)
        tally.equal("one sign-in in the audit log", proxy_sign_ins(place, "eve") - before, 1)
        eve = Client(server, {good[0]: good[1], user[0]: user[1], "Origin": f"http://127.0.0.1:{server.port}"})
        answer = eve.post("/logout", {})
        tally.equal("sign out", (answer.status, answer.json.get("sign_out")), (200, "/sign-out"), answer)
        page = eve.request("GET", "/sign-out")
        tally.check("where to sign out", page.status == 200 and b'href="https://login.example.org/out?a=1&amp;b=2"' in page.body, page)
        tally.equal("the page", ask(good, user, path="/"), 200)
        for name, headers in {"no secret": [user], "wrong secret": [("Retake-Proxy-Secret", "q" * 40), user], "only the secret": [("Retake-Proxy-Secret", "x")],
                              "shorter": [("Retake-Proxy-Secret", PROXY_SECRET[:-1]), user], "twice": [good, user, ("X-Forwarded-User", "grace")],
                              "two secrets": [good, good, user], "nobody": [good, ("X-Forwarded-User", "")], "unknown": [good, ("X-Forwarded-User", "zoe")],
                              "another's identity": [good, ("X-Forwarded-User", "ann")],
                              "with the owner's token": [user, ("Authorization", "Bearer " + server.token)]}.items():
            tally.equal("refused: " + name, ask(*headers), 403)
        tally.equal("changes need the Origin", ask(good, user, ("Content-Length", "0"), path="/retake/v1/undo", method="POST"), 403)
        tally.equal("without a name", ask(good), 401)
        stream = Client(server, {good[0]: good[1], user[0]: user[1]}, "work").events()
        tally.equal("events", stream.status, 200)
        retake(place, "user", "change", "eve", "--disabled")
        begun = time.monotonic()
        while not stream.read()[1] and time.monotonic() - begun < 5:
            pass
        tally.check("which end with the user", time.monotonic() - begun < 5)
        tally.equal("a disabled user", ask(good, user), 403)


def refused_to_start(tally, place):
    os.chmod(SECRET_FILE(place), 0o644)
    for name, args, word in (("without accounts", ["--oidc", "https://x.example", "--oidc-client", "c"], b"--accounts"),
                             ("without a client", ["--accounts", "--oidc", "https://x.example"], b"--oidc-client"),
                             ("without TLS", ["--accounts", "--oidc", "http://x.example", "--oidc-client", "c"], b"https"),
                             ("a public address without TLS", ["--accounts", "--public-url", "http://x.example"], b"https"),
                             ("a public address with a path", ["--accounts", "--public-url", "https://x.example/retake"], b"must not have a path"),
                             ("a sign-out address without a proxy", ["--accounts", "--proxy-sign-out", "https://x.example"], b"--proxy-user"),
                             ("a proxy without a secret", ["--accounts", "--proxy-user", "X-User"], b"32 characters"),
                             ("a secret that others can read", ["--accounts", "--oidc", "https://x.example", "--oidc-client", "c",
                                                                "--oidc-secret-file", SECRET_FILE(place)], b"chmod 600")):
        done = place.run("serve", "--port", "0", "--no-socket", *args)
        tally.check("does not start: " + name, done.returncode != 0 and word in done.stderr, done)
    os.chmod(SECRET_FILE(place), 0o600)


def SECRET_FILE(place):
    return os.path.join(place.folder, "secret")


def ARGS(provider):
    return ["--accounts", "--no-socket", "--public-url", "http://" + HOST, "--oidc", provider.issuer, "--oidc-client", provider.client,
            "--oidc-name", "Example", "--oidc-secret-file", provider.secret_file]


def main():
    tally = Tally()
    provider = Provider()
    with Place() as place:
        place.db = os.environ.get("DB", place.db)
        provider.secret_file = SECRET_FILE(place)
        with open(provider.secret_file, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(SECRET + "\n")
        for project in ("work", "other"):
            place.run("add", "first", project=project)
        retake(place, "user", "new", "ann")
        retake(place, "member", "ann", "reader", project="work")
        with Server(place, *ARGS(provider)) as a, Server(place, *ARGS(provider)) as b:
            complete_flow(tally, place, provider, a, b)
            session_is_new(tally, provider, a, b)
            count = forged_tokens(tally, provider, a, b)
            wrong_responses(tally, place, provider, a, b)
            invitations(tally, place, provider, a, b)
        bad_provider(tally, place, provider)
        creating(tally, place, provider)
        proxied(tally, place)
        refused_to_start(tally, place)
        audit = retake(place, "audit")
        refused = [each["on"] for each in audit if each["what"] == "sign-in.refused"]
        tally.check("refusals in the audit log", len(refused) >= count and any("nonce" in each for each in refused), len(refused))
        tally.check("and sign-ins", {"sign-in", "invite.new", "invite.accept", "invite.revoke", "user.identity"} <= {each["what"] for each in audit})
        entered = [each for each in audit if each["what"] == "sign-in"]
        tally.check("like those by code", all(each["on"] in ("browser", "proxy") and each["from"] == "http" and each.get("request") for each in entered), entered)
        tally.check("of the user", {"eve", "grace"} <= {each["by"] for each in entered} and not {"sign-in", "invitation"} & {each["by"] for each in entered}, entered)
        tally.equal("sound", place.run("fsck").returncode, 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
