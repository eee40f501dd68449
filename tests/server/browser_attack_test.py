#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hostile page in a real browser (attack.html): on another port of this machine, on another
name, and on a name that is rebound to the server's address (DNS rebinding); in a signed-in
browser and in one that is not. It tries everything that pages can do. The server's projects
must stay unchanged, and the page must read nothing.

A control server without any protection shows that the attacks work: there all requests
arrive, with cookies, and can be read."""
import base64
import fcntl
import http.server
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from client import API, ROOT, Client, Place, Server, Tally

PLANTED = "planted-home-51d0"
GUEST = "planted-guest-e7a2"
PAGE = os.path.join(ROOT, "tests/server/attack.html")
PATIENCE_S = 120
# `make test`: from another site half of the routes, the other half from the next one.
BRIEF = os.environ.get("RETAKE_BROWSER") == "brief"


# ---- the browser ----

class Browser:
    """Chromium, controlled over a pipe (the DevTools protocol)."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="retake-browser-")
        down, self.write = os.pipe()
        self.read, up = os.pipe()
        down = fcntl.fcntl(down, fcntl.F_DUPFD, 20)
        up = fcntl.fcntl(up, fcntl.F_DUPFD, 20)

        def place():
            os.dup2(down, 3)
            os.dup2(up, 4)

        env = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
        env.update(HOME=self.folder, XDG_CONFIG_HOME=self.folder, XDG_CACHE_HOME=self.folder)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--disable-extensions", "--no-proxy-server",
             "--disable-popup-blocking", "--password-store=basic", "--use-mock-keychain",
             # Protections of the browser itself are disabled: this tests the server.
             "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,"
             "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
             "--host-resolver-rules=MAP evil.test 127.0.0.1",
             "--user-data-dir=" + self.folder + "/profile", "--remote-debugging-pipe",
             "about:blank"],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=place, pass_fds=(3, 4), start_new_session=True)
        os.close(down)
        os.close(up)
        self.rest = b""
        self.number = 0
        self.answers = {}
        self.loaded = set()
        self.pages = {}     # URL: replacement body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", {})
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, params, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        return self.number

    def pump(self, until):
        """Processes messages until the condition is true."""
        end = time.monotonic() + PATIENCE_S
        while not until():
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
            while b"\0" in self.rest:
                one, self.rest = self.rest.split(b"\0", 1)
                self.take(json.loads(one))

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
        elif message["method"] == "Page.loadEventFired":
            self.loaded.add(message["sessionId"])
        elif message["method"] == "Fetch.requestPaused":
            params = message["params"]
            page = self.pages.get(params["request"]["url"])
            body = base64.b64encode(page or b"").decode()
            self.send("Fetch.fulfillRequest" if page else "Fetch.continueRequest",
                      {"requestId": params["requestId"], **({
                          "responseCode": 200, "body": body, "responseHeaders":
                          [{"name": "Content-Type", "value": "text/html"}]} if page else {})},
                      message["sessionId"])

    def call(self, method, params, session=None):
        number = self.send(method, params, session)
        self.pump(lambda: number in self.answers)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def tab(self):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = session["sessionId"]
        self.call("Page.enable", {}, session)
        return session

    def go(self, session, url):
        self.loaded.discard(session)
        self.call("Page.navigate", {"url": url}, session)
        self.pump(lambda: session in self.loaded)

    def run(self, session, code):
        answer = self.call("Runtime.evaluate", {"expression": code, "awaitPromise": True,
                                                "returnByValue": True, "userGesture": True}, session)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def text(self, session):
        return self.run(session, "document.documentElement.innerText")


# ---- the other servers ----

class Lax(http.server.BaseHTTPRequestHandler):
    """A server without any protection, which also serves the page."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        with open(PAGE, "rb") as file:
            page = file.read()
        how = self.path.partition("how=")[2].partition("&")[0]
        self.server.seen.append((how, self.command, self.headers.get("Cookie"), body))
        text, kind = b'{"text":"' + PLANTED.encode() + b'"}', "application/json"
        if self.path == "/attack":
            text, kind = page, "text/html"
        elif how == "events":
            text, kind = b"event: hello\ndata: " + PLANTED.encode() + b"\n\n", "text/event-stream"
        elif how in ("script", "import"):
            text, kind = b"var x = 1;", "text/javascript"
        elif how == "img":
            text, kind = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', \
                "image/svg+xml"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        if self.path == "/login":
            self.send_header("Set-Cookie", "inside=yes; Path=/; SameSite=Strict")
        self.send_header("Access-Control-Allow-Origin", self.headers.get("Origin") or "*")
        self.send_header("Access-Control-Allow-Credentials", "true")
        self.send_header("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
        self.send_header("Access-Control-Allow-Headers", "authorization, content-type")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def log_message(self, *_):
        pass


def lax():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lax)
    server.daemon_threads = True
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# ---- the attacks ----

def routes(code):
    some = [("GET", "/"), ("GET", "/?code=" + code), ("GET", API + "/info"),
            ("GET", API + "/discussions/d1/entries"), ("GET", API + "/export?format=canonical"),
            ("GET", API + "/events"), ("GET", "/api/session"), ("GET", "/status"),
            ("POST", API + "/ops/entry.append"), ("PUT", API + "/settings/system_prompt"),
            ("PATCH", API + "/discussions/d1/entries/@"), ("DELETE", API + "/discussions/d1/entries/@"),
            ("POST", API + "/import"), ("POST", API + "/codes"), ("POST", API + "/logout"),
            ("POST", API + "/reset"), ("POST", "/api/session"), ("GET", "/nothing")]
    return [{"method": method, "path": path,
             "opens": path in ("/", API + "/discussions/d1/entries")} for method, path in some]


def wait_for(is_true):
    end = time.monotonic() + PATIENCE_S
    while not is_true() and time.monotonic() < end:
        time.sleep(0.1)


def run_attack(browser, page, target, given, before=""):
    tab = browser.tab()
    browser.call("Fetch.enable", {"patterns": [{"urlPattern": "http://evil.test*/attack"}]}, tab)
    browser.go(tab, page)
    report = browser.run(tab, f"{before}attack({json.dumps(target)}, {json.dumps(given)})")
    return tab, report


def control(tally, browser, page_server):
    """On the unprotected server all requests arrive and can be read."""
    open_server = lax()
    port = open_server.server_port
    tab = browser.tab()
    browser.go(tab, f"http://localhost:{port}/login")
    given = [{"method": "GET", "path": "/x", "opens": True},
             {"method": "PATCH", "path": "/y", "opens": False}]
    _, report = run_attack(browser, f"http://localhost:{page_server.server_port}/attack",
                           f"http://localhost:{port}", given,
                           "patience_ms = 60000; open_ms = 10000; ")
    read = {how for how, text in report["read"]}
    for how in ("cors", "cors-credentials", "cors-bearer", "get", "xhr-get", "xhr-post", "events"):
        tally.check(f"control: {how} reads", how in read, sorted(read))
    for how in ("img", "script", "import"):
        tally.check(f"control: {how} loads", how in report["loaded"], report["loaded"])
    wanted = ("cors-credentials", "get-no-cors", "head-no-cors", "post-plain", "post-Plain",
              "post-no-type", "post-json-no-cors", "post-empty", "post-form", "post-keepalive",
              "beacon", "beacon-json", "img", "script", "link", "iframe", "object", "embed",
              "video", "form-text-plain", "form-multipart-form-data", "socket", "open",
              "form-application-x-www-form-urlencoded", "events", "post-no-referrer")

    def arrived():
        return {how for how, _, cookie, _ in list(open_server.seen)
                if cookie and "inside=yes" in cookie}

    wait_for(lambda: arrived() >= set(wanted))     # a beacon may arrive after the page has finished
    for how in wanted:
        tally.check(f"control: {how} arrives with the cookie", how in arrived(), sorted(arrived()))
    evil = [body for how, _, _, body in open_server.seen if how == "form-text-plain"]
    tally.equal("control: a form can write JSON", json.loads(evil[0])["content"] if evil else None,
                "evil")
    tally.check("control: windows open", not report.get("no_window"))
    open_server.shutdown()
    open_server.server_close()


def judge(tally, name, report, is_same_origin, least):
    """Checks what the page could read and observe."""
    text = json.dumps(report)
    tally.check(f"{name}: nothing of a conversation is read",
                PLANTED not in text and GUEST not in text, text)
    if not is_same_origin:
        tally.equal(f"{name}: nothing is read", report["read"], [])
        tally.equal(f"{name}: no answer is seen", (report["answered"], report["statuses"]), ([], {}))
    else:
        good = [status for status in report["statuses"]
                if status.split()[-1] not in ("403", "400")]
        tally.equal(f"{name}: all is refused", good, [], report["statuses"])
        tally.check(f"{name}: refusals are read", report["read"], report)
        tally.equal(f"{name}: by problems alone",
                    [one for one in report["read"] if "urn:retake:problem:" not in one[1]], [])
    tally.equal(f"{name}: nothing loads", report["loaded"], [])
    tally.check(f"{name}: much was tried", report["tried"] > least, report["tried"])


def main():
    program = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell")
    if not program:
        print("browser_attack_test: skipped, there is no Chromium")
        return 77
    tally = Tally()
    pages = lax()
    other = pages.server_port
    with Place() as place, Server(place, "--isolate") as server:
        port = server.port
        client = server.client()
        client.op({"op": "entry.append", "content": PLANTED})
        projects = ["default"]

        def state():
            return [place.canonical(project) for project in projects] + \
                [client.get("/projects").body]

        def try_all(browser, who):
            places = [(f"http://127.0.0.1:{other}", f"http://127.0.0.1:{port}"),
                      (f"http://localhost:{other}", f"http://localhost:{port}"),
                      (f"http://evil.test:{other}", f"http://127.0.0.1:{port}"),
                      (f"http://evil.test:{other}", f"http://0.0.0.0:{port}"),
                      (f"http://localhost:{other}", f"http://[::1]:{port}"),
                      (f"http://evil.test:{port}", f"http://evil.test:{port}")]
            with open(PAGE, "rb") as file:
                browser.pages[f"http://evil.test:{port}/attack"] = file.read()
            chosen = places if who == "signed in" else places[:2] + places[-1:]
            for turn, (page, target) in enumerate(chosen):
                name = f"{who}, {page} at {target}"
                name = name.replace(str(port), "PORT").replace(str(other), "OTHER")
                began = time.monotonic()
                code = client.post("/codes", {}).json["code"]
                given = routes(code)
                if BRIEF and page != target:
                    given = given[turn % 2::2]
                least = 8 * len(given)
                before, requests = state(), client.get("/server").json["requests"]
                tab, report = run_attack(browser, page + "/attack", target, given)
                asked = 0      # our own request counts, too
                end = time.monotonic() + PATIENCE_S
                while True:
                    asked += 1
                    arrived = client.get("/server").json["requests"] - requests - asked
                    if arrived > least or "[::1]" in target or time.monotonic() > end:
                        break
                    time.sleep(0.1)
                judge(tally, name, report, page == target, 16 * len(given))
                tally.check(f"{name}: it has arrived", arrived > least or "[::1]" in target, arrived)
                # Top-level navigation by the page: by a link and by a form.
                for how in (f"location.href = '{target}{API}/discussions/d1/entries'",
                            f"document.body.innerHTML = '<form method=post enctype=text/plain "
                            f"action={target}{API}/ops/entry.append><input name=\\'{{\"content\":"
                            f"\"evil\",\"x\":\"\\' value=\\'\"}}\\'></form>';"
                            "document.forms[0].submit()"):
                    browser.go(tab, page + "/attack")
                    browser.loaded.discard(tab)
                    browser.run(tab, how + "; 1")
                    browser.pump(lambda: tab in browser.loaded)
                    text = browser.text(tab)
                    tally.check(f"{name}: going there shows nothing", PLANTED not in text and
                                GUEST not in text and "evil" not in text.replace("evil.test", ""),
                                text)
                tally.check(f"{name}: nothing has changed", state() == before)
                # The page had a valid sign-in code, and could not use it up.
                answer = Client(server, {}).request("GET", "/?code=" + code)
                tally.equal(f"{name}: the code was not used", answer.status, 303, answer)
                if os.environ.get("TIMES"):
                    print(f"{time.monotonic() - began:.1f} s, {report['tried']} tried, {arrived} "
                          f"arrived: {name}", flush=True)

        with Browser(program) as browser:
            control(tally, browser, pages)
            try_all(browser, "not signed in")
        with Browser(program) as browser:
            tab = browser.tab()
            for host in ("127.0.0.1", "localhost"):
                own = client.post("/codes", {}).json["code"]
                browser.go(tab, f"http://{host}:{port}/?code={own}")
                text = browser.text(tab)
                tally.check(f"{host}: a browser signs in", "Sign in to Retake" not in text, text)
                # The page's own policy forbids requests, so the test sends them.
                cookies = browser.call("Storage.getCookies", {})["cookies"]
                inside = "; ".join(f"{one['name']}={one['value']}" for one in cookies
                                   if one["domain"] == host)
                answer = Client(server, {"Cookie": inside,
                                         "Origin": f"http://{host}:{port}"}).op(
                    {"op": "entry.append", "content": GUEST})
                tally.equal(f"{host}: with a cookie", answer.status, 201, answer)
                browser.go(tab, f"http://{host}:{port}{API}/discussions/d1/entries")
                tally.check(f"{host}: and sees its own data", GUEST in browser.text(tab))
            projects += [one["name"] for one in client.get("/projects").json
                         if one["name"] != "default"]
            tally.equal("two logins, two projects", len(projects), 3)
            try_all(browser, "signed in")
            for host in ("127.0.0.1", "localhost"):
                browser.go(tab, f"http://{host}:{port}{API}/discussions/d1/entries")
                tally.check(f"{host}: it was not signed out", GUEST in browser.text(tab))
    pages.shutdown()
    pages.server_close()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
