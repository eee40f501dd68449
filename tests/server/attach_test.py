#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Context files, and symbols that a question names: the same bytes in `context`, on the wire, in
`context --sent`, `replay` and sent_markdown of the TOML export, also after the files have
changed; undo of a file list; the directories of `serve --files`."""
import base64
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib

import client as clients
from client import WAIT_S, Place, Server, Tally

FAMILIES = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta", "ollama": ""}
IMAGE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0"
ANSWERS = {
    "openai": 'data: {"choices":[{"delta":{"content":"Fine."},"finish_reason":"stop"}]}\n\n'
              "data: [DONE]\n\n",
    "anthropic": 'data: {"type":"content_block_start","index":0,"content_block":{"type":"text",'
                 '"text":""}}\n\ndata: {"type":"content_block_delta","index":0,"delta":'
                 '{"type":"text_delta","text":"Fine."}}\n\ndata: {"type":"message_delta","delta":'
                 '{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
    "gemini": 'data: {"candidates":[{"content":{"parts":[{"text":"Fine."}]},'
              '"finishReason":"STOP"}]}\n\n',
    "ollama": '{"message":{"content":"Fine."},"done":true,"done_reason":"stop"}\n',
}


class Models(http.server.ThreadingHTTPServer):
    """A model server that responds like one API family, and records request bodies."""

    def __init__(self, family):
        super().__init__(("127.0.0.1", 0), Handler)
        self.family, self.bodies = family, []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        answer = ANSWERS[self.server.family].encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if self.server.family == "ollama"
                         else "text/event-stream")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


DEFINED = "int twice_{0}(int n)\n{{\n\treturn 2 * n + {0};\n}}\n"
SYMBOLS = range(3, 13)  # named in the question


def has_ctags():
    program = shutil.which("ctags")
    return program is not None and b"sandbox" in subprocess.run(
        [program, "--list-features"], capture_output=True, check=False).stdout


class Tree:
    """A git working tree with 20 text files and two images, and commands that run in it."""

    def __init__(self, place, tally):
        self.place, self.tally = place, tally
        self.folder = place.folder + "/tree"
        for i in range(20):
            write(f"{self.folder}/src/f{i:02}.c", f"/* {i} ``` */\nint compute_{i:02}(void);\n" + DEFINED.format(i))
        write(self.folder + "/shots/one.png", IMAGE + b"1")
        write(self.folder + "/shots/two.png", IMAGE + b"2")
        write(self.folder + "/src/ignored.c", "int ignored;\n")
        write(self.folder + "/.gitignore", "ignored.c\n")
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", self.folder], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *args, status=0):
        done = subprocess.run([clients.RETAKE, "--db", self.place.db, *args], cwd=self.folder,
                              env={**self.place.env, "RETAKE_TEST_KEY": "key"},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        self.tally.equal("status of " + " ".join(args), done.returncode, status,
                         done.stdout.decode()[:300], done.stderr.decode()[:600])
        return done.stdout if status == 0 else done.stderr.decode()


def texts_of(value):
    """All strings in a JSON document, depth first."""
    if isinstance(value, str):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return "\n".join(texts_of(item) for item in items)


def change_all(tree):
    for i in range(20):
        write(f"{tree.folder}/src/f{i:02}.c", "changed\n")
    os.rename(tree.folder + "/shots", tree.folder + "/gone")


def check_family(tally, family):
    models = Models(family)
    with Place() as place:
        tree = Tree(place, tally)
        config = place.env.get("XDG_CONFIG_HOME", place.folder + "/config")
        write(config + "/retake/config.toml",
              f'[provider.mock]\nkind = "{family}"\n'
              f'url = "http://127.0.0.1:{models.server_port}{FAMILIES[family]}"\n'
              'key_env = "RETAKE_TEST_KEY"\nmodels = ["mock-1"]\n')
        tree.run("set", "model", "mock/mock-1")
        tree.run("add", "-r", "System", "Be brief.")
        tree.run("files", "add", "context_files", "src")
        tree.run("files", "add", "screenshots", "shots/one.png", "shots/two.png")
        named = SYMBOLS if has_ctags() else ()
        question = "What is compute_07? Not me@example.org, @nobody, but " + " ".join(
            f"@twice_{i}" for i in named)
        tree.run("set", "symbols_sent", "true" if named else "false")
        tree.run("add", question)
        context = tree.run("context", "--json").strip()
        reply = json.loads(tree.run("ask", "--send", "--json"))
        tally.equal(f"{family}: files of the result", reply["files"], 22 + len(named))
        tally.equal(f"{family}: symbols of the question", len(named), 10 if has_ctags() else 0)
        wire = models.bodies[-1]
        tally.check(f"{family}: context is the sent request", context == wire, context[:300], wire[:300])
        said = texts_of(json.loads(wire))
        tally.equal(f"{family}: every text", [i for i in range(20) if
                    f"File `src/f{i:02}.c`:\n\n````c\n/* {i} ``` */\nint compute_{i:02}(void);\n"
                    f"{DEFINED.format(i)}````" not in said], [])
        tally.equal(f"{family}: the symbols of the question and no others", [i for i in range(20) if
                    f"File `src/f{i:02}.c#twice_{i}`:\n\n```c\n{DEFINED.format(i)}```" in said],
                    list(named))
        tally.check(f"{family}: nothing that git ignores", "ignored" not in said)
        for end in (b"1", b"2"):
            tally.check(f"{family}: image {end}",
                        base64.b64encode(IMAGE + end).decode() in said)
        tally.check(f"{family}: files before the conversation",
                    said.index("compute_19(void)") < said.index("What is compute_07?"))
        if family == "openai":
            roles = [message["role"] for message in json.loads(wire)["messages"]]
            tally.equal("openai: after the system entry", roles, ["system", "user", "user"])
        check_page(tally, family, tree, context, wire)
        before = tree.run("context", "--json")
        tree.run("files", "set", "screenshots")
        without = tree.run("context", "--json")
        tally.check(f"{family}: a changed list of images", base64.b64encode(IMAGE + b"1") in before
                    and base64.b64encode(IMAGE + b"1") not in without, without[:300])
        tree.run("undo")
        tally.check(f"{family}: its undo", tree.run("context", "--json") == before)
        listed = json.loads(tree.run("files", "show", "--json"))["files"]
        tally.equal(f"{family}: listed as symbols", [
            (file["item"], file["lines"]) for file in listed if file["list"] == "symbols"],
            [(f"@twice_{i}", "3-6") for i in named])
        tokens = json.loads(tree.run("context", "--tokens", "--json"))
        parts = sum(part["tokens"] for part in tokens["files"] + tokens["entries"])
        tally.equal(f"{family}: tokens of files and entries", parts, tokens["tokens"])

        change_all(tree)
        shown = json.loads(tree.run("files", "show", "--json"))
        tally.equal(f"{family}: problems", [(p["item"], p["kind"]) for p in shown["file_problems"]],
                    [("shots/one.png", "missing"), ("shots/two.png", "missing")])
        refused = tree.run("ask", "again?", status=1)
        tally.check(f"{family}: both are named", "one.png" in refused and "two.png" in refused, refused)
        tally.equal(f"{family}: nothing was sent", len(models.bodies), 1)
        tally.check(f"{family}: nor asked", b"again?" not in tree.run("show"))
        tally.check(f"{family}: context --sent", tree.run("context", "--sent").strip() == wire)
        tally.check(f"{family}: replay", tree.run("replay", reply["entry"]).strip() == wire)
        sent = check_export(tally, family, tree)
        if family == "anthropic":  # the format of the export: byte for byte
            tally.equal("sent_markdown is the request", sent, markdown_of(json.loads(wire)))
        tally.check(f"{family}: sent_markdown: every text and symbol", all(
            f"File `src/f{i:02}.c`:\n\n````c\n/* {i} ``` */\nint compute_{i:02}(void);\n"
            f"{DEFINED.format(i)}````" in sent for i in range(20)) and all(
            f"File `src/f{i:02}.c#twice_{i}`:" in sent for i in named), sent[:600])
        tally.check(f"{family}: sent_markdown: both images, and the question last", all(
            f"Image `shots/{name}.png`:" in sent for name in ("one", "two")) and
            sent.rstrip().endswith(question.rstrip()), sent[-600:])
        check_changes(tally, family, tree, models, named)
        tree.run("purge", "--yes", "--text", "compute_07(void)")
        tree.run("fsck")
        tally.check(f"{family}: purge reaches the contents",
                    b"compute_07(void)" not in tree.run("context", "--sent"))
        with open(place.db, "rb") as file:
            tally.check(f"{family}: nor is it in the store", b"compute_07(void)" not in file.read())
    models.shutdown()


def raw_body(answer):
    """The request in a response, as bytes: its last member."""
    end = answer.body.rstrip()
    start = end.index(b'"body":') + len(b'"body":')
    return end[start:-1]


def check_page(tally, family, tree, context, wire):
    """Data of the page: the next request before the question, and the last one after it."""
    with Server(tree.place, "--files", tree.folder) as server:
        one = server.client()
        tally.check(f"{family}: sent, over HTTP",
                    raw_body(one.get("/discussions/main/sent")) == wire)
        tree.run("undo")  # the reply
        body = raw_body(one.get("/discussions/main/context"))
        tally.check(f"{family}: context, over HTTP", body == context, body[:300], context[:300])
        tree.run("redo")


def markdown_of(body):
    """An Anthropic request in the format of sent_markdown."""
    return "\n".join(f"## {message['role']}\n\n" + (
        message["content"] if isinstance(message["content"], str) else
        "\n".join(part["text"] for part in message["content"] if "text" in part)) + "\n"
        for message in body["messages"])


def check_export(tally, family, tree):
    """The text of the last request in the TOML export."""
    project = tomllib.loads(tree.run("export", "--format", "toml").decode())
    sent = project["discussion"]["discussions"]["main"].get("sent_markdown", "")
    tally.check(f"{family}: sent_markdown", DEFINED.format(19) + "````" in sent, sent[:400])
    return sent


def check_changes(tally, family, tree, models, named):
    """Lists current differences; undoing a change of the lists changes the next request."""
    changed = json.loads(tree.run("context", "--changed", "--json"))["files"]
    kinds = sorted(file["change"] for file in changed)
    tally.equal(f"{family}: current differences", kinds,
                    ["edited"] * 20 + ["gone"] * (2 + len(named)))
    tree.run("files", "set", "screenshots")
    tree.run("files", "set", "context_files", "src/f03.c")
    tree.run("ask", "one file")
    one = models.bodies[-1]
    tally.check(f"{family}: one file", b"f03.c" in one and b"f04.c" not in one, one[:300])
    tree.run("undo", "3")  # the reply, the question and the list
    tree.run("ask", "all files")
    every = models.bodies[-1]
    tally.equal(f"{family}: undo restores them", [
        i for i in range(20) if f"src/f{i:02}.c".encode() not in every], [])
    tree.run("ask", "--no-files", "none")
    tally.check(f"{family}: --no-files", b"f04.c" not in models.bodies[-1])
    tally.check(f"{family}: a budget that is too small",
                "files have about" in tree.run("ask", "--budget", "20", "small", status=1))


def wait_run(client, run):
    end = time.monotonic() + WAIT_S
    while run.get("state") == "running" and time.monotonic() < end:
        time.sleep(0.05)
        run = client.get("/runs/" + run["run"]).json
    return run


def check_roots(tally):
    with Place() as place:
        open_to = place.folder + "/open"
        write(open_to + "/a.c", "int a;\n")
        write(place.folder + "/secret.txt", "the secret\n")
        os.symlink(place.folder + "/secret.txt", open_to + "/link.txt")
        lists = ["a.c"]
        outside = [place.folder + "/secret.txt", "../secret.txt", "link.txt",
                   place.folder + "/missing.txt", "../missing.txt"]
        with Server(place) as server:
            one = server.client()
            one.put("/discussions/main/files/files", {"items": lists + outside})
            context = one.get("/discussions/main/context").json
            tally.equal("without --files: no file", context["files"], [])
            tally.equal("without --files: every item is a problem",
                        {problem["kind"] for problem in context["file_problems"]}, {"no_root"})
            tally.check("and the message says why", "without --files" in
                        context["file_problems"][0]["message"], context["file_problems"])
            answer = one.post("/discussions/main/runs", {"text": "hello", "model": "builtin/echo"})
            tally.equal("a question is refused", (answer.status, answer.json["code"]),
                        (409, "refused"), answer)
            tally.equal("and is not kept", one.get("/discussions/main").json["entries"], 0)
            run = wait_run(one, one.post("/discussions/main/runs", {
                "text": "hello", "model": "builtin/echo", "files": False}).json)
            tally.equal("without files it is answered", run["state"], "done", run)
        with Server(place, "--files", open_to) as server:
            one = server.client()
            context = one.get("/discussions/main/context").json
            tally.equal("below --files", [file["name"] for file in context["files"]], ["a.c"])
            kinds = [problem["kind"] for problem in context["file_problems"]]
            tally.equal("nothing outside, whether it exists or not", kinds, ["outside"] * 5,
                        context["file_problems"])
            messages = [problem["message"].replace("missing.txt", "secret.txt")
                        for problem in context["file_problems"]]
            tally.equal("nor does the message say which", messages[0:2], messages[3:5])
            tally.check("no secret", "the secret" not in json.dumps(context))
            one.put("/discussions/main/files/files", {"items": lists})
            run = wait_run(one, one.post("/discussions/main/runs",
                                         {"text": "hello", "model": "builtin/echo"}).json)
            tally.equal("a question is answered", run["state"], "done", run)
            tally.check("with the file", "int a;" in json.dumps(
                one.get("/discussions/main/sent").json["body"]))
            one.post("/undo", {})


HOSTILE = ["../secret/a.txt", "sub/../../secret/a.txt", "%2e%2e/secret/a.txt", "..\\\\secret\\\\a.txt",
           "~/a.txt", "$HOME/a.txt", "/proc/self/environ", "/proc/self/cwd/a.txt", "/etc/pass*",
           "../secret/*", "**/../../secret/*", "../**", "link", "link/a.txt", "linked.txt", "up/a.txt",
           "up/*", "link/**", "sub/. ./a.txt", ".../a.txt", "sub/a.txt.", "sub/a.txt/.", "SUB/A.TXT",
           "\u2025/secret/a.txt", "\uff0e\uff0e/secret/a.txt", "a\u0000.txt", "\u001b[31m", "/" * 5000,
           "**/" * 40 + "a.txt", "**/" * 80 + "a.txt", "[" * 4000, "*" * 4000, "{a,b}", "sub/a.txt:0",
           "sub/a.txt:2-1", "sub/a.txt:99999999999", "sub/a.txt#", "file:///etc/passwd"]


def check_hostile(tally):
    """Nothing outside --files is read, by any name, also while symbolic links are replaced."""
    with Place() as place:
        inside, outside = place.folder + "/inside", place.folder + "/secret"
        write(inside + "/sub/a.txt", "the public text")
        write(outside + "/a.txt", "the secret text")
        os.symlink(outside, inside + "/link")
        os.symlink("../secret/a.txt", inside + "/linked.txt")
        os.symlink("..", inside + "/up")
        os.symlink(outside, inside + "/swap")
        with Server(place, "--files", inside) as server:
            one = server.client()
            one.put("/discussions/main/files/files", {"items": ["sub/a.txt"]})
            tally.check("what is inside is read", "the public text" in
                        json.dumps(one.get("/discussions/main/context").json))
            for item in HOSTILE:
                put = one.put("/discussions/main/files/files", {"items": [item]})
                tally.check(f"{item[:40]!r}: the list is kept or refused", put.status in (200, 400), put)
                context = one.get("/discussions/main/context")
                tally.equal(f"{item[:40]!r}: there is an answer", context.status, 200, context)
                said = json.dumps(context.json)
                tally.check(f"{item[:40]!r}: no secret", "the secret" not in said and
                            "root:" not in said and "HOME=" not in said, said[:600])
            one.put("/discussions/main/files/files", {"items": ["swap/a.txt", "swap/*.txt"]})
            ends, seen = time.monotonic() + 3, set()
            stop = threading.Event()

            def swap():
                """Alternates between the directory and a link to the outside, under one name."""
                os.rename(inside + "/sub", inside + "/real")
                while not stop.is_set():
                    os.rename(inside + "/swap", inside + "/link2")
                    os.rename(inside + "/real", inside + "/swap")
                    os.rename(inside + "/swap", inside + "/real")
                    os.rename(inside + "/link2", inside + "/swap")
            swapping = threading.Thread(target=swap)
            swapping.start()
            while time.monotonic() < ends:
                said = json.dumps(one.get("/discussions/main/context").json)
                seen.add("secret" if "the secret" in said else "public" if "the public" in said
                         else "none")
            stop.set()
            swapping.join()
            tally.check("no secret while links are swapped", "secret" not in seen, seen)


def main():
    tally = Tally()
    check_hostile(tally)
    for family in FAMILIES:
        check_family(tally, family)
    check_roots(tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
