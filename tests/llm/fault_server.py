#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A faulty model server on 127.0.0.1.

  fault_server.py LOG

Prints one line, "PORT OTHER TLS": the port of the server; that of a second one that must not
receive any request; and that of one that answers TLS with garbage. Every request is a line in
LOG: "main" or "other", the path, and whether it had a key. It ends when its standard input
ends.

The fault is the first part of the path, so a base URL is http://127.0.0.1:PORT/FAULT.
"""
import gzip
import json
import os
import socket
import sys
import threading
import time

LOG = open(sys.argv[1], "a", encoding="utf-8", buffering=1)
LOCK = threading.Lock()
SILENCE_S = 300    # longer than any timeout
COUNT = {}

STREAM = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
END = [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def log(*words):
    with LOCK:
        LOG.write(" ".join(words) + "\n")


def delta(text):
    return {"model": "fault", "choices": [{"index": 0, "delta": {"content": text}}]}


def sse(*events, done=True):
    text = "".join("data: " + json.dumps(event, ensure_ascii=False) + "\n\n" for event in events)
    return (text + ("data: [DONE]\n\n" if done else "")).encode()


def plain(status, kind, body, headers=()):
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}",
             "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def error(status, words, headers=()):
    return plain(status, "application/json",
                 json.dumps({"error": {"message": words, "type": "x"}}).encode(), headers)


class Fault:
    """One request: its path below the fault, its key, and the connection."""

    def __init__(self, connection, path, headers, body, number):
        self.c, self.path, self.headers, self.body = connection, path, headers, body
        self.number = number
        self.key = headers.get("authorization", "")[len("Bearer "):]

    def send(self, data):
        self.c.sendall(data if isinstance(data, bytes) else data.encode())

    def drip(self, data, seconds):
        for byte in data:
            self.send(bytes([byte]))
            time.sleep(seconds)

    # ---- faults ----

    def good(self):
        self.send(STREAM)
        self.send(sse(delta("Hel"), delta("lo, wörld"), *END))

    def whole(self):
        self.send(plain("200 OK", "application/json", json.dumps({
            "model": "fault", "choices": [{"index": 0, "finish_reason": "stop", "message":
            {"role": "assistant", "content": "whole"}}]}).encode()))

    def redirect(self):
        self.send(plain("307 Temporary Redirect", "text/plain", b"", [
            f"Location: http://127.0.0.1:{OTHER}/steal?key={self.key}"]))

    def redirect_host(self):
        self.send(plain("302 Found", "text/plain", b"", [
            f"Location: http://localhost:{OTHER}{self.path}"]))

    def redirect_name(self):
        self.send(plain("301 Moved", "text/plain", b"", [
            "Location: http://user:secret@evil.example/"]))

    def echo(self):
        self.send(error("400 Bad Request", f"your key {self.key} in {self.path}: Bearer {self.key}"))

    def echo_percent(self):
        self.send(error("400 Bad Request", "key=" + "".join(f"%{ord(c):02x}" for c in self.key)))

    def echo_base64(self):
        import base64
        words = [base64.b64encode((" " * k + self.key + "x" * k).encode()).decode() for k in range(4)]
        self.send(error("400 Bad Request", "auth " + " ".join(words)))

    def echo_short(self):
        self.send(error("401 Unauthorized", f"Incorrect API key provided: {self.key[:8]}"
                        f"********{self.key[-4:]}. You can find it elsewhere."))

    def echo_text(self):
        self.send(plain("403 Forbidden", "text/plain", f"no, {self.key}\x1b[31m".encode()))

    def echo_long(self):
        self.send(error("400 Bad Request", "x" * 290 + self.key + "y" * 600))

    def echo_stream(self):
        self.send(STREAM)
        self.send(sse(delta("Hi"), {"error": {"message": f"bad key {self.key}"}}, done=False))

    def limited(self):
        if self.number < 3:
            self.send(error("429 Too Many Requests", "slow down"))
        else:
            self.good()

    def always_429(self):
        self.send(error("429 Too Many Requests", "slow down"))

    def later(self):
        self.send(error("429 Too Many Requests", "come back", ["Retry-After: 3600"]))

    def soon(self):
        if self.number < 2:
            self.send(error("503 Busy", "busy", ["Retry-After: 1"]))
        else:
            self.good()

    def quota(self):
        self.send(plain("429 Too Many Requests", "application/json", json.dumps({"error": {
            "message": "You exceeded your quota", "code": "insufficient_quota"}}).encode()))

    def broken_500(self):
        self.send(plain("500 Oops", "text/html", b"<html><h1>Internal</h1></html>"))

    def not_found(self):
        self.send(error("404 Not Found", "no such model"))

    def reset_once(self):
        if self.number > 1:
            self.good()

    def reset_always(self):
        pass

    def cut(self):
        self.send(STREAM)
        self.send(sse(delta("Hel"), delta("lo"), done=False))

    def cut_json(self):
        self.send(STREAM)
        self.send(sse(delta("Hello"), done=False) + b'data: {"choices":[{"ind')

    def cut_character(self):
        data = sse(delta("Hello wö"), done=False)
        self.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  f"Content-Length: {len(data) + 50}\r\n\r\n")
        self.send(data[:data.index("ö".encode()) + 1])

    def drip_split(self):
        self.send(STREAM)
        self.drip(sse(delta("häppchen"), *END), 0.001)

    def no_done(self):
        self.send(STREAM)
        self.send(sse(delta("Hello"), *END, done=False))

    def hangs_after_done(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        self.send(sse(delta("Hello"), *END))
        time.sleep(SILENCE_S)

    def silent(self):
        time.sleep(SILENCE_S)

    def silent_inside(self):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" +
                  sse(delta("Hello"), done=False))
        time.sleep(SILENCE_S)

    def byte_a_second(self):
        self.send(STREAM)
        self.drip(sse(delta("Hello"), *END), 1)

    def huge(self):
        self.send(STREAM)
        event = sse(delta("x" * 1000000), done=False)
        for _ in range(80):
            self.send(event)
        self.send(sse(*END))

    def huge_whole(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":\"")
        for _ in range(80):
            self.send(b"x" * 1000000)

    def huge_line(self):
        self.send(STREAM)
        for _ in range(40):
            self.send(b"data: " if _ == 0 else b"x" * 1000000)

    def bomb(self):
        packed = gzip.compress(b" " * (256 << 20), 1)
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                  f"Content-Length: {len(packed)}\r\n\r\n")
        self.send(packed)

    def packed(self):
        packed = gzip.compress(sse(delta("small"), *END))
        self.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
                  f"Content-Length: {len(packed)}\r\n\r\n")
        self.send(packed)

    def bad_gzip(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                  "Content-Length: 9\r\n\r\nnot gzip!")

    def bad_sse(self):
        self.send(STREAM)
        self.send(sse(delta("Hi"), done=False) + b"data: {not json}\n\n")

    def html(self):
        self.send(plain("200 OK", "text/html", b"<html><body>Please log in</body></html>"))

    def empty(self):
        self.send(plain("200 OK", "application/json", b""))

    def unnamed_stream(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
        self.send(sse(delta("anyway"), *END))

    def ollama_full(self):
        end = {"model": "fault", "done": True, "done_reason": "length", "prompt_eval_count": 26,
               "eval_count": 5}
        if b'"stream": true' not in self.body:
            self.send(plain("200 OK", "application/json", json.dumps({**end, "message": {
                "role": "assistant", "content": "Hi, wörld", "thinking": "Hmm"}}).encode()))
            return
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n")
        for message in ({"thinking": "Hmm"}, {"content": "Hi, "}, {"content": "wörld"}):
            self.drip((json.dumps({"model": "fault", "message": {"role": "assistant", **message},
                                   "done": False}, ensure_ascii=False) + "\n").encode(), 0)
        self.send(json.dumps({**end, "message": {"role": "assistant", "content": ""}}) + "\n")

    def ollama_cut(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n")
        self.send('{"model":"fault","message":{"role":"assistant","content":"Hi"},"done":false}\n')

    def models(self):
        self.send(plain("200 OK", "application/json", json.dumps({"object": "list", "data": [
            {"id": "one", "object": "model"}, {"id": "two/three", "object": "model"}]}).encode()))

    def same_ids(self):
        call = {"id": "same", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        self.send(STREAM)
        self.send(sse({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": 0, **call}, {"index": 1, **call}]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}))

    def endless_headers(self):
        self.send("HTTP/1.1 200 OK\r\n")
        for i in range(100000):
            self.send(f"X-{i}: {'h' * 100}\r\n")

    def one_long_header(self):
        self.send("HTTP/1.1 200 OK\r\nX-Long: ")
        for _ in range(2000):
            self.send("h" * 1000)

    def length_long(self):
        body = b'{"choices":[]}'
        self.send(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                  f"Content-Length: {len(body) + 100}\r\n\r\n")
        self.send(body)

    def length_short(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n")
        self.send('{"choices":[{"message":{"content":"cut off"}}]}')

    def garbage(self):
        self.send(bytes(range(128, 256)) * 4)

    def header_echo(self):
        self.send(error("400 Bad Request", "x-org was " + self.headers.get("x-org", "nothing")))


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    size = int(headers.get("content-length", "0"))
    while len(body) < size:
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return lines[0].split(" ")[1], headers, body


def serve(connection, name):
    try:
        request = read_request(connection)
        if request is None:
            return
        path, headers, body = request
        with_key = "key" if headers.get("authorization") or headers.get("x-api-key") else "none"
        log(name, path.split("?")[0], with_key)
        if name != "main":
            connection.sendall(plain("200 OK", "application/json", b"{}"))
            return
        fault = path.split("/")[1]
        with LOCK:
            COUNT[fault] = COUNT.get(fault, 0) + 1
            number = COUNT[fault]
        getattr(Fault(connection, path, headers, body, number), fault)()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        try:
            connection.close()
        except OSError:
            pass


def garbage_tls(connection):
    try:
        connection.recv(4096)
        connection.sendall(b"\x16\x03\x01\xff\xff" + bytes(range(256)))
        connection.close()
    except OSError:
        pass


def listen(target):
    server = socket.create_server(("127.0.0.1", 0), backlog=64)

    def loop():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=target, args=(connection,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()
    return server.getsockname()[1]


PORT = listen(lambda connection: serve(connection, "main"))
OTHER = listen(lambda connection: serve(connection, "other"))
TLS = listen(garbage_tls)
print(PORT, OTHER, TLS, flush=True)
sys.stdin.read()
os._exit(0)
