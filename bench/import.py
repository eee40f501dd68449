#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and memory of imports from the command line.

    bench/import.py [NAME ...]        two minutes

Writes SIZE_MB (200) megabytes of messages of about 1 KiB in each form: a pi session (pi), a conversation per
line (openai, sharegpt), one JSON document (document: an array of OpenAI messages), conversations of 20 messages in one
document (claude-ai, open-webui), and a directory with a file for each conversation: 200 messages in lines (claude-code,
codex), 200 messages in a document (gemini-cli, opencode), 20 in a document (librechat). Imports each into a new store
with build/retake, first with --dry-run (reading alone), and prints the time, MB/s, the same for the time of the
processor, and the peak of memory. A large data export of ChatGPT: bench/import_chats.py.
"""
import json
import os
import shutil
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


def stamp(number):
    return f"2026-11-18T09:{number // 60 % 60:02}:{number % 60:02}.000Z"


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def claude_code(conversation):
    ids = [f"{conversation:08x}-0000-4000-8000-{i:012x}" for i in range(200)]
    return lines({"parentUuid": ids[i - 1] if i else None, "isSidechain": False, "userType": "external", "cwd": "/w",
                  "sessionId": ids[0], "version": "2.1.0", "gitBranch": "main", "type": "assistant" if i % 2 else "user",
                  "message": {"role": "user", "content": f"{i} {TEXT}"} if i % 2 == 0 else {
                      "id": f"msg_{ids[i]}", "type": "message", "role": "assistant", "model": "claude",
                      "content": [{"type": "text", "text": f"{i} {TEXT}"}], "stop_reason": "end_turn",
                      "usage": {"input_tokens": 10, "output_tokens": 20}},
                  "uuid": ids[i], "timestamp": stamp(i)} for i in range(200))


def codex(conversation):
    head = {"timestamp": stamp(0), "type": "session_meta", "payload": {
        "id": f"{conversation:08x}-0000-4000-8000-000000000000", "timestamp": stamp(0), "cwd": "/w",
        "originator": "codex_cli_rs", "cli_version": "0.50.0", "instructions": None}}
    return lines([head] + [{"timestamp": stamp(i), "type": "response_item", "payload": {
        "type": "message", "role": "assistant" if i % 2 else "user",
        "content": [{"type": "output_text" if i % 2 else "input_text", "text": f"{i} {TEXT}"}]}} for i in range(200)])


def gemini_cli(conversation):
    return json.dumps({"sessionId": f"g{conversation}", "projectHash": "h", "startTime": stamp(0), "lastUpdated": stamp(200),
                       "messages": [{"id": f"{conversation}-{i}", "timestamp": stamp(i), "type": "gemini" if i % 2 else "user",
                                     "content": f"{i} {TEXT}"} for i in range(200)]}, indent=2)


def opencode(conversation):
    at = 1760000000000
    return json.dumps({"info": {"id": f"ses_{conversation}", "title": "Log", "time": {"created": at, "updated": at}}, "messages": [
        {"info": {"id": f"msg_{conversation}_{i:04}", "sessionID": f"ses_{conversation}",
                  "role": "assistant" if i % 2 else "user", "time": {"created": at + i}},
         "parts": [{"id": f"prt_{conversation}_{i:04}", "type": "text", "text": f"{i} {TEXT}"}]} for i in range(200)]})


def librechat(conversation):
    root = "00000000-0000-0000-0000-000000000000"
    return json.dumps({"conversationId": f"l{conversation}", "endpoint": "openAI", "title": "Log", "branches": True,
                       "recursive": False, "messages": [
                           {"messageId": f"{conversation}-{i}", "parentMessageId": f"{conversation}-{i - 1}" if i else root,
                            "conversationId": f"l{conversation}", "isCreatedByUser": i % 2 == 0, "sender": "User",
                            "text": f"{i} {TEXT}", "createdAt": stamp(i), "model": "m"} for i in range(20)]}, indent=2)


def claude_ai(conversation):
    return json.dumps({"uuid": f"c{conversation}", "name": "Log", "created_at": stamp(0), "updated_at": stamp(20),
                       "account": {"uuid": "a"}, "chat_messages": [
                           {"uuid": f"{conversation}-{i}", "text": f"{i} {TEXT}", "sender": "assistant" if i % 2 else "human",
                            "content": [{"type": "text", "text": f"{i} {TEXT}", "citations": []}], "created_at": stamp(i),
                            "updated_at": stamp(i), "attachments": [], "files": []} for i in range(20)]})


def open_webui(conversation):
    ids = [f"{conversation}-{i}" for i in range(20)]
    return json.dumps({"id": f"w{conversation}", "user_id": "u", "title": "Log", "updated_at": 1760000000, "chat": {
        "models": ["m"], "history": {"currentId": ids[-1], "messages": {
            ids[i]: {"id": ids[i], "parentId": ids[i - 1] if i else None, "childrenIds": ids[i + 1:i + 2],
                     "role": "assistant" if i % 2 else "user", "content": f"{i} {TEXT}", "timestamp": 1760000000 + i}
            for i in range(20)}}}})


def write_list(path, conversation):
    with open(path, "w", encoding="utf-8") as out:
        out.write("[" + conversation(0))
        for number in range(1, 1 << 30):
            if out.tell() >= SIZE:
                break
            out.write(",\n" + conversation(number))
        out.write("]")


def write_files(path, conversation, extension):
    os.mkdir(path)
    size = number = 0
    while size < SIZE:
        text = conversation(number)
        with open(os.path.join(path, f"session-{number}.{extension}"), "w", encoding="utf-8") as out:
            out.write(text)
        size += len(text)
        number += 1


LISTS = {"claude-ai": claude_ai, "open-webui": open_webui}
FILES = {"claude-code": (claude_code, "jsonl"), "codex": (codex, "jsonl"), "gemini-cli": (gemini_cli, "json"),
         "opencode": (opencode, "json"), "librechat": (librechat, "json")}
FORMS = {"pi": pi, "openai": openai, "sharegpt": sharegpt, "document": document}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)
        for name in sys.argv[1:] or [*FORMS, *LISTS, *FILES]:
            path, db = os.path.join(folder, name), os.path.join(folder, name + ".db")
            if name in LISTS:
                write_list(path, LISTS[name])
            elif name in FILES:
                write_files(path, *FILES[name])
            else:
                with open(path, "w", encoding="utf-8") as out:
                    FORMS[name](out)
            run(name + ": read", "--db", db, "import", "--dry-run", path)
            run(name, "--db", db, "import", path)
            os.unlink(db)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


if __name__ == "__main__":
    main()
