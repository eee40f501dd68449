#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example of `retake help COMMAND` runs, as it is and with --json.

A directory is prepared in which everything that the examples name exists: entries, labels, takes,
discussions, files, presets, a model server. Each example runs in a copy of it with bash and must
succeed; with --json it must print exactly one JSON document. So a new command is covered by the
examples of its row in src/cli."""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from client import RETAKE, Tally  # noqa: E402

TIMEOUT_S = 60

# Programs that run until they are interrupted; the terminal UI needs a terminal.
SERVES = re.compile(r"\bserve\b")
NEEDS_TERMINAL = re.compile(r"^retake( -d plans| tui .*)?$")
# Needs a server of PostgreSQL (tests/postgresql/schema_test.sh).
NEEDS_DATABASE = re.compile(r"^retake (--db postgresql://\S+ )?store\b")
# Asks for confirmation, which takes a terminal; without one the error names --yes.
CONFIRMS = re.compile(r"^retake (purge|restore)\b(?!.*--yes)")
# Opens an editor, which takes a terminal or -e.
EDITS = re.compile(r"^retake (edit (:-1|--all)|prompt edit)$")
# Output that is not one JSON document by design: a program for a shell, the file that was asked for, events.
NOT_JSON = re.compile(r"--json|[|>]|retake (completion|export|chat|watch)\b|--raw")

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
                    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082")


def op(name, /, **fields):
    return {"op": name, **fields}


def talk():
    """The project of the examples."""
    ops = [op("discussion.rename", discussion="main", name="talk")]
    for i in range(3, 25):
        text = f"Entry {i}: teh sqlite journal. Second, something else. " + "Many more words. " * 300
        named = {4: {"id": "p7m2"}, 6: {"id": "k3f9"}, 7: {"id": "9z2p"}}.get(i, {})
        ops.append(op("entry.append", role="AI" if i % 2 == 0 else "User", content=text, **named))
    ops.append(op("label.set", entry=":6", label="good-start"))
    for take in ("duck", "sqlite", "main_take_2", "other"):
        ops += [op("take.branch", at=":5", name=take),
                op("entry.append", role="User", content=f"A question in {take}."),
                op("entry.append", role="AI", content=f"A reply in {take}, sk-abc123."),
                op("take.switch", take="main")]
    for name in ("db-choice", "scratch", "plans"):
        ops += [op("discussion.new", name=name),
                op("entry.append", role="User", content="An error in this discussion."),
                op("discussion.switch", discussion="talk")]
    ops += [op("setting.set", key="temperature", value=0.5), op("preset.save", name="review"),
            op("setting.set", key="template.review", value="Review {{file}} as a {{reader}}."),
            op("entry.edit", entry=":4", content="Entry 4 edited. Second, teh rest. " + "w " * 90)]
    while len(ops) < 50:
        ops.append(op("setting.set", key="temperature", value=len(ops) / 100))
    return ops


class Model(http.server.BaseHTTPRequestHandler):
    """Answers what OpenAI's and Ollama's clients ask for."""

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send("application/json", json.dumps({
            "data": [{"id": "gpt-5"}, {"id": "gpt-4o"}],
            "models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/api/chat"):
            self.send("application/x-ndjson", json.dumps(
                {"message": {"content": "Yes."}, "done": True, "done_reason": "stop"}).encode() + b"\n")
        else:
            self.send("text/event-stream", b"data: " + json.dumps({"choices": [
                {"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()
                + b"\n\ndata: [DONE]\n\n")

    def log_message(self, *_):
        pass


class Examples:
    def __init__(self, work, port):
        self.start = os.path.join(work, "start")
        self.home = os.path.join(work, "home")
        self.env = {
            "PATH": os.path.join(work, "bin") + ":" + os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": self.home, "TMPDIR": self.home, "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "EDITOR": "true", "PAGER": "cat", "RETAKE_MODEL": "openai/gpt-5",
            "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OLLAMA_HOST": f"127.0.0.1:{port}",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        }
        os.makedirs(os.path.join(work, "bin"))
        os.symlink(RETAKE, os.path.join(work, "bin/retake"))
        os.symlink(shutil.which("cat"), os.path.join(work, "bin/less"))  # a small system has no pager
        self.prepare()

    def shell(self, command):
        """Runs a line as its reader would: (status, stdout, stderr)."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.home, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.returncode, done.stdout, done.stderr

    def put(self, name, data):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def must(self, command):
        status, out, err = self.shell(command)
        if status != 0:
            raise RuntimeError(f"{command}: {status}\n{out}\n{err}")
        return out

    def prepare(self):
        os.makedirs(os.path.join(self.home, ".config/fish/completions"))
        self.put("start.jsonl", "".join(json.dumps(each) + "\n" for each in talk()))
        for name in ("reply.md", "note.md", "a.c", "docs/one.md", "docs/two.md", "secret.txt"):
            self.put(name, "sk-abc123\n" if name == "secret.txt" else f"This is {name}.\n")
        self.put("src/main.c", "int compute_sum(int a, int b)\n{\n\treturn a + b;\n}\n")
        self.put("questions.txt", "One?\nTwo?\n")
        self.put("screen.png", PNG)
        self.put("shot.png", PNG)
        self.put("paper.pdf", "%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n")
        self.put("messages.json", json.dumps({"messages": [{"role": "user", "content": "Hello"}]}))
        self.put("changes.jsonl", json.dumps(op("entry.append", content="from a file")) + "\n")
        self.must("git init -q . && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm one "
                  "&& echo more >> a.c")
        self.must("retake ask 'Where to begin?' && retake apply start.jsonl")
        self.must("retake ask -m openai/gpt-5 'Does it answer?'")
        self.must("cd .local/state/retake/comms && cp *.jsonl 20261122T054412Z-91c3a07e5d2b4f68.jsonl")
        self.must("retake files add context_files src/main.c")
        self.must("retake tag -d db-choice work && retake tag urgent && retake track release-2")
        self.must("retake export --format pi --all --lossless -o session.jsonl && mkdir exports "
                  "&& cp session.jsonl exports")
        self.must("mkdir -p .retake/hooks/entry.before_add && cd .retake/hooks/entry.before_add && "
                  "printf '#!/bin/sh\n' > 10-none && chmod +x 10-none")
        self.must("retake add 'the last' && retake undo")
        self.must("retake backup ~/retake-2026-11-21.db")
        os.rename(self.home, self.start)

    def restore(self):
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.start, self.home, symlinks=True)

    def run(self, command):
        self.restore()
        return self.shell(command)

    def serve(self, command):
        """The status and output of a server that is terminated once it has said where it listens; for
        --login, of that command beside such a server."""
        self.restore()
        server = re.sub(r" --(open|login|port \d+)", "", command)      # no browser is opened
        with subprocess.Popen(["bash", "-c", f"exec {server} --port 0"], cwd=self.home, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            out = process.stdout.readline()
            port = re.search(r"http://[^/]*:(\d+)", out)
            login = (0, "http://")
            if "--login" in command and port:
                login = self.shell(re.sub(r"--port \d+", f"--port {port[1]}", command))
            process.terminate()    # SIGINT may be ignored in a background job
            out += process.stdout.read()
        return process.returncode, out, login


def check(tally, examples, name, command):
    label = f"{name}: {command}"
    if NEEDS_TERMINAL.match(command):
        status, out, err = examples.run(command)
        return tally.check(f"{label}: needs a terminal", "terminal" in err or "retake help" in out, out, err)
    if NEEDS_DATABASE.match(command):
        status, out, err = examples.run(command)
        return tally.check(f"{label}: needs a database", status == 1 and
                           ("cannot be reached" in err or "is a file" in err), status, out, err)
    if SERVES.search(command):
        status, out, login = examples.serve(command)
        return tally.check(label, status in (0, 143) and "http://" in out and login[0] == 0 and
                           "http://" in login[1], status, out, login)
    if EDITS.match(command):
        command += " -e"
    if CONFIRMS.match(command):
        status, out, err = examples.run(command)
        tally.check(f"{label}: asks first", status != 0 and "--yes" in err, status, out, err)
        command += " --yes"
    status, out, err = examples.run(command)
    tally.check(label, status == 0, status, out, err)
    if NOT_JSON.search(command) or not command.startswith("retake "):
        return None
    status, out, err = examples.run("retake --json" + command[len("retake"):])
    try:
        json.loads(out)
    except ValueError:
        return tally.check(f"{label}: one JSON document", False, repr(out), err)
    return tally.check(f"{label}: with --json", status == 0, status, out, err)


def main():
    tally = Tally()
    listed = json.loads(subprocess.check_output([RETAKE, "help", "--json"]))["commands"]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="retake-examples-") as work:
        examples = Examples(work, server.server_port)
        for command in listed:
            tally.check(f"{command['name']} has examples", command["examples"])
            for each in command["examples"]:
                check(tally, examples, command["name"], each)
    server.shutdown()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
