#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile file lists: links, `..`, devices, FIFOs, sparse files, odd names, files that change
while they are read. Each is refused with an error that names the cause, by `context`, `ask`
and the server; nothing outside the directory of `--files` is readable over HTTP."""
import fcntl
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

import client as clients
from client import Place, Server, Tally

SECRET = "the secret of the house"
IMAGE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0"
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def make(top):
    """The permitted directory, beside others that are not."""
    root = top + "/open"
    write(top + "/secret.txt", SECRET)
    write(top + "/open2/secret.txt", SECRET)
    write(root + "/a.c", "int a;\n")
    write(root + "/sub/b.c", "int b;\n")
    write(root + "/names/new\nline.c", "x\n")
    write(root + "/names/\x1b[31mred.c", "x\n")
    write(root + "/nul.bin", b"a\0b")
    write(root + "/latin.txt", b"caf\xe9\n")
    write(root + "/fake.png", "no image")
    write(root + "/lines.txt", "1\n2\n")
    write(root + "/large.txt", b"x" * (2 << 20))
    write(root + "/large.png", IMAGE + b"x" * (9 << 20))
    write(root + "/sparse.txt", "")
    os.truncate(root + "/sparse.txt", 10 << 30)
    write(root + "/sparse.png", IMAGE)
    os.truncate(root + "/sparse.png", 10 << 30)
    for i in range(2100):
        write(f"{root}/many/{i}.c", "x")
    os.mkfifo(root + "/fifo")
    os.makedirs(root + "/pipes")
    os.mkfifo(root + "/pipes/fifo")
    at = socket.socket(socket.AF_UNIX)
    at.bind(root + "/socket")
    at.close()
    os.makedirs(root + "/nothing")
    for name, target in (("out", "../secret.txt"), ("abs", top + "/secret.txt"), ("up", ".."),
                         ("passwd", "/etc/passwd"), ("zero", "/dev/zero"), ("proc", "/proc/self"),
                         ("loop", "loop"), ("one", "two"), ("two", "one"), ("gone", "nowhere"),
                         ("beside", "../open2"), ("chain", "out")):
        os.symlink(target, f"{root}/{name}")
    return root


def lists(top):
    """Name, list, items, and the expected kinds of problems."""
    files, shots = "context_files", "screenshots"
    return [
        ("a file above", files, ["../secret.txt"], "outside"),
        ("far above", files, ["../" * 40 + "etc/passwd"], "outside"),
        ("down and up", files, ["sub/../../secret.txt"], "outside"),
        ("an absolute path", files, [top + "/secret.txt"], "outside"),
        ("the beginning of a name", files, [top + "/open2/secret.txt"], "outside"),
        ("a file of the system", files, ["/etc/passwd"], "outside"),
        ("a device", files, ["/dev/zero"], "outside"),
        ("the memory of the process", files, ["/proc/self/environ"], "outside"),
        ("a link to a file above", files, ["out"], "outside"),
        ("a link to an absolute path", files, ["abs"], "outside"),
        ("a link to a link", files, ["chain"], "outside"),
        ("below a link upwards", files, ["up/secret.txt"], "outside"),
        ("below a link to a directory beside", files, ["beside/secret.txt"], "outside"),
        ("a link to a file of the system", files, ["passwd"], "outside"),
        ("a link to a device", files, ["zero"], "outside"),
        ("below a link to /proc", files, ["proc/environ"], "outside"),
        ("a glob of links", files, ["o*t"], "outside"),
        ("a glob upwards", files, ["../*.txt"], "outside"),
        ("an object upwards", files, [{"path": "../secret.txt", "lines": "1-1"}], "outside"),
        ("a screenshot above", shots, ["../secret.txt"], "outside"),
        ("a link to itself", files, ["loop"], "missing"),
        ("two links in a circle", files, ["one"], "missing"),
        ("a link to nothing", files, ["gone"], "missing"),
        ("a FIFO", files, ["fifo"], "special"),
        ("a FIFO in a directory", files, ["pipes"], "special"),
        ("a socket", files, ["socket"], "special"),
        ("10 GB that are no bytes", files, ["sparse.txt"], "too_large"),
        ("an image of 10 GB", shots, ["sparse.png"], "too_large"),
        ("a large text", files, ["large.txt"], "too_large"),
        ("a large image", shots, ["large.png"], "too_large"),
        ("too many files", files, ["many"], "too_many"),
        ("names with control characters", files, ["names"], "bad_name"),
        ("a line feed in a name", files, ["names/new\nline.c"], "bad_name"),
        ("an escape in a name", files, ["names/\x1b[31mred.c"], "bad_name"),
        ("a zero byte in a name", files, ["a.c\0.png"], "bad_name"),
        ("bytes", files, ["nul.bin"], "binary"),
        ("another encoding", files, ["latin.txt"], "binary"),
        ("a screenshot that is none", shots, ["fake.png"], "not_image"),
        ("lines that there are not", files, ["lines.txt:3-900000000"], "bad_range"),
        ("no path", files, [7], "bad_item"),
        ("an empty directory", files, ["nothing"], "empty"),
    ]


def check_message(tally, name, problem):
    message = problem["message"]
    tally.check(f"{name}: a sentence", len(message) > 20 and CONTROL.search(message) is None,
                message)


def check_lists(tally, place, root):
    all_lists = lists(place.folder)
    tally.check("thirty lists and more", len(all_lists) >= 30, len(all_lists))

    def run(*args):
        return subprocess.run([clients.RETAKE, "--db", place.db, *args], cwd=root, env=place.env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    with Server(place, "--files", root) as server:
        one = server.client()
        before = one.get("/discussions/main").json["entries"]
        for name, which, items, kind in all_lists:
            one.put(f"/discussions/main/files/{which}", {"items": items})
            answer = one.get("/discussions/main/context")
            problems = answer.json["file_problems"]
            tally.equal(f"{name}: over HTTP", {p["kind"] for p in problems}, {kind}, problems)
            tally.check(f"{name}: nothing from outside", SECRET.encode() not in answer.body and
                        b"root:" not in answer.body and b"PATH=" not in answer.body)
            for problem in problems[:3]:
                check_message(tally, name, problem)
            refused = one.post("/discussions/main/runs", {"text": "hello", "model": "builtin/echo"})
            tally.equal(f"{name}: a run is refused", (refused.status, refused.json.get("code")),
                        (409, "refused"), refused.body[:300])
            tally.equal(f"{name}: the run's message is the problem's", CONTROL.search(
                refused.json.get("message", "").replace("\n", " ")), None)
            shown = json.loads(run("files", "show", "--json").stdout)
            tally.equal(f"{name}: on the command line",
                        {p["kind"] for p in shown["file_problems"]}, {kind}, shown)
            asked = run("ask", "-m", "builtin/echo", "hello")
            tally.equal(f"{name}: ask is refused", asked.returncode, 1, asked.stderr)
            tally.check(f"{name}: in words", len(asked.stderr) > 40 and b"\x1b" not in asked.stderr,
                        asked.stderr)
            one.put(f"/discussions/main/files/{which}", {"items": []})
        tally.equal("nothing was added", one.get("/discussions/main").json["entries"], before)


def has_leases(path):
    with open(path, "rb") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError:
            return False
    return True


def check_open_writer(tally, place, root):
    """A file that is open for writing and was changed half a second ago is not sent yet."""
    path = root + "/open.txt"
    write(path, b"before")
    with Server(place, "--files", root) as server:
        one = server.client()
        one.put("/discussions/main/files/context_files", {"items": ["open.txt"]})
        with open(path, "ab", buffering=0) as file:
            file.write(b"half")
            threading.Timer(0.7, file.write, [b" and half"]).start()
            time.sleep(0.4)
            answer = one.get("/discussions/main/context").json
        said = [p["kind"] for p in answer["file_problems"]]
        sent = re.findall("before[a-z ]*", json.dumps(answer["body"]))
        tally.check("an open file is sent when it rests, or not at all",
                    said == ["changed"] or sent == ["beforehalf and half"], (said, sent))


def check_changing(tally, place, root):
    """A file that changes while it is read is sent in a consistent state, or not at all."""
    path, size, stop = root + "/changing.txt", 900_000, threading.Event()
    write(path, b"0" * size)

    def keep_changing():
        file = os.open(path, os.O_WRONLY)
        digit = 0
        while not stop.is_set():
            digit = (digit + 1) % 10
            os.pwrite(file, b"%d" % digit * size, 0)
        os.close(file)

    # If the kernel can report open writers, a suspended writer is detected, too.
    leases = has_leases(path)
    seen = {"changed": 0, "sent": 0}
    with Server(place, "--files", root) as server:
        one = server.client()
        one.put("/discussions/main/files/context_files", {"items": ["changing.txt"]})
        writer = threading.Thread(target=keep_changing)
        writer.start()
        end = time.monotonic() + 20
        while time.monotonic() < end and seen["changed"] < 50:
            answer = one.get("/discussions/main/context").json
            if answer["file_problems"]:
                tally.equal("changing: the problem",
                            [p["kind"] for p in answer["file_problems"]], ["changed"])
                check_message(tally, "changing", answer["file_problems"][0])
                seen["changed"] += 1
            else:
                digits = set(re.findall(r"(\d)\1{99}", json.dumps(answer["body"])))
                if leases:
                    tally.equal("changing: one moment", len(digits), 1, digits)
                seen["sent"] += 1
        stop.set()
        writer.join()
        tally.check("a change while it is read is noticed", seen["changed"] > 0, seen)
        answer = one.get("/discussions/main/context").json
        tally.equal("and it is sent when it rests", answer["file_problems"], [])


def main():
    tally = Tally()
    with Place() as place:
        root = make(place.folder)
        check_lists(tally, place, root)
        check_changing(tally, place, root)
        if has_leases(root + "/changing.txt"):
            check_open_writer(tally, place, root)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
