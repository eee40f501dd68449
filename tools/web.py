#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the web interface and writes it as C: tools/web.py DEPS OUTPUT.c [export]

web/main.tsx, web/early.ts, web/math_lib.ts and web/style.css become one file each (esbuild).
The page refers to them by a hash of their contents, so that browsers can cache them
indefinitely. Without esbuild or a library the table is empty, and the server's page explains
how to get them.

OP_WORDS in a source is the table of the operations' words (src/core/op.def).

With "export" it writes the script and the style of exported pages (src/formats/html_part.h):
web/export_page.tsx, web/export.css and web/math_lib.ts."""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
         ".webmanifest": "application/manifest+json"}


def op_words():
    """{name: what it did} of the operations, as {"entry.edit": "edited an entry"}."""
    with open(os.path.join(ROOT, "src/core/op.def"), encoding="utf-8") as file:
        return dict(re.findall(r'^OP\(\w+, \w+, "([^"]+)".*?\.done = "([^"]+)"', file.read(), re.M | re.S))


def build(deps, folder, *sources):
    """Runs esbuild, which bundles each source into one file."""
    esbuild = os.path.join(deps, "esbuild/bin/esbuild")
    subprocess.run(
        [esbuild, *(os.path.join(ROOT, "web", source) for source in sources),
         "--bundle", "--minify", "--target=es2021", "--format=iife", "--charset=utf8",
         "--jsx=automatic", "--jsx-import-source=preact", "--legal-comments=none",
         "--tsconfig-raw={}", f"--define:OP_WORDS={json.dumps(op_words())}", "--log-level=warning", "--log-override:package.json=silent", f"--outdir={folder}"],
        env={**os.environ, "NODE_PATH": os.path.join(deps, "node_modules")}, check=True)


def bundle(deps, folder):
    """{name: bytes} of the files of the page."""
    build(deps, folder, "main.tsx", "early.ts", "theme_early.ts", "math_lib.ts", "style.css")
    found = {}
    with open(os.path.join(ROOT, "web/index.html"), encoding="utf-8") as file:
        page = file.read()
    for name in ("main.js", "early.js", "theme_early.js", "math_lib.js", "style.css"):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        stem, ending = os.path.splitext(name)
        hashed = f"/web/{stem}-{hashlib.sha256(data).hexdigest()[:16]}{ending}"
        if f"/web/{name}" not in page:
            sys.exit(f"web/index.html does not name /web/{name}")
        page = page.replace(f"/web/{name}", hashed)
        found[hashed] = data
    if page.count("@store@") != 1 or page.find("@store@") > page.find("/web/early"):
        sys.exit("web/index.html does not name its store once, before its first script")
    # These keep their names: the browser checks for newer versions at the same URL.
    for path, name in (("/web/icon.svg", "icon.svg"), ("/sw.js", "sw.js"),
                       ("/web/manifest.webmanifest", "manifest.webmanifest")):
        with open(os.path.join(ROOT, "web", name), "rb") as file:
            found[path] = file.read()
    found["/"] = page.encode()
    return found


def parts(deps, folder):
    """{name: bytes} of the parts of an exported page."""
    build(deps, folder, "export_page.tsx", "math_lib.ts", "export.css")
    with open(os.path.join(folder, "export_page.js"), encoding="utf-8") as file:
        script = file.read()
    with open(os.path.join(folder, "math_lib.js"), encoding="utf-8") as file:
        math = file.read()
    with open(os.path.join(folder, "export.css"), encoding="utf-8") as file:
        style = file.read()
    # These can only occur in strings and patterns, where the escape means the same.
    script, math = (re.sub(r"<(?=!--|/?script|/?style)", r"\\x3c", text, flags=re.I) for text in (script, math))
    for text in (script, math, style):
        if re.search(r"<!--|</?script|</?style|\r|\0", text, re.I):
            sys.exit("an exported page could not hold its own script or style")
    return {"script": script.encode(), "math": math.encode(), "style": style.encode()}


def write_parts(out, found):
    """The sizes are 0 without esbuild."""
    out.write("/* Made by tools/web.py. */\n#include \"formats/html_part.h\"\n\n")
    for name in ("script", "math", "style"):
        data = found.get(name, b"")
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        out.write(f"static const unsigned char {name}_bytes[] = {{")
        out.write(",".join(map(str, data or b"\0")) + "};\n")
        out.write(f"const rt_html_part rt_html_{name} = "
                  f"{{{name}_bytes, {len(data)}, \"'sha256-{digest}'\"}};\n")


def write_assets(out, files):
    """The table that src/server/page.h declares."""
    out.write("/* Made by tools/web.py. */\n#include \"server/page.h\"\n\n")
    for i, data in enumerate(files.values()):
        out.write(f"static const unsigned char file_{i}[] = {{")
        out.write(",".join(map(str, data)) + "};\n")
    out.write("\nconst rt_asset rt_assets[] = {\n")
    for i, (path, data) in enumerate(files.items()):
        kind = TYPES[os.path.splitext(path)[1] or ".html"]
        out.write(f'\t{{"{path}", "{kind}", file_{i}, {len(data)}}},\n')
    out.write("\t{0, 0, 0, 0}};\n")


def main():
    deps, output = sys.argv[1:3]
    is_export = sys.argv[3:] == ["export"]
    needed = ("esbuild/bin/esbuild", "preact/package.json", "highlight/package.json", "temml/package.json")
    files = {}
    if all(os.path.exists(os.path.join(deps, name)) for name in needed):
        with tempfile.TemporaryDirectory() as folder:
            make = parts if is_export else bundle
            files = make(os.path.abspath(deps), folder)
    with open(output, "w", encoding="ascii") as out:
        if is_export:
            write_parts(out, files)
        else:
            write_assets(out, files)


if __name__ == "__main__":
    main()
