# SPDX-License-Identifier: MIT
"""Shared by the tests of this directory: a server with a home directory, clients, a reader of
events, and a tally of checks."""
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RETAKE = os.path.abspath(os.environ.get("RETAKE", os.path.join(ROOT, "build/retake")))
API = "/retake/v1"
WAIT_S = 60


class Tally:
    """Counts checks and reports failures."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, ok, *detail):
        if ok:
            self.passed += 1
            return True
        self.failed += 1
        if self.failed <= 40:
            print("FAILED:", name)
            for line in detail:
                print("   ", str(line)[:1200])
            sys.stdout.flush()
        return False

    def equal(self, name, got, wanted, *detail):
        return self.check(name, got == wanted, f"got    {got!r}", f"wanted {wanted!r}", *detail)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def quote(text):
    return urllib.parse.quote(text, safe="")


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def tag(self):
        return self.headers.get("etag")

    def __repr__(self):
        return f"{self.status} {self.body[:600]!r}"


class Place:
    """A store and a home directory. Nothing outside is read or written."""

    def __init__(self, folder=None, name="test.db"):
        self.is_ours = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="retake-server-")
        self.db = os.path.join(self.folder, name)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith("RETAKE") and not key.endswith("_API_KEY") and
                    "proxy" not in key.lower()}
        self.env.update(HOME=self.folder, XDG_DATA_HOME=self.folder + "/data",
                        XDG_STATE_HOME=self.folder + "/state",
                        XDG_CONFIG_HOME=self.folder + "/config",
                        XDG_RUNTIME_DIR=self.folder, LC_ALL="C.UTF-8", NO_COLOR="1")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *args, stdin=None, project=None):
        named = ["--project", project] if project else []
        return subprocess.run([RETAKE, "--db", self.db, *named, *args], env=self.env,
                              cwd=self.folder, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def apply(self, ops, *flags, project=None):
        lines = "".join(json.dumps(op, ensure_ascii=False) + "\n" for op in ops)
        done = self.run("apply", *flags, stdin=lines.encode(), project=project)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def canonical(self, project=None):
        done = self.run("export", "--format", "canonical", project=project)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return done.stdout


class Server:
    """A `retake serve` process that is stopped at the end of the with block."""

    def __init__(self, place, *args, port=0):
        self.place = place
        self.wanted = port
        self.args = args
        self.process = None

    def __enter__(self):
        port_file = os.path.join(self.place.folder, "port")
        if os.path.exists(port_file):
            os.unlink(port_file)
        self.log = open(os.path.join(self.place.folder, "serve.log"), "ab")
        self.process = subprocess.Popen(
            [RETAKE, "--db", self.place.db, "serve", "--port", str(self.wanted),
             "--port-file", port_file, *self.args], env=self.place.env, cwd=self.place.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        first = b""
        while not first.startswith(b"listening"):
            first = self.process.stdout.readline()
            if first == b"":
                self.process.wait()
                with open(self.log.name, "rb") as file:
                    raise RuntimeError("the server did not start: " +
                                       file.read().decode(errors="replace"))
        with open(port_file, encoding="ascii") as file:
            self.port = int(file.read())
        given = dict(zip(self.args, self.args[1:])).get("--token-file")
        with open(given or os.path.join(self.place.folder, "state/retake/token"), encoding="ascii") as file:
            self.token = file.read().strip()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process is None:
            return None
        self.process.terminate()
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "did not end"
        self.process.stdout.close()
        self.log.close()
        self.process = None
        return code

    def client(self, project=None):
        return Client(self, {"Authorization": "Bearer " + self.token}, project)

    def browser(self):
        """Another browser: signed in with a code, with its own cookie."""
        code = self.client().post("/codes", {}).json["code"]
        answer = Client(self, {}).request("GET", "/?code=" + quote(code))
        cookie = answer.headers.get("set-cookie", "").split(";")[0]
        if answer.status != 303 or not cookie.startswith(f"retake_{self.port}="):
            raise RuntimeError(f"the browser did not sign in: {answer}")
        return Client(self, {"Cookie": cookie, "Origin": f"http://127.0.0.1:{self.port}",
                             "Sec-Fetch-Site": "same-origin"})

    def raw(self, data):
        """Sends raw bytes; returns everything until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as wire:
            wire.sendall(data)
            wire.shutdown(socket.SHUT_WR)
            out = b""
            while True:
                piece = wire.recv(65536)
                if not piece:
                    return out
                out += piece


class Client:
    """A client with one persistent connection."""

    def __init__(self, server, headers, project=None):
        self.server = server
        self.headers = dict(headers)
        if project is not None:
            self.headers["Retake-Project"] = project
        self.wire = None

    def request(self, method, path, body=None, headers=None):
        """body: bytes, or a value to send as JSON."""
        all_headers = {**self.headers, **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        if body is not None:
            all_headers.setdefault("Content-Type", "application/json")
        for is_last in (False, True):
            if self.wire is None:
                self.wire = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                       timeout=WAIT_S)
            try:
                self.wire.request(method, path, body, all_headers)
                got = self.wire.getresponse()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.close()  # the idle connection was closed
                if is_last:
                    raise
        answer = Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        return answer

    def close(self):
        if self.wire is not None:
            self.wire.close()
            self.wire = None

    def get(self, path, **headers):
        return self.request("GET", API + path, headers=headers)

    def post(self, path, body=None, headers=None):
        return self.request("POST", API + path, {} if body is None else body, headers)

    def put(self, path, body, headers=None):
        return self.request("PUT", API + path, body, headers)

    def op(self, op, headers=None):
        fields = {key: value for key, value in op.items() if key != "op"}
        return self.post("/ops/" + op["op"], fields, headers)

    def events(self, path="/events", last_id=None):
        return Stream(self, API + path, last_id)


class Stream:
    """The server-sent events of one connection."""

    def __init__(self, client, path, last_id=None):
        headers = {**client.headers, "Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        self.wire = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=WAIT_S)
        self.wire.request("GET", path, headers=headers)
        self.got = self.wire.getresponse()
        self.status = self.got.status
        self.bytes = 0
        self.rest = b""
        self.last_id = last_id

    def read(self, most=65536):
        """Reads more bytes; returns the complete events as (id or None, event, data)."""
        piece = self.got.read1(most)
        self.bytes += len(piece)
        self.rest += piece
        found = []
        while b"\n\n" in self.rest:
            block, self.rest = self.rest.split(b"\n\n", 1)
            event = {"id": None, "event": "message", "data": []}
            for line in block.decode().split("\n"):
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "data":
                    event["data"].append(value)
                elif name in ("id", "event"):
                    event[name] = value
            if event["id"] is not None:
                self.last_id = event["id"]
            if event["data"]:
                found.append((event["id"], event["event"], json.loads("\n".join(event["data"]))))
        return found, piece == b""

    def until(self, is_last):
        """Events up to and including the first for which is_last(event, data)."""
        found = []
        while True:
            events, is_over = self.read()
            for event in events:
                found.append(event)
                if is_last(event[1], event[2]):
                    return found
            if is_over:
                return found

    def close(self):
        self.got.close()
        self.wire.close()


def seeds(variable, default):
    """The numbers of the requested runs, and the first seed."""
    count = int(os.environ.get(variable, default))
    first = int(os.environ.get("SEED", "1"))
    return range(first, first + count)


def chance(seed, what):
    return random.Random(f"{what} {seed}")
