# SPDX-License-Identifier: MIT
"""Shared by the checks of this directory: counting checks, and a store with a home directory."""
import json
import os
import signal
import subprocess
import threading


class Tally:
    """Counts checks and reports failures. Thread-safe."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()

    def check(self, name, ok, *detail):
        with self.lock:
            if ok:
                self.passed += 1
                return
            self.failed += 1
            print("FAILED:", name)
            for line in detail:
                print("   ", str(line)[:800])

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


class Place:
    """A store and a home directory."""

    def __init__(self, retake, folder, **variables):
        self.retake = retake
        self.folder = folder
        self.db = os.path.join(folder, "test.db")
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith("RETAKE_") and not key.endswith("_API_KEY") and
                    "proxy" not in key.lower()}
        self.env.update(HOME=folder, XDG_DATA_HOME=folder + "/data",
                        XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder + "/config",
                        LC_ALL="C.UTF-8", NO_COLOR="1")
        self.env.update(variables)

    def run(self, *args, env=(), stdin=None):
        return subprocess.run([self.retake, "--db", self.db, *args],
                              env={**self.env, **dict(env)}, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def json(self, *args, **more):
        done = self.run(*args, "--json", **more)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"failed": done.returncode, "out": done.stdout[:300],
                    "err": done.stderr[:300]}

    def entries(self):
        return self.json("show").get("entries", [])

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line) + "\n")
        return path

    def configure(self, text):
        folder = os.path.join(self.folder, "config/retake")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
            file.write(text)

    def begin(self, *args):
        """A program that keeps running. Ctrl-C reaches it even if the test runs in the
        background."""
        return subprocess.Popen([self.retake, "--db", self.db, *args], env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
