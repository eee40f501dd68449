#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the variants, runs every test and counts.

Stages: the unit tests (meson) of each variant, the scripts tests/**/*_test.sh, and the
conformance programs in tests/conformance. A test program that prints TAP (cmocka does) counts
case by case; of a script that ends with "N passed, N failed" these numbers count; anything
else counts as one, by its exit status (77: skipped).

A failed script that drives a terminal or a browser is run again at the end:
docs/decisions/0020. If it then passes, it is reported as unstable.

The last line is "N passed, N failed[, N skipped]"; the exit status is 1 if anything failed or
nothing ran.

  tests/run.py                          everything
  tests/run.py --variant asan           one variant's unit tests
  tests/run.py --variant tsan --match store
  tests/run.py --scripts                the scripts and conformance programs only
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
CLANG = {"CC": "clang", "CXX": "clang++"}
# Each test is a program: with line numbers only, linking them takes half of the time.
LINES_ONLY = ["-Ddebug=false", "-Dc_args=-gline-tables-only", "-Dcpp_args=-gline-tables-only"]

# name: folder, environment, meson options, suites and tests to leave out. "tiny" is a suite of
# every build: the tests of tree structures, linked with nodes of two items. seeded_test checks the
# power-cut tests themselves, which needs no sanitizer.
VARIANTS = {
    "normal": ("build/obj", {}, [], ["tiny"]),
    "tiny": ("build/obj", {}, [], None),
    "asan": ("build/asan", CLANG,
             ["-Db_sanitize=address,undefined", "-Doptimization=1", *LINES_ONLY],
             ["tiny", "seeded_test"]),
    "tsan": ("build/tsan", CLANG, ["-Db_sanitize=thread"], ["fuzz", "tiny", "seeded_test"]),
}
IN_TEST = ["normal", "tiny", "asan"]
# The tests of the normal build in a complete run: those of which sanitizers run a sample only, and
# those whose threads and processes a sanitizer delays. All others run there with the sanitizers.
NORMAL_TOO = {"power", "model", "threads", "processes", "damage", "library", "seeded_test",
              "import_test", "lines_test", "pane_torture_test", "stream_test", "html_test",
              "store_sqlite_damage_test", "store_sqlite_processes_test",
              "store_contract_threads_test", "hostile_screens"}

# The environment of the unit tests. Sanitizers make power cuts and random cases so slow that only a
# sample is tested.
TOLD = {"normal": {"POWER_SAMPLE": "3"}, "asan": {"POWER_SAMPLE": "32", "RETAKE_TEST_SAMPLE": "7"},
        "tsan": {"POWER_SAMPLE": "16", "RETAKE_TEST_SAMPLE": "7"}}

# Arguments of the conformance programs. The data is outside the repository; without it the program
# is skipped.
CONFORMANCE = {
    "pi": [os.path.join(SHARED, "conformance/pi")],
    "pi --ui": [os.path.join(SHARED, "conformance/pi")],
    "import": [os.path.join(SHARED, "fixtures/MANIFEST.tsv"),
               os.path.join(SHARED, "fixtures/expected.json")],
}
CONFORMANCE["import --damaged 40"] = CONFORMANCE["import"]

COUNT_LINE = re.compile(r"^(?:[\w-]+: *)?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SHOWN_LINES = 60
SCRIPT_TIMEOUT_S = 600
ON_SCREENS = ("tests/tui/", "tests/web/", "tests/transcripts/")
AGAIN_MOST = 3
# Seconds of the scripts that take long. They begin first, the longest at the head, so that none
# is alone at the end. "Slowest" in the last lines shows when this is out of date.
LENGTHS = {
    "tests/web/web_test.sh": 200, "tests/web/export_test.sh": 105, "tests/web/axe_test.sh": 95,
    "tests/web/hostile_test.sh": 95, "tests/server/browser_attack_test.sh": 85,
    "tests/torture/torture_test.sh": 80, "tests/llm/kill_test.sh": 75,
    "tests/web/typing_test.sh": 55, "tests/server/limits_test.sh": 40, "tests/web/shell_test.sh": 40,
    "tests/server/access_test.sh": 40, "tests/web/types_test.sh": 30, "tests/llm/mock_test.sh": 30,
    "tests/docs_test.sh": 30, "tests/server/hostile_files_test.sh": 25,
    "tests/hooks/evil_test.sh": 25, "tests/cli/comms_test.sh": 25,
    "tests/transcripts/transcripts_test.sh": 20, "tests/cli/ask_test.sh": 20,
    "tests/tui/typing_test.sh": 20, "tests/server/wire_test.sh": 15, "tests/llm/keys_test.sh": 15,
    "tests/tui/draft_field_test.sh": 15, "tests/cli/json_test.sh": 15,
    "tests/tui/terminal_test.sh": 15, "tests/cli/maintenance_test.sh": 15,
}


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.times = []
        self.failures = []
        self.unstable = []

    def add(self, name, counts, seconds, output):
        passed, failed, skipped = counts
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.times.append((seconds, name))
        if failed:
            self.failures.append(name)
            show(f"FAILED {name}", output)


def show(headline, output):
    """Prints the end of a failed test's output."""
    print(f"\n--- {headline}")
    lines = output.rstrip().splitlines()
    if len(lines) > SHOWN_LINES:
        print(f"    ({len(lines) - SHOWN_LINES} lines before these)")
    for line in lines[-SHOWN_LINES:]:
        print("    " + line)
    sys.stdout.flush()


def use_memory(folder="/dev/shm"):
    """Makes tests keep their files in memory, if there is enough and programs may be executed
    there."""
    try:
        if shutil.disk_usage(folder).free < 1 << 30:
            return None
        kept = tempfile.TemporaryDirectory(prefix="retake-", dir=folder)
        program = os.path.join(kept.name, "program")
        with open(program, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nexit 0\n")
        os.chmod(program, 0o700)
        subprocess.run([program], check=True)
    except OSError:
        return None
    os.chmod(kept.name, 0o711)      # a test runs it as another user
    os.environ["TMPDIR"] = kept.name
    return kept


def one(ok):
    return (1, 0, 0) if ok else (0, 1, 0)


def count_tap(text, returncode):
    """Counts of TAP output, or None if it is not TAP."""
    passed = failed = skipped = 0
    for line in text.splitlines():
        if not re.match(r"(not )?ok \d+", line):
            continue
        if re.search(r"# *skip", line, re.I):
            skipped += 1
        elif line.startswith("not"):
            failed += 1
        else:
            passed += 1
    if passed + failed + skipped == 0:
        return None
    if returncode != 0 and failed == 0:
        failed = 1          # it crashed, leaked or timed out
    return passed, failed, skipped


def count_last_line(text, returncode):
    """Counts of output that ends with our summary line, or None."""
    lines = [line for line in text.splitlines() if line.strip()]
    match = COUNT_LINE.match(lines[-1].strip()) if lines else None
    if not match:
        return None
    passed, failed, skipped = (int(group or 0) for group in match.groups())
    if returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, skipped


def count_output(text, returncode):
    if returncode == 77:
        return 0, 0, 1
    return (count_tap(text, returncode) or count_last_line(text, returncode)
            or one(returncode == 0))


def run(command, env=None, timeout=None):
    """Runs without standard input: (exit status, output, seconds)."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace")
        return done.returncode, done.stdout, time.monotonic() - start
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
        return 124, f"{text}\nstopped after {timeout} s\n", time.monotonic() - start


def listed(name, match=None, complete=False):
    """The tests to run of a configured variant, as meson lists them."""
    folder, _, _, left_out = VARIANTS[name]
    tests = subprocess.run(["meson", "introspect", "--tests", folder], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    found = []
    for test in json.loads(tests):
        names = {suite.split(":")[-1] for suite in test["suite"]} | {test["name"]}
        wanted = "tiny" in names if left_out is None else names.isdisjoint(left_out)
        if complete and name == "normal":
            wanted = wanted and not names.isdisjoint(NORMAL_TOO)
        if wanted and (not match or re.search(match, test["name"])):
            found.append(test)
    return found


def programs(name, complete):
    """The ninja targets of a variant's tests; of the normal one, of all other programs, too."""
    folder = os.path.join(ROOT, VARIANTS[name][0])

    def of(tests):
        return {os.path.relpath(word, folder) for test in tests
                for word in test["cmd"] if word.startswith(folder + "/")}

    wanted = of(listed(name, complete=complete))
    if name == "normal":
        targets = json.loads(subprocess.run(["meson", "introspect", "--targets", folder], cwd=ROOT,
                                            text=True, stdout=subprocess.PIPE, check=True).stdout)
        others = {os.path.relpath(path, folder) for target in targets if target["build_by_default"]
                  for path in target["filename"]}
        wanted |= others - of(listed(name)) - of(listed("tiny"))
    return sorted(wanted)


def build(name, jobs, complete, tally):
    folder, env, options, _ = VARIANTS[name]
    steps = [["tools/configure.sh", folder] + options,
             ["flock", folder + ".lock", "ninja", "--quiet", "-k0", f"-j{jobs}", "-C", folder]]
    if name == "normal":
        steps.append(["tools/publish.sh", folder])
    total = 0
    for step in steps:
        if step[0] == "flock":
            step = step + programs(name, complete)
        status, output, seconds = run(step, env)
        total += seconds
        if status != 0:
            tally.add(f"{name}: build", one(False), total, output)
            return False
    print(f"{name}: built in {total:.1f} s", flush=True)
    return True


def unit_tests(name, jobs, match, complete, tally):
    folder = VARIANTS[name][0]
    wanted = [test["name"] for test in listed(name, match, complete)]
    if not wanted:
        print(f"{name}: no tests", flush=True)
        return
    log = os.path.join(ROOT, folder, "meson-logs/testlog.json")
    if os.path.exists(log):
        os.remove(log)
    env = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
           "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
           "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
           **TOLD.get(name, {})}
    command = []
    if name == "tsan" and run(["setarch", "-R", "true"])[0] == 0:
        command = ["setarch", "-R"]     # TSan cannot map its shadow memory with much ASLR
    command = ["flock", folder + ".test.lock"] + command     # two runs would write to the same log
    status, output, seconds = run(command + ["meson", "test", "-C", folder, "--no-rebuild",
                                   "--num-processes", str(jobs),
                                   "--timeout-multiplier", "4" if name == "tsan" else "1"]
                                  + wanted, env)
    if not os.path.exists(log):
        tally.add(f"{name}: meson test", one(False), seconds, output)
        return
    before = tally.passed, tally.failed
    seen = 0
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            test = json.loads(line)
            stdout, stderr = test.get("stdout") or "", test.get("stderr") or ""
            label = f"{name}: {test['name'].split(':', 1)[-1]}"
            returncode = test.get("returncode", 0)
            if test["result"] not in ("OK", "SKIP") and returncode == 0:
                returncode = 1
            tally.add(label, count_output(stdout, returncode), test.get("duration") or 0,
                      f"{stdout}{stderr}\n{test['result']}, exit status {test.get('returncode')}")
            seen += 1
    if seen < len(wanted):
        tally.add(f"{name}: meson test", (0, len(wanted) - seen, 0), seconds, output)
    print(f"{name}: {tally.passed - before[0]} passed, {tally.failed - before[1]} failed"
          f" in {seconds:.1f} s", flush=True)


def scripts():
    """(name, command, whether its requirements exist) of scripts and conformance programs."""
    found = []
    for folder, _, names in os.walk(os.path.join(ROOT, "tests")):
        for name in names:
            if name.endswith("_test.sh"):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                found.append((path, [path], True))
    found.sort()
    for name, arguments in CONFORMANCE.items():
        command = os.path.join("tests/conformance", name).split()
        if os.path.isfile(os.path.join(ROOT, command[0])):
            found.append((" ".join(command), command + arguments,
                          all(map(os.path.exists, arguments))))
    return found


def run_scripts(match, jobs, tally):
    """One more in parallel than there are processors, since many wait; slow ones first."""
    env = {"RETAKE": os.path.join(ROOT, "build/retake"),
           "RETAKE_BROWSER": os.environ.get("RETAKE_BROWSER", "brief"),
           "TYPING_SAMPLE": os.environ.get("TYPING_SAMPLE", "8")}
    wanted = []
    for name, command, there in scripts():
        if match and not re.search(match, name):
            continue
        if not there:
            print(f"{name}: skipped, {command[-1]} is not there", flush=True)
            tally.add(name, (0, 0, 1), 0, "")
        elif not os.access(os.path.join(ROOT, command[0]), os.X_OK):
            tally.add(name, one(False), 0, "not executable")
        else:
            wanted.append((name, command))
    wanted.sort(key=lambda item: -LENGTHS.get(item[0], 0))
    again = []

    def count(name, done):
        status, output, seconds = done
        counts = count_output(output, status)
        tally.add(name, counts, seconds, f"{output}\nexit status {status}")
        print("{}: {} passed, {} failed, {} skipped in {:.1f} s".format(name, *counts, seconds),
              flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs + 1) as pool:
        running = {pool.submit(run, command, env, SCRIPT_TIMEOUT_S): (name, command)
                   for name, command in wanted}
        for done in concurrent.futures.as_completed(running):
            name, command = running[done]
            status, output, _ = done.result()
            if count_output(output, status)[1] and name.startswith(ON_SCREENS):
                show(f"failed, will be run once more: {name}", output)
                again.append((name, command))
            else:
                count(name, done.result())
    if len(again) > AGAIN_MOST:     # too many to be unstable by chance
        tally.add("scripts that are run once more", one(False), 0, f"{len(again)} of them")
    for name, command in again:
        done = run(command, env, SCRIPT_TIMEOUT_S)
        count(name, done)
        if not count_output(done[1], done[0])[1]:
            tally.unstable.append(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--variant", choices=sorted(VARIANTS), action="append")
    parser.add_argument("--match", help="only tests whose name matches this regular expression")
    parser.add_argument("--scripts", action="store_true", help="only the scripts")
    args = parser.parse_args()

    start = time.monotonic()
    tally = Tally()
    kept = use_memory()     # until the end
    if not args.scripts:
        for name in args.variant or IN_TEST:
            complete = args.variant is None
            if build(name, args.jobs, complete, tally):
                unit_tests(name, args.jobs, args.match, complete, tally)
    if args.scripts or not args.variant:
        run_scripts(args.match, args.jobs, tally)

    slow = [f"{seconds:.1f} s {name}" for seconds, name in sorted(tally.times, reverse=True)[:8]
            if seconds >= 1]
    if slow:
        print("\nSlowest: " + "; ".join(slow))
    if tally.unstable:
        print("Unstable, passed the second time: " + "; ".join(tally.unstable))
    if tally.failures:
        print("Failed:  " + "; ".join(tally.failures))
    if kept:
        kept.cleanup()
    print(f"Took {time.monotonic() - start:.0f} s")
    skipped = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{skipped}")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
