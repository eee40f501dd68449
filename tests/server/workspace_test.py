#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One workspace: a signed-in browser sees what the command line sees, and the reverse. It may
open every project, unless its link was for one project or the server runs with --isolate. It
stays signed in after a restart, and the page that requires a link explains how to get one."""
import base64
import hashlib
import html
import json
import os
import re
import signal
import sys
import time

from client import API, WAIT_S, Client, Place, Server, Tally, quote


def entries(client, **headers):
    return [each["content"] for each in client.get("/discussions/main/entries", **headers).json["entries"]]


def same_data(tally, place, browser):
    place.run("add", "from the terminal")
    tally.equal("the browser has what the terminal wrote", entries(browser), ["from the terminal"])
    browser.post("/discussions/main/entries", {"content": "from the browser"})
    tally.check("and the reverse", b"from the browser" in place.run("show").stdout)
    tally.equal("it is the default project", browser.get("/info").json["project"], "default")


def projects(tally, place, owner, browser):
    place.run("add", "in the notes", project="my notes")
    tally.check("info says that projects can be chosen", "projects" in browser.get("/info").json["features"])
    tally.equal("a browser lists the projects", [each["name"] for each in browser.get("/projects").json],
                ["default", "my notes"])
    tally.equal("a header names one", entries(browser, **{"Retake-Project": "my notes"}), ["in the notes"])
    got = browser.get("/discussions/main/entries?project=my%20notes")
    tally.equal("so does the query", [each["content"] for each in got.json["entries"]], ["in the notes"])
    got = browser.get("/info?project=nowhere")
    tally.equal("one that does not exist is not created", got.status, 404, got)
    tally.equal("and is not listed", len(browser.get("/projects").json), 2)
    tally.equal("a browser creates one", browser.post("/projects", {"name": "third"}).status, 201)
    tally.equal("which programs have, too", owner.get("/info", **{"Retake-Project": "third"}).status, 200)
    for method, path in (("GET", "/server"), ("POST", "/codes")):
        got = browser.request(method, API + path, None if method == "GET" else {})
        tally.equal(f"{method} {path} is for programs only", got.status, 404, got)
    for by in ("day", "model", "program", "discussion", "project"):
        tally.equal(f"statistics by {by}: as on the command line", browser.get(f"/stats?by={by}").json,
                    json.loads(place.run("stats", "--by", by, "--json").stdout))
    for query in ("by=colour", "since=yesterday", "until=2026-03-20T10:00", "by=project&at_op=1", "by=project&discussion=main"):
        tally.equal(f"/stats?{query} is refused", browser.get("/stats?" + query).status, 400)
    tally.equal("a discussion that does not exist", browser.get("/stats?discussion=nowhere").status, 404)
    stores = []
    for path in ("/", "/?project=my%20notes", "/?project=default"):
        page = browser.request("GET", path)
        tally.equal(f"{path}: the page", page.status, 200)
        stores += re.findall(rb'name="retake-store" content="(\w*)"', page.body)
    if stores:  # built with the web interface
        tally.check("the pages of two projects keep their drafts apart",
                    stores[0] == stores[2] and stores[0] != stores[1], stores)
    page = browser.request("GET", "/?project=nowhere")
    tally.equal("the page of a project that does not exist leads to the first one",
                (page.status, page.headers.get("location")), (303, "/"))


def confined(tally, server):
    code = server.client().post("/codes", {"project": "my notes"}).json["code"]
    answer = Client(server, {}).request("GET", "/?code=" + quote(code))
    browser = Client(server, {"Cookie": answer.headers["set-cookie"].split(";")[0]})
    for headers in ({}, {"Retake-Project": "default"}):
        tally.equal("a link for one project opens only that one", entries(browser, **headers), ["in the notes"])
    tally.equal("whatever the query names", browser.get("/info?project=default").json["project"], "my notes")
    tally.equal("its own statistics", browser.get("/stats").json["entries"], 1)
    got = browser.get("/stats?by=project")
    tally.check("it may not count other projects", got.status in (403, 404, 409) and b"third" not in got.body, got)
    tally.equal("it has no list", browser.get("/projects").status, 404)
    tally.check("and info offers none", "projects" not in browser.get("/info").json["features"])


def sign_in_page(tally, server):
    page = Client(server, {}).request("GET", "/")
    text = page.body.decode()
    style = re.search("<style>(.*?)</style>", text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = page.headers["content-security-policy"]
    tally.check("the policy names the style", f"style-src 'sha256-{digest}'" in policy, policy)
    tally.equal("and allows the form, no script",
                policy.replace(f"'sha256-{digest}'", "X"),
                "default-src 'none'; style-src X; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
    tally.check("it has a title", "<h1>Sign in to Retake</h1>" in text, text)
    tally.equal("and one command", re.findall("<pre>(.*?)</pre>", text), ["retake serve --login"])
    tally.check("it says how long a link lasts", "10 minutes" in html.unescape(text), text)
    for form in ("{url}", "{code}", "  {url} ", "http://localhost:1/?code={code}&x=1"):
        got = server.client().post("/codes", {}).json
        pasted = form.format(**got)
        answer = Client(server, {}).request("GET", "/?code=" + quote(pasted))
        tally.equal(f"pasted: {form}", (answer.status, answer.headers.get("location")), (303, "/"))
    answer = Client(server, {}).request("GET", "/?code=" + quote("http://x/?code="))
    tally.equal("a link without a code", answer.status, 403)


def opens(tally, place):
    """serve --open starts the browser with a valid link, which is not printed."""
    seen = os.path.join(place.folder, "opened")
    program = os.path.join(place.folder, "a-browser")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\necho noise\necho "$1" >{seen}.new\n'
                   f'cut -d" " -f5 /proc/$$/stat >>{seen}.new\necho $$ >>{seen}.new\n'
                   f'grep SigIgn /proc/$$/status >>{seen}.new\nmv {seen}.new {seen}\n')
    os.chmod(program, 0o700)
    place.env["BROWSER"] = program
    with Server(place, "--open") as server:
        end = time.monotonic() + WAIT_S
        while not os.path.exists(seen) and time.monotonic() < end:
            time.sleep(0.05)
        with open(seen, encoding="utf-8") as file:
            url, group, number, ignored = file.read().splitlines()
        tally.equal("a process group of its own", group, number)
        tally.equal("SIGPIPE is not ignored", int(ignored.split()[1], 16) >> (signal.SIGPIPE - 1) & 1, 0)
        tally.check("the link of this server", url.startswith(f"http://127.0.0.1:{server.port}/?code="), url)
        answer = Client(server, {}).request("GET", "/?code=" + url.split("=")[1])
        tally.equal("it signs in", answer.status, 303)
        printed = server.process.stdout.readline().decode()
        code = re.search(r"code=(\w+)", printed).group(1)
        tally.equal("so does the printed one", Client(server, {}).request("GET", "/?code=" + code).status, 303)
    place.env["BROWSER"] = place.folder + "/no-such-browser"
    with Server(place, "--open") as server:
        tally.equal("without a browser it serves", server.client().get("/health").status, 200)
    with open(os.path.join(place.folder, "serve.log"), encoding="utf-8") as file:
        log = file.read()
    tally.check("and says so", "cannot start" in log and "open the printed link" in log and "noise" not in log, log)


def installable(tally, server):
    browser = server.browser()
    worker = browser.request("GET", "/sw.js")
    if worker.status == 404:  # built without the web interface
        return
    tally.equal("the service worker may only ask this server", worker.headers["content-security-policy"],
                "default-src 'none'; connect-src 'self'")
    tally.equal("it is not kept", worker.headers["cache-control"], "no-store")
    tally.check("and keeps nothing", b"caches" not in worker.body and b"indexedDB" not in worker.body, worker)
    manifest = browser.request("GET", "/web/manifest.webmanifest")
    tally.equal("the manifest", (manifest.headers["content-type"], manifest.json["start_url"]),
                ("application/manifest+json", "/"))
    tally.equal("its icon", browser.request("GET", manifest.json["icons"][0]["src"]).status, 200)
    for path in ("/sw.js", "/web/manifest.webmanifest"):
        tally.equal(f"{path}: not without signing in", Client(server, {}).request("GET", path).status, 401)


def next_day(tally, place):
    with Server(place) as server:
        browser, port = server.browser(), server.port
        page = browser.request("GET", "/")
        tally.check("each visit extends the cookie", re.fullmatch(
            re.escape(browser.headers["Cookie"]) + "; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict",
            page.headers.get("set-cookie", "")), page.headers)
        server.stop()
    with Server(place, port=port) as server:
        again = Client(server, browser.headers)
        tally.equal("the browser is still signed in after a restart", again.get("/info").status, 200)


def older(tally, place):
    """A project that isolation created for a browser stays accessible without isolation."""
    with Server(place, "--isolate") as server:
        browser, port = server.browser(), server.port
        tally.check("isolated: no choice of projects", "projects" not in browser.get("/info").json["features"] and
                    browser.get("/projects").status == 404)
        browser.post("/discussions/main/entries", {"content": "apart"})
        name = browser.get("/info").json["project"]
        server.stop()
    with Server(place, "--shared", port=port) as server:  # the old flag is the default now
        again = Client(server, browser.headers)
        tally.equal("without isolation it begins in the default project", again.get("/info").json["project"],
                    "default")
        tally.check("its own is in the list", name in [each["name"] for each in again.get("/projects").json])
        tally.equal("and can be opened", entries(again, **{"Retake-Project": name}), ["apart"])
    done = place.run("serve", "--isolate", "--shared")
    tally.check("not both flags", done.returncode == 2 and b"--isolate" in done.stderr, done)


def main():
    tally = Tally()
    with Place() as place:
        with Server(place) as server:
            browser = server.browser()
            same_data(tally, place, browser)
            projects(tally, place, server.client(), browser)
            confined(tally, server)
            sign_in_page(tally, server)
            installable(tally, server)
        next_day(tally, place)
        older(tally, place)
        opens(tally, place)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
