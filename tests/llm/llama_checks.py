#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of llama_test.sh: llama_checks.py RETAKE NODE MODULES MAKER

The model's weights form a chain: after a colon comes REPLY, word by word, and then the end.
So its output is known, while tokens, prompts, limits and counts are real ones of llama.cpp."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from place import Place, Tally

RETAKE, NODE, MODULES, MAKER = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))
REPLY = ("hello from a real llama.cpp engine ; this reply was generated token by weights built "
         "in code .")
tally = Tally()
check = tally.check


class Server:
    """server.mjs with the model, and its log of requests."""

    def __init__(self, folder):
        subprocess.run([sys.executable, MAKER], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        self.log = os.path.join(folder, "heard")
        self.process = subprocess.Popen(
            [NODE, HERE + "/llama/server.mjs", MODULES, os.path.join(folder, "tiny.gguf"),
             self.log], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def heard(self):
        """The request bodies so far; None where a client disconnected."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def said(body):
    return [(message["role"], message["content"]) for message in json.loads(body)["messages"]]


def ask_and_look(place, server):
    done = place.run("ask", "Who are you?")
    check("ask: the reply is on standard output", done.stdout.decode() == REPLY + "\n",
          done.stdout, done.stderr)
    check("ask: llama.cpp's own counts of tokens", b" tokens in, 18 out" in done.stderr,
          done.stderr)
    entry = place.entries()[-1]
    check("ask: the reply is kept", entry["content"] == REPLY and entry["role"] == "AI" and
          entry.get("stop_reason") == "stop" and "partial" not in entry, entry)
    check("ask: with the counts", entry.get("usage", {}).get("output_tokens") == 18, entry)
    listed = place.run("models", "llama").stdout.decode()
    check("models: what the server offers", "tiny" in listed, listed)


def same_body(place, server, name):
    """The request shown by `context` equals the received one, byte for byte."""
    place.run("undo")           # the reply; the question stays
    shown = place.run("context", "-m", "llama/tiny").stdout.decode().rstrip("\n")
    place.run("redo")
    got = server.heard()[-1]
    streamed = ',"stream":true,"stream_options":{"include_usage":true}}'
    check(f"{name}: context shows the body that the server got",
          got == shown or got == shown[:-1] + streamed, got, shown)


def edit_in_the_middle(place, server):
    place.run("edit", ":2", "-t", "I am llama.cpp, and was edited.")
    done = place.run("ask", "And what was that?")
    check("edit: asked again", done.returncode == 0, done.stderr)
    check("edit: the next request carries it", said(server.heard()[-1]) == [
        ("user", "Who are you?"), ("assistant", "I am llama.cpp, and was edited."),
        ("user", "And what was that?")], server.heard()[-1])
    same_body(place, server, "edit")
    entry = place.entries()[-1]["id"]
    replay = place.run("replay", entry).stdout.decode().rstrip("\n")
    check("edit: replay prints it again", replay == server.heard()[-1], replay)


def again(place, server):
    before = len(server.heard())
    takes = len(place.json("takes"))
    done = place.json("again", "-n", "3")
    bodies = server.heard()[before:]
    check("again: three replies", isinstance(done, list) and len(done) == 3 and
          all(one["reply"]["content"] == REPLY for one in done), done)
    check("again: three times the same question", len(bodies) == 3 and
          len(set(bodies)) == 1 and said(bodies[0])[-1] == ("user", "And what was that?"), bodies)
    check("again: each a take", len(place.json("takes")) == takes + 3)


def stop_and_continue(place, server):
    process = place.begin("ask", "Say it slowly")
    seen = b""
    while b"real" not in seen:
        more = os.read(process.stdout.fileno(), 100)
        if not more:
            break
        seen += more
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    check("Ctrl-C: exits with 130", process.returncode == 130, process.returncode, err)
    entry = place.entries()[-1]
    part = entry["content"]
    check("Ctrl-C: the part is kept, and marked",
          part.startswith("hello from a real") and len(part) < len(REPLY) and
          REPLY.startswith(part) and entry.get("partial") is True, entry)
    deadline = time.monotonic() + 60
    while server.heard()[-1] is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    check("Ctrl-C: the server knows", server.heard()[-1] is None, server.heard()[-1])

    done = place.run("again", "--continue")
    check("continue: ends well", done.returncode == 0, done.stderr)
    check("continue: the part goes along, as the last to speak",
          said(server.heard()[-1])[-2:] == [("user", "Say it slowly"), ("assistant", part)],
          server.heard()[-1])
    entry = place.entries()[-1]
    check("continue: in the same entry, after the partial reply",
          entry["content"] == part + REPLY and "partial" not in entry, entry)


def compaction(place, server):
    count = len(place.entries())
    done = place.run("compact", "--keep", "20")
    entries = place.entries()
    check("compact: done", done.returncode == 0, done.stderr)
    check("compact: what the model said is an entry", len(entries) == count + 1 and
          any(entry.get("kind") == "compaction" and REPLY in entry["content"]
              for entry in entries), entries)
    asked = said(server.heard()[-1])
    check("compact: the model was given the conversation", asked[0][0] == "system" and
          "I am llama.cpp, and was edited." in asked[-1][1], asked)
    done = place.run("ask", "Go on")
    messages = said(server.heard()[-1])
    check("compact: the summary is sent in its place", done.returncode == 0 and
          "<summary>\n" + REPLY in messages[0][1] and messages[-1] == ("user", "Go on") and
          not any("was edited" in text for _, text in messages), messages, done.stderr)
    same_body(place, server, "compact")


def too_long(place, server):
    count = len(place.entries())
    done = place.run("ask", "long " * 4000)
    check("too long: llama.cpp's own words", done.returncode == 7 and
          b"exceeds the available context size" in done.stderr, done.returncode, done.stderr)
    check("too long: the question stays", len(place.entries()) == count + 1)
    done = place.run("ask", "--budget", "500", "Short")
    check("too long: with a budget it is left out", done.returncode == 0 and
          b"not sent" in done.stderr and len(server.heard()[-1]) < 4000, done.stderr)
    shown = place.run("show").stdout
    done = place.run("compact", "--keep", "0")
    check("too long: a compaction that fails changes nothing", done.returncode == 7 and
          place.run("show").stdout == shown, done.returncode, done.stderr)


def image(place, server):
    path = os.path.join(place.folder, "a.png")
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
    done = place.run("ask", "--image", path, "What is it?")
    check("image: a model that sees nothing says so", done.returncode == 7 and
          b"reads texts only" in done.stderr, done.stderr)
    place.run("undo")


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            place = Place(RETAKE, folder)
            place.configure('model = "llama/tiny"\n[provider.llama]\nkind = "openai"\n'
                            f'url = "http://127.0.0.1:{server.port}/v1"\n')
            ask_and_look(place, server)
            edit_in_the_middle(place, server)
            again(place, server)
            stop_and_continue(place, server)
            compaction(place, server)
            too_long(place, server)
            image(place, server)
            fsck = place.json("fsck")
            check("in the end: fsck is clean", fsck.get("clean") is True, fsck)
        finally:
            server.close()
    return tally.end()


sys.exit(main())
