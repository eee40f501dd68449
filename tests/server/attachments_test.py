#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attachments over HTTP: stored, referenced, downloaded, limited, isolated."""
import sys

from client import Place, Server, Tally

PNG = b"\x89PNG\r\n\x1a\n and more"
HTML = b"<script>alert(1)</script>"


def upload(one, name, data):
    return one.post("/attachments?name=" + name, data, {"Content-Type": "application/octet-stream"})


def check(tally, one):
    made = upload(one, "shot.png", PNG)
    tally.equal("an upload", made.status, 201, made.body)
    block = made.json["block"]
    tally.equal("its type is found by the content", (block["type"], block["mimeType"], block["size"]),
                ("image", "image/png", len(PNG)))
    tally.equal("again: the same file", upload(one, "other.png", PNG).json["block"]["sha256"],
                block["sha256"])
    added = one.post("/discussions/main/entries",
                     {"content": [{"type": "text", "text": "What is it?"}, block]})
    tally.equal("an entry that refers to it", added.status, 201, added.body)
    entry = one.get("/discussions/main/entries/" + added.json["entry"]).json
    tally.equal("the block is kept", entry["content"][1], block)
    shown = one.get("/attachments/" + block["sha256"])
    tally.equal("the bytes", shown.body, PNG)
    tally.equal("as an image", shown.headers.get("content-type"), "image/png")
    tally.equal("types are not guessed", shown.headers.get("x-content-type-options"), "nosniff")
    tally.check("nothing runs", "default-src 'none'" in shown.headers.get("content-security-policy", ""),
                shown.headers)

    page = upload(one, "x.html", HTML).json["block"]
    shown = one.get("/attachments/" + page["sha256"] + "?name=x.html")
    tally.equal("a page is never shown", (shown.headers.get("content-type"),
                shown.headers.get("content-disposition")),
                ("application/octet-stream", 'attachment; filename="x_html.txt"'))
    for wrong in "0" * 64, "../../etc/passwd", block["sha256"].upper(), block["sha256"][:-1]:
        tally.equal("no such file: " + wrong[:20], one.get("/attachments/" + wrong.replace("/", "%2F")).status, 404)
    tally.equal("an empty file", upload(one, "a", b"").status, 400)
    tally.equal("a name with a directory", upload(one, "a%2Fb", PNG).status, 400)
    tally.equal("too large", upload(one, "a", b"x" * (33 << 20)).status, 413)
    one.post("/purge", {"text": "and more"})
    tally.equal("purged", one.get("/attachments/" + block["sha256"]).status, 404)


def main():
    tally = Tally()
    with Place() as place:
        with Server(place) as server:
            check(tally, server.client())
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
