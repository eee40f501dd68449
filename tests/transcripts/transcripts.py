#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transcripts of the program, compared byte for byte: the expected output is in the files in
this directory, and every run must print it again. They pin down all visible behaviour, so
that the code can be refactored without changing it.

A file has scripts; each begins with "== NAME" and has a new empty directory, home and store:

  $ COMMAND              the program with these words, split as a shell splits them
  > LINE                 its standard input, line by line
  % METHOD PATH [BODY]   a request to a server on the store, which is started for the first one
  @ open [WORDS]         the terminal UI in an 80x24 terminal
  @ key NAME [NAME...]   keys, with tmux's names
  @ type TEXT
  @ wait TEXT            until it is on the screen
  @ screen               the contents of the screen
  # LINE                 a comment

The lines after such a line up to the next one are output, indented by two columns. Standard
error is marked with "! ", an exit status other than 0 is "[status N]". Times, ports,
directories and random tokens are replaced by names.

  transcripts.py                    compares; ends with "N passed, N failed"
  transcripts.py --write            writes the current output into the files, except of scripts
                                    that could not be run to their end
  transcripts.py --match TEXT       only scripts with TEXT in "FILE: NAME"
  transcripts.py --program BINARY   another program, to compare two
"""
import argparse
import concurrent.futures
import difflib
import glob
import http.client
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
API = "/retake/v1"
TIMEOUT_S = 60
HEADERS = ("content-type", "location", "allow", "retry-after", "deprecation")

# Output that varies between runs.
VARIABLE = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "<time>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "<minute>"),
    (r"\b\d{4}-\d\d-\d\d\b", "<date>"),
    (r"\b\d\d:\d\d\b(?=  ?(cli|tui|http|api|apply|import|hook))", "<clock>"),
    (r"(?<=\"epoch\":\")[0-9a-f]{16}", "<epoch>"),
    (r"(?<=code=)[0-9a-f]{16}", "<code>"),
    (r"\b[0-9a-f]{15,16}\.[0-9a-z.]+\b", "<tag>"),
    (r"\br(\d+)-[0-9a-f]{6}\b", r"r\1-<run>"),
    (r"\bn[0-9a-f]{12}\b", "<node>"),
    (r"browser-[0-9a-f]{12}", "browser-<id>"),
    (r"(?<=\"process\":)\d+", "<pid>"),
    (r"(?<=\"machine\":\")[^\"]*", "<host>"),
    (r"\b\d+(\.\d+)? ms\b", "<duration>"),
    (r"(?<=\"timestamp\":)1\d{12}\b", "<ms>"),
    (r"(?<=\"duration_ms\":)\d+", "<ms>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"(?<=-)\d{8}-\d{6}\b", "<stamp>"),
    (r"\b\d+ MiB free", "<size> free"),
]


class Script:
    def __init__(self, name):
        self.name = name
        self.steps = []     # (line, input lines)
        self.expected = []  # all lines, output included


def read(path):
    scripts, preamble = [], []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            if line.startswith("== "):
                scripts.append(Script(line[3:]))
            elif not scripts:
                preamble.append(line)
                continue
            else:
                script = scripts[-1]
                script.expected.append(line)
                if line[:2] in ("$ ", "% ", "@ "):
                    script.steps.append((line, []))
                elif line[:2] == "> " or line == ">":
                    script.steps[-1][1].append(line[2:])
                elif line.startswith("#"):
                    script.steps.append((line, []))
            continue
    return preamble, scripts


class Terminal:
    """The program in a separate tmux server."""

    def __init__(self, run, words):
        self.socket = os.path.join(run.folder, "tmux")
        env = " ".join(f"{key}={shlex.quote(value)}" for key, value in run.env.items()
                       if key != "PATH")
        command = " ".join(shlex.quote(word) for word in [run.program, *words])
        shell = f"env -i PATH={shlex.quote(run.env['PATH'])} TERM=tmux-256color {env} sh"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", shell)
        self.tmux("set-option", "-g", "escape-time", "0")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.tmux("send-keys", "-l", f"PS1='$ '; clear; {command}; echo ended $?")
        self.tmux("send-keys", "Enter")

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", self.socket, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=check).stdout

    def screen(self):
        rows = [row.rstrip() for row in self.tmux("capture-pane", "-p").split("\n")]
        while rows and rows[-1] == "":
            rows.pop()
        return rows

    def wait(self, text):
        end = time.monotonic() + TIMEOUT_S
        while text not in "\n".join(self.screen()):
            if time.monotonic() > end:
                raise RuntimeError(f"no {text!r} on the screen:\n" + "\n".join(self.screen()))
            time.sleep(0.02)

    def settled(self):
        """The screen when it no longer changes."""
        last, same = None, 0
        while same < 4:
            now = self.screen()
            same = same + 1 if now == last else 0
            last = now
            time.sleep(0.05)
        return last

    def close(self):
        self.tmux("kill-server", check=False)


class Run:
    """One script, run in a new directory."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.server = self.wire = self.terminal = None
        self.port = 0
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, "TZ": "UTC",
                    "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PAGER": "", "EDITOR": "false",
                    "XDG_RUNTIME_DIR": folder, "RETAKE_DB": os.path.join(folder, "t.db"),
                    "RETAKE_MODEL": "builtin/echo", "COLUMNS": "100"}
        if "ASAN_OPTIONS" in os.environ:
            self.env["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]

    def step(self, line, given):
        kind, words = line[0], line[2:]
        if kind == "$":
            return self.command(shlex.split(words), given)
        if kind == "%":
            return self.request(*words.split(" ", 2))
        if kind == "@":
            return self.on_screen(words)
        return []

    def command(self, words, given):
        done = subprocess.run([self.program, *words], env=self.env, cwd=self.folder,
                              input="".join(line + "\n" for line in given).encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
        lines = self.lines(done.stdout)
        lines += ["! " + line for line in self.lines(done.stderr)]
        if done.returncode < 0:
            raise RuntimeError(f"{shlex.join(words)} was ended by signal {-done.returncode}")
        if done.returncode != 0:
            lines.append(f"[status {done.returncode}]")
        return lines

    def lines(self, data):
        text = data.decode("utf-8", errors="backslashreplace")
        text = text.replace(self.folder, "<dir>").replace(f"127.0.0.1:{self.port}", "<server>")
        text = text.replace(f"--port {self.port}", "--port <port>")
        for pattern, name in VARIABLE:
            text = re.sub(pattern, name, text)
        if text.endswith("\n"):
            text = text[:-1]
        elif text:
            text += "<no newline>"
        return text.split("\n") if text else []

    def start_server(self):
        port_file = os.path.join(self.folder, "port")
        self.server = subprocess.Popen(
            [self.program, "serve", "--port", "0", "--port-file", port_file, "--no-socket"],
            env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        line = b""
        while not line.startswith(b"listening"):
            line = self.server.stdout.readline()
            if line == b"":
                raise RuntimeError("the server did not start")
        with open(port_file, encoding="ascii") as file:
            self.port = int(file.read())
        with open(os.path.join(self.folder, ".local/state/retake/token"), encoding="ascii") as file:
            self.token = file.read().strip()
        self.wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def request(self, method, path, body=None):
        if self.server is None:
            self.start_server()
        headers = {"Authorization": "Bearer " + self.token}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.wire.request(method, API + path if path.startswith("/") else path[1:], body, headers)
        got = self.wire.getresponse()
        lines = [str(got.status)]
        for name in HEADERS:
            if got.getheader(name) is not None:
                lines += self.lines(f"{name}: {got.getheader(name)}\n".encode())
        data = got.read()
        return lines + self.lines(data.replace(b"},{", b"},\n{"))

    def on_screen(self, words):
        verb, _, rest = words.partition(" ")
        if verb == "open":
            self.terminal = Terminal(self, shlex.split(rest))
        elif verb == "key":
            for key in rest.split():
                self.terminal.settled()
                self.terminal.tmux("send-keys", key)
        elif verb == "type":
            self.terminal.settled()
            self.terminal.tmux("send-keys", "-l", "--", rest)
        elif verb == "wait":
            self.terminal.wait(rest)
        elif verb == "screen":
            return self.lines(("\n".join(self.terminal.settled()) + "\n").encode())
        else:
            raise RuntimeError(f"unknown verb: {words}")
        return []

    def close(self):
        if self.terminal is not None:
            self.terminal.close()
        if self.server is not None:
            self.wire.close()
            self.server.terminate()
            self.server.wait(TIMEOUT_S)
            self.server.stdout.close()


def carry_out(program, script):
    """The lines of the script with the current output, and why it could not be run to its end."""
    out = []
    with tempfile.TemporaryDirectory(prefix="retake-") as folder:
        run = Run(program, folder)
        try:
            for line, given in script.steps:
                out.append(line)
                out += [("> " + text).rstrip(" ") if text == "" else "> " + text for text in given]
                out += [("  " + text).rstrip(" ") if text == "" else "  " + text
                        for text in run.step(line, given)]
            failure = ""
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            failure = str(error) or type(error).__name__
            out += ["  failed: " + text for text in failure.split("\n")]
        finally:
            run.close()
    while out and out[-1] == "":
        out.pop()
    return out, failure


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--match", default="")
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    if not os.access(program, os.X_OK):
        sys.exit(f"there is no program {program}: build it first")
    files = {path: read(path) for path in sorted(glob.glob(os.path.join(HERE, "*.txt")))}
    wanted = [(path, script) for path, (_, scripts) in files.items() for script in scripts
              if options.match in f"{os.path.basename(path)}: {script.name}"]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda item: carry_out(program, item[1]), wanted))
    unfinished = 0
    for (path, script), (lines, failure) in zip(wanted, results):
        expected = script.expected
        while expected and expected[-1] == "":
            expected = expected[:-1]
        if lines == expected:
            passed += 1
            continue
        failed += 1
        if options.write and failure:
            unfinished += 1
            print(f"not written: {os.path.basename(path)}: {script.name}: {failure}")
        elif options.write:
            script.expected = lines
        else:
            print(f"not ok: {os.path.basename(path)}: {script.name}")
            for line in difflib.unified_diff(expected, lines, "expected", "printed", lineterm="", n=2):
                print("   ", line)
    if options.write:
        for path, (preamble, scripts) in files.items():
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in preamble)
                for at, script in enumerate(scripts):
                    body = list(script.expected)
                    while body and body[-1] == "":
                        body.pop()
                    if at > 0:
                        file.write("\n")
                    file.writelines(line + "\n" for line in [f"== {script.name}", *body])
        print(f"{failed - unfinished} of {passed + failed} scripts written anew")
        return 1 if unfinished or not passed + failed else 0
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
