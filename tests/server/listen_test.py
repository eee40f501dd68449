#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server on another address (--listen): its links lead there, it accepts that address as Host
and sets a cookie for it, and accepts no other name. Servers that start at the same time in a
new home directory share one token."""
import fcntl
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse

from client import API, RETAKE, Place, Server, Tally


def get(server, address, path, **headers):
    wire = http.client.HTTPConnection(address, server.port, timeout=60)
    wire.request("GET", path, headers={"Host": f"{address}:{server.port}", **headers})
    answer = wire.getresponse()
    answer.read()
    wire.close()
    return answer


def at_once(tally, place, count=6):
    servers = [subprocess.Popen(
        [RETAKE, "--db", f"{place.folder}/{i}.db", "serve", "--no-socket", "--port", "0"],
        env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for i in range(count)]
    firsts = [server.stdout.readline().decode() for server in servers]
    ports = [re.search(r"^listening on http://127.0.0.1:(\d+)", first) for first in firsts]
    if tally.check("servers start at once in a fresh home", all(ports), firsts):
        with open(place.folder + "/state/retake/token", encoding="ascii") as file:
            bearer = {"Authorization": "Bearer " + file.read().strip()}
        answers = []
        for port in ports:
            wire = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=60)
            wire.request("GET", API + "/health", headers=bearer)
            answers.append(wire.getresponse().status)
            wire.close()
        tally.equal("and have one token", answers, [200] * count)
    for server in servers:
        server.terminate()
        server.wait()
        server.stdout.close()


def one_socket(tally, place):
    """A server waits while another one prepares a socket in the same folder."""
    path = place.folder + "/sockets/s"
    os.mkdir(os.path.dirname(path))
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    before = os.stat(path).st_ino
    lock = os.open(os.path.dirname(path), os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    server = subprocess.Popen([RETAKE, "--db", f"{place.folder}/s.db", "serve", "--socket", path, "--port", "0"],
                              env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    time.sleep(1)
    tally.equal("the socket is not replaced under a lock", os.stat(path).st_ino, before)
    os.close(lock)
    tally.check("the server starts afterwards", server.stdout.readline().startswith(b"listening on"))
    client = socket.socket(socket.AF_UNIX)
    tally.equal("and has the socket", client.connect_ex(path), 0)
    client.close()
    server.terminate()
    server.wait()
    server.stdout.close()


def main():
    tally = Tally()
    with Place() as place:
        one_socket(tally, place)
    for _ in range(3):
        with Place() as place:
            at_once(tally, place)
    address = "127.0.0.2"
    with Place() as place, Server(place, "--listen", address) as server:
        bearer = {"Authorization": "Bearer " + server.token}
        tally.equal("it accepts its address as Host",
                    get(server, address, API + "/health", **bearer).status, 200)
        tally.equal("and by no other name",
                    get(server, address, API + "/health", **{**bearer, "Host": "retake.example"})
                    .status, 403)
        printed = json.loads(place.run("serve", "--login", "--json").stdout)["url"]
        url = urllib.parse.urlsplit(printed)
        tally.equal("the link leads there", url.netloc, f"{address}:{server.port}")
        let_in = get(server, url.hostname, "/?" + url.query)
        tally.equal("and signs a browser in", let_in.status, 303)
        tally.check("with a cookie", let_in.getheader("Set-Cookie", "").startswith("retake_"))
        line = server.process.stdout.readline().decode()
        tally.check("so does the one that is printed at the start",
                    f"http://{address}:{server.port}/?code=" in line, line)
    with Place() as place, Server(place, "--listen", "0.0.0.0") as server:
        printed = json.loads(place.run("serve", "--login", "--json").stdout)["url"]
        tally.check("of all addresses the local one is printed",
                    printed.startswith(f"http://127.0.0.1:{server.port}/?code="), printed)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
