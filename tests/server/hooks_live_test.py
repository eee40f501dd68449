#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hooks are added, changed, renamed and removed while a server runs: each change applies to the
next operation. If the hooks cannot be read, operations that they might deny are refused."""
import json
import os
import shutil
import subprocess
import sys
import time

from client import RETAKE, Place, Server, Tally

DENY = "#!/bin/sh\necho 'guarded: %s' >&2\nexit 2\n"
ALLOW = "#!/bin/sh\nexit 0\n"
ROUNDS = 40


def write(path, text, mode=0o755):
    """Replaces the file atomically, as editors and installers do."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + "~", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + "~", mode)
    os.rename(path + "~", path)


class World:
    def __init__(self, place, server, tally):
        self.place, self.tally, self.count = place, tally, 0
        self.client = server.client()
        self.hooks = os.path.join(place.folder, "config/retake/hooks")
        self.config = os.path.join(place.folder, "config/retake/config.toml")

    def add(self):
        self.count += 1
        return self.client.post("/discussions/main/entries", {"content": str(self.count)})

    def allowed(self, name):
        answer = self.add()
        self.tally.check(name + ": allowed", answer.status in (200, 201), answer)

    def denied(self, name, words):
        answer = self.add()
        self.tally.check(name + ": denied", answer.status == 422 and words in
                         answer.body.decode(), answer)


def folders(w):
    event = w.hooks + "/entry.before_add"
    w.allowed("none at first")
    write(event + "/20-e", DENY % "one")
    w.denied("the first folder and hook", "guarded: one")
    write(event + "/20-e", DENY % "two")
    w.denied("changed", "guarded: two")
    os.chmod(event + "/20-e", 0o644)
    w.allowed("switched off")
    os.chmod(event + "/20-e", 0o755)
    w.denied("switched on", "guarded: two")
    os.rename(event + "/20-e", event + "/.20-e")
    w.allowed("renamed to what is no hook")
    os.rename(event + "/.20-e", event + "/30-f")
    w.denied("renamed to a hook", "guarded: two")
    os.unlink(event + "/30-f")
    w.allowed("removed")
    # As fast as possible: timestamps of the file system are coarser than this.
    for i in range(ROUNDS):
        write(event + "/10-fast", DENY % i)
        w.denied(f"round {i}", f"guarded: {i}")
        os.unlink(event + "/10-fast")
        w.allowed(f"round {i}")
    write(event + "/10-stay", DENY % "stay")
    os.rename(w.hooks, w.hooks + ".old")
    w.allowed("the folder is gone")
    os.rename(w.hooks + ".old", w.hooks)
    w.denied("the folder is back", "guarded: stay")
    # Long enough for all timestamps to be settled: after that only changes are looked for.
    time.sleep(3)
    w.denied("later", "guarded: stay")
    w.denied("and once more", "guarded: stay")
    write(event + "/10-stay", ALLOW)
    w.allowed("later changed")
    time.sleep(3)
    w.allowed("later")
    write(event + "/11-more", DENY % "more")
    w.denied("later added", "guarded: more")
    shutil.rmtree(w.hooks)
    w.allowed("all removed")


def configuration(w):
    write(w.place.folder + "/deny", DENY % "config")
    hook = '[[hook]]\nevent = "entry.before_add"\nrun = ["%s/deny"]\n' % w.place.folder
    write(w.config, hook, 0o644)
    w.denied("configuration: added", "guarded: config")
    write(w.config, hook + "[[hook\n", 0o644)
    w.denied("configuration: broken", "Until the hooks can be")
    answer = w.client.get("/discussions/main/entries")
    w.tally.equal("configuration: broken: reading still works", answer.status, 200, answer)
    write(w.config, "", 0o644)
    w.allowed("configuration: mended")
    write(w.config, hook, 0o644)
    w.denied("configuration: added again", "guarded: config")
    os.unlink(w.config)
    w.allowed("configuration: removed")


def stays(w):
    """A persistent hook whose program is replaced."""
    program = w.place.folder + "/stay.py"
    text = ("#!%s\nimport json, sys\nfor line in sys.stdin:\n"
            "    print(json.dumps({'id': json.loads(line)['id'], 'decision': '%s', 'reason': '%s'}))\n"
            "    sys.stdout.flush()\n")
    write(program, text % (sys.executable, "allow", ""))
    write(w.config, '[[hook]]\nevent = "entry.before_add"\nrun = ["%s"]\npersistent = true\n'
          % program, 0o644)
    w.allowed("one that stays")
    write(program, text % (sys.executable, "deny", "guarded: stays"))
    w.denied("one that stays is replaced", "guarded: stays")
    os.unlink(w.config)
    w.allowed("one that stays is removed")


def trusted(w):
    """Hooks of the working directory still need trust."""
    path = w.place.folder + "/.retake/hooks/entry.before_add/10-p"
    write(path, DENY % "project")
    w.allowed("a project's that nobody trusts")
    done = w.place.run("hooks", "trust")
    w.tally.equal("trust", done.returncode, 0, done)
    w.denied("a project's that is trusted", "guarded: project")
    write(path, DENY % "other")
    w.allowed("a project's that has changed")
    shutil.rmtree(w.place.folder + "/.retake")
    w.allowed("a project's is removed")


def unreadable(w):
    """Unreadable hooks. Root can read everything, so a dangling link is used."""
    event = w.hooks + "/entry.before_add"
    write(event + "/10-guard", DENY % "guard")
    w.denied("before", "guarded: guard")
    for folder in (event, w.hooks):
        os.chmod(folder, 0)
        if os.access(folder, os.R_OK):  # root
            os.chmod(folder, 0o755)
            continue
        w.denied(f"{os.path.basename(folder)} cannot be read", "cannot be read")
        done = w.place.run("add", "x")
        w.tally.equal("nor is anything changed by the command line", done.returncode == 0, False, done)
        os.chmod(folder, 0o755)
        w.denied(f"{os.path.basename(folder)} can be read", "guarded: guard")
    many = w.hooks + "/entry.after"
    os.makedirs(many)
    for i in range(2001):
        open(f"{many}/{i}", "w", encoding="ascii").close()
    os.unlink(event + "/10-guard")
    w.denied("too many to be read", "too many files")
    shutil.rmtree(many)
    w.allowed("as many as can be read")


def stream(place, tally):
    """The same within one run of `retake apply`."""
    hooks = os.path.join(place.folder, "config/retake/hooks")
    with subprocess.Popen([RETAKE, "--db", place.db, "apply"], env=place.env, cwd=place.folder,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as apply:
        def add():
            apply.stdin.write(b'{"op":"entry.append","content":"x"}\n')
            apply.stdin.flush()
            return json.loads(apply.stdout.readline())

        tally.check("apply: allowed", "entry" in add())
        write(hooks + "/entry.before_add/10-s", DENY % "stream")
        tally.check("apply: denied", "entry" not in add())
        shutil.rmtree(hooks)
        tally.check("apply: allowed again", "entry" in add())
        apply.stdin.close()


def main():
    tally = Tally()
    with Place() as place:
        with Server(place) as server:
            world = World(place, server, tally)
            folders(world)
            configuration(world)
            stays(world)
            trusted(world)
            unreadable(world)
        stream(place, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
