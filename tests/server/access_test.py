#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Access control as a table: each route with each credential, Host, Origin, Sec-Fetch-Site,
method and body type, over real sockets.

The expected result of each cell comes from oracle(), which was written from docs/security.md
and not from the server. A refused request must change nothing and reveal nothing about any
conversation, and every response must have the security headers.

Every route is requested with each value that differs in one dimension from an allowed
request. For three routes (one that reads, one that changes, the page) all cells are tried
with ALL=1, otherwise CELLS random ones (SEED chooses them).
"""
import base64
import itertools
import multiprocessing
import os
import random
import re
import secrets
import socket
import sys
import time

from client import API, Client, Place, Server, Stream, Tally

HOME, GUEST = "planted-home-7c1f", "planted-guest-93ab"

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
    b"permissions-policy": None,
    b"content-security-policy": None,
}

# Routes that isolated browsers may not use, and those that accept any body type except a form's.
OWNER = {("GET", API + "/server"), ("POST", API + "/codes"), ("GET", API + "/projects"),
         ("POST", API + "/projects")}
ANY_TYPE = {("POST", API + "/import"), ("POST", API + "/attachments"), ("POST", "/api/session")}
HOOK_API = [("GET", "/api/session"), ("POST", "/api/session"), ("GET", "/api/state"),
            ("GET", "/api/state/{field}"), ("PUT", "/api/state/{field}"),
            ("POST", "/api/state/{field}"), ("GET", "/api/callbacks"),
            ("POST", "/api/callbacks/{name}"), ("POST", "/api/reset"), ("GET", "/api/history"),
            ("GET", "/status")]
UNKNOWN = ["/retake/v1", "/retake/v1/", "/retake/v1/nothing", "/retake/v2/info", "/v1/models",
           "/favicon.ico", "/index.html", "//", "/retake/v1/info/", "/retake/v1//info",
           "/RETAKE/v1/info", "/retake/v1/%69nfo", "/api", "/api/nothing", "/status/",
           "/.well-known/openid-configuration", "/retake/v1/discussions/%2e%2e/info"]

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
WITH_BODY = {"POST", "PUT", "PATCH", "DELETE"}
SITES = ["absent", "none", "same-origin", "same-site", "cross-site"]
TYPES = ["absent", "application/json", "application/json; charset=utf-8", "text/plain",
         "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
MORE_SITES = ["", "Same-Origin", "none, same-origin", "cross-site, none"]
MORE_TYPES = ["", "Text/Plain", "TEXT/PLAIN;charset=utf-8", "Multipart/form-data; boundary=x",
              "Application/X-WWW-Form-URLEncoded", "application/json; charset=utf-16", "text/json",
              "application/jsonp", "text/plain; application/json", "application/json, text/plain",
              "application/octet-stream"]
CREDENTIALS = ["none", "token", "wrong token", "short token", "token in query",
               "token as cookie", "cookie", "wrong cookie", "two cookies", "logged out", "basic"]
MORE_CREDENTIALS = ["long token", "empty bearer", "bearer alone", "token twice", "token, no scheme",
                    "cookie in query", "cookie of another name", "cookie as token",
                    "two Cookie headers", "wrong token and cookie", "token and wrong cookie",
                    "code as token", "small letters"]
TOKEN = {"token", "token and wrong cookie", "small letters"}
COOKIE = {"cookie"}
MALFORMED = {"two Cookie headers", "token twice"}


def hosts(port):
    own = {name: f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    own["capitals"] = f"LOCALHOST:{port}"
    other = {"absent": None, "empty": "", "duplicate": f"127.0.0.1:{port}",
             "absolute": f"127.0.0.1:{port}", "evil": "evil.com",
             "evil behind": f"127.0.0.1.evil.com:{port}",
             "evil behind localhost": f"localhost.evil.com:{port}", "any": f"0.0.0.0:{port}",
             "any of six": f"[::]:{port}", "local": f"x.local:{port}",
             "other port": f"127.0.0.1:{port - 1}", "userinfo": f"a@127.0.0.1:{port}",
             "dot": f"localhost.:{port}",
             "mapped": f"[::ffff:127.0.0.1]:{port}", "decimal": f"2130706433:{port}"}
    more = {"no port": "127.0.0.1", "short": f"127.1:{port}", "octal": f"0177.0.0.1:{port}",
            "hexadecimal": f"0x7f.0.0.1:{port}", "long six": f"[0:0:0:0:0:0:0:1]:{port}",
            "zone": f"[::1%25lo]:{port}", "empty port": "127.0.0.1:", "zero": f"127.0.0.1:0{port}",
            "list": f"127.0.0.1:{port},evil.com", "path": f"127.0.0.1:{port}/",
            "two": f"127.0.0.1:{port} evil.com", "other of eight": f"127.0.0.2:{port}"}
    return own, other, more


def origins(port):
    own = {name: f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    other = {"null": "null", "evil": "http://evil.com", "other port": f"http://127.0.0.1:{port - 1}",
             "path": f"http://127.0.0.1:{port}/"}
    more = {"empty": "", "capitals": f"HTTP://127.0.0.1:{port}", "no port": "http://127.0.0.1",
            "evil behind": f"http://127.0.0.1:{port}.evil.com",
            "userinfo": f"http://a@127.0.0.1:{port}", "file": "file://",
            "extension": "chrome-extension://abcdefgh", "two": f"http://127.0.0.1:{port} http://e.com",
            "no scheme": f"127.0.0.1:{port}", "other scheme": f"ws://127.0.0.1:{port}"}
    return own, other, more


class Table:
    """The values of each dimension, and how a cell becomes a request."""

    def __init__(self, port, secret):
        self.port = port
        self.secret = secret
        self.own_hosts, self.other_hosts, self.more_hosts = hosts(port)
        self.own_origins, self.other_origins, self.more_origins = origins(port)
        self.hosts = {**self.own_hosts, **self.other_hosts, **self.more_hosts}
        self.origins = {"absent": None, **self.own_origins, **self.other_origins,
                        **self.more_origins}
        self.host_names = [*self.own_hosts, *self.other_hosts]
        self.origin_names = ["absent", *self.own_origins, *self.other_origins]

    def dimensions(self):
        return [CREDENTIALS, self.host_names, self.origin_names, SITES, METHODS, TYPES]

    def more(self):
        return [MORE_CREDENTIALS, list(self.more_hosts), list(self.more_origins), MORE_SITES, [],
                MORE_TYPES]

    def credential(self, name):
        """Returns (headers, addition to the query)."""
        token, cookie = self.secret["token"], self.secret["cookie"]
        key = f"retake_{self.port}"
        wrong = "0" * 64
        headers = {
            "token": [("Authorization", "Bearer " + token)],
            "small letters": [("authorization", "bearer " + token)],
            "wrong token": [("Authorization", "Bearer " + token[:-1] + ("1" if token[-1] != "1"
                                                                         else "2"))],
            "short token": [("Authorization", "Bearer " + token[:-1])],
            "long token": [("Authorization", "Bearer " + token + "0")],
            "empty bearer": [("Authorization", "Bearer ")],
            "bearer alone": [("Authorization", "Bearer")],
            "token twice": [("Authorization", "Bearer " + token)] * 2,
            "token, no scheme": [("Authorization", token)],
            "token as cookie": [("Cookie", f"{key}={token}")],
            "cookie": [("Cookie", f"a=b; {key}={cookie}; c=d")],
            "wrong cookie": [("Cookie", f"{key}={wrong}")],
            "two cookies": [("Cookie", f"{key}={cookie}; {key}={cookie}")],
            "two Cookie headers": [("Cookie", f"{key}={cookie}"), ("Cookie", "a=b")],
            "logged out": [("Cookie", f"{key}={self.secret['old']}")],
            "basic": [("Authorization", "Basic " +
                       base64.b64encode(f"retake:{token}".encode()).decode())],
            "cookie of another name": [("Cookie", f"retake={cookie}; retake_={cookie}; "
                                        f"retake_{self.port - 1}={cookie}")],
            "cookie as token": [("Authorization", "Bearer " + cookie)],
            "wrong token and cookie": [("Authorization", "Bearer " + wrong),
                                       ("Cookie", f"{key}={cookie}")],
            "token and wrong cookie": [("Authorization", "Bearer " + token),
                                       ("Cookie", f"{key}={wrong}")],
            "code as token": [("Authorization", "Bearer " + self.secret["code"])],
        }.get(name, [])
        query = {"token in query": f"token={token}&access_token={token}&key={token}",
                 "cookie in query": f"retake_{self.port}={cookie}"}.get(name, "")
        return headers, query

    def request(self, route, cell):
        credential, host, origin, site, method, kind = cell
        headers, query = self.credential(credential)
        target = route.path + ("?" + query if query else "")
        given = self.hosts[host]
        if host == "absolute":
            target = "http://" + given + target
        lines = [f"{method} {target} HTTP/1.1"]
        if given is not None:
            lines += [f"Host: {given}"] * (2 if host == "duplicate" else 1)
        lines += [f"{name}: {value}" for name, value in headers]
        if self.origins[origin] is not None:
            lines.append("Origin: " + self.origins[origin])
        if site != "absent":
            lines.append("Sec-Fetch-Site: " + site)
        if kind != "absent":
            lines.append("Content-Type: " + kind)
        body = b""
        if method in WITH_BODY:
            body = route.body
            lines.append(f"Content-Length: {len(body)}")
        if route.harmless:
            lines.append('If-Match: "never"')
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    def oracle(self, route, cell):
        """Returns (status, problem code), or None: allowed."""
        credential, host, origin, site, method, kind = cell
        if host in ("absent", "empty", "duplicate", "absolute") or credential in MALFORMED:
            return 400, "malformed-request"
        if host not in self.own_hosts:
            return 403, "forbidden-host"
        if origin != "absent" and origin not in self.own_origins:
            return 403, "forbidden-origin"
        if site not in ("absent", "none", "same-origin"):
            return 403, "forbidden-origin"
        who = "token" if credential in TOKEN else "browser" if credential in COOKIE else "nobody"
        looks = method in ("GET", "HEAD")
        if route.path == "/":
            if who == "browser" and not looks and origin == "absent":
                return 403, "forbidden-origin"
            if method in WITH_BODY and not self.is_json(kind):
                return 415, "content-type"
            return None if looks else (405, "method-not-allowed")
        if who == "nobody":
            return 401, "unauthenticated"
        as_method = "GET" if method == "HEAD" else method
        if not route.methods:
            return 404, "not-found"
        if as_method not in route.methods:
            return 405, "method-not-allowed"
        if who == "browser" and (as_method, route.pattern) in OWNER:
            return 404, "not-found"
        if who == "browser" and not looks and origin == "absent":
            return 403, "forbidden-origin"
        if method in WITH_BODY:
            if (method, route.pattern) in ANY_TYPE:
                essence = kind.split(";")[0].strip().lower()
                if kind in ("absent", "") or essence in ("text/plain", "multipart/form-data",
                                                  "application/x-www-form-urlencoded"):
                    return 415, "content-type"
            elif not self.is_json(kind):
                return 415, "content-type"
        return None

    @staticmethod
    def is_json(kind):
        return kind in ("application/json", "application/json; charset=utf-8")


class Route:
    def __init__(self, pattern, methods, path=None, body=b"{}", harmless=False):
        self.pattern = pattern
        self.methods = methods
        self.path = path or pattern
        self.body = body
        self.harmless = harmless


# ---- sending requests ----

class Wire:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        self.is_over = False

    def more(self):
        try:
            piece = self.socket.recv(262144)
        except ConnectionResetError:
            piece = b""
        if not piece:
            self.is_over = True
        self.rest += piece
        return bool(piece)

    def answer(self, method):
        """Returns (status, lower-case headers, body), or None: no response."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        head, _, rest = self.rest.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            headers[name.strip().lower()] = value.strip()
        status = int(lines[0].split(b" ")[1])
        size = int(headers.get(b"content-length", b"0"))
        if method == "HEAD" or status in (204, 304):
            size = 0
        elif headers.get(b"transfer-encoding") == b"chunked":
            raise RuntimeError(f"a stream where none was asked for: {head!r}")
        while len(rest) < size:
            if not self.more():
                return None
            rest = self.rest.partition(b"\r\n\r\n")[2]
        self.rest = rest[size:]
        return status, headers, rest[:size]

    def close(self):
        self.socket.close()


def word_of(body):
    match = re.search(rb'"type":"urn:retake:problem:([a-z-]+)"', body)
    return match[1].decode() if match else None


class Asker:
    """Sends cells, several at a time, and checks the responses."""

    def __init__(self, table, tally):
        self.table = table
        self.tally = tally
        self.counts = {}

    def judge(self, route, cell, wanted, answer):
        name = f"{route.path} {cell}"
        if answer is None:
            self.tally.check(name, False, "no answer")
            return
        status, headers, body = answer
        self.counts[status] = self.counts.get(status, 0) + 1
        faults = []
        # Without a Host, libmicrohttpd answers before the server sees the request.
        is_ours = cell[1] != "absent"
        for header, value in HEADERS.items() if is_ours else ():
            if header not in headers or (value is not None and headers[header] != value):
                faults.append(f"{header.decode()} is {headers.get(header)}")
        if any(header.startswith(b"access-control-") for header in headers):
            faults.append("it grants something to other sites")
        if b"server" in headers:
            faults.append("it says what serves")
        is_head = cell[4] == "HEAD"
        if wanted is not None:
            if status != wanted[0]:
                faults.append(f"status {status} in place of {wanted[0]}")
            if is_ours and not is_head and word_of(body) != wanted[1]:
                faults.append(f"it says {body[:200]!r} in place of {wanted[1]}")
            if HOME.encode() in body or GUEST.encode() in body:
                faults.append("it tells of a conversation")
            if status == 401 and b'"detail"' in body:
                faults.append("a 401 with details")
            if b"set-cookie" in headers:
                faults.append("it sets a cookie")
            if (cell[4] in WITH_BODY and headers.get(b"connection") != b"close"):
                faults.append("what was not read of it may be taken for the next request")
        elif status in (401, 403, 415) or (not is_head and word_of(body) in (
                "malformed-request", "forbidden-host", "forbidden-origin", "method-not-allowed")):
            faults.append(f"it was refused: {status} {body[:200]!r}")
        elif cell[0] in COOKIE and HOME.encode() in body:
            faults.append("a browser sees what is not its own")
        self.tally.check(name, not faults, *faults)

    def ask(self, cells):
        """cells: (route, cell), none of which is answered with a stream."""
        keeping, closing = [], []
        for route, cell in cells:
            wanted = self.table.oracle(route, cell)
            ends = wanted is not None and (wanted[0] == 400 or cell[4] in WITH_BODY)
            (closing if ends else keeping).append((route, cell, wanted))
        self.pipeline(keeping)
        for at in range(0, len(closing), 32):
            self.each(closing[at:at + 32])

    def pipeline(self, cells):
        wire, at = None, 0
        while at < len(cells):
            if wire is None or wire.is_over:
                if wire:
                    wire.close()
                wire = Wire(self.table.port)
            some = cells[at:at + 16]
            wire.socket.sendall(b"".join(self.table.request(route, cell)
                                         for route, cell, _ in some))
            for index, (route, cell, wanted) in enumerate(some):
                answer = wire.answer(cell[4])
                if answer is None and index > 0:
                    break       # the previous request ended the connection: repeat on a new one
                self.judge(route, cell, wanted, answer)
                at += 1
                if answer is None or answer[1].get(b"connection") == b"close":
                    wire.is_over = True
                    break
        if wire:
            wire.close()

    def each(self, cells):
        wires = []
        for route, cell, wanted in cells:
            wire = Wire(self.table.port)
            wire.socket.sendall(self.table.request(route, cell))
            wires.append(wire)
        for wire, (route, cell, wanted) in zip(wires, cells):
            self.judge(route, cell, wanted, wire.answer(cell[4]))
            wire.close()


# ---- the data ----

def plant(client, text):
    """Creates text in every kind of object that can contain it."""
    for op in ({"op": "entry.append", "content": text + " question", "mine": text},
               {"op": "entry.append", "role": "AI " + text, "content": text + " answer"},
               {"op": "label.set", "entry": "@", "label": "label-" + text},
               {"op": "label.set", "entry": ":1", "label": "mark"},
               {"op": "role.add", "role": "role " + text},
               {"op": "prompt.update", "text": text},
               {"op": "preset.save", "name": "preset " + text},
               {"op": "files.set", "which": "files", "items": [text + ".c"]},
               {"op": "track.set", "track": text},
               {"op": "setting.set", "key": "system_prompt", "value": text},
               {"op": "take.branch", "at": ":1", "name": "take " + text},
               {"op": "entry.append", "content": text + " third"},
               {"op": "discussion.rename", "discussion": "main", "name": "talk " + text}):
        answer = client.op(op)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{op}: {answer}")


VALUES = {"sha256": "0" * 64, "discussion": "d1", "entry": "@", "at": "@", "take": "t1", "a": "t1", "b": "t2",
          "label": "mark", "key": "system_prompt", "role": "User", "which": "files",
          "user": "x", "of": "user", "team": "x", "member": "x", "link": "1", "token": "1", "invitation": "1", "name": "x", "seq": "1", "op": "entry.append", "run": "r1", "field": "ai_input"}
BODIES = {
    "/discussions": b'{"name":"evil"}', "/ops/entry.append": b'{"content":"evil"}',
    "/discussions/d1/entries": b'{"content":"evil"}',
    "/discussions/d1/entries/@": b'{"content":"evil"}',
    "/discussions/d1/entries/@/content": b'{"content":"evil"}',
    "/discussions/d1/entries/@/role": b'{"role":"evil"}',
    "/discussions/d1/entries/insert": b'{"before":":1","content":"evil"}',
    "/discussions/d1/prompt": b'{"text":"evil"}', "/projects": b'{"name":"evil"}',
    "/batch": b'{"ops":[{"op":"entry.append","content":"evil"}]}',
    "/discussions/d1": b'{"name":"evil"}', "/roles": b'{"role":"evil"}',
    "/purge": b'{"text":"planted"}', "/settings/system_prompt": b'{"value":"evil"}',
    "/api/session": b'{"session":{"entries":[{"role":"User","content":"evil"}]}}',
    "/api/state/ai_input": b'{"value":"evil"}', "/import": b'# evil\n\nevil\n', "/attachments": b'evil',
}


def routes_of(document):
    """Returns (pattern, methods, path with values) of each route."""
    found = {}
    for path, methods in document["paths"].items():
        found[API + path] = {method.upper() for method in methods} & set(METHODS)
    for method, path in HOOK_API:
        found.setdefault(path, set()).add(method)
    fits = {pattern: re.compile(re.sub(r"\{\w+\}", "[^/]+", pattern)) for pattern in found}
    routes = []
    for pattern in sorted(found):
        path = re.sub(r"\{(\w+)\}", lambda m: VALUES[m[1]], pattern)
        inner = path[len(API):] if path.startswith(API) else path
        # "…/entries/delete" is also "…/entries/{entry}".
        methods = set().union(*(found[other] for other in found if fits[other].fullmatch(path)))
        if pattern.endswith("/events"):
            path += "?last_event_id=no-such"    # refused by the route, so no stream is opened
        routes.append(Route(pattern, methods, path, BODIES.get(inner, b"{}")))
    return routes + [Route(path, set()) for path in UNKNOWN] + [Route("/", {"GET"})]


def state(server, place, guest):
    return (place.canonical(), place.canonical(guest), server.client().get("/projects").body)


# ---- the checks ----

def with_query(route, table, cell):
    """A path that already has a query cannot get a second one."""
    return "?" in route.path and "query" in cell[0]


def near_cells(table, route):
    """Cells that differ in one dimension from an allowed one."""
    methods = sorted(route.methods) or ["GET"]
    for method in methods:
        kind = "application/octet-stream" if (method, route.pattern) in ANY_TYPE \
            else "application/json" if method in WITH_BODY else "absent"
        for base in (("token", "127.0.0.1", "absent", "absent", method, kind),
                     ("cookie", "localhost", "localhost", "same-origin", method, kind)):
            yield base
            values = [list(a) + list(b) for a, b in zip(table.dimensions(), table.more())]
            for at, some in enumerate(values):
                for value in some:
                    if value != base[at]:
                        yield base[:at] + (value,) + base[at + 1:]


def every_route(tally, table, routes, check_state):
    refused, allowed = [], []
    for route in routes:
        for cell in near_cells(table, route):
            if with_query(route, table, cell):
                continue
            if table.oracle(route, cell) is not None:
                refused.append((route, cell))
            elif route.path != API + "/logout" or cell[0] not in COOKIE:
                harmless = Route(route.pattern, route.methods, route.path, route.body, True)
                allowed.append((harmless, cell))
    asker = Asker(table, tally)
    asker.ask(refused)
    check_state("what differs in one thing is refused, and changes nothing")
    asker.ask(allowed)
    print(f"every route: {len(routes)} paths, {len(refused)} refused, {len(allowed)} allowed")


def classes():
    return [Route(API + "/discussions/{discussion}/entries", {"GET", "POST"},
                  API + "/discussions/d1/entries", b'{"content":"evil"}'),
            Route(API + "/ops/{op}", {"POST"}, API + "/ops/entry.append", b'{"content":"evil"}'),
            Route("/", {"GET"})]


def chance_cell(rng, dimensions):
    """Random cells: half of them anywhere, half close to an allowed one."""
    if rng.random() < 0.4:
        return tuple(rng.choice(values) for values in dimensions)
    good = (["token", "cookie"], ["127.0.0.1", "localhost", "[::1]"],
            ["absent", "127.0.0.1", "localhost"], ["absent", "none", "same-origin"],
            ["GET", "POST"], ["application/json"])
    return tuple(rng.choice(some if rng.random() < 0.75 else values)
                 for some, values in zip(good, dimensions))


def ask_part(work):
    port, secret, which, cells = work
    table = Table(port, secret)
    tally = Tally()
    asker = Asker(table, tally)
    asker.ask([(classes()[which], cell) for cell in cells])
    return tally.passed, tally.failed, asker.counts


def cells_of(table, which, is_all, count, is_wanted):
    if is_all:
        cells = itertools.product(*table.dimensions())
    else:
        rng = random.Random(f"{os.environ.get('SEED', '1')} {which}")
        cells = {chance_cell(rng, table.dimensions()) for _ in range(count)}
        cells = sorted(cells)
    route = classes()[which]
    some = []
    for cell in cells:
        if (table.oracle(route, cell) is not None) == is_wanted:
            some.append(cell)
            if len(some) == 2000:
                yield some
                some = []
    if some:
        yield some


def all_cells(tally, table, secret, check_state):
    """All cells or a sample for three routes: refused ones first."""
    is_all = bool(os.environ.get("ALL"))
    count = int(os.environ.get("CELLS", "20000"))
    with multiprocessing.Pool(2) as pool:
        for refused in (True, False):
            for which, route in enumerate(classes()):
                counts, asked = {}, 0
                work = ((table.port, secret, which, cells)
                        for cells in cells_of(table, which, is_all, count, refused))
                for passed, failed, some in pool.imap_unordered(ask_part, work):
                    tally.passed += passed
                    tally.failed += failed
                    asked += passed + failed
                    for status, number in some.items():
                        counts[status] = counts.get(status, 0) + number
                print(f"{'refused' if refused else 'allowed'}: {route.path}: {asked} cells "
                      f"{dict(sorted(counts.items()))}", flush=True)
            if refused:
                check_state("no cell that is refused changes anything")


def the_test_can_fail(tally, table, place):
    """The same requests do change something when they are allowed."""
    for route in classes()[:2]:
        before = place.canonical()
        Asker(table, tally).ask([(route, ("token", "127.0.0.1", "absent", "absent", "POST",
                                          "application/json"))])
        tally.check(f"{route.path} changes something when it may", place.canonical() != before)
    wire = Wire(table.port)
    wire.socket.sendall(table.request(classes()[0], ("token", "127.0.0.1", "absent", "absent",
                                                     "GET", "absent")))
    tally.check("what was planted is there to be seen", HOME.encode() in wire.answer("GET")[2])
    wire.close()


# ---- sessions ----

def session(tally, place, server, other):
    port = server.port
    nobody = Client(server, {})
    code = server.client().post("/codes", {}).json["code"]
    answer = nobody.request("HEAD", "/?code=" + code)
    tally.check("HEAD uses no code", "set-cookie" not in answer.headers, answer.headers)
    planted = "f" * 64
    answer = nobody.request("GET", "/?code=" + code, headers={"Cookie": f"retake_{port}={planted}"})
    cookie = answer.headers.get("set-cookie", "")
    tally.equal("a code signs in", answer.status, 303, answer)
    tally.check("with a new cookie",
                re.fullmatch(rf"retake_{port}=[0-9a-f]{{64}}; Path=/; Max-Age=7776000; HttpOnly; "
                             r"SameSite=Strict", cookie) and planted not in cookie, cookie)
    tally.check("that has nothing of code and token", code not in cookie and
                server.token not in cookie)
    tally.equal("and back to an address without it", answer.headers.get("location"), "/")
    again = nobody.request("GET", "/?code=" + code)
    tally.check("a code can be used once", again.status == 403 and "set-cookie" not in again.headers,
                again)
    for name, wrong in (("none", ""), ("zeros", "0" * 16), ("short", code[:15]),
                        ("long", code + "0"), ("token", server.token)):
        again = nobody.request("GET", "/?code=" + wrong)
        tally.check(f"a code that is {name} is refused",
                    again.status in (200, 403) and "set-cookie" not in again.headers, again)
    inside = {"Cookie": cookie.split(";")[0], "Origin": f"http://127.0.0.1:{port}"}
    again = nobody.request("GET", "/?code=" + code, headers={"Cookie": inside["Cookie"]})
    tally.check("a browser that is signed in already is told so", again.status == 403 and "already signed in" in str(again.body),
                again)
    browser = Client(server, inside)
    tally.equal("the cookie authenticates", browser.get("/info").status, 200)
    tally.equal("a planted cookie is refused",
                Client(server, {"Cookie": f"retake_{port}={planted}"}).get("/info").status, 401)
    stream = Stream(browser, API + "/events")
    stream.until(lambda event, _: event == "hello")
    tally.equal("another server refuses it",
                Client(other, inside).request("GET", API + "/info",
                                              headers={"Origin": f"http://127.0.0.1:{other.port}"}
                                              ).status, 401)
    secret = cookie.split(";")[0].split("=")[1]
    kept = b"".join(open(os.path.join(folder, name), "rb").read()
                    for folder, _, names in os.walk(place.folder) for name in names
                    if os.path.isfile(os.path.join(folder, name)))
    tally.check("no file has the cookie", secret.encode() not in kept)
    tally.check("nor a code", code.encode() not in kept)
    answer = browser.post("/logout", {})
    tally.equal("it logs out", answer.status, 200, answer)
    tally.check("the cookie is revoked", "Max-Age=0" in answer.headers.get("set-cookie", ""))
    rest = stream.until(lambda *_: False)
    tally.check("its events end", isinstance(rest, list))
    stream.close()
    tally.equal("the cookie is no longer valid", browser.get("/info").status, 401)
    mode = os.stat(os.path.join(place.folder, "state/retake/token")).st_mode & 0o777
    tally.equal("the token is for its owner alone", mode, 0o600)
    tally.check("it has 256 bits", re.fullmatch("[0-9a-f]{64}", server.token))
    with open("/proc/%d/cmdline" % server.process.pid, "rb") as file:
        tally.check("and is on no command line", server.token.encode() not in file.read())


def own_projects(tally, table, server, routes):
    """A browser that names another project still gets its own."""
    other = server.browser()
    asked = 0
    for route in routes:
        if "GET" not in route.methods or route.path == "/":
            continue
        for name in ("default", table.secret["guest"]):
            for path, headers in ((route.path, {"Retake-Project": name}),
                                  (f"{route.path}?project={name}", {})):
                answer = other.request("GET", path, headers=headers)
                tally.check(f"{path} of {name}",
                            HOME.encode() not in answer.body and GUEST.encode() not in answer.body,
                            answer)
                asked += 1
    answer = other.post("/ops/entry.append", {"content": "mine"}, {"Retake-Project": "default"})
    tally.equal("it writes, but in its own", answer.status, 201, answer)
    return asked


def over_socket(tally, place, server):
    """The socket needs no token, and cannot be used by a page."""
    path = os.path.join(place.folder, "retake/sock")
    tally.equal("the socket is for its owner alone", os.stat(path).st_mode & 0o777, 0o600)
    for name, headers, wanted in (("alone", "", 200), ("Origin", "Origin: http://127.0.0.1:%d\r\n"
                                                       % server.port, 403),
                                  ("site", "Sec-Fetch-Site: cross-site\r\n", 403),
                                  ("two Hosts", "Host: localhost\r\n", 400)):
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(60)
            wire.connect(path)
            wire.sendall(f"GET {API}/info HTTP/1.1\r\nHost: localhost\r\n{headers}"
                         "Connection: close\r\n\r\n".encode())
            got = wire.recv(65536)
        tally.equal(f"the socket, {name}", int(got.split(b" ")[1]), wanted, got[:300])


def as_nobody(function, *arguments):
    """Returns the result of a function that runs in a process of another user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            said = function(*arguments)
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


def knock(token, path, port):
    """Tries everything that is possible without a credential."""
    found = []
    try:
        with open(token, encoding="ascii") as file:
            found.append(file.read())
    except PermissionError:
        found.append("no token")
    for family, to in ((socket.AF_UNIX, path), (socket.AF_INET, ("127.0.0.1", port))):
        with socket.socket(family) as wire:
            wire.settimeout(60)
            try:
                wire.connect(to)
                wire.sendall(f"GET {API}/info HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                found.append(wire.recv(65536)[:12].decode())
            except PermissionError:
                found.append("no way in")
            except ConnectionError:
                found.append("")
    return ", ".join(found)


def other_user(tally, place, server):
    """Another user can connect to the port, but do nothing. Needs root, to change the user."""
    if os.geteuid() != 0:
        return
    token = os.path.join(place.folder, "state/retake/token")
    path = os.path.join(place.folder, "retake/sock")
    folders = [place.folder, os.path.dirname(path), place.folder + "/state", os.path.dirname(token)]

    kept = {one: os.stat(one).st_mode & 0o777 for one in [*folders, path]}
    for folder in folders:
        os.chmod(folder, 0o755)
    tally.equal("another user", as_nobody(knock, token, path, server.port),
                "no token, no way in, HTTP/1.1 401")
    os.chmod(path, 0o666)
    tally.equal("another user, who can open the socket",
                as_nobody(knock, token, path, server.port), "no token, , HTTP/1.1 401")
    for one, mode in kept.items():
        os.chmod(one, mode)


def other_address(tally):
    """--listen and --host: only under that name, and with the token."""
    with Place() as place, Server(place, "--listen", "127.0.0.2", "--host",
                                  "127.0.0.2,desk.example:443") as server:
        for host, wanted in ((f"127.0.0.2:{server.port}", 200), ("desk.example", 200),
                             ("desk.example:443", 200), (f"127.0.0.1:{server.port}", 200),
                             ("127.0.0.2", 403), (f"desk.example:{server.port}", 403),
                             ("evil.com", 403)):
            for token, status in ((server.token, wanted), ("0" * 64, 401 if wanted == 200
                                                           else wanted)):
                with socket.create_connection(("127.0.0.2", server.port), 60) as wire:
                    wire.sendall(f"GET {API}/info HTTP/1.1\r\nHost: {host}\r\n"
                                 f"Authorization: Bearer {token}\r\n\r\n".encode())
                    got = wire.recv(65536)
                tally.equal(f"elsewhere, {host}", int(got.split(b" ")[1]), status, got[:200])
        try:
            socket.create_connection(("127.0.0.1", server.port), 5).close()
            tally.check("it listens there alone", False)
        except ConnectionRefusedError:
            tally.check("it listens there alone", True)


def half_a_port(tally):
    """localhost is also ::1: if another program has the port there, the server does not start,
    because pages of that program would be treated as its own."""
    for _ in range(20):
        try:
            other = socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError:
            return
        with other, Place() as place:
            port = other.getsockname()[1]
            try:
                with Server(place, port=port):
                    said = "it has begun"
            except RuntimeError as why:
                said = str(why)
            if f"on 127.0.0.1 port {port} already" in said:
                continue    # another program has the address that this test needs
            tally.check("a port in use on one address is refused",
                        f"another program already listens on ::1 port {port}" in said, said)
            with Server(place) as server:
                tally.equal("a free port is another one", server.client().get("/health").status,
                            200)
            return
    tally.check("a port is found that is free on both addresses", False)


def main():
    tally = Tally()
    half_a_port(tally)
    other_address(tally)
    began = time.monotonic()
    with Place() as place, Place() as elsewhere, Server(place, "--isolate") as server, \
            Server(elsewhere, "--no-socket") as other:
        plant(server.client(), HOME)
        guest = server.browser()
        plant(guest, GUEST)
        project = guest.get("/info").json["project"]
        gone = server.browser()
        gone_cookie = gone.headers["Cookie"].split("=")[1]
        tally.equal("a browser logs out", gone.post("/logout", {}).status, 200)
        secret = {"token": server.token, "cookie": guest.headers["Cookie"].split("=")[1],
                  "old": gone_cookie, "guest": project,
                  "code": server.client().post("/codes", {}).json["code"]}
        table = Table(server.port, secret)
        routes = routes_of(server.client().get("/openapi.json").json)
        before = state(server, place, project)

        def check_state(name):
            tally.check(name, state(server, place, project) == before)

        session(tally, place, server, other)
        own_projects(tally, table, server, routes)
        over_socket(tally, place, server)
        other_user(tally, place, server)
        before = state(server, place, project)
        every_route(tally, table, routes, check_state)
        if not server.client().get("/health").status == 200:
            tally.check("it still answers", False)
    # Allowed cells may have changed the data: use a new store.
    with Place() as place, Server(place, "--isolate") as server:
        plant(server.client(), HOME)
        guest = server.browser()
        plant(guest, GUEST)
        project = guest.get("/info").json["project"]
        gone = server.browser()
        secret = {"token": server.token, "cookie": guest.headers["Cookie"].split("=")[1],
                  "old": gone.headers["Cookie"].split("=")[1], "guest": project,
                  "code": secrets.token_hex(8)}
        tally.equal("a browser logs out", gone.post("/logout", {}).status, 200)
        table = Table(server.port, secret)
        before = state(server, place, project)

        def check_state(name):
            tally.check(name, state(server, place, project) == before)

        the_test_can_fail(tally, table, place)
        before = state(server, place, project)
        all_cells(tally, table, secret, check_state)
        tally.equal("it still answers", server.client().get("/health").status, 200)
    if os.environ.get("ALL"):
        print(f"{time.monotonic() - began:.0f} s")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
