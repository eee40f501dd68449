#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/bench_pool.py FILE: 1 MiB and 1 KiB of generated prose, always the same, for
retake-bench if the common benchmark's own pool is missing. (The hash of the final
conversation then differs from the one in bench/README.md.)"""
import os
import random
import sys

SIZE = (1 << 20) + 1024


def main():
    path = sys.argv[1]
    if os.path.exists(path) and os.path.getsize(path) == SIZE:
        return
    chance = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvw" for b in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(3000)]
    text = []
    size = 0
    while size < SIZE:
        word = words[min(int(chance.expovariate(0.004)), len(words) - 1)]
        text.append(word)
        size += len(word) + 1
    with open(path, "w", encoding="ascii") as out:
        out.write(" ".join(text)[:SIZE])


if __name__ == "__main__":
    main()
