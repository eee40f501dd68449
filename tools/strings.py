#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the strings that users see, by surface, for review.

    tools/strings.py [SURFACE ...]   print the strings (all surfaces by default)
    tools/strings.py --files ...     the same, under the name of each source file
    tools/strings.py --check         report strings with a pattern that docs/style.md rejects

Surfaces are cli, tui, server, engine and web. A string is a C string literal (adjacent literals
are joined, format specifications stay) or a string, template or text of the page, with at least
two words. SQL, JSON, headers and test data are left out. The pages in docs/ and README.md are
checked line by line, code blocks excepted. The exit status of --check is 1 if anything was found.
"""
import glob
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SURFACES = {
    "cli": ["cli", "app", "program"],
    "tui": ["tui", "terminal", "tree"],
    "server": ["server"],
    "engine": ["base", "codec", "core", "store", "files", "log", "ops", "view", "chat",
               "markup", "formats", "llm", "hooks", "library"],
    "web": [],
}
PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md"]
# The story of the tour is fiction.
SOURCES_LEFT_OUT = {"src/cli/demo_story.c"}
# Pages whose wording is quoted from elsewhere or that list the patterns themselves.
PAGES_LEFT_OUT = {"docs/style.md", "docs/seeds.md"}

C_TOKEN = re.compile(r"""
      /\*.*?\*/ | //[^\n]*                  # comment
    | "(?:\\.|[^"\\\n])*"                   # string
    | '(?:\\.|[^'\\\n])*'                   # character
    | ^[ \t]*\#[ \t]*include[^\n]*          # include
    | \bPRI[A-Za-z0-9]+                     # format macro
    | \s+ | .
    """, re.X | re.S | re.M)
TS_TOKEN = re.compile(r"""
      /\*.*?\*/ | (?<![:"'`\w])//[^\n]*     # comment
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*`
    | (?:(?<=[(,=:!&|?\[])|(?<=[(,=:!&|?\[][ ]))/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/[a-z]*
    | (?<=>)[^<>{}`"=;()]*[A-Za-z][^<>{}`"=;()]*(?=[<{])   # text of an element
    | (?<=[^=]>)\s*[A-Z][a-z’']*[ ,][^<>{}`=;]*(?=[<{])    # with brackets
    | (?<=\})\s*[A-Za-z][a-z’']*[ ,.][^<>{}`=;()"]*(?=[<{])
    | .
    """, re.X | re.S)
WORDS = re.compile(r"[A-Za-z’']{2,}[,:;.]?\)? +[\"“(%{$<]?[A-Za-z%{$<]")
NOT_ENGLISH = re.compile(
    r"^\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE|DROP|ALTER|PRAGMA|WITH \w+ AS|BEGIN |REPLACE INTO|"
    r"(export|declare|interface|const|let|function|class) \w|"
    r"\w+ ?= ?\?|FROM |WHERE |ORDER BY|LISTEN |HTTP/|[A-Za-z-]+: [a-z-]+/|<\w|</|[{\[]\"|--[a-z-]+ [A-Z]+$)"
    r"|^[MmLlHhVvZzCcAa\d .,-]+$|^[\w%/-]+; ?[\w-]+=|^(script|style|img)-src ")

ESCAPES = {"n": "\n", "t": " ", '"': '"', "\\": "\\", "'": "'", "`": "`", "$": "$"}


def unquote(text):
    return re.sub(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|.)",
                  lambda m: ESCAPES.get(m[1], "�" if len(m[1]) > 1 else m[1]), text, flags=re.S)


def c_strings(text):
    joined, at = None, 0
    for token in C_TOKEN.finditer(text):
        word = token[0]
        if word[0] == '"':
            if joined is None:
                joined, at = "", token.start()
            joined += unquote(word[1:-1])
        elif word.startswith("PRI"):
            if joined is not None:
                joined += "d"
        elif word.isspace() or word.startswith(("/*", "//")):
            pass
        elif joined is not None:
            yield at, joined
            joined = None
    if joined is not None:
        yield at, joined


def web_strings(text):
    for token in TS_TOKEN.finditer(text):
        word = token[0]
        if len(word) < 2 or word.startswith(("/*", "//")):
            continue
        if word[0] == "/":
            continue
        if word[0] in "\"'`" and word[-1] == word[0]:
            yield token.start(), unquote(word[1:-1])
        else:
            yield token.start(), " ".join(word.split())


def is_shown(text):
    return bool(WORDS.search(text)) and not NOT_ENGLISH.search(text)


def sources(surface):
    if surface == "web":
        found = glob.glob(ROOT + "/web/*.ts") + glob.glob(ROOT + "/web/*.tsx") + \
            glob.glob(ROOT + "/web/*.html")
        return [path for path in sorted(found) if not path.endswith(".d.ts")]
    found = []
    for folder in SURFACES[surface]:
        for ending in ("c", "h", "def"):
            found += glob.glob("%s/src/%s/**/*.%s" % (ROOT, folder, ending), recursive=True)
    return sorted(path for path in found if not re.search(r"_test\.c$|_fuzz\.[ch]$|_testing\.h$|_random\.h$|/test_", path))


def strings(surface):
    """Yields (file, line, text) of each string of a surface."""
    for path in sources(surface):
        name = os.path.relpath(path, ROOT)
        if name in SOURCES_LEFT_OUT:
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        read = web_strings if surface == "web" else c_strings
        for at, string in read(text):
            if is_shown(string):
                yield name, text.count("\n", 0, at) + 1, string


def page_lines():
    for pattern in PAGES:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            name = os.path.relpath(path, ROOT)
            if name in PAGES_LEFT_OUT:
                continue
            fenced = False
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if line.lstrip().startswith("```"):
                        fenced = not fenced
                    elif not fenced:
                        yield name, number, line.rstrip("\n")


def rejected_patterns():
    """The table in docs/style.md: | `pattern` | instead |, patterns are regular expressions."""
    with open(os.path.join(ROOT, "docs/style.md"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| `([^`]+)` \|", text.split("## Rejected patterns", 1)[1], re.M)
    return [(row, re.compile(row.replace(r"\|", "|"), re.I)) for row in rows]


def check(surfaces):
    patterns = rejected_patterns()
    if not patterns:
        sys.exit("strings: docs/style.md has no table of rejected patterns")
    found = checked = 0
    groups = [strings(surface) for surface in surfaces] + [page_lines()]
    for group in groups:
        for name, line, text in group:
            checked += 1
            text = re.sub(r"\$\{[^{}]*\}", "${}", text)
            for shown, pattern in patterns:
                if pattern.search(text):
                    found += 1
                    print("%s:%d: `%s`: %s" % (name, line, shown, " ".join(text.split())[:160]))
    print("strings: %d checked, %d rejected" % (checked, found))
    return 1 if found else 0


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    flags = {word for word in sys.argv[1:] if word.startswith("--")}
    unknown = [word for word in words if word not in SURFACES] + list(flags - {"--check", "--files"})
    if unknown:
        sys.exit("strings: unknown argument %s\n%s" % (unknown[0], __doc__))
    surfaces = words or list(SURFACES)
    if "--check" in flags:
        sys.exit(check(surfaces))
    for surface in surfaces:
        print("# " + surface)
        last, seen = None, set()
        for name, _, text in strings(surface):
            if "--files" in flags and name != last:
                print("\n## " + name)
                last = name
            line = " ".join(text.split())
            if line not in seen:
                seen.add(line)
                print(line)
        print()


if __name__ == "__main__":
    main()
