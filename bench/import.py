#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and memory of imports from the command line.

    bench/import.py [NAME ...]        two minutes

Writes SIZE_MB (200) megabytes of messages of about 1 KiB in each form: a pi session (pi), a conversation per
line (openai, sharegpt), and one JSON document (document: an array of OpenAI messages). Imports each into a new store
with build/retake, first with --dry-run (reading alone), and prints the time, MB/s, the same for the time of the
processor, and the peak of memory. A large data export of ChatGPT: bench/import_chats.py.
"""
import json
import os
import sys
import tempfile

from import_chats import SIZE, run

TEXT = ("The quick brown fox jumps over the lazy dog, and \"quoted\" words are escaped.\n" * 13)[:1000]
IN_CONVERSATION = 1000


def pi(out):
    out.write(json.dumps({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-18T09:00:00.000Z", "cwd": "/w"}) + "\n")
    parent, number = None, 0
    while out.tell() < SIZE:
        number += 1
        role = "user" if number % 2 else "assistant"
        out.write(json.dumps({"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": "2026-11-18T09:00:00.000Z",
                              "message": {"role": role, "content": [{"type": "text", "text": f"{number} {TEXT}"}]}}) + "\n")
        parent = f"{number:08x}"


def conversations(out, member, message):
    number = 0
    while out.tell() < SIZE:
        out.write(json.dumps({member: [message(number + i) for i in range(IN_CONVERSATION)]}) + "\n")
        number += IN_CONVERSATION


def openai_message(number):
    return {"role": "assistant" if number % 2 else "user", "content": f"{number} {TEXT}"}


def openai(out):
    conversations(out, "messages", openai_message)


def sharegpt(out):
    conversations(out, "conversations", lambda number: {"from": "gpt" if number % 2 else "human", "value": f"{number} {TEXT}"})


def document(out):
    number = 0
    out.write("[")
    while out.tell() < SIZE:
        out.write(("," if number else "") + json.dumps(openai_message(number)))
        number += 1
    out.write("]")


FORMS = {"pi": (pi, "jsonl"), "openai": (openai, "jsonl"), "sharegpt": (sharegpt, "jsonl"), "document": (document, "json")}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)
        for name in sys.argv[1:] or FORMS:
            write, extension = FORMS[name]
            path, db = os.path.join(folder, f"{name}.{extension}"), os.path.join(folder, name + ".db")
            with open(path, "w", encoding="utf-8") as out:
                write(out)
            run(name + ": read", "--db", db, "import", "--dry-run", path)
            run(name, "--db", db, "import", path)
            for each in (path, db):
                os.unlink(each)


if __name__ == "__main__":
    main()
