#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/bench_ratios.py RESULTS.jsonl: results of one run of the common benchmark for Retake, as
Markdown: medians with their spread, the ratio to each limit and rival in the same run, growth
with length, and each target with "met" or by how much it was missed."""
import collections
import json
import math
import statistics
import sys

STEPS = ["build", "edit", "insert", "delete", "undo", "redo", "branch"]
CALLS = ["materialise", "save", "reopen", "reopen_materialise"]
# Retake's row, the row to compare with, the maximum ratio
AIMS = [("retake", "c-raw-fdatasync", 1.25), ("retake-relaxed", "c-sqlite-normal", 1.5)]
OTHERS = ["c-sqlite-full", "pi-session", "immutable.js"]
GROWTH_MAX = 0.15
REOPEN_MS, REOPEN_TIMES, REOPEN_MB = 30, 20, 40


def shown(us):
    if us is None:
        return "-"
    if us < 1000:
        return f"{us:.1f} µs" if us < 100 else f"{us:.0f} µs"
    return f"{us / 1000:.2f} ms" if us < 1e5 else f"{us / 1000:.0f} ms"


class Results:
    def __init__(self, path):
        self.times = collections.defaultdict(list)
        self.memory = collections.defaultdict(list)
        self.hashes = collections.defaultdict(set)
        self.sizes = set()
        self.names = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                self.add(row)

    def add(self, row):
        name, n, phase = row.get("cand"), row.get("n"), row.get("phase")
        if name not in self.names:
            self.names.append(name)
        if phase == "disk":
            self.hashes[n].add((name, row.get("hash"), row.get("hash_reopen")))
        if phase in STEPS + CALLS and row.get("us_per_op") is not None and "rep" in row:
            self.sizes.add(n)
            self.times[(name, n, phase)].append(row["us_per_op"])
            self.memory[(name, n, phase)].append(row.get("rss_mb") or 0)

    def median(self, name, n, phase):
        values = self.times.get((name, n, phase))
        return statistics.median(values) if values else None

    def cell(self, name, n, phase):
        values = self.times.get((name, n, phase))
        if not values:
            return "-"
        text = shown(statistics.median(values))
        if len(values) > 1:
            text += f" ({shown(min(values))} to {shown(max(values))})"
        return text

    def ratio(self, mine, other, n, phase):
        a, b = self.median(mine, n, phase), self.median(other, n, phase)
        return a / b if a and b else None


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def ratio_text(value, aim=None):
    if value is None:
        return "-"
    text = f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
    return f"**{text}**" if aim is not None and value > aim else text


def main():
    r = Results(sys.argv[1])
    sizes = sorted(r.sizes)
    for n in sizes:
        names = [name for name in r.names if r.median(name, n, "build") is not None]
        print(f"### n = {n:,}: time per step, median (lowest to highest)\n")
        table(["phase"] + names,
              [[phase] + [r.cell(name, n, phase) for name in names] for phase in STEPS + CALLS])
    for mine, limit, most in AIMS:
        print(f"### {mine} ÷ {limit}, at most {most} wanted (bold: missed)\n")
        table(["phase"] + [f"n = {n:,}" for n in sizes],
              [[phase] + [ratio_text(r.ratio(mine, limit, n, phase), most) for n in sizes]
               for phase in STEPS + CALLS])
    print("### retake ÷ others (below 1: Retake is faster)\n")
    pairs = [(mine, other) for other in OTHERS for mine in ("retake", "retake-relaxed")
             if other in r.names]
    for n in sizes:
        print(f"n = {n:,}\n")
        table(["phase"] + [f"{mine} ÷ {other}" for mine, other in pairs],
              [[phase] + [ratio_text(r.ratio(mine, other, n, phase)) for mine, other in pairs]
               for phase in STEPS + CALLS])
    if len(sizes) > 1:
        small, large = sizes[0], sizes[-1]
        print(f"### Growth exponent from {small:,} to {large:,} (below {GROWTH_MAX} wanted)\n")
        rows = []
        for name in r.names:
            row = [name]
            for phase in STEPS:
                a, b = r.median(name, small, phase), r.median(name, large, phase)
                grown = math.log(b / a) / math.log(large / small) if a and b else None
                row.append("-" if grown is None else f"{grown:.2f}")
            rows.append(row)
        table(["candidate"] + STEPS, rows)
    n = sizes[-1]
    reopen, rival = r.median("retake", n, "reopen"), r.median("pi-session", n, "reopen")
    if reopen is not None:
        memory = max(r.memory[("retake", n, "reopen")])
        times = f", {rival / reopen:.0f} times as fast as pi-session (at least {REOPEN_TIMES} " \
                "wanted)" if rival else ""
        print(f"Opening {n:,} entries from cold files: {reopen / 1000:.1f} ms (under "
              f"{REOPEN_MS} wanted{times}), {memory} MB afterwards (under {REOPEN_MB} wanted).\n")
    for n in sizes:
        ends = {end for row in r.hashes[n] for end in row[1:]}
        print(f"n = {n:,}: " + ("every candidate ended with the same conversation, "
              + ", ".join(sorted(map(str, ends))) if len(ends) == 1 else
              "the conversations differ: " + ", ".join(f"{name} {a} {b}"
                                                       for name, a, b in sorted(r.hashes[n], key=str))))


if __name__ == "__main__":
    main()
