#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server of embeddings on 127.0.0.1 for tests: texts with words of the same subject have similar vectors.

  embed_server.py LOG

Prints its port and ends when its standard input ends. Every request is a line of JSON in LOG: the path, the model,
the texts and whether it had a key. The model's name is DIMENSIONS or DIMENSIONS-FAULT:

  down    503          refuse  400 for texts with "poison"      short  400 for texts of more than 400 bytes
  few     one vector less than texts
"""
import hashlib
import json
import math
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SUBJECTS = [
    "cat kitten feline purr pet whiskers mouse",
    "database sqlite table index sql store journal",
    "bread flour oven dough bake yeast crust",
    "rocket orbit moon launch space lander",
]
SUBJECT = {word: number for number, words in enumerate(SUBJECTS) for word in words.split()}
LOG = open(sys.argv[1], "a", encoding="utf-8", buffering=1)
LOCK = threading.Lock()


def direction(name, dimensions):
    data, number = b"", 0
    while len(data) < dimensions:
        data += hashlib.sha256(f"{name} {number}".encode()).digest()
        number += 1
    return [byte / 127.5 - 1 for byte in data[:dimensions]]


def vector(text, dimensions):
    sum_ = [x * 0.05 for x in direction(text, dimensions)]
    for word in text.lower().replace(",", " ").replace(".", " ").split():
        name = f"subject {SUBJECT[word]}" if word in SUBJECT else f"word {word}"
        weight = 1.0 if word in SUBJECT else 0.1
        sum_ = [a + weight * b for a, b in zip(sum_, direction(name, dimensions))]
    length = math.sqrt(sum(x * x for x in sum_))
    return [round(x / length, 6) for x in sum_]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, texts = request["model"], request["input"]
        with LOCK:
            LOG.write(json.dumps({"path": self.path, "model": model, "input": texts,
                                  "key": self.headers.get("Authorization", "")}) + "\n")
        dimensions, _, fault = model.partition("-")
        if fault == "down":
            return self.answer(503, {"error": {"message": "the model is loading"}})
        if (fault == "refuse" and any("poison" in text for text in texts)
                or fault == "short" and any(len(text.encode()) > 400 for text in texts)):
            return self.answer(400, {"error": {"message": "the input is too long"}})
        data = [{"object": "embedding", "index": i, "embedding": vector(text, int(dimensions))}
                for i, text in enumerate(texts)]
        return self.answer(200, {"object": "list", "data": data[fault == "few":], "model": model})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
