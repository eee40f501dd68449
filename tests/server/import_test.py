#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Imports over HTTP: large bodies, which the server buffers in a file, and what browsers may
import."""
import io
import json
import os
import sqlite3
import sys
import tempfile
import zipfile

from client import API, Place, Server, Tally

LINE = b'{"messages":[{"role":"user","content":"x"}]}\n'
OF_FILE = {"Content-Type": "application/octet-stream"}
BROWSER_BYTES, BROWSER_DISCUSSIONS = 64 << 20, 100000
PROGRAM_BYTES = 1 << 30


def send(client, body, query="", **headers):
    return client.request("POST", API + "/import" + query, body, {**OF_FILE, **headers})


def count(client):
    return len(client.get("/discussions").json)


def declared(server, client, size):
    """The response to the headers of an import of this size."""
    head = f"POST {API}/import HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {size}\r\n"
    for name, value in {**OF_FILE, **client.headers}.items():
        head += f"{name}: {value}\r\n"
    said = server.raw((head + "\r\n").encode())
    return int(said.split(b" ")[1]), said


def large(tally, server):
    """A body of more than 1 MiB is buffered in a file, and has the same result."""
    one = server.client()
    body = b"".join(b'{"messages":[{"role":"user","content":"%d %s"}]}\n' % (i, b"x" * 500)
                    for i in range(4000))
    one.post("/discussions/main/entries", {"content": "first"})
    before = count(one)
    done = send(one, body, "?name=many")
    tally.equal("a large file is imported", done.status, 200, done)
    tally.equal("all of it", done.json["discussions"], 4000)
    tally.equal("each is there", count(one), before + 4000)
    tally.equal("one undo reverts it", one.post("/undo").status, 200)
    tally.equal("all of it", count(one), before)

    key = {"Idempotency-Key": "twice"}
    first = send(one, body, **key)
    again = send(one, body, **key)
    tally.equal("asked twice with a key", (first.status, again.status), (200, 200))
    tally.equal("it is answered from memory", again.body, first.body)
    other = send(one, body + LINE, **key)
    tally.check("another file with that key is refused", other.status >= 400, other)
    tally.equal("one undo reverts it", one.post("/undo").status, 200)


def refused(tally, server):
    """Refused imports change nothing."""
    one = server.client()
    before = one.get("/info").json["seq"]
    takes = ",".join('{"name":"d%d","takes":[{"name":"t","entries":[{"content":"x"}]}]}' % i
                     for i in range(40000))
    cut = ('{"active":"d1","discussions":[' + takes + "]").encode()
    for name, body in (("NULs", b"\0" * (3 << 20)), ("words", b"word " * (1 << 19)),
                       ("malformed at its end", cut)):
        answer = send(one, body)
        tally.equal(name + " are refused", answer.status, 400, answer)
    tally.equal("where it is malformed is said", answer.json.get("at"), len(cut))
    answer = send(one, b"\0" * (3 << 20))
    tally.check("the type is not recognised", "unrecognised" in answer.json["detail"], answer)
    tally.equal("nothing is changed", one.get("/info").json["seq"], before)


def containers(tally, server):
    """Databases and archives, in memory and buffered in a file."""
    one = server.client()
    one.post("/discussions/main/entries", {"content": "first"})
    for size, chats in (("small", 3), ("large", 1500)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "webui.db")
            store = sqlite3.connect(path)
            store.executescript("CREATE TABLE user(id); CREATE TABLE chat(id, title, chat, created_at)")
            store.executemany("INSERT INTO chat VALUES(?, ?, ?, ?)", (
                (f"{size}{i}", f"{size} {i}", json.dumps({"messages": [
                    {"role": "user", "content": f"{i} {'x' * 900}"}]}), i) for i in range(chats)))
            store.commit()
            store.close()
            with open(path, "rb") as file:
                database = file.read()
        done = send(one, database)
        tally.equal(f"a {size} database", (done.status, done.json.get("discussions")), (200, chats), done)
        tally.equal("of its program", done.json["format"], "open-webui")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("a/webui.db", database)
            packed.writestr("../lines.jsonl", LINE.replace(b"x", size.encode()) * (chats // 3))
            packed.writestr("picture.png", b"\x89PNG")
        done = send(one, archive.getvalue())
        tally.equal(f"a {size} archive", (done.status, done.json.get("known")), (200, chats), done)
        tally.equal("what is new in it is added", done.json["discussions"], chats // 3)
        tally.check("the rest is named", "1 file of unrecognised type" in repr(done.body), done)
        cut = send(one, archive.getvalue()[:-30])
        tally.equal("a truncated archive", (cut.status, b"truncated" in cut.body), (400, True), cut)


def browsers(tally, server):
    guest, one = server.browser(), server.client()
    before = guest.get("/info").json["seq"]
    tally.equal("its limit is what it is told",
                (guest.get("/info").json["limits"]["import"], one.get("/info").json["limits"]["import"]),
                (BROWSER_BYTES, PROGRAM_BYTES))
    tally.equal("a browser imports", send(guest, LINE * 50).status, 200)
    tally.equal("and undoes it", guest.post("/undo").status, 200)
    before = guest.get("/info").json["seq"]
    answer = send(guest, LINE * (BROWSER_DISCUSSIONS + 1))
    tally.equal("more discussions than a browser may import", answer.status, 413, answer)
    tally.equal("its code", answer.json["code"], "limit")
    tally.check("the limit is named", str(BROWSER_DISCUSSIONS) in answer.json["detail"], answer)
    status, said = declared(server, guest, BROWSER_BYTES + 1)
    tally.equal("more bytes than a browser may send", status, 413, said)
    tally.check("its code", b'"code":"too_large"' in said, said)
    tally.check("the limit is named", b"64 MiB" in said, said)
    tally.equal("nothing is changed", guest.get("/info").json["seq"], before)
    answer = send(one, b" " * (BROWSER_BYTES + 1))
    tally.equal("a program may send more", answer.status, 400, answer)
    status, said = declared(server, one, PROGRAM_BYTES + 1)
    tally.equal("but not without end", status, 413, said)


def main():
    tally = Tally()
    with Place() as place:
        with Server(place, "--isolate") as server:
            large(tally, server)
            refused(tally, server)
            containers(tally, server)
            browsers(tally, server)
            names = [name for _, _, files in os.walk(place.folder + "/state") for name in files]
            tally.check("no body is left", not [name for name in names if "upload" in name or
                                               name.startswith("retake-")], json.dumps(names))
            tally.equal("it ends", server.stop(), 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
