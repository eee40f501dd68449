#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of keys_test.sh: keys_checks.py RETAKE

There are two folders. PLANTED contains the configurations, key files and commands with the
keys; the program must not write there. Everything else is in MADE: the store, its write-ahead
log and backups, the request log, exports, all output, the input of hooks (standard input,
arguments, environment), and a core file, if there is one. At the end every file in MADE is
searched for every key: verbatim, percent-encoded, in base64, and for its beginning and end,
as `grep -a` would."""
import base64
import json
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from place import Place, Tally

RETAKE = sys.argv[1]
tally = Tally()
check = tally.check
random.seed(24)


def make_key(number):
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    return f"sk-{number:02d}/" + "".join(random.choice(letters) for _ in range(30)) + "+Z" + str(number)


PLANTS = """variable of OpenAI
variable of Anthropic
variable of Gemini
variable of Ollama
variable of one's own
variable of somebody else
key file
key file that others may read
key file with a blank in its line
key command, what it says
key command, what it says of its failure
key command, an argument
key in a provider's table
key in the configuration
key in place of a variable's name
key in a line that is no TOML
user and password in a url
query of a url
user and password in OPENAI_BASE_URL
user and password in OLLAMA_HOST
header
header with a word before the key
user and password in a proxy
key of a program that crashes
error in the middle
name of a model""".splitlines()
KEYS = {name: make_key(number + 1) for number, name in enumerate(PLANTS)}


# ---- a server that echoes requests ----

class Echo(BaseHTTPRequestHandler):
    heard = set()
    told = threading.Event()    # an error was sent, and the connection is open

    def log_message(self, *_):
        pass

    def own(self):
        """The keys in this request."""
        text = urllib.parse.unquote(self.path) + str(self.headers)
        found = [key for key in KEYS.values() if key in text]
        Echo.heard.update(found)
        return found

    def answer(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        keys = self.own()
        forms = keys + [urllib.parse.quote(key, safe="") for key in keys]
        forms += [base64.b64encode((pad + key).encode()).decode() for key in keys
                  for pad in ("", "u:", "Bearer ")]
        forms += [key[:7] + "********" + key[-4:] for key in keys]
        words = "No such key: " + ", ".join(forms)
        how = self.path.split("/")[1]
        if how == "good":
            chunk = {"model": "m", "choices": [{"index": 0, "delta": {"content": "Fine."},
                                                "finish_reason": "stop"}]}
            self.answer(200, "text/event-stream",
                        f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode(),
                        X_Key=",".join(forms))
        elif how == "midway":
            part = {"candidates": [{"content": {"parts": [{"text": "Well, "}]}}]}
            error = {"error": {"message": words}}
            self.answer(200, "text/event-stream",
                        f"data: {json.dumps(part)}\n\ndata: {json.dumps(error)}\n\n".encode())
        elif how == "redirect":
            self.answer(302, "text/plain", words.encode(),
                        Location="http://127.0.0.1:1/?key=" + "&key=".join(forms))
        elif how == "slow":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            chunk = {"model": "m", "choices": [{"index": 0, "delta": {"content": "Begun "}}]}
            try:
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
                threading.Event().wait(120)
            except OSError:
                pass
        elif how == "open":
            chunk = {"model": "m", "choices": [{"index": 0, "delta": {"content": "Begun "}}]}
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
                time.sleep(0.3)     # so long that the next piece is stored at once
                self.wfile.write(f"data: {json.dumps({'error': {'message': words}})}\n\n".encode())
                self.wfile.flush()
                Echo.told.set()
                threading.Event().wait(120)
            except OSError:
                pass
        elif how == "named" and self.command == "GET":
            self.answer(200, "application/json",
                        json.dumps({"data": [{"id": "m " + key} for key in forms]}).encode())
        elif how == "named":
            chunk = {"model": "m " + " ".join(forms), "choices": [
                {"index": 0, "delta": {"content": "Fine."}, "finish_reason": "stop"}]}
            self.answer(200, "text/event-stream", f"data: {json.dumps(chunk)}\n\n".encode())
        elif how == "text":
            self.answer(403, "text/plain", words.encode(), WWW_Authenticate="Key " + words)
        else:
            self.answer(401, "application/json",
                        json.dumps({"error": {"message": words, "param": words}}).encode(),
                        WWW_Authenticate="Key " + words)


class Run:
    """The folders, and all output, which is also written to MADE."""

    def __init__(self, planted, made, port):
        self.planted, self.made, self.port = planted, made, port
        self.place = Place(RETAKE, made, XDG_CONFIG_HOME=planted + "/none")
        self.count = 0
        os.makedirs(made + "/printed")

    def url(self, how, user=""):
        return f"http://{user}127.0.0.1:{self.port}/{how}"

    def config(self, text):
        """A new folder for each configuration, each with hooks."""
        self.count += 1
        folder = f"{self.planted}/{self.count}"
        hook = f"{self.made}/hook.py"
        os.makedirs(folder + "/retake/hooks")
        for event in ("entry.before_add", "request.before", "request.after", "reply.after"):
            os.makedirs(f"{folder}/retake/hooks/{event}")
            os.symlink(hook, f"{folder}/retake/hooks/{event}/10-dump")
        with open(folder + "/retake/config.toml", "w", encoding="utf-8") as file:
            file.write(text)
        return {"XDG_CONFIG_HOME": folder}

    def file(self, name, text, mode=0o600):
        path = f"{self.planted}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def run(self, *args, env=()):
        done = self.place.run(*args, env=env)
        self.count += 1
        with open(f"{self.made}/printed/{self.count}", "wb") as file:
            file.write(done.stdout + b"\n" + done.stderr)
        return done

    def ask(self, model, env, *more):
        return self.run("ask", "-m", model, *more, "A question?", env=env)


def provider(name, *lines):
    return f"[provider.{name}]\n" + "\n".join(lines) + "\n"


def masked(name, done, status=4):
    check(f"{name}: fails with {status}, and says [key] for it",
          done.returncode == status and b"[key]" in done.stderr, done.returncode, done.stderr)


def refused(name, done, words, status):
    check(f"{name}: is refused", done.returncode == status and words in done.stderr.decode(),
          done.returncode, done.stderr)


def variables(run):
    everything = {"AWS_SECRET_ACCESS_KEY": KEYS["variable of somebody else"]}
    env = {**run.config(""), **everything, "OPENAI_API_KEY": KEYS["variable of OpenAI"],
           "OPENAI_BASE_URL": run.url("good")}
    done = run.ask("openai/m", env)
    check("a reply", done.stdout == b"Fine.\n", done.stdout, done.stderr)
    run.run("replay", run.place.entries()[-1]["id"], "--send", env=env)
    run.run("models", env=env)
    run.run("models", "openai", env=env)
    env = {**run.config(provider("anthropic", f'url = "{run.url("json")}"')), **everything,
           "ANTHROPIC_API_KEY": KEYS["variable of Anthropic"]}
    masked("Anthropic", run.ask("anthropic/m", env))
    env = {**run.config(provider("gemini", f'url = "{run.url("midway")}"')), **everything,
           "GEMINI_API_KEY": KEYS["variable of Gemini"]}
    masked("Gemini, in mid-stream", run.ask("gemini/m", env), 7)
    env = {**run.config(provider("ollama", f'url = "{run.url("redirect")}"')), **everything,
           "OLLAMA_API_KEY": KEYS["variable of Ollama"]}
    done = run.ask("ollama/m", env)
    check("a redirect is not followed", b"not followed" in done.stderr, done.stderr)
    env = {**run.config(provider("own", 'kind = "openai"', f'url = "{run.url("json")}"',
                                 'key_env = "MY_KEY"')), **everything,
           "MY_KEY": KEYS["variable of one's own"]}
    masked("one's own", run.ask("own/m", env))
    masked("one's own, listing models", run.run("models", "own", env=env))


def files_and_commands(run):
    def with_key(how, line):
        return run.config(provider("own", 'kind = "openai"', f'url = "{run.url(how)}"', line))

    path = run.file("key1", KEYS["key file"] + "\n")
    masked("a key file", run.ask("own/m", with_key("text", f'key_file = "{path}"')))
    path = run.file("key2", KEYS["key file that others may read"] + "\n", 0o644)
    done = run.ask("own/m", with_key("json", f'key_file = "{path}"'))
    masked("a key file that others may read", done)
    check("a key file that others may read: is warned of", b"chmod 600" in done.stderr, done.stderr)
    path = run.file("key3", "key: " + KEYS["key file with a blank in its line"] + "\n")
    refused("a key file with a blank", run.ask("own/m", with_key("good", f'key_file = "{path}"')),
            "is not a key", 4)
    path = run.file("command1", "#!/bin/sh\necho '" + KEYS["key command, what it says"] + "'\n",
                    0o700)
    masked("a key command", run.ask("own/m", with_key("json", f'key_cmd = ["{path}"]')))
    path = run.file("command2", "#!/bin/sh\necho 'no use: " +
                    KEYS["key command, what it says of its failure"] + "' >&2\nexit 3\n", 0o700)
    done = run.ask("own/m", with_key("good", f'key_cmd = ["{path}"]'))
    check("a key command that fails", done.returncode == 4, done.stderr)
    argument = KEYS["key command, an argument"]
    done = run.ask("own/m", with_key("good", f'key_cmd = ["/nowhere/pass", "--with={argument}"]'))
    check("a key command that is not there", done.returncode == 4, done.stderr)


def configurations(run):
    own = provider("own", 'kind = "openai"', f'url = "{run.url("good")}"')
    env = run.config(own + f'key = "{KEYS["key in a provider" + chr(39) + "s table"]}"\n')
    refused("a key in a table", run.ask("own/m", env), "not allowed in the configuration", 1)
    env = run.config(f'api_key = "{KEYS["key in the configuration"]}"\n' + own)
    refused("a key in the configuration", run.ask("own/m", env),
            "not allowed in the configuration", 1)
    env = run.config(own + f'key_env = "{KEYS["key in place of a variable" + chr(39) + "s name"]}"\n')
    refused("a key as a name", run.ask("own/m", env), "the name of an environment variable", 2)
    env = run.config(own + f'key_file = = "{KEYS["key in a line that is no TOML"]}"\n')
    check("no TOML", run.ask("own/m", env).returncode != 0)
    for command in (("models",), ("doctor",), ("hooks",)):
        run.run(*command, env=env)


def urls(run):
    secret = KEYS["user and password in a url"]
    quoted = urllib.parse.quote(secret, safe="")
    env = run.config(provider("own", 'kind = "openai"',
                              f'url = "{run.url("good", f"me:{quoted}@")}"'))
    check("a password in a url", run.ask("own/m", env).returncode != 0)
    run.run("models", env=env)
    run.run("doctor", env=env)
    quoted = urllib.parse.quote(KEYS["query of a url"], safe="")
    env = run.config(provider("own", 'kind = "openai"', f'url = "{run.url("json")}?key={quoted}"'))
    done = run.ask("own/m", env)
    masked("a query of a url", done)
    run.run("models", env=env)
    run.run("models", "own", env=env)
    quoted = urllib.parse.quote(KEYS["user and password in OPENAI_BASE_URL"], safe="")
    env = {**run.config(""), "OPENAI_BASE_URL": run.url("good", f"me:{quoted}@"),
           "OPENAI_API_KEY": KEYS["variable of OpenAI"]}
    check("OPENAI_BASE_URL", run.ask("openai/m", env).returncode != 0)
    run.run("models", env=env)
    quoted = urllib.parse.quote(KEYS["user and password in OLLAMA_HOST"], safe="")
    env = {**run.config(""), "OLLAMA_HOST": run.url("good", f"me:{quoted}@")}
    check("OLLAMA_HOST", run.ask("ollama/m", env).returncode != 0)
    run.run("models", env=env)
    run.run("models", "ollama", env=env)
    quoted = urllib.parse.quote(KEYS["user and password in a proxy"], safe="")
    env = {**run.config(provider("own", 'kind = "openai"', 'url = "http://model.invalid/v1"',
                                 "allow_plain_http = true")),
           "http_proxy": f"http://me:{quoted}@127.0.0.1:{run.port}"}
    check("a proxy", run.ask("own/m", env).returncode != 0)


def headers(run):
    lines = (f'headers = {{ "x-api-token" = "{KEYS["header"]}", "authorization" = "Bearer '
             f'{KEYS["header with a word before the key"]}" }}')
    for how in ("json", "text"):
        env = run.config(provider("own", 'kind = "openai"', f'url = "{run.url(how)}"', lines))
        masked("headers", run.ask("own/m", env))


def crash(run):
    """Killed by a signal that leaves a core file, and by one that does not."""
    env = {**run.config(provider("own", 'kind = "openai"', f'url = "{run.url("slow")}"',
                                 'key_env = "MY_KEY"')),
           "MY_KEY": KEYS["key of a program that crashes"]}
    place = Place(RETAKE, run.made, **env)
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    old = os.getcwd()
    os.chdir(run.made)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    for deadly in (signal.SIGABRT, signal.SIGKILL):
        process = place.begin("ask", "-m", "own/m", "And then?")
        begun = os.read(process.stdout.fileno(), 5)
        until = time.monotonic() + 60
        while not any(reply.get("bytes") for reply in place.json("show").get("replies", [])) and \
                time.monotonic() < until:
            time.sleep(0.05)    # until it is stored
        process.send_signal(deadly)
        process.wait(timeout=120)
        check(f"{deadly.name}: it had begun, and died", begun == b"Begun" and
              process.returncode == -deadly, begun, process.returncode)
        process.stdout.close()
        process.stderr.close()
    os.chdir(old)
    check("what had arrived is kept", "Begun " in [entry["content"] for entry in
                                                   run.place.entries()])


def midway(run):
    """An error in the middle of a reply, with the key in it. The program ends normally, is
    stopped, and is killed while the connection is open; what it has written is in the
    write-ahead log, which stays because another process has the store open (until the end)."""
    env = {**run.config(provider("own", 'kind = "openai"', f'url = "{run.url("open")}"',
                                 'key_env = "MY_KEY"')),
           "MY_KEY": KEYS["error in the middle"]}
    place = Place(RETAKE, run.made, **env)
    run.other = sqlite3.connect(run.place.db)
    run.other.execute("SELECT count(*) FROM sqlite_master").fetchall()
    for deadly in (None, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        Echo.told.clear()
        process = place.begin("ask", "-m", "own/m", "And in the middle?")
        check(f"midway, {deadly}: it has begun", os.read(process.stdout.fileno(), 5) == b"Begun" and
              Echo.told.wait(60))
        if deadly is not None:
            time.sleep(0.25)    # it exits 500 ms after the error
            process.send_signal(deadly)
        out, err = process.communicate(timeout=120)
        run.count += 1
        with open(f"{run.made}/printed/{run.count}", "wb") as file:
            file.write(out + b"\n" + err)
        if deadly is None:
            check("midway: the error is shown", process.returncode == 7 and b"[key]" in err,
                  process.returncode, err)
    check("midway: the error is kept, masked", any(
        "[key]" in entry.get("error", "") for entry in run.place.entries()), run.place.entries())


def names(run):
    env = {**run.config(provider("own", 'kind = "openai"', f'url = "{run.url("named")}"',
                                 'key_env = "MY_KEY"')),
           "MY_KEY": KEYS["name of a model"]}
    done = run.run("models", "own", env=env)
    check("names of models are masked", done.returncode == 0 and b"m [key]" in done.stdout,
          done.stdout, done.stderr)
    done = run.ask("own/m", env)
    check("a reply with such a name", done.stdout == b"Fine.\n", done.stdout, done.stderr)
    check("the name is kept, masked", "[key]" in run.place.entries()[-1].get("model", ""),
          run.place.entries()[-1])


def ways_out(run):
    """All commands that write data."""
    formats = json.loads(run.run("help", "formats", "--json").stdout)
    for name in (f["name"] for f in formats if f["export"]):
        done = run.run("export", "--format", name, "--all", "--lossless",
                       "-o", f"{run.made}/export.{name}")
        check(f"export as {name}", done.returncode == 0 and     # pairs: of edited replies, here none
              (name == "dpo" or os.path.getsize(f"{run.made}/export.{name}") > 0), done.stderr)
    done = run.run("backup", run.made + "/backup.db")
    check("backup", done.returncode == 0, done.stderr)
    for command in (("history",), ("show", "--json"), ("fsck",), ("doctor",),
                    ("context", "--provider", "openai")):
        run.run(*command)


def files_in(folder):
    for root, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(root, name)


def search(made):
    whole = {}
    for path in files_in(made):
        with open(path, "rb") as file:
            whole[path] = file.read()
    kinds = {"store": "test.db", "record": "comms/", "export": "export.pi", "backup": "backup.db",
             "printed": "printed/", "hook": "hook.out", "write-ahead log": "test.db-wal"}
    for kind, part in kinds.items():
        check(f"searched files exist: {kind}", any(part in path for path in whole), list(whole))
    check("a search finds something", any(b"A question?" in text for text in whole.values()) and
          any(b"A question?" in text for path, text in whole.items() if "hook.out" in path))
    for name, key in KEYS.items():
        forms = {key, urllib.parse.quote(key, safe=""), urllib.parse.quote(key), key[:12], key[-12:]}
        for pad in range(3):
            forms.add(base64.b64encode((" " * pad + key).encode()).decode()[4:24])
        hits = [(os.path.relpath(path, made), form) for path, text in whole.items()
                for form in forms if form.encode() in text]
        check(f"{name}: 0 hits in {len(whole)} files", not hits, hits)


HOOK = """#!{python}
import os, sys
with open("{made}/hook.out", "a") as file:
    file.write(sys.stdin.read() + repr(sys.argv) + repr(dict(os.environ)) +
               open("/proc/self/environ").read() + open("/proc/self/cmdline").read() + "\\n")
"""


def main():
    check("26 keys", len(KEYS) == 26 and len(set(KEYS.values())) == 26)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as planted, tempfile.TemporaryDirectory() as made:
        with open(made + "/hook.py", "w", encoding="utf-8") as file:
            file.write(HOOK.format(python=sys.executable, made=made))
        os.chmod(made + "/hook.py", 0o700)
        run = Run(planted, made, server.server_address[1])
        for part in (variables, files_and_commands, configurations, urls, headers, crash, midway, names):
            part(run)
        mine = {name for name in os.listdir(planted) if name.startswith(("key", "command"))}
        check("nothing is written beside the configuration", all(
            os.path.basename(path) in mine | {"config.toml", "10-dump"}
            for path in files_in(planted)), list(files_in(planted)))
        ways_out(run)
        sent = {KEYS[name] for name in KEYS if name.startswith("variable of O") or name in (
            "variable of Anthropic", "variable of Gemini", "variable of one's own", "key file",
            "key file that others may read", "key command, what it says", "header",
            "header with a word before the key", "key of a program that crashes",
            "error in the middle", "name of a model")}
        check("keys got to their servers", sent <= Echo.heard,
              [name for name, key in KEYS.items() if key in sent - Echo.heard])
        check("keys that are refused got nowhere", not any(
            KEYS[name] in Echo.heard for name in KEYS if name.startswith("key in") or name in (
                "variable of somebody else", "key file with a blank in its line")))
        search(made)
        run.other.close()
    return tally.end()


sys.exit(main())
