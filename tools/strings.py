#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the strings that users see, by surface, for review.

    tools/strings.py [SURFACE ...]          print the strings (all surfaces by default)
    tools/strings.py --files ...            the same, under the name of each source file
    tools/strings.py --check                report strings with a pattern that docs/style.md rejects
    tools/strings.py --comments [PATH ...]  report such comments, with a total for each directory

Surfaces are cli, tui, server, engine and web. A string is a C string literal (adjacent literals
are joined, format specifications stay) or a string, template or text of the page, with at least
two words. SQL, JSON, headers and test data are left out. The pages in docs/ and README.md are
checked line by line, code blocks excepted. Comments include the docstrings of Python; lines of comment
that follow each other are one comment. Patterns whose row in docs/style.md says "(strings only)" do
not apply to comments, and those with "(comments only)" not to strings. The exit status of --check and
--comments is 1 if anything was found.
"""
import collections
import glob
import io
import os
import re
import sys
import tokenize

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SURFACES = {
    "cli": ["cli", "app", "program"],
    "tui": ["tui", "terminal", "tree"],
    "server": ["server"],
    "engine": ["base", "codec", "core", "store", "files", "log", "ops", "view", "chat",
               "markup", "formats", "llm", "hooks", "library", "importers",
               "accounts", "signin"],
    "web": [],
}
COMMENTED = ["src", "include", "web", "tests", "tools", "bench", "examples"]
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
    # Messages of static assertions are for developers; the offsets of the rest stay the same.
    text = re.sub(r"\b_Static_assert\([^;]*;", lambda m: re.sub(r"[^\n]", " ", m[0]), text)
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


def c_comments(text, grammar=C_TOKEN):
    """Comments of C, or of TypeScript and CSS with their grammar."""
    for token in grammar.finditer(text):
        if token[0].startswith(("/*", "//")):
            yield token.start(), token[0]


def web_comments(text):
    return c_comments(text, TS_TOKEN)


def python_comments(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    is_first = True  # of a statement: then a string is a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and is_first:
            yield at, token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            is_first = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def shell_comments(text):
    """Lines that begin with #, # after a command, and docstrings of a Python program in the script."""
    for found in re.finditer(r"""^[ \t]*(#.*|\"\"\".*?\"\"\")|^[^#"'\n]*[ \t](#[ ].*)""", text, re.M):
        group = 1 if found[1] else 2
        yield found.start(group), found[group]


READERS = {
    (".c", ".h", ".def", ".cpp"): c_comments,
    (".ts", ".tsx", ".mjs", ".js", ".css"): web_comments,
    (".py",): python_comments,
    (".sh", ".build"): shell_comments,
}


def comments_of(path):
    """Yields (line, text) of each comment of a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ending = os.path.splitext(path)[1]
    reader = next((READERS[endings] for endings in READERS if ending in endings), None)
    if reader is None and text.startswith("#!"):
        reader = python_comments if "python" in text.split("\n", 1)[0] else shell_comments
    if reader is None:
        return
    joined, first, last = [], 0, -1
    for at, comment in reader(text):
        line = text.count("\n", 0, at) + 1
        is_alone = not text[text.rfind("\n", 0, at) + 1:at].strip()
        if joined and not (is_alone and line == last + 1 and comment[:2] != "/*"):
            yield first, " ".join(joined)
            joined = []
        if not joined:
            first = line
        last = line + comment.count("\n")
        for words in comment.split("\n"):
            joined.append(re.sub(r"^\s*(/\*+|//+|#+!?|\*(?!/))?\s*|\s*(\*/)?\s*$", "", words))
    if joined:
        yield first, " ".join(joined)


def commented(paths):
    """The files under the paths, without generated ones."""
    for top in paths:
        found = [top] if os.path.isfile(top) else glob.glob(top + "/**/*", recursive=True)
        for path in sorted(found):
            if os.path.isfile(path) and not re.search(r"/node_modules/|\.generated\.|__pycache__", path) \
                    and os.path.splitext(path)[1] not in (".txt", ".json", ".svg", ".html", ".png"):
                yield path


def check_comments(paths):
    patterns = [(shown, pattern) for shown, pattern, only in pattern_rows() if only != "strings"]
    checked, found = collections.Counter(), collections.Counter()
    for path in commented(paths or [os.path.join(ROOT, top) for top in COMMENTED]):
        name = os.path.relpath(path, ROOT)
        parts = name.split("/")[:-1]
        folder = "/".join(parts[:2 if parts[:1] in (["src"], ["tests"]) else 1])
        for line, text in comments_of(path):
            checked[folder] += 1
            hits = [(shown, hit[0]) for shown, pattern in patterns if (hit := pattern.search(text))]
            found[folder] += bool(hits)
            for shown, words in hits:
                at = text.find(words)
                print("%s:%d: `%s`: %s" % (name, line, shown, text[max(at - 60, 0):at + 100].strip()))
    for folder in checked:
        print("%-20s %5d comments, %4d rejected" % (folder, checked[folder], found[folder]))
    print("%-20s %5d comments, %4d rejected" % ("all", checked.total(), found.total()))
    return 1 if found.total() else 0


def pattern_rows():
    """The table in docs/style.md: | `pattern` | instead |, patterns are regular expressions. With each
    pattern: "strings" or "comments" if it applies only to these, else None."""
    with open(os.path.join(ROOT, "docs/style.md"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| `([^`]+)` \|(.*)", text.split("## Rejected patterns", 1)[1], re.M)
    if not rows:
        sys.exit("strings: docs/style.md has no table of rejected patterns")
    return [(row, re.compile(row.replace(r"\|", "|"), re.I),
             (re.findall(r"\((strings|comments) only\)", instead) or [None])[0])
            for row, instead in rows]


def check(surfaces):
    patterns = [(shown, pattern) for shown, pattern, only in pattern_rows() if only != "comments"]
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
    if flags == {"--comments"}:
        sys.exit(check_comments(words))
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
