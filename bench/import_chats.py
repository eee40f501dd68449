#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and memory of importing a large data export of ChatGPT.

    bench/import_chats.py [SAMPLE.json]        half a minute

Writes SIZE_MB (200) megabytes of conversations: those of the sample with fresh ids, again and again.
Without a sample there are two files: "usual", conversations of 12 messages whose records have about
1 KB each, as in real exports, with an edited question; and "tiny", one of fuzz/corpus of 3 messages
with a few words. Then it imports each file into a new store with build/retake ($RETAKE), first with
--dry-run (reading alone), and prints the time, MB/s and the peak of memory of each.
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


def message(number, parent, children, role, text):
    author = {"role": role, "name": None, "metadata": {}}
    metadata = {"request_id": f"9a1c{number:04x}", "timestamp_": "absolute", "message_type": None,
                "default_model_slug": "gpt-4o", "parent_id": parent}
    if role == "assistant":
        metadata |= {"model_slug": "gpt-4o", "citations": [], "content_references": [], "is_complete": True,
                     "finish_details": {"type": "stop", "stop_tokens": [200002]}}
    else:
        metadata |= {"selected_github_repos": [], "serialization_metadata": {"custom_symbol_offsets": []}}
    return {"id": f"m{number}", "parent": parent, "children": children, "message": {
        "id": f"m{number}", "author": author, "create_time": 1760000000.25 + number, "update_time": None,
        "content": {"content_type": "text", "parts": [text]}, "status": "finished_successfully", "end_turn": True,
        "weight": 1.0, "metadata": metadata, "recipient": "all", "channel": None}}


def usual():
    """12 messages; the first question was edited, which makes a second branch of two."""
    words = "We read the log from its end, and every row names the \"step\" before it.\n"
    chain = [f"m{i}" for i in range(13)]
    mapping = {"m0": {"id": "m0", "message": None, "parent": None, "children": ["m1", "m13"]}}
    for i in range(1, 13):
        role, text = ("user", words * 2) if i % 2 else ("assistant", words * 9)
        mapping[chain[i]] = message(i, chain[i - 1], chain[i + 1:i + 2], role, text)
    mapping["m13"] = message(13, "m0", ["m14"], "user", words)
    mapping["m14"] = message(14, "m13", [], "assistant", words * 5)
    return [{"title": "How the log is read", "create_time": 1760000000.25, "update_time": 1760000100.5, "mapping": mapping,
             "moderation_results": [], "current_node": "m12", "plugin_ids": None, "conversation_id": "c",
             "conversation_template_id": None, "gizmo_id": None, "is_archived": False, "safe_urls": [],
             "default_model_slug": "gpt-4o", "voice": None, "id": "c"}]


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
    size = sum(each.stat().st_size for each in os.scandir(words[-1])) if os.path.isdir(words[-1]) else os.path.getsize(words[-1])
    size /= 1e6
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what:8} {size:6.0f} MB  {passed:6.1f} s  {size / passed:6.1f} MB/s  processor {busy:6.1f} s  "
          f"{size / busy:6.1f} MB/s  peak {int(done.stdout) / 1024:6.0f} MiB", flush=True)


def main():
    samples = {"usual": usual()}
    for name, path in {"sample": sys.argv[1]}.items() if len(sys.argv) > 1 else {
            "tiny": os.path.join(ROOT, "fuzz/corpus/chatgpt_fuzz/tree.json")}.items():
        with open(path, encoding="utf-8") as file:
            samples[name] = json.load(file)
    for name, conversations in samples.items():
        with tempfile.TemporaryDirectory() as folder:
            path, db = os.path.join(folder, "conversations.json"), os.path.join(folder, "s.db")
            write(conversations if isinstance(conversations, list) else [conversations], path)
            run(name + ": read", "--db", db, "import", "--dry-run", path)
            run(name, "--db", db, "import", path)


if __name__ == "__main__":
    main()
