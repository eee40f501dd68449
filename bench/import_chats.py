#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and memory of importing a large data export of ChatGPT.

    bench/import_chats.py [SAMPLE.json]        half a minute

Writes SIZE_MB (200) megabytes of conversations: those of the sample with fresh ids, again and again.
Without a sample, one of fuzz/corpus is taken. Then it imports the file into a new store with
build/retake, first with --dry-run (reading alone), and prints the time, MB/s and the peak of memory
of each.
"""
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RETAKE = os.environ.get("RETAKE", os.path.join(ROOT, "build/retake"))
SIZE = int(os.environ.get("SIZE_MB", "200")) << 20


def ids_of(conversation):
    found = set(conversation["mapping"])
    found.update(str(conversation.get(key)) for key in ("conversation_id", "id") if conversation.get(key))
    return sorted(found, key=len, reverse=True)


def write(sample, path):
    texts = [(json.dumps(each), ids_of(each)) for each in sample if each.get("mapping")]
    with open(path, "w", encoding="utf-8") as out:
        out.write("[")
        for number in itertools.count():
            for text, ids in texts:
                for index, old in enumerate(ids):
                    text = text.replace(f'"{old}"', f'"{number:08x}-{index:04x}-4000-8000-{len(old):012x}"')
                out.write(text)
            if out.tell() >= SIZE:
                break
            out.write(",\n")
        out.write("]")


def run(what, *words):
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    # a separate process, so that the peak is not that of an earlier one
    code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)")
    done = subprocess.run([sys.executable, "-c", code, RETAKE, *words], capture_output=True, text=True, check=False)
    passed, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{what}: {done.stderr}")
    size = os.path.getsize(words[-1]) / 1e6
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what:8} {size:6.0f} MB  {passed:6.1f} s  {size / passed:6.1f} MB/s  processor {busy:6.1f} s  "
          f"{size / busy:6.1f} MB/s  peak {int(done.stdout) / 1024:6.0f} MiB", flush=True)


def main():
    sample = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "fuzz/corpus/chatgpt_fuzz/tree.json")
    with open(sample, encoding="utf-8") as file:
        conversations = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "conversations.json")
        write(conversations if isinstance(conversations, list) else [conversations], path)
        run("read", "--db", os.path.join(folder, "s.db"), "import", "--dry-run", path)
        run("import", "--db", os.path.join(folder, "s.db"), "import", path)


if __name__ == "__main__":
    main()
