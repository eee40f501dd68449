#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The search by meaning over HTTP: new texts are embedded in the background, failures are shown, and nothing is sent
without a model."""
import json
import os
import subprocess
import sys
import time

from client import ROOT, Place, Server, Tally

TEXTS = ["The kitten chases a mouse.", "SQLite keeps a journal beside each table.", "Bake the dough in a hot oven."]


class Embeddings:
    """A server of embeddings (tests/llm/embed_server.py)."""

    def __init__(self, place):
        self.log = os.path.join(place.folder, "requests")
        self.process = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/llm/embed_server.py"), self.log],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def sent(self):
        with open(self.log, encoding="utf-8") as file:
            return [text for line in file for text in json.loads(line)["input"]]

    def configure(self, place, model):
        folder = os.path.join(place.folder, "config/retake")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
            file.write(f'embedding_model = "local/{model}"\n[provider.local]\nkind = "openai"\n'
                       f'url = "http://127.0.0.1:{self.port}/v1"\n')


def state(client):
    return client.get("/info").json["embedding"]


def wait_for(client, all_texts):
    for _ in range(200):
        now = state(client)
        if now["done"] == now["all"] == all_texts:
            return now
        time.sleep(0.1)
    return now


def found(client, query, **more):
    options = "".join(f"&{key}={value}" for key, value in more.items())
    return [hit["snippet"] for hit in client.get(f"/search?similar=true&q={query}{options}").json]


def main():
    tally = Tally()
    with Place() as place, Embeddings(place) as embeddings:
        with Server(place) as server:
            client = server.client()
            tally.equal("no model", client.get("/search?similar=true&q=feline").status, 409)
            tally.check("it is not offered", "similar" not in client.get("/info").json["features"])
            tally.check("no state", "embedding" not in client.get("/info").json)
            for text in TEXTS:
                client.post("/discussions/main/entries", {"content": text})
        tally.equal("nothing was sent", embeddings.sent(), [])
        embeddings.configure(place, "64")
        with Server(place) as server:
            client = server.client()
            tally.check("it is offered", "similar" in client.get("/info").json["features"])
            tally.equal("all are embedded in the background", wait_for(client, 3),
                        {"model": "local/64", "done": 3, "all": 3})
            hits = client.get("/search?similar=true&q=feline+purr").json
            tally.equal("by meaning", hits[0]["snippet"], TEXTS[0])
            tally.check("the most similar first", hits[0]["similarity"] > hits[1]["similarity"])
            tally.equal("a phrase", found(client, "feline+%22hot+oven%22"), [TEXTS[2]])
            tally.equal("only filters", client.get("/search?similar=true&q=role:AI").status, 400)
            tally.equal("for words nothing is sent", (client.get("/search?q=kitten").status, len(embeddings.sent())),
                        (200, 3 + 2))
            begun = time.monotonic()
            client.post("/discussions/main/entries", {"content": "The lander reached the moon."})
            tally.check("a commit does not wait", time.monotonic() - begun < 1)
            wait_for(client, 4)
            tally.equal("a new text", found(client, "rocket", limit=1), ["The lander reached the moon."])
            tally.equal("each text once", sorted(text for text in embeddings.sent() if "." in text),
                        sorted([*TEXTS, "The lander reached the moon."]))
            tally.equal("a browser finds it, too", found(server.browser(), "rocket", limit=1),
                        ["The lander reached the moon."])
        embeddings.configure(place, "32-down")
        with Server(place) as server:
            client = server.client()
            for _ in range(300):
                if "problem" in state(client):
                    break
                time.sleep(0.1)
            tally.check("a failure is shown", "the model is loading" in state(client).get("problem", ""), state(client))
            answer = client.get("/search?similar=true&q=rocket")
            tally.check("a search says so", answer.status == 502 and "the model is loading" in answer.body.decode(), answer)
            tally.equal("words do not need it", client.get("/search?q=kitten").status, 200)
            begun = time.monotonic()
        tally.check("the server ends at once", time.monotonic() - begun < 5)
    return tally.end()


sys.exit(main())
