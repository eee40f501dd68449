#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all commands of docs/http.md from the start, and compares their output with the page,
except for ids, times, tags and ports. With --write the page is updated.

Blocks marked console contain commands ("$ ", continued with "> ") and their output. Between

  <!-- serve -->     the server, with its first lines
  <!-- examples -->  are run one after the other, in one shell
  <!-- watch -->     runs in parallel until the end, with its first lines. Row events and run
                     events are each in order, but not relative to each other; consecutive
                     pieces of a reply count as one
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from client import RETAKE, ROOT, WAIT_S, Tally

PAGE = os.path.join(ROOT, "docs/http.md")
WRITE = "--write" in sys.argv[1:]
PORT = 8999            # as on the page
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
NAMES = ["k3f9", "3zn0", "x7qp", "b2ma", "9wde", "h5tc", "m0vr", "e8js", "q4yn", "u6ak", "c1zg",
         "p9xb"]
# What varies between runs, and its replacement: a text, or a list for consecutive occurrences.
CHANCE = [
    (r'(?<="id":")[0-9a-z]{4}(?=")|(?<="entry":")[0-9a-z]{4}(?=")|(?<="question":")[0-9a-z]{4}(?=")'
     r'|(?<="head":")[0-9a-z]{4}(?=")|(?<="parent":")[0-9a-z]{4}(?=")|(?<="after":")[0-9a-z]{4}(?=")'
     r'|(?<=entries/)[0-9a-z]{4}(?=")|(?<="insert":\[")[0-9a-z]{4}(?="\])'
     r'|(?<="entries":\[")[0-9a-z]{4}(?="\])', NAMES),
    (r"\bn[0-9a-f]{12}\b", ["n1f0a62c98d47", "n8b35e07d1c2f", "n57d9c4a0e613", "nc20e8f7b4a95"]),
    (r"(?<=code=)[0-9a-f]{16}", "40bbc860dd6d82cb"),
    (r"\b[0-9a-f]{15,16}\b(?=\.(?:\d|[dpe]\.?\d))", "9f3a6c01d2b4e875"),
    (r"(?<=\"epoch\":\")[0-9a-f]{16}", "9f3a6c01d2b4e875"),
    (r"(?<=\.e\.\d\.)[0-9a-f]{16}", ["5c1e09ab37f2d846", "e07b4f6d91a2c835"]),
    (r"\br(\d+)-[0-9a-f]{6}\b", r"r\1-9f3a6c"),
    (r'(?<="duration_ms":)\d+', "2400"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-22T10:00:00Z"),
]


def masked(text, folder, port):
    text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{PORT}")
    text = text.replace(folder + "/run", "/run/user/1000").replace(folder, "/home/you")
    for pattern, new in CHANCE:
        if isinstance(new, str):
            text = re.sub(pattern, new, text)
            continue
        found = list(dict.fromkeys(re.findall(pattern, text)))
        text = re.sub(pattern, lambda hit: "\1" + hit[0], text)
        for old, name in zip(found, new):
            text = text.replace("\1" + old, name)
    return text


def commands_of(block):
    """Returns (command, output) of each."""
    found = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0] += line[2:]
        else:
            found[-1][1] += line
    return found


def shown(command):
    first, *rest = command.splitlines(keepends=True)
    return "$ " + first + "".join("> " + line for line in rest)


class Beside:
    """A command that keeps running, and its output."""

    def __init__(self, command, env, folder):
        self.process = subprocess.Popen(["bash", "-c", "exec " + command.strip()], env=env,
                                        cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.said = b""
        self.more = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            piece = self.process.stdout.read1(65536)
            with self.more:
                self.said += piece
                self.is_over = piece == b""
                self.more.notify_all()
            if piece == b"":
                return

    def until(self, text):
        """Waits for a line with this text; returns the output up to the end of that line."""
        with self.more:
            self.more.wait_for(lambda: text in self.said.decode(errors="replace"), WAIT_S)
            said = self.said.decode(errors="replace")
        at = said.find(text)
        end = said.find("\n", at + len(text)) if at >= 0 else -1
        return said if end < 0 else said[:end + 1]

    def end(self):
        self.process.terminate()
        code = self.process.wait(WAIT_S)
        self.thread.join()
        self.process.stdout.close()
        return code


def run_all(commands, env, folder):
    """Runs commands in one shell; returns the output of each."""
    script = "".join(f"{command}printf '\\001\\n'\n" for command in commands)
    done = subprocess.run(["bash", "-c", "exec 2>&1\n" + script], env=env, cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=300)
    return done.stdout.decode(errors="replace").split("\1\n")[:-1]


# ---- events ----

DELTA = re.compile(r'event: run\.delta\ndata: {"run":"([^"]+)","offset":\d+,"text":"(.*)"}\n\n')


def in_order(text):
    """Row events, and the others; consecutive deltas count as one."""
    rows, rest = [], []
    for event in re.findall(r".*?\n\n", text, re.S):
        (rows if "event: op\n" in event else rest).append(event)
    joined, said = [], ""
    for event in rest:
        # The other members of the result depend on timing.
        event = re.sub(r'(event: run\.started\ndata: {"run":"[^"]+").*', r"\1}", event)
        delta = DELTA.fullmatch(event)
        if delta:
            said += delta[2]
            continue
        joined += [said, event]
        said = ""
    return rows, [*joined, said]


# ---- the page ----

def part(text, name):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    at = text.index(begin) + len(begin)
    return at, text.index(end)


def filled(text, begin, end, said):
    """The blocks in this range, with the output of their commands."""
    said = iter(said)

    def fill(match):
        lines = [shown(command) + next(said) for command, _ in commands_of(match[1])]
        return "```console\n" + "".join(lines) + "```"

    return text[:begin] + BLOCK.sub(fill, text[begin:end]) + text[end:]


def can_follow():
    """Does curl support %header{}?"""
    try:
        said = subprocess.run(["curl", "--version"], stdout=subprocess.PIPE, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    version = re.match(rb"curl (\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= (7, 84)


def main():
    tally = Tally()
    if not can_follow():
        print("curl 7.84 or newer is not there")
        return 77
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    folder = os.path.realpath(tempfile.mkdtemp(prefix="retake-http-"))
    os.mkdir(folder + "/bin")
    os.mkdir(folder + "/run", 0o700)
    os.symlink(RETAKE, folder + "/bin/retake")
    env = {"PATH": folder + "/bin:" + os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8",
           "XDG_RUNTIME_DIR": folder + "/run"}
    env.update({key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")})

    serve = commands_of(BLOCK.search(page, *part(page, "serve"))[1])[0]
    watch = commands_of(BLOCK.search(page, *part(page, "watch"))[1])[0]
    begin, end = part(page, "examples")
    blocks, beside = [], None
    for match in BLOCK.finditer(page, begin, end):
        found = commands_of(match[1])
        if found[0][0] == watch[0]:
            beside = len(blocks)
        else:
            blocks += found

    server = Beside(serve[0].replace("retake serve", "retake serve --port 0"), env, folder)
    said = server.until("projects ")
    port = int(re.search(r"listening on http://127\.0\.0\.1:(\d+)", said)[1])
    here = [command.replace(str(PORT), str(port)) for command, _ in blocks]
    said = "".join(line for line in said.splitlines(keepends=True) if "created a new store" not in line)
    served = masked(said, folder, port)
    # The watch starts when everything before it on the page is done.
    fifo = folder + "/watching"
    os.mkfifo(fifo)
    here.insert(beside, f"cat {fifo}\n")
    watcher = []

    def begin_watch():
        with open(fifo, "w", encoding="ascii"):
            one = Beside(watch[0].replace("cd ~; ", "").replace(str(PORT), str(port)), env, folder)
            watcher.append(one)
            one.until("event: hello")

    starter = threading.Thread(target=begin_watch, daemon=True)
    starter.start()
    outputs = run_all(here, env, folder)
    starter.join(WAIT_S)
    tally.equal("all commands ran", len(outputs), len(here))
    del outputs[beside]
    watched = watcher[0].until("event: run.ended\ndata") + "\n"
    watcher[0].end()
    tally.equal("the server ends", server.end(), 0)
    # Ids are numbered across all of the output, in the order of the page.
    everything = masked("\2".join([*outputs[:beside], watched, *outputs[beside:]]), folder,
                        port).split("\2")
    watched = everything.pop(beside)

    if WRITE:
        both = [*everything[:beside], watched, *everything[beside:]]
        page = filled(page, *part(page, "examples"), both)
        page = filled(page, *part(page, "serve"), [served])
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    else:
        tally.equal("what retake serve prints", served.splitlines(), serve[1].splitlines())
        for (command, wanted), got in zip(blocks, everything):
            tally.equal(command.strip(), got.splitlines(), wanted.splitlines())
        tally.equal("what is watched", in_order(watched), in_order(watch[1]))
    shutil.rmtree(folder, ignore_errors=True)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
