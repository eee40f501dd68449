#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Health, readiness, metrics, the access log, and an end that waits for replies in flight."""
import http.server
import json
import os
import re
import signal
import sys
import threading
import time

from client import Client, Place, Server, Tally

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)*)\})? ([0-9.e+-]+|\+Inf)$')


def samples(text):
    """The samples of an exposition, by name and labels; raises ValueError if it is malformed."""
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in types:
                raise ValueError(f"{name} has two types")
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.match(line)
            family = match and re.sub(r"_(bucket|sum|count)$", "", match[1])
            if not match or not (match[1] in types or types.get(family) == "histogram"):
                raise ValueError(line)
            if (match[1], match[2]) in found:
                raise ValueError("twice: " + line)
            found[match[1], match[2]] = float(match[3])
    return found


def log_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def probes(tally, server):
    stranger = Client(server, {})
    for path in ("/healthz", "/readyz"):
        answer = stranger.request("GET", path, headers={"Host": "backend-7"})
        tally.equal(path + " needs no token, and answers to any name", (answer.status, answer.body), (200, b"ok\n"))
        tally.check(path + " is plain text", answer.headers["content-type"].startswith("text/plain"))
        tally.check(path + " keeps the connection", "connection" not in answer.headers)
        tally.equal(path + " is only read", stranger.request("POST", path, b"{}").status, 401)
    twice = b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\n"
    tally.check("a request that can be read in two ways is refused", server.raw(twice).startswith(b"HTTP/1.1 400"))


def metrics(tally, server):
    client = server.client()
    tally.equal("metrics need a token", Client(server, {}).request("GET", "/metrics").status, 401)
    tally.equal("and are not for browsers", server.browser().request("GET", "/metrics").status, 404)
    before = samples(client.request("GET", "/metrics").body.decode())
    for _ in range(3):
        client.post("/discussions/main/entries", {"content": "x"})
    client.get("/discussions/none/entries")
    after = samples(client.request("GET", "/metrics").body.decode())

    def grown(name, labels=None):
        return after.get((name, labels), 0) - before.get((name, labels), 0)

    tally.equal("changes are counted", grown("retake_http_requests_total", 'route="entry.append",status="2xx"'), 3)
    tally.equal("failures too", grown("retake_http_requests_total", 'route="entry.list",status="4xx"'), 1)
    tally.equal("with their time", grown("retake_http_request_seconds_count", 'route="entry.append"'), 3)
    times = [after["retake_http_request_seconds_bucket", f'route="entry.append",le="{le}"']
             for le in ("0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "+Inf")]
    tally.check("in cumulative buckets", times == sorted(times) and times[-1] == 3, times)
    tally.check("open connections", after["retake_http_connections", None] >= 1)
    tally.check("memory", after["process_resident_memory_bytes", None] > 1 << 20)
    tally.check("open files", after["process_open_fds", None] > 3)


def ids(tally, client, log):
    def ask(**headers):
        answer = client.get("/discussions", **{key.replace("_", "-"): value for key, value in headers.items()})
        return answer.headers["x-request-id"], log_lines(log)[-1]

    given, line = ask(X_Request_Id="job-7.a_B")
    tally.equal("a given id is used", (given, line["request"]), ("job-7.a_B", "job-7.a_B"))
    made = {ask()[0] for _ in range(3)}
    tally.check("others are made", len(made) == 3 and all(re.fullmatch("[0-9a-f]{16}", each) for each in made), made)
    for bad in ("a b", "x" * 65, "<script>", "ä".encode().decode("latin-1")):
        tally.check("an id that is not plain is replaced", re.fullmatch("[0-9a-f]{16}", ask(X_Request_Id=bad)[0]), bad)
    tally.equal("the trace", ask(traceparent=f"00-{TRACE}-{PARENT}-01")[1].get("trace"), TRACE)
    tally.equal("of a later version", ask(traceparent=f"42-{TRACE}-{PARENT}-01-more")[1].get("trace"), TRACE)
    for bad in (f"00-{TRACE}-{PARENT}-01-more", f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01",
                f"00-{TRACE.upper()}-{PARENT}-01", f"00-{TRACE}-{PARENT}", "x"):
        tally.equal("an invalid one is ignored", ask(traceparent=bad)[1].get("trace"), None, bad)


def access_log(tally, server, log):
    client = server.client()
    ids(tally, client, log)
    client.post("/discussions/main/entries", {"content": "the secret text"})
    line = log_lines(log)[-1]
    tally.equal("a line", {key: line[key] for key in ("level", "method", "route", "status", "by")},
                {"level": "info", "method": "POST", "route": "entry.append", "status": 201, "by": "token"})
    tally.check("with a time", re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]), line)
    tally.check("and how long it took", 0 < line["ms"] < 60000, line)
    client.get("/search?q=secret")
    client.get("/discussions/secret-name/entries")
    server.raw(b"GET /%ff" + b"y" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    lines = log_lines(log)
    tally.equal("failures are warnings", [each["level"] for each in lines[-3:]], ["info", "warn", "warn"])
    with open(log, encoding="utf-8") as file:
        text = file.read()
    tally.check("no texts, queries or names", "secret" not in text)
    tally.check("long paths are cut", max(map(len, text.splitlines())) < 600)
    tally.equal("only its owner can read it", os.stat(log).st_mode & 0o777, 0o600)
    os.rename(log, log + ".1")
    time.sleep(0.3)
    client.get("/discussions")
    tally.equal("it is opened again after rotation", [each["route"] for each in log_lines(log)], ["discussion.list"])


class Model(http.server.BaseHTTPRequestHandler):
    """A model's server that records the header traceparent."""
    traces = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.traces.append(self.headers["traceparent"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b'data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')

    def log_message(self, *_):
        pass


def trace_of_run(tally):
    """The trace of a request reaches the model's server."""
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    with Place() as place:
        os.makedirs(os.path.join(place.folder, "config/retake"))
        with open(os.path.join(place.folder, "config/retake/config.toml"), "w", encoding="ascii") as file:
            file.write(f'[provider.local]\nkind = "openai"\nurl = "http://127.0.0.1:{web.server_port}/v1"\n')
        place.run("add", "first")
        with Server(place) as server:
            client = server.client()
            for given, wanted in ((f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-01"), (None, None), ("x", None),
                                  (f"42-{TRACE}-{PARENT}-00-more", f"00-{TRACE}-{PARENT}-00")):
                run = client.post("/discussions/main/runs", {"text": "?", "model": "local/m"}, {"traceparent": given} if given else {}).json["run"]
                while client.get("/runs/" + run).json["state"] == "running":
                    time.sleep(0.02)
                tally.equal("the reply", client.get("/runs/" + run).json["state"], "done", client.get("/runs/" + run).json)
                tally.equal("the trace of a run", Model.traces[-1:], [wanted])
    web.shutdown()


def drain(tally):
    """The server continues until the reply is complete."""
    with Place() as place, Server(place, "--drain", "30") as server:
        play = os.path.join(place.folder, "slow.jsonl")
        with open(play, "w", encoding="utf-8") as file:
            file.write('{"text":"begun"}\n{"wait_ms":3500}\n{"text":" and done"}\n')
        client = server.client()
        run = client.post("/discussions/main/runs", {"text": "q", "model": "builtin/play:" + play}).json["run"]
        while "begun" not in client.get("/runs/" + run).json.get("text", ""):
            time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        while client.request("GET", "/readyz").status == 200 and time.monotonic() < deadline:
            time.sleep(0.02)
        answer = client.request("GET", "/readyz")
        tally.equal("draining: not ready", (answer.status, answer.body), (503, b"draining\n"))
        tally.equal("but alive", client.request("GET", "/healthz").status, 200)
        tally.equal("and still working", client.post("/discussions/main/entries", {"content": "x"}).status, 201)
        tally.equal("in order", server.process.wait(20), 0)
        shown = place.run("show", "--json").stdout.decode()
        tally.check("the reply is complete", "begun and done" in shown and '"partial"' not in shown, shown)
    with Place() as place, Server(place, "--drain", "60") as server:
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        tally.equal("a second signal ends it at once", server.process.wait(1.5), 0)


def main():
    tally = Tally()
    with Place() as place:
        log = os.path.join(place.folder, "access.log")
        with Server(place, "--access-log", log) as server:
            probes(tally, server)
            metrics(tally, server)
            access_log(tally, server, log)
            tally.equal("no output", server.stop(), 0)
        done = place.run("serve", "--port", "0", "--drain", "5m")
        tally.equal("a wrong time is refused at the start", done.returncode, 2)
        done = place.run("serve", "--access-log", place.folder + "/none/log")
        tally.check("a log that cannot be written is an error", done.returncode == 1 and b"cannot write the log" in done.stderr, done)
    trace_of_run(tally)
    drain(tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
