#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the web interface and writes it as C: tools/web.py DEPS OUTPUT.c

web/main.tsx and web/style.css become one file each (esbuild), which the page names by a hash
of their bytes, so that browsers may keep them for ever. Without esbuild or what it needs the
table is empty, and the server's page says what there is instead."""
import hashlib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def bundle(deps, folder):
    """{name: bytes} of the files that the page consists of."""
    esbuild = os.path.join(deps, "esbuild/bin/esbuild")
    subprocess.run(
        [esbuild, os.path.join(ROOT, "web/main.tsx"), os.path.join(ROOT, "web/style.css"),
         "--bundle", "--minify", "--target=es2021", "--format=iife", "--charset=utf8",
         "--jsx=automatic", "--jsx-import-source=preact", "--legal-comments=none",
         "--log-level=warning", f"--outdir={folder}"],
        env={**os.environ, "NODE_PATH": os.path.join(deps, "node_modules")}, check=True)
    found = {}
    with open(os.path.join(ROOT, "web/index.html"), encoding="utf-8") as file:
        page = file.read()
    for name in ("main.js", "style.css"):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        stem, ending = os.path.splitext(name)
        hashed = f"/web/{stem}-{hashlib.sha256(data).hexdigest()[:16]}{ending}"
        if f"/web/{name}" not in page:
            sys.exit(f"web/index.html does not name /web/{name}")
        page = page.replace(f"/web/{name}", hashed)
        found[hashed] = data
    with open(os.path.join(ROOT, "web/icon.svg"), "rb") as file:
        found["/web/icon.svg"] = file.read()
    found["/"] = page.encode()
    return found


def main():
    deps, output = sys.argv[1:]
    needed = ("esbuild/bin/esbuild", "preact/package.json", "highlight/package.json")
    files = {}
    if all(os.path.exists(os.path.join(deps, name)) for name in needed):
        with tempfile.TemporaryDirectory() as folder:
            files = bundle(os.path.abspath(deps), folder)
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Made by tools/web.py. */\n#include \"server/asset.h\"\n\n")
        for i, data in enumerate(files.values()):
            out.write(f"static const unsigned char file_{i}[] = {{")
            out.write(",".join(map(str, data)) + "};\n")
        out.write("\nconst rt_asset rt_assets[] = {\n")
        for i, (path, data) in enumerate(files.items()):
            kind = TYPES[os.path.splitext(path)[1] or ".html"]
            out.write(f'\t{{"{path}", "{kind}", file_{i}, {len(data)}}},\n')
        out.write("\t{0, 0, 0, 0}};\n")


if __name__ == "__main__":
    main()
