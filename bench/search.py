#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed of the search index and of searches.

    bench/search.py            two minutes

Imports ENTRIES (200000) entries of about 1 KiB, whose words have the frequencies of a natural language (Zipf), into
a new store with build/retake. Then builds the index, and prints its rate, its size relative to the texts and the
peak of memory. Then starts a server and sends SEARCHES (100) queries of each kind over one connection, for 20
hits each: a common word, two common words, rare words, phrases that occur in the texts, expressions beside a
word, and beginnings of words; prints the median and the 95th percentile of their times in ms.
"""
import http.client
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RETAKE = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
ENTRIES = int(os.environ.get("ENTRIES", "200000"))
SEARCHES = int(os.environ.get("SEARCHES", "100"))
IN_DISCUSSION = 2000
VOCABULARY = 60000


def vocabulary(chance):
    letters, weights = "etaoinshrdlucmfwypvbgkjqxz", range(26, 0, -1)
    words = {}
    while len(words) < VOCABULARY:
        rank = len(words)
        size = 2 + int(chance.random() * chance.random() * 9) + (rank > 50) + 2 * (rank > 1000)
        words["".join(chance.choices(letters, weights, k=size))] = None
    return list(words)


def write(path, chance, words):
    """Returns some of the texts."""
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    sample, size = [], 0
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(ENTRIES // IN_DISCUSSION):
            messages = []
            for number in range(IN_DISCUSSION):
                text = " ".join(chance.choices(words, cum_weights=weights, k=190))[:1024]
                size += len(text)
                messages.append({"role": ("user", "assistant")[number % 2], "content": text})
            sample.append(messages[chance.randrange(IN_DISCUSSION)]["content"])
            out.write(json.dumps({"messages": messages}) + "\n")
    return sample, size


def queries(chance, words, sample):
    def phrase():
        text = chance.choice(sample).split()
        at = chance.randrange(len(text) - 3)
        return '"' + " ".join(text[at:at + 2]) + '"'
    common, rare = words[:200], words[VOCABULARY // 2:]
    return {
        "common word": lambda: chance.choice(common),
        "two common words": lambda: " ".join(chance.sample(common, 2)),
        "rare word": lambda: chance.choice(rare),
        "phrase": phrase,
        "common, not rare": lambda: f"{chance.choice(common)} -{chance.choice(rare)} x{chance.choice(common)}*",
        "expression": lambda: f"{chance.choice(common)} /{chance.choice(common)}.{chance.choice('aeiou')}/",
        "beginning": lambda: chance.choice(words[200:])[:3],
    }


def main():
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        path, db = os.path.join(folder, "texts.jsonl"), os.path.join(folder, "search.db")
        env = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder + "/config", XDG_DATA_HOME=folder)
        words = vocabulary(chance)
        sample, size = write(path, chance, words)
        command = [RETAKE, "--db", db]
        subprocess.run([*command, "import", path], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        subprocess.run([*command, "backup", db + ".before"], env=env, stdout=subprocess.DEVNULL, check=True)
        start = time.perf_counter()
        subprocess.run([*command, "search", "zzzzzzzzzz"], env=env, stdout=subprocess.DEVNULL, check=True)
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, "backup", db + ".after"], env=env, stdout=subprocess.DEVNULL, check=True)
        index = os.path.getsize(db + ".after") - os.path.getsize(db + ".before")
        print(f"{ENTRIES:,} entries, {size / 1e6:.0f} MB of texts: index built in {seconds:.1f} s ({size / 1e6 / seconds:.1f} MB/s), "
              f"{index / size:.2f} of the texts, at most {used.ru_maxrss // 1024} MiB of memory")
        port_file = os.path.join(folder, "port")
        server = subprocess.Popen([*command, "serve", "--port", "0", "--port-file", port_file], env=env, stdout=subprocess.PIPE)
        try:
            while b"listening" not in (line := server.stdout.readline()) and line:
                pass
            with open(port_file, encoding="ascii") as file:
                port = int(file.read())
            with open(os.path.join(folder, "state/retake/token"), encoding="ascii") as file:
                token = file.read().strip()
            client = http.client.HTTPConnection("127.0.0.1", port)
            for kind, make in queries(chance, words, sample).items():
                times, hits = [], []
                for _ in range(SEARCHES):
                    url = "/retake/v1/search?" + urllib.parse.urlencode({"q": make(), "limit": 20})
                    start = time.perf_counter()
                    client.request("GET", url, headers={"Authorization": f"Bearer {token}"})
                    answer = client.getresponse()
                    found = json.loads(answer.read())
                    times.append((time.perf_counter() - start) * 1000)
                    if answer.status != 200:
                        sys.exit(f"{url}: {found}")
                    hits.append(len(found))
                times.sort()
                print(f"{kind:18} {statistics.median(times):7.1f} ms   95th percentile {times[int(len(times) * 0.95)]:7.1f} ms   "
                      f"hits {statistics.mean(hits):5.1f}")
        finally:
            server.terminate()
            server.wait()


main()
