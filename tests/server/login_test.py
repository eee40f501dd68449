#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve --login with several servers: the link is for the server that was named by its port,
socket or store. If that server does not run, is not Retake or serves another store, there is
no link, and the token is not sent."""
import http.server
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import threading

from client import RETAKE, Place, Server, Tally


def login(place, *args, db=None, env=None):
    named = ["--db", db] if db else []
    return subprocess.run([RETAKE, *named, "serve", "--login", *args], env=env or place.env,
                          cwd=place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, text=True)


def into(tally, name, done, server):
    """The link is for that server, and signs a browser in."""
    tally.equal(name, done.returncode, 0, done)
    url = done.stdout.strip()
    if not tally.check(name + ": that server", url.startswith(f"http://127.0.0.1:{server.port}/?code="), done):
        return
    with socket.create_connection(("127.0.0.1", server.port)) as wire:
        wire.sendall(f"GET /?code={url.split('=')[1]} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                     "Connection: close\r\n\r\n".encode())
        tally.check(name + ": it lets in", wire.recv(100).startswith(b"HTTP/1.1 303"))


def refused(tally, name, done, words):
    tally.check(name, done.returncode != 0 and done.stdout == "" and words in done.stderr, done)


def printed(server):
    """The command for another link that a server prints."""
    return re.search(r"another: (.*)\)$", server.process.stdout.readline().decode().strip()).group(1)


def run(place, command):
    words = shlex.split(command)
    return subprocess.run([RETAKE, *words[1:]], env=place.env, cwd=place.folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, text=True)


def shown(server, path="/"):
    """The command that a server's page shows to a browser that is not signed in."""
    page = server.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                      "Connection: close\r\n\r\n".encode()).decode()
    return re.search("<(pre|code)>(.*?)</", page.split("<main>")[1]).group(2)


def check_commands(tally, place, first):
    """The commands printed by a server and shown on its page refer to that server, even if
    another one has the socket; likewise the error if its port is in use."""
    os.mkdir(os.path.join(place.folder, "a folder"))
    second_db = os.path.join(place.folder, "a folder", "second.db")
    with Server(Place(place.folder, "a folder/second.db")) as second:
        command = printed(second)
        tally.equal("another: the command", command,
                    f"retake --db '{second_db}' serve --login --port {second.port}")
        into(tally, "another", run(place, command), second)
        for path in ("/", "/?code=0123456789abcdef"):
            tally.equal(path + ": the command", shown(second, path),
                        f"retake serve --login --port {second.port}")
            into(tally, path, run(place, shown(second, path)), second)
        done = login(place, "--port", str(second.port))
        into(tally, "another store than the default one", done, second)
        tally.check("it is named", f"serves another store ({second_db})" in done.stderr, done)
        taken = Place(place.folder, "third.db").run("serve", "--no-socket", "--port", str(first.port))
        tally.check("a port that is taken", taken.returncode == 1 and
                    f"third.db serve --login --port {first.port}\n" in taken.stderr.decode(), taken)
        tally.check("and no store is left", not os.path.exists(place.folder + "/third.db"))
    tally.equal("the usual socket: the command", shown(first), "retake serve --login")
    command = printed(first)
    tally.equal("the usual socket: printed", command, f"retake --db {place.db} serve --login")
    into(tally, "the usual socket: printed", run(place, command), first)


def check_failures(tally, place, port):
    """Exit codes and hints fit the failure: 7 is for a model's server."""
    done = subprocess.run([RETAKE, "--db", place.db, "-p", "ghost", "serve", "--login", "--port", port,
                           "--json"], env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, text=True)
    tally.equal("no such project", (done.returncode, json.loads(done.stdout)["error"]["code"]),
                (3, "not_found"), done)
    tally.check("no such project: the hint", f"Projects: retake --db {place.db} projects" in done.stderr,
                done)
    done = login(place, db=os.path.join(place.folder, "nowhere.db"))
    tally.check("no such store", done.returncode == 3 and "nowhere.db serve\n" in done.stderr and
                "Entries" not in done.stderr, done)


class Stranger(http.server.BaseHTTPRequestHandler):
    heard = []

    def do_POST(self):
        Stranger.heard.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def main():
    tally = Tally()
    with Place() as place, Server(place) as first:
        other_db = os.path.join(place.folder, "other.db")
        third = os.path.join(place.folder, "third.db")
        other_place = Place(place.folder, "other.db")
        with Server(other_place, "--no-socket") as other:
            port, other_port = str(first.port), str(other.port)
            into(tally, "plain", login(place), first)
            into(tally, "the store on the socket", login(place, db=place.db), first)
            into(tally, "a port", login(place, "--port", other_port), other)
            into(tally, "a port and its store", login(place, "--port", other_port, db=other_db), other)
            into(tally, "the first port", login(place, "--port", port), first)
            into(tally, "a relative path", login(place, "--port", other_port, db="other.db"), other)
            link = os.path.join(place.folder, "link.db")
            os.symlink(other_db, link)
            into(tally, "a link to the store", login(place, "--port", other_port, db=link), other)
            refused(tally, "another store on the socket", login(place, db=other_db),
                    "does not serve " + other_db)
            refused(tally, "another store at the port", login(place, "--port", port, db=other_db),
                    "does not serve " + other_db)
            refused(tally, "a store by the environment",
                    login(place, env=dict(place.env, RETAKE_DB=other_db)), "does not serve " + other_db)
            refused(tally, "a store that is not there", login(place, "--port", port, db=third), third)
            tally.check("it is not made", not os.path.exists(third))
            refused(tally, "a socket that is not there", login(place, "--socket", place.folder + "/none"),
                    "no server listens on " + place.folder + "/none")
            refused(tally, "port 0", login(place, "--port", "0"), "between 1 and 65535")
            refused(tally, "a port and a socket", login(place, "--port", port, "--socket", "/x"), "not both")
            into(tally, "the usual socket by its path",
                 login(place, "--socket", place.folder + "/retake/sock"), first)
            shown = login(place, "--port", other_port, "--json")
            tally.equal("as JSON: the store", json.loads(shown.stdout)["store"], other_db, shown)
            answer = first.client().post("/codes", {"store": other_db})
            tally.equal("over HTTP: another store", (answer.status, answer.json["type"]),
                        (409, "urn:retake:problem:other-store"), answer)
            elsewhere = dict(place.env, XDG_STATE_HOME=place.folder + "/state2")
            refused(tally, "another token", login(place, "--port", other_port, env=elsewhere),
                    "rejected the token")
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                closed = free.getsockname()[1]
            refused(tally, "a port where nobody listens", login(place, "--port", str(closed)),
                    f"no server listens on 127.0.0.1:{closed}")
            check_commands(tally, place, first)
            check_failures(tally, place, port)
            with http.server.HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
                thread = threading.Thread(target=stranger.serve_forever, daemon=True)
                thread.start()
                done = login(place, "--port", str(stranger.server_port))
                refused(tally, "something else", done, "is not Retake")
                tally.equal("something else: the status", done.returncode, 1, done)
                stranger.shutdown()
                thread.join()
        # Too many links are reported.
        for _ in range(256):
            first.client().post("/codes", {})
        done = login(place)
        tally.check("too many links", done.returncode == 0 and "the oldest is no longer valid" in done.stderr,
                    done)
        old = first.client().post("/codes", {}).json["code"]
        for _ in range(256):
            first.client().post("/codes", {})
        with socket.create_connection(("127.0.0.1", first.port)) as wire:
            wire.sendall(f"GET /?code={old} HTTP/1.1\r\nHost: 127.0.0.1:{first.port}\r\n"
                         "Connection: close\r\n\r\n".encode())
            page = b""
            while chunk := wire.recv(65536):
                page += chunk
        tally.check("the page says what became of it", b"has expired or has been replaced" in page, page)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
