#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Latency and memory of the terminal UI.

  bench/tui.py [RETAKE] [SHAPE …]      default: build/retake, all shapes

Shapes of 100,000 entries each (ENTRIES): "take", one take with a fork every 1,000 entries;
"chain", one line of descent; "siblings", many takes of one entry after a common first one
(SIBLINGS of them, 20,000: creating a take costs more than creating an entry).

The program runs on a pseudo-terminal of 100 columns and 40 rows, without a real terminal. A
frame ends with the end of a synchronized update (CSI ?2026 l).

  first    from the start of the process to the end of its first frame, ROUNDS times (9)
  keys     from the writing of a key to the end of the frame: scrolling, selecting, the tree
           opened, moving in it, pages, folding; median and p99
  filter   each filter of the tree, and a search typed letter by letter
  early    the tree opened and searched at once, before its texts are loaded: the longest
           wait of a letter, and the time until all matches are found
  memory   VmRSS and VmHWM at the end

Other load on the machine affects the results; run it alone. The last line is JSON."""
import json
import os
import pty
import fcntl
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENTRIES = int(os.environ.get("ENTRIES", "100000"))
SIBLINGS = int(os.environ.get("SIBLINGS", "20000"))
ROUNDS = int(os.environ.get("ROUNDS", "9"))
END = b"\x1b[?2026l"
GIVE_UP_S = 20


class Program:
    """The program on a pseudo-terminal."""

    def __init__(self, retake, env):
        self.begun = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(retake, [retake], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.seen = b""

    def frame(self):
        """Waits for the next end of a frame; returns the time."""
        end = time.perf_counter() + GIVE_UP_S
        while True:
            at = self.seen.find(END)
            if at >= 0:
                self.seen = self.seen[at + len(END):]
                return time.perf_counter()
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.perf_counter()))
            if not ready:
                raise SystemExit(f"no frame within {GIVE_UP_S} s; got {self.seen[-300:]!r}")
            self.seen += os.read(self.fd, 1 << 16)

    def quiet(self, seconds=0.4):
        """Reads until no more output arrives for this time."""
        while select.select([self.fd], [], [], seconds)[0]:
            os.read(self.fd, 1 << 16)
        self.seen = b""

    def key(self, text):
        """Milliseconds from the key to the end of its frame."""
        begun = time.perf_counter()
        os.write(self.fd, text.encode())
        return (self.frame() - begun) * 1e3

    def memory(self):
        rows = open(f"/proc/{self.pid}/status", encoding="ascii").read().splitlines()
        return {name: int(row.split()[1]) // 1024 for row in rows
                for name in ("VmRSS", "VmHWM") if row.startswith(name + ":")}

    def end(self):
        os.write(self.fd, b"\x03\x03\x03")
        time.sleep(0.2)
        try:
            os.kill(self.pid, 15)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def make(retake, env, shape):
    """Uses an import, because the native format would have to be written by the program."""
    path = os.path.join(env["HOME"], shape + ".jsonl")
    with open(path, "w", encoding="utf-8") as out:
        def row(number, parent, role, text):
            out.write(json.dumps({
                "type": "message", "id": f"{number:08x}",
                "parentId": None if parent is None else f"{parent:08x}",
                "timestamp": f"2026-01-01T00:00:00.{number % 1000:03}Z",
                "message": {"role": role, "content": text}}) + "\n")
        out.write(json.dumps({"type": "session", "version": 3, "id": shape,
                              "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}) + "\n")
        if shape == "siblings":
            row(0, None, "user", "Which one?")
            for k in range(1, SIBLINGS):
                row(k, 0, "assistant", f"Answer {k}: this one, since **{k}** is the best of them.")
        else:
            k = 0
            while k < ENTRIES:
                forks = shape == "take" and k % 1000 == 999
                parent = None if k == 0 else (k - 2 if forks else k - 1)
                row(k, parent, "user" if k % 2 == 0 else "assistant",
                    f"Entry {k}: some *words* about `thing_{k % 97}`, and\n\n- one\n- two {k * 7919 % 1009}")
                k += 1
    subprocess.run([retake, "import", path], env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    os.remove(path)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def search_early(retake, env):
    program = Program(retake, env)
    program.frame()
    program.quiet()
    os.write(program.fd, b"/tree")
    program.quiet()
    program.key("\r")
    begun = last = time.perf_counter()
    letters = [program.key(letter) for letter in "/best"]
    while select.select([program.fd], [], [], 0.3)[0]:
        os.read(program.fd, 1 << 16)
        last = time.perf_counter()
    program.end()
    return max(letters), (last - begun) * 1e3


def measure(retake, shape):
    with tempfile.TemporaryDirectory(prefix="retake-bench-") as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color",
               "RETAKE_DB": os.path.join(home, "talk.db"), "RETAKE_MODEL": "builtin/echo"}
        make(retake, env, shape)
        first = []
        for _ in range(ROUNDS):
            program = Program(retake, env)
            first.append((program.frame() - program.begun) * 1e3)
            program.end()
        program = Program(retake, env)
        program.frame()
        program.quiet()
        keys = {}
        if shape != "siblings":           # a take of two entries does not scroll
            keys["scroll"] = [program.key("\x1b[5~") for _ in range(100)]
            program.quiet()
            keys["select"] = [program.key("\x1b[1;3A")] + [program.key("k") for _ in range(100)]
            program.key("\x1b")
            program.quiet()
        os.write(program.fd, b"/tree")
        program.quiet()
        tree_open = program.key("\r")
        program.quiet(1.5)                # until the tree has loaded texts in idle time
        step, page = "\x1b[B", "\x1b[6~"
        os.write(program.fd, b"\x1b[H")   # from the first row down
        program.quiet()
        keys["tree"] = [program.key(step) for _ in range(200)]
        keys["pages"] = [program.key(page) for _ in range(50)]
        program.quiet()
        filters = {name: program.key(key) for name, key in
                   (("user", "\x15"), ("no user", "\x15"), ("all", "\x0f"), ("no all", "\x0f"))}
        program.quiet()
        search = [program.key(letter) for letter in "/words"]
        program.quiet()
        memory = program.memory()
        program.end()
        early, found = search_early(retake, env)
        flat = [value for values in keys.values() for value in values]
        row = {"shape": shape, "first_ms": statistics.median(first), "first_worst_ms": max(first),
               "tree_open_ms": tree_open, "key_ms": statistics.median(flat),
               "key_p99_ms": percentile(flat, 0.99),
               "keys": {name: [statistics.median(values), percentile(values, 0.99)]
                        for name, values in keys.items()},
               "filter_ms": filters, "search_ms": search[1:], "early_ms": early,
               "early_found_ms": found, **memory}
        print(f"{shape:9} first frame {row['first_ms']:6.1f} ms (worst {max(first):.1f})   tree "
              f"{tree_open:6.1f} ms   key {row['key_ms']:5.2f} ms, p99 {row['key_p99_ms']:5.2f}   "
              f"filter {max(filters.values()):5.1f} ms   search {max(search):5.1f} ms   "
              f"early {early:5.1f} ms, all {found:5.0f}   "
              f"{memory['VmRSS']} MB (most {memory['VmHWM']})", flush=True)
        return row


def main():
    words = sys.argv[1:]
    retake = os.path.abspath(words.pop(0)) if words and os.path.exists(words[0]) else \
        os.path.join(ROOT, "build/retake")
    unknown = [word for word in words if word not in ("take", "chain", "siblings")]
    if unknown:
        sys.exit(f"{unknown[0]}: no shape; there are take, chain, siblings")
    rows = [measure(retake, shape) for shape in words or ["take", "chain", "siblings"]]
    print(json.dumps({"entries": ENTRIES, "siblings": SIBLINGS, "rounds": ROUNDS, "shapes": rows}))


if __name__ == "__main__":
    main()
