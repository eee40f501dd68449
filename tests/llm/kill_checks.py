#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of kill_test.sh: kill_checks.py RETAKE

Each stream is a script of the built-in model. The program is killed (SIGKILL) after each of
its chunks was seen, once after late_ms and once at once. Everything that was seen late_ms
before must be stored; later chunks may be. The stored text must be a prefix of the whole."""
import concurrent.futures
import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from place import Place, Tally

RETAKE = sys.argv[1]
# The side row is at most 250 ms late, and is polled every 50 ms. (late_ms, pause_ms between two
# chunks, which is longer, so that the next one has not arrived.) On a slow machine this does not
# hold: if the row does not contain the seen text, the case is repeated more slowly. Whatever is in
# the row must be kept.
PACES = [(int(os.environ.get("RETAKE_KILL_LATE_MS", "400")), 900), (3000, 6000), (15000, 25000)]
tally = Tally()
check = tally.check

STREAMS = {
    "text": [{"text": "Good "}, {"text": "day, Grüße "}, {"text": "🙂 and \"more\".\n"},
             {"text": "End."}],
    "thinking": [{"thinking": "hm, "}, {"thinking": "well"}, {"text": "So: "}, {"text": "yes."}],
    "tags": [{"text": "<think>let me"}, {"text": " see</think>It is "}, {"text": "so."}],
    "calls": [{"text": "I look. "},
              {"call": {"id": "c1", "name": "read", "arguments": {"path": "ä/b", "n": [1, 2]}}},
              {"text": "And now "}, {"text": "the rest."}],
}


def talk(place):
    """A conversation with a tool call and its result."""
    lines = [{"op": "entry.append", "role": "User", "content": "Read it"},
             {"op": "entry.append", "role": "AI", "content": [
                 {"type": "toolCall", "id": "c0", "name": "read", "arguments": {}}]},
             {"op": "entry.append", "role": "tool", "tool_call_id": "c0",
              "content": "it says so"},
             {"op": "entry.append", "role": "AI", "content": "It says so."}]
    place.run("apply", place.write("talk.jsonl", lines))


def begin(place, script, *args):
    return place.begin("ask", "-m", "builtin/play:" + script, *args, "Well?")


def said(chunks):
    """(thinking, text, calls) of chunks, as plain text."""
    return ("".join(chunk.get("thinking", "") for chunk in chunks),
            "".join(chunk.get("text", "") for chunk in chunks),
            sum("call" in chunk for chunk in chunks))


def found(entry):
    """The same for an entry, whether its content is a string or blocks; tags are thinking."""
    content = entry["content"]
    thoughts = "".join(segment.get("text", "") for segment in entry.get("thinking_segments", []))
    if isinstance(content, str):
        return thoughts, content, 0
    return (thoughts + "".join(block.get("thinking", "") for block in content),
            "".join(block.get("text", "") for block in content),
            sum(block["type"] == "toolCall" for block in content))


def plain(text):
    for tag in ("<think>", "</think>"):
        text = text.replace(tag, "")
    return text


def everything(three, tags):
    """One text that only grows as more arrives."""
    thoughts, words, calls = three
    return (plain(thoughts + words) if tags else thoughts + "|" + words), calls


def holds(got, least, most, tags):
    got_text, got_calls = everything(got, tags)
    least_text, least_calls = everything(least, tags)
    most_text, most_calls = everything(most, tags)
    got_text, least_text = got_text.rstrip("|"), least_text.rstrip("|")
    return (got_text.startswith(least_text) and most_text.startswith(got_text) and
            least_calls <= got_calls <= most_calls)


def sound(place, name, calls):
    """fsck is clean, and each provider's request is JSON with paired calls."""
    fsck = place.json("fsck")
    check(f"{name}: fsck", fsck.get("clean") is True, fsck)
    marks = {"openai": ('"type":"function"', '"tool_call_id"'),
             "anthropic": ('"type":"tool_use"', '"type":"tool_result"'),
             "gemini": ('"functionCall"', '"functionResponse"'),
             "ollama": ('"function":{', '"role":"tool"')}
    for provider, (call, result) in marks.items():
        request = place.json("context", "--provider", provider)
        text = json.dumps(request, separators=(",", ":"))
        check(f"{name}: context for {provider}",
              "failed" not in request and text.count(call) == calls == text.count(result), text)


def wait_for(process, three):
    """Waits until this thinking and text were printed; returns the time."""
    wanted = (three[0] + three[1]).strip().encode()
    files = [process.stdout.fileno(), process.stderr.fileno()]
    heard = {file: b"" for file in files}
    deadline = time.monotonic() + 60
    while (files and time.monotonic() < deadline and
           not any(wanted in text for text in heard.values())):
        for file in select.select(files, [], [], 1)[0]:
            more = os.read(file, 4096)
            heard[file] += more
            if not more:
                files.remove(file)
    return time.monotonic()


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def written(place):
    """The part of the reply that the program has stored, as parsed by found()."""
    with sqlite3.connect(f"file:{place.db}?mode=ro", uri=True, timeout=60) as store:
        rows = store.execute("SELECT data FROM side WHERE CAST(name AS TEXT) LIKE 'reply/%'")
        requests = [json.loads(data)["request"] for data, in rows]
    return found(requests[0] if requests else {"content": ""})


def killed(folder, stream, chunks, index, at_once, pace):
    """Kills after chunk index. False: the text seen was not stored yet, and a slower pace is
    left."""
    late_ms, pause_ms = PACES[pace]
    name = f"{stream} {index + 1}{' at once' if at_once else ''}"
    place = Place(RETAKE, folder)
    lines = []
    for chunk in chunks:
        lines += [chunk, {"wait_ms": pause_ms}]
    script = place.write("script.jsonl", lines + [{"wait_ms": 600000}, {"text": "never seen"}])
    talk(place)
    begun_at = time.monotonic()
    process = begin(place, script, "-v")
    # Text is printed to standard output as it arrives, thinking (-v) to standard error. A call is
    # not visible: it arrives one pause after the text before it.
    shown = index if "call" not in chunks[index] else index - 1
    seen = wait_for(process, said(chunks[shown:shown + 1]))
    seen += (index - shown) * pause_ms / 1000
    due = seen + (0 if at_once else late_ms / 1000)
    time.sleep(max(0, due - time.monotonic()))
    process.send_signal(signal.SIGSTOP)
    while state_of(process.pid) not in "TZX":
        time.sleep(0.001)
    killed_at = time.monotonic()
    row = written(place)
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    least = chunks[:index] if at_once else chunks[:index + 1]
    most = chunks[:1 + int((killed_at - begun_at) * 1000 / pause_ms)]
    if pace + 1 < len(PACES) and not holds(row, said(least), said(chunks), stream == "tags"):
        return False
    show = place.json("show")
    entries = show.get("entries", [])
    check(f"{name}: the question is there",
          len(entries) >= 5 and entries[4]["content"] == "Well?", show)
    if len(entries) < 6:
        check(f"{name}: nothing was to be kept", not least and row == ("", "", 0), show, row)
        return True
    reply = entries[5]
    check(f"{name}: is partial", reply.get("partial") is True, reply)
    check(f"{name}: contains everything that had arrived",
          holds(found(reply), said(least), said(most), stream == "tags"), reply, least)
    check(f"{name}: contains everything that was stored", found(reply) == row, reply, row)
    check(f"{name}: is kept once", len(place.json("show").get("entries", [])) == 6)
    sound(place, name, 1)
    more = place.write("more.jsonl", [{"text": " And more."}])
    done = place.run("again", "--continue", "-m", "builtin/play:" + more)
    after = place.json("show").get("entries", [])
    check(f"{name}: can be continued", done.returncode == 0 and len(after) == 6 and
          found(after[5])[1].endswith(" And more.") and "partial" not in after[5] and
          found(after[5])[0] == found(reply)[0] and found(after[5])[2] == found(reply)[2],
          done.returncode, done.stderr, after[5:])
    place.run("undo")
    place.run("undo")
    check(f"{name}: undone", len(place.json("show").get("entries", [])) == 5)
    return True


def killed_in_a_place(*what):
    for pace in range(len(PACES)):
        with tempfile.TemporaryDirectory() as folder:
            if killed(folder, *what, pace):
                return
        print("once more, more slowly:", *what)


def interrupted(folder):
    place = Place(RETAKE, folder)
    script = place.write("script.jsonl", [{"text": "Good "}, {"wait_ms": 600000}, {"text": "day"}])
    process = begin(place, script)
    os.read(process.stdout.fileno(), 1)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    check("Ctrl-C: exits with 130", process.returncode == 130, process.returncode, out, err)
    check("Ctrl-C: at once", time.monotonic() - begun < 60)
    entries = place.json("show").get("entries", [])
    check("Ctrl-C: the part is kept", len(entries) == 2 and entries[1]["content"] == "Good " and
          entries[1].get("partial") is True and entries[1].get("stop_reason") == "stopped", entries)
    sound(place, "Ctrl-C", 0)
    more = place.write("more.jsonl", [{"text": "night"}])
    place.run("again", "--continue", "-m", "builtin/play:" + more)
    entries = place.json("show").get("entries", [])
    check("Ctrl-C: can be continued", len(entries) == 2 and entries[1]["content"] == "Good night", entries)
    # before any chunk
    script = place.write("script.jsonl", [{"wait_ms": 600000}, {"text": "day"}])
    process = begin(place, script)
    deadline = time.monotonic() + 60
    while len(place.json("show").get("entries", [])) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    entries = place.json("show").get("entries", [])
    check("Ctrl-C before a word: the question is kept",
          process.returncode == 130 and len(entries) == 3 and entries[2]["content"] == "Well?",
          process.returncode, entries)


def living(folder):
    """Processes that read while a reply arrives do not disturb it."""
    for wait_ms in (1500, 8000, 40000):     # longer if it ended before the check
        inner = os.path.join(folder, str(wait_ms))
        os.mkdir(inner)
        place = Place(RETAKE, inner)
        script = place.write("script.jsonl", [{"text": "Good "}, {"wait_ms": wait_ms},
                                              {"text": "day"}])
        process = begin(place, script)
        os.read(process.stdout.fileno(), 1)
        time.sleep(0.4)
        seen = len(place.json("show").get("entries", []))
        place.run("add", "later")
        was_alive = process.poll() is None
        process.communicate(timeout=120)
        if was_alive:
            break
    check("a running process: it runs", was_alive)
    check("a running process: is not disturbed", seen == 1, seen)
    check("a running process: exits normally", process.returncode == 0, process.returncode)
    contents = [entry["content"] for entry in place.json("show").get("entries", [])]
    check("a running process: the reply follows its question",
          contents == ["Well?", "Good day", "later"], contents)


def is_running(pid):
    """Neither gone nor a zombie."""
    return state_of(pid) not in "ZX"


def asked_for_a_key(folder):
    """Ctrl-C while a key command runs: it ends with the program, including its child processes."""
    command = folder + "/command"
    with open(command, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nsleep 300 &\necho $$ $! >{folder}/new\n"
                   f"mv {folder}/new {folder}/pids\nwait\n")
    os.chmod(command, 0o700)
    for deadly in (signal.SIGINT, signal.SIGTERM):
        place = Place(RETAKE, folder)
        place.configure('[provider.own]\nkind = "openai"\nurl = "http://127.0.0.1:9"\n'
                        f'key_cmd = ["{command}"]\n')
        process = place.begin("ask", "-m", "own/m", "Well?")
        deadline = time.monotonic() + 60
        while not os.path.exists(folder + "/pids") and time.monotonic() < deadline:
            time.sleep(0.02)
        with open(folder + "/pids", encoding="utf-8") as file:
            pids = file.read().split()
        os.unlink(folder + "/pids")
        check(f"{deadly.name}: the command runs", all(is_running(pid) for pid in pids), pids)
        process.send_signal(deadly)
        _, err = process.communicate(timeout=120)
        deadline = time.monotonic() + 60
        while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.02)
        left = [pid for pid in pids if is_running(pid)]
        check(f"{deadly.name} while a key is asked for: all of it ends",
              process.returncode == 130 and not left, process.returncode, left, err)
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)


def closed_to_others(folder):
    """The memory and environment of the process are not readable by its user, so that no core
    file is written, whatever core_pattern contains: undumpable processes belong to root under
    /proc."""
    user = os.getuid() or 12345
    os.chmod(folder, 0o777)
    place = Place(RETAKE, folder)
    script = place.write("script.jsonl", [{"text": "Good "}, {"wait_ms": 60000}, {"text": "day"}])
    os.chmod(script, 0o644)
    try:
        process = subprocess.Popen([RETAKE, "--db", place.db, "ask", "-m", "builtin/play:" + script,
                                    "Well?"], env=place.env, stdin=subprocess.DEVNULL, user=user,
                                   stdout=subprocess.PIPE)
    except (OSError, subprocess.SubprocessError) as error:
        print("skipped: nobody else can run the program:", error)
        tally.skipped += 1
        return
    os.read(process.stdout.fileno(), 1)
    check("other processes cannot read its memory", os.stat(f"/proc/{process.pid}/environ").st_uid != user)
    process.kill()
    process.communicate()


def main():
    # Mostly waiting, so several run in parallel.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        kills = [pool.submit(killed_in_a_place, stream, chunks, index, at_once)
                 for stream, chunks in STREAMS.items()
                 for index in range(len(chunks)) for at_once in (False, True)]
    for kill in kills:
        kill.result()
    for case in (interrupted, living, asked_for_a_key, closed_to_others):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
    return tally.end()


sys.exit(main())
