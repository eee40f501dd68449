#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Size and dependencies of src.

  lines      of C without tests and fuzz targets, by directory
  plumbing   share of lines that only check, pass on or clean up a status, a buffer or memory
  cycles     groups of files that depend on each other, by defined and undefined symbols of
             their objects; tests do not count
  sideways   includes between cli, tui and server, and between llm, hooks, store and formats
  files      by directory

The limits are in tools/structure.json. `make test` fails if a figure exceeds its limit; a
commit that raises one gives the reason. check_layers.py rejects cycles of more than three files.

  tools/structure.py [BUILD]            the report (BUILD: default build/obj)
  tools/structure.py --check [BUILD]    compares with the limits
  tools/structure.py --write [BUILD]    makes the current figures the limits (lines in hundreds)
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = os.path.join(ROOT, "tools/structure.json")
TESTS = re.compile(r"_(test|fuzz|testing|random)\.[ch]$")
PLUMBING = re.compile(
    r"(st|status) (==|!=) RT_OK|rt_buf_(init|deinit)\(|goto done|\bnomem\(|memset\(|"
    r"(==|!=) NULL|rt_(free|new_array|object_unref|arena_free)\(|return st;$")
PEERS = [{"cli", "terminal", "server"}, {"cli", "tree", "server"}, {"cli", "tui", "server"}, {"store", "formats", "llm", "hooks"}]
SMALL_CYCLE = 3


def sources(root=ROOT):
    for path in sorted(glob.glob(os.path.join(root, "src/*/*.[ch]"))):
        if not TESTS.search(path):
            yield path


def measure_files():
    lines, plumbing, files = (collections.Counter() for _ in range(3))
    sideways = 0
    for path in sources():
        folder = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as file:
            text = file.read().split("\n")[:-1]
        lines[folder] += len(text)
        files[folder] += 1
        plumbing[folder] += sum(1 for line in text if PLUMBING.search(line))
        for line in text:
            match = re.match(r'\s*#\s*include\s*"(\w+)/', line)
            if match and match[1] != folder:
                sideways += any({folder, match[1]} <= peers for peers in PEERS)
    return lines, plumbing, files, sideways


def symbols(paths):
    """For each object, the symbols that it defines and those that it leaves undefined."""
    found = {path: (set(), set()) for path in paths}
    if not found:
        return found
    out = subprocess.run(["nm", "--print-file-name", *found], stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        *_, kind, name = rest.split()
        if kind == "U":
            found[path][1].add(name)
        elif kind in "TDRBVW":
            found[path][0].add(name)
    return found


def strongly_connected(edges):
    """Tarjan's algorithm without recursion."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in edges:
        if start in index:
            continue
        work = [(start, iter(edges[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(edges[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        other = stack.pop()
                        on_stack.discard(other)
                        group.append(other)
                        if other == node:
                            break
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found, key=lambda group: (-len(group), group))


def measure_cycles(build, root=ROOT):
    """Groups of files that depend on each other, the largest first."""
    defines, needs, names = {}, {}, {}
    for path in glob.glob(os.path.join(build, "src/librt_*.a.p/*.c.o")):
        layer = re.search(r"librt_(\w+)\.a\.p", path)[1]
        if layer.endswith("_tiny"):
            continue
        # src/log/heads.c is log_heads.c.o in the library of its layer; generated files have no
        # directory.
        folder, file = os.path.basename(path)[:-4].split('_', 1)
        generated = folder.startswith("meson-")
        if not generated and not os.path.exists(os.path.join(root, "src", folder, file + ".c")):
            continue  # the object of a file that was moved
        names[path] = f"{layer if generated else folder}/{file}"
    for path, (defined, needed) in symbols(names).items():
        name = names[path]
        needs[name] = needed
        for symbol in defined:
            defines[symbol] = name
    edges = {name: {defines[s] for s in wanted if s in defines} - {name}
             for name, wanted in needs.items()}
    return strongly_connected(edges)


def figures(build):
    lines, plumbing, files, sideways = measure_files()
    groups = measure_cycles(build)
    found = {
        "lines": {**dict(sorted(lines.items())), "all": sum(lines.values())},
        "plumbing percent": round(100 * sum(plumbing.values()) / sum(lines.values()), 1),
        "sideways includes": sideways,
        "largest cycle": max((len(group) for group in groups), default=0),
        "files in cycles": sum(len(group) for group in groups),
        "files": dict(sorted(files.items())),
    }
    return found, groups


def flat(found):
    for name, value in found.items():
        if isinstance(value, dict):
            for key, number in value.items():
                yield f"{name}: {key}", number
        else:
            yield name, value


def main():
    words = sys.argv[1:]
    mode = words.pop(0) if words and words[0].startswith("--") else ""
    build = os.path.abspath(words[0]) if words else os.path.join(ROOT, "build/obj")
    found, groups = figures(build)
    if mode == "--write":
        # Rounded up: a fix of a few lines needs no new limit.
        found["lines"] = {name: -(-number // 100) * 100 for name, number in found["lines"].items()}
        with open(LIMITS, "w", encoding="utf-8") as file:
            json.dump(found, file, indent="\t")
            file.write("\n")
        return 0
    if mode == "--check":
        with open(LIMITS, encoding="utf-8") as file:
            limits = dict(flat(json.load(file)))
        failed = [f"{name} is {value}, the limit is {limits.get(name, 'not set')}"
                  for name, value in flat(found) if value > limits.get(name, -1)]
        for line in failed:
            print("not ok:", line)
        print(f"{len(limits) - len(failed)} passed, {len(failed)} failed")
        return 1 if failed else 0
    for name, value in flat(found):
        print(f"{value:>9}  {name}")
    for group in groups:
        if len(group) > SMALL_CYCLE:
            print(f"cycle of {len(group)}: " + " ".join(group))
    return 0


if __name__ == "__main__":
    sys.exit(main())
