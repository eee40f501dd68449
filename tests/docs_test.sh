#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/docs_test.sh [--write]
#
# The documentation agrees with the program:
#
#   commands    every `retake COMMAND --flag` in a block marked sh or console, or in a text, is
#               known to `retake help`, every `make TARGET` in such a block to the Makefile; no line
#               of such a block has several commands because it was wrapped like a text
#   walk        the commands of the README's walk-through exit with 0 and print what the page
#               shows (except for times)
#   operations  the table in docs/contract.md is the output of `retake help operations`
#   api         docs/api.md is the output of `retake serve --print-docs`
#   events      the tables in docs/hooks.md are the output of `retake help events`, and the events of
#               operations that of `retake help operations`
#   keys        the tables in docs/keys.md are the output of `retake help keys`
#   example     the program in docs/library.md is examples/hello.c
#   findings    docs/storage.md lists exactly the findings of fsck
#   contract    every rule of docs/contract.md has a test under its number, or names its test
#   seeds       every statement in docs/seeds.md has an existing test, or a reason; every
#               test of seed 4 is listed
#   config      the table in docs/models.md is the output of `retake help config`, with every key
#   play        the script in docs/models.md plays unchanged
#   hook        the first hook of docs/hooks.md keeps a key from being sent
#   providers   README.md, docs/models.md and `retake help environment` name every provider and
#               the variables of their keys
#   formats     README.md and docs/formats.md list the formats that the program lists
#   links       relative links in all pages have an existing target, including headings
#   decisions   the records are numbered from 1, in their names and headings
#   names       files, tests and programs that the pages name exist
#   wording     no string that users see, no page, and no comment of the checked directories has
#               a pattern that docs/style.md rejects
#
# With --write the pages are updated with the program's output: the walk-through, the tables of
# operations, events, keys and config.toml, the example. RETAKE names the program (build/retake).
set -eu
cd "$(dirname "$0")/.."
RETAKE=$(realpath "${RETAKE:-build/retake}")
export RETAKE
exec python3 - "$@" <<'PYTHON'
import glob
import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

WRITE = "--write" in sys.argv[1:]
RETAKE = os.environ["RETAKE"]
passed = failed = 0


def result(ok, name, *details):
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print("FAILED: " + name)
    for text in details:
        for line in str(text).splitlines()[:20]:
            print("    " + line)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def help_json(*words):
    done = subprocess.run([RETAKE, "help", *words, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


PAGES = sorted(path for path in glob.glob("**/*.md", recursive=True)
               if path.split("/")[0] not in ("build", "node_modules", "fuzz"))
MINE = [p for p in PAGES if p in ("README.md", "ARCHITECTURE.md") or p.startswith("docs/")]

# ---- blocks ----

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)


def command_lines(page):
    """Lines of shell in blocks marked sh, after "$ " in blocks marked console, and `retake …` in a text."""
    for match in FENCE.finditer(read(page)):
        kind, text = match.groups()
        for line in text.replace("\\\n", " ").splitlines():
            if kind == "sh" and line.strip():
                yield line
            elif kind == "console" and line.startswith("$ "):
                yield line[2:]
    yield from re.findall(r"(?<!`)`(retake [^`]+)`", FENCE.sub("", read(page)))


# ---- commands ----

def parts(line):
    """The simple commands of a line, as lists of words without redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    words = []
    skip = False
    for word in lexer:
        if re.fullmatch(r"[|;&]+", word):
            yield words
            words = []
        elif re.fullmatch(r"[<>]+&?", word):
            skip = True
        elif skip:
            skip = False
        elif word == "#":
            break
        else:
            words.append(word)
    yield words


def check_retake(words, commands, global_flags):
    """An error in the words after "retake"; None: none."""
    flags = {f["name"]: f for f in global_flags}
    flags.update({f["short"]: f for f in global_flags if "short" in f})
    at, verb = 0, None
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            break
        name = word.split("=")[0]
        if word.startswith("-") and len(word) > 1 and not re.match(r"-\d", word):
            if name not in flags:
                return f"{verb or 'retake'} knows no flag {name}"
            if flags[name].get("value") and "=" not in word:
                at += 1
        elif verb is None:
            verb = word
            if verb not in commands:
                is_hidden = subprocess.run([RETAKE, "help", verb], capture_output=True).returncode == 0
                return None if is_hidden else f'no command "{verb}"'
            for flag in commands[verb]["flags"]:
                flags[flag["name"]] = flag
                if "short" in flag:
                    flags[flag["short"]] = flag
    return None


JOINED = ("retake watch # first the changed ones retake watch claude-code", "retake a # one retake b # two",
          "watch, and exit systemctl --user enable")
SEPARATE = ("retake ls --deleted   # retake revert STEP restores one", "retake archive x   # hidden; retake ls lists it",
            "make   # builds build/retake and build/retake-bench", "# the newest request", "retake show '# heading'")


def is_joined(line):
    """Does a line look like several commands with comments, joined like the lines of a text?"""
    comment = re.search(r"(?:^|\s)# (.*)", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line))
    return re.match(r"[a-z]+[,;:.](\s|$)", line) is not None or \
        comment is not None and re.search(r"\s# |\w retake [a-z]", comment[1]) is not None


def check_commands():
    for line in JOINED + SEPARATE:
        result(is_joined(line) == (line in JOINED), f"joined commands: {line}")
    table = help_json()
    if table is None:
        result(False, "commands", f"{RETAKE} help --json failed")
        return
    commands = {c["name"]: c for c in table["commands"]}
    targets = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.M))
    for page in MINE:
        wrong = []
        for line in command_lines(page):
            if is_joined(line):
                wrong.append(f"{line}: more than one command in a line")
            try:
                simple = list(parts(line))
            except ValueError as bad:
                wrong.append(f"{line}: {bad}")
                continue
            for words in simple:
                while words and re.match(r"^\w+=", words[0]):
                    words = words[1:]
                if not words:
                    continue
                if os.path.basename(words[0]) == "retake":
                    why = check_retake(words[1:], commands, table["flags"])
                    if why:
                        wrong.append(f"{line}: {why}")
                elif words[0] == "make":
                    for word in words[1:]:
                        if "=" not in word and not word.startswith("-") and word not in targets:
                            wrong.append(f"{line}: no target {word}")
                elif "/" in words[0] and not os.path.exists(words[0]):
                    wrong.append(f"{line}: {words[0]} is not there")
        result(not wrong, f"commands in {page}", *wrong)


# ---- walk ----

WALK = re.compile(r"(<!-- walk -->\n)(.*?)(<!-- /walk -->)", re.S)


def mask(text):
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "2026-11-21 20:35", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-21T20:35:40Z", text)


def run_walk(commands):
    """Runs commands in one shell; returns (exit status, output) of each."""
    mark = "\x01"
    script = "".join(f"{{ {c}\n}} 2>&1; printf '\\001%d\\n' $?\n" for c in commands)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/bin")
        os.symlink(os.path.abspath(RETAKE), folder + "/bin/retake")
        os.mkdir(folder + "/work")
        env = {"PATH": folder + "/bin:" + os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8",
               "TZ": "UTC"}
        done = subprocess.run(["bash", "-c", script], cwd=folder + "/work", env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace")
    pieces = done.stdout.split(mark)
    outputs, before = [], pieces[0]
    for piece in pieces[1:]:
        status, _, rest = piece.partition("\n")
        outputs.append((int(status), before))
        before = rest
    return outputs


def check_walk():
    page = "README.md"
    text = read(page)
    match = WALK.search(text)
    if not match:
        result(False, "walk", "README.md has no walk through")
        return
    commands, wanted = [], []
    for kind, block in FENCE.findall(match[2]):
        if kind != "console":
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
                wanted.append([])
            else:
                wanted[-1].append(line)
    outputs = run_walk(commands)
    result(len(outputs) == len(commands), "walk: all commands ran")
    for command, output, want in zip(commands, outputs, wanted):
        status, said = output
        result(status == 0, f"walk: {command}", f"exit status {status}", said)
        if not WRITE:
            said = mask(said).rstrip("\n").splitlines()
            result(said == want, f"walk: what {command} prints", "the page:", *want,
                   "the program:", *said)
    if not WRITE or len(outputs) != len(commands):
        return
    said = iter(outputs)

    def fill(block):
        if block[1] != "console":
            return block[0]
        lines = []
        for line in block[2].splitlines():
            if line.startswith("$ "):
                lines.append(line)
                lines += mask(next(said)[1]).rstrip("\n").splitlines()
        return "```console\n" + "\n".join(lines) + "\n```"

    walk = match[1] + FENCE.sub(fill, match[2]) + match[3]
    write(page, text[:match.start()] + walk + text[match.end():])


# ---- operations ----

OPERATIONS = re.compile(r"(<!-- operations -->\n)(.*?)(<!-- /operations -->)", re.S)


def operations_table():
    rows = ["| operation | fields |", "|---|---|"]
    for op in help_json("operations") or []:
        fields = []
        for field in op["fields"]:
            notes = [field["type"]]
            if field.get("required"):
                notes.append("required")
            if field.get("nullable"):
                notes.append("or null")
            about = field["about"].replace("<", "&lt;").replace("|", "\\|")
            fields.append(f"`{field['name']}` ({', '.join(notes)}): {about}")
        rows.append(f"| `{op['op']}`: {op['about']} | {'<br>'.join(fields) or 'none'} |")
    return "\n".join(rows) + "\n"


def check_operations():
    page = "docs/contract.md"
    text = read(page)
    match = OPERATIONS.search(text)
    table = operations_table()
    if match and WRITE:
        write(page, text[:match.start(2)] + table + text[match.end(2):])
        return
    result(match is not None and match[2] == table, "operations in docs/contract.md",
           "bring it up to date: tests/docs_test.sh --write")


# ---- events ----

EVENTS = re.compile(r"(<!-- events -->\n)(.*?)(<!-- /events -->)", re.S)
OPERATION_EVENTS = re.compile(r"(<!-- operation events -->\n)(.*?)(<!-- /operation events -->)", re.S)


def cell(text):
    return text.replace("<", "&lt;").replace("|", "\\|")


def events_tables():
    table = help_json("events") or {"members": {}, "events": []}
    rows = ["| member | meaning |", "|---|---|"]
    rows += [f"| `{name}` | {cell(about)} |" for name, about in table["members"].items()]
    rows += ["", "| event | may | members | match |", "|---|---|---|---|"]
    for event in table["events"]:
        name = f"`{event['name']}`" + (f" (`{event['alias']}`)" if "alias" in event else "")
        may = ["deny"] if event["deny"] else []
        may += ["replace " + ", ".join(f"`{m}`" for m in event["replace"])] if event["replace"] else []
        may += ["summarise"] if event["summary"] else []
        members = "<br>".join(f"`{m}`: {cell(about)}" for m, about in event["members"].items())
        rows.append(f"| {name}: {cell(event['when'])} | {', '.join(may)} | {members} | "
                    f"{' '.join(f'`{m}`' for m in event['match'])} |")
    return "\n".join(rows) + "\n"


def operation_events_table():
    groups = {}
    for op in help_json("operations") or []:
        groups.setdefault(tuple(op["events"]), []).append(op["op"])
    rows = ["| operations | events |", "|---|---|"]
    rows += ["| " + ", ".join(f"`{op}`" for op in ops) + " | " + ", ".join(f"`{event}`" for event in events) + " |"
             for events, ops in groups.items() if events]
    return "\n".join(rows) + "\n"


def check_events():
    page = "docs/hooks.md"
    for pattern, table in (EVENTS, events_tables()), (OPERATION_EVENTS, operation_events_table()):
        text = read(page)
        match = pattern.search(text)
        if match and WRITE:
            write(page, text[:match.start(2)] + table + text[match.end(2):])
            continue
        result(match is not None and match[2] == table, "events in docs/hooks.md",
               "bring it up to date: tests/docs_test.sh --write")


# ---- keys ----

KEYS = re.compile(r"(<!-- keys -->\n)(.*?)(<!-- /keys -->)", re.S)


def check_keys():
    page = "docs/keys.md"
    text = read(page)
    match = KEYS.search(text)
    done = subprocess.run([RETAKE, "help", "keys", "--markdown"], capture_output=True, text=True)
    tables = "\n" + done.stdout + "\n"
    if match and WRITE:
        write(page, text[:match.start(2)] + tables + text[match.end(2):])
        return
    result(match is not None and match[2] == tables, "keys in docs/keys.md",
           "bring it up to date: tests/docs_test.sh --write")
    known = {row["screen"] for row in help_json("keys") or []}
    result(all(f"`[{screen}]`" in text for screen in known), "every screen is in docs/keys.md")


# ---- config ----

CONFIG = re.compile(r"(<!-- config -->\n)(.*?)(<!-- /config -->)", re.S)


def check_config():
    page = "docs/models.md"
    text = read(page)
    keys = help_json("config") or {}
    table = "| key | meaning |\n|---|---|\n"
    table += "".join(f"| `{key}` | {cell(about)} |\n" for key, about in keys.items())
    match = CONFIG.search(text)
    if match and WRITE:
        write(page, text[:match.start(2)] + table + text[match.end(2):])
        return
    result(match is not None and match[2] == table, "config.toml in docs/models.md",
           "bring it up to date: tests/docs_test.sh --write")
    known = set()
    for words in re.findall(r"(?:top_keys|settings)\[\] = \{(.*?)\};", read("src/llm/config.c"), re.S):
        known |= set(re.findall(r'"(\w+)"', words))
    listed = {re.split(r"[.\]]", key.strip("["))[0] for key in keys}
    result(known == listed, "keys of config.toml in retake help config",
           f"not there: {sorted(known - listed)}", f"not read: {sorted(listed - known)}")


# ---- play, hook ----

def run_in(folder, *words):
    env = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return subprocess.run([RETAKE, *words], cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True)


def check_api():
    text = subprocess.run([RETAKE, "serve", "--print-docs"], capture_output=True, text=True,
                          check=True).stdout
    if WRITE:
        with open("docs/api.md", "w", encoding="utf-8") as file:
            file.write(text)
    result(os.path.exists("docs/api.md") and read("docs/api.md") == text,
           "docs/api.md is out of date: retake serve --print-docs > docs/api.md")


def check_play():
    match = re.search(r"<!-- play -->\n(.*?)<!-- /play -->", read("docs/models.md"), re.S)
    blocks = FENCE.findall(match[1]) if match else []
    if [kind for kind, _ in blocks] != ["json", "console"]:
        result(False, "play", "docs/models.md has no script with its console")
        return
    with tempfile.TemporaryDirectory() as folder:
        write(folder + "/talk.jsonl", blocks[0][1])
        said = ""
        for line in blocks[1][1].splitlines():
            if line.startswith("$ retake "):
                done = run_in(folder, *shlex.split(line[len("$ retake "):]))
                said += line + "\n" + done.stdout
    result(said == blocks[1][1], "play: the script in docs/models.md", said)


def check_hook():
    blocks = [text for kind, text in FENCE.findall(read("docs/hooks.md")) if kind == "python"]
    with tempfile.TemporaryDirectory() as folder:
        hooks = folder + "/.config/retake/hooks/request.before"
        os.makedirs(hooks)
        write(hooks + "/10-no-keys", blocks[0] if blocks else "")
        os.chmod(hooks + "/10-no-keys", 0o755)
        done = run_in(folder, "ask", "-m", "builtin/echo", "hello")
        result(done.returncode == 0, "hook: what has no key is sent", done.stdout, done.stderr)
        run_in(folder, "edit", ":1", "my key is sk-1234")
        done = run_in(folder, "ask", "-m", "builtin/echo", "and now?")
        result(done.returncode == 8, "hook: an edit with a key is not", done.stdout, done.stderr)


# ---- example ----

EXAMPLE = re.compile(r"(<!-- hello -->\n)(.*?)(<!-- /hello -->)", re.S)


def check_example():
    page = "docs/library.md"
    text = read(page)
    match = EXAMPLE.search(text)
    block = "```c\n" + read("examples/hello.c") + "```\n"
    if match and WRITE:
        write(page, text[:match.start(2)] + block + text[match.end(2):])
        return
    result(match is not None and match[2] == block, "the example in docs/library.md",
           "bring it up to date: tests/docs_test.sh --write")


# ---- findings ----

def check_findings():
    known = set()
    for path in ("src/log/fsck.c", "src/store/store_sqlite_check.c", "src/chat/send.h",
                 "src/log/collect.h"):
        comment = read(path)
        known |= set(re.findall(r"^ \*   ([a-z]+-[a-z-]+)  ", comment, re.M))
    for path in glob.glob("src/cli/*.c"):
        known |= set(re.findall(r'finding\([^"]*"([a-z]+-[a-z-]+)"', read(path)))
        known |= set(re.findall(r'\.id = "([a-z]+-[a-z-]+)"', read(path)))
    listed = set(re.findall(r"^\| `([a-z]+-[a-z-]+)` \| (?:error|warning|note) ",
                            read("docs/storage.md"), re.M))
    result(known == listed, "findings in docs/storage.md",
           f"not on the page: {sorted(known - listed)}", f"only on the page: {sorted(listed - known)}")


# ---- seeds ----

def tests_of(path):
    """Names of the test functions that a test program runs."""
    return set(re.findall(r"(?:RULE|TEST|WITH_WORLD|cmocka_unit_test)\((\w+)\)",
                          read(path).split("main(void)")[1]))


def named_in(path, name):
    """Does a test of that name exist, and does it run? In C a function, elsewhere also the name of a
    check."""
    text = read(path)
    runs = len(re.findall(rf"\b{re.escape(name)}\b", text)) > 1
    if path.endswith(".c"):
        return runs and re.search(rf"^{name}\(void \*\*|^(?:ROW|CASE|TEST)\({name}\)", text,
                                  re.M) is not None
    if re.search(rf"^\s*(?:async )?(?:def|function) {re.escape(name)}\b", text, re.M):
        return runs
    return any(quote + name + quote in text for quote in "\"'`")


def check_contract():
    rules = {}
    for path in glob.glob("tests/model/contract*_test.c"):
        for name in tests_of(path):
            if name.startswith("c"):
                rules.setdefault(name.split("_")[0].upper(), path)
    wrong = []
    page = read("docs/contract.md")
    listed = re.findall(r"^\| C(\d+a?) \|(.*)$", page, re.M)
    listed += re.findall(r"^- \*\*C(\d+a?)\*\*((?:.*\n(?!\S))*.*)$", page, re.M)
    if len({number for number, _ in listed}) < 70:
        wrong.append("not all rules were found")
    for number, row in listed:
        if "C" + number.upper() not in rules and not re.search(r"\(tested\s+in\s+`[^`]+`", row):
            wrong.append(f"C{number}: no test")
    result(not wrong, "rules in docs/contract.md", *wrong)


def check_seeds():
    files = {}
    for path in glob.glob("src/**/*_test.c", recursive=True) + glob.glob("tests/**/*.*", recursive=True):
        if path.endswith((".c", ".py", ".sh", ".mjs")):
            files[os.path.basename(path).removesuffix(".c")] = path
    wrong, seeds, listed = [], [], set()
    for line in read("docs/seeds.md").splitlines():
        if line.startswith("## Seed "):
            seeds.append(line)
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or cells[0] == "statement":
            continue
        if len(cells) != 2:
            wrong.append(f"{line}: not a statement and its test")
        elif cells[1].startswith(("not applicable: ", "intentionally different: ", "not tested: ")):
            if len(cells[1].split(": ", 1)[1]) < 20:
                wrong.append(f"{cells[0]}: no reason")
        elif not re.fullmatch(r"`[^`]+: [^`]+`(, `[^`]+: [^`]+`)*", cells[1]):
            wrong.append(f"{cells[0]}: neither a test nor a reason")
        else:
            for file, name in re.findall(r"`([^`]+?): ([^`]+)`", cells[1]):
                listed.add((file, name))
                if file not in files or not named_in(files[file], name):
                    wrong.append(f"{cells[0]}: there is no test {file}: {name}")
    result(not wrong, "tests in docs/seeds.md", *wrong)
    result(len(seeds) == 5, "seeds", *seeds)
    seed4 = {("seed4_test", name) for name in tests_of("src/chat/seed4_test.c")}
    result(seed4 <= listed, "rules of seed 4", f"not on the page: {sorted(seed4 - listed)}")


# ---- formats ----

def check_providers():
    with tempfile.TemporaryDirectory() as folder:
        names = {p["kind"] for p in json.loads(run_in(folder, "models", "--json").stdout)}
        keys = set(re.findall(r"\(set (\w+)\)", run_in(folder, "models").stdout))
    table = re.search(r"^\| provider \|.*\n((?:\|.*\n)+)", read("docs/models.md"), re.M)
    listed = set(re.findall(r"^\| `(\w+)` \|", table[1] if table else "", re.M))
    result(listed == names, "providers in docs/models.md", f"listed {sorted(listed)}",
           f"known {sorted(names)}")
    models = re.search(r"^\| models: .*", read("README.md"), re.M)[0].lower().replace("-", "")
    result(all(name in models for name in names), "providers in README.md", models,
           f"known {sorted(names)}")
    variables = " ".join(help_json("environment"))
    result(keys and all(key in variables and key in table[1] for key in keys),
           "keys of providers in docs/models.md and retake help environment", sorted(keys))


def check_formats():
    done = subprocess.run([RETAKE, "help", "formats", "--json"], capture_output=True, text=True)
    try:
        table = json.loads(done.stdout)
        names = {f["name"]: f for f in (table if isinstance(table, list) else table["formats"])}
    except (ValueError, KeyError, TypeError) as bad:
        result(False, "formats", f"retake help formats --json: {bad}", done.stdout[:500])
        return
    for page in ("README.md", "docs/formats.md"):
        table = re.search(r"^\| name \|.*\n((?:\|.*\n)+)", read(page), re.M)
        listed = set(re.findall(r"^\| `([a-z-]+)` \|", table[1] if table else "", re.M))
        result(listed == set(names), f"formats in {page}", f"listed {sorted(listed)}",
               f"known {sorted(names)}")


# ---- links ----

def anchor(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = html.unescape(heading).lower().replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(page):
    text = FENCE.sub("", read(page))
    return {anchor(h) for h in re.findall(r"^#+ +(.*?) *$", text, re.M)}


def check_links():
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", read(page)))
        wrong = []
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, name = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(full):
                wrong.append(f"{target}: not there")
            elif name and full.endswith(".md") and name not in anchors(full):
                wrong.append(f"{target}: no such heading")
        result(not wrong, f"links in {page}", *wrong)


def check_decisions():
    files = sorted(os.path.basename(path) for path in glob.glob("docs/decisions/*.md"))
    wrong = [name for at, name in enumerate(files, 1)
             if not name.startswith(f"{at:04}-") or not read(f"docs/decisions/{name}").startswith(f"# {at}. ")]
    result(not wrong, "decisions are numbered", *wrong)


# ---- names ----

TOPS = ("src", "tests", "docs", "tools", "setup", "bench", "fuzz", "base", "core", "codec", "log",
        "ops", "view", "chat", "store", "formats", "app", "cli", "share")
MADE = re.compile(r"NAME|LAYER|DIR|^build/")


def check_names():
    sources = "\n".join(read(p) for p in glob.glob("src/**/*.[ch]", recursive=True) +
                        glob.glob("tests/**/*.[ch]", recursive=True))
    for page in MINE:
        text = FENCE.sub("", read(page))
        wrong = []
        for name in set(re.findall(r"`([\w./*-]+)`", text)):
            if MADE.search(name):
                continue
            top = name.split("/")[0]
            if "/" in name and top in TOPS:
                if not (glob.glob(name) or glob.glob("src/" + name)):
                    wrong.append(f"{name} is not there")
            elif re.fullmatch(r"[\w*]+\.[ch]", name):
                if not glob.glob("**/" + name, recursive=True):
                    wrong.append(f"no file {name}")
            elif re.fullmatch(r"rt_\w+|RT_\w+|test_\w+|c\d+_\w+|agrees_\w+", name):
                if not re.search(r"\b" + name + r"\b", sources):
                    wrong.append(f"nothing is called {name}")
        result(not wrong, f"names in {page}", *sorted(wrong))


# ---- wording ----

REJECTED = ("a file of no kind", "the entry behind it", "in front of the entry", "it stands there",
            "the store lies in the folder", "it is there already", "put it so", "let a browser in",
            "it tells of the change", "a take of its own", "somebody wrote it", "it holds a text")
ACCEPTED = ("behind a reverse proxy", "U stands for undo", "while it holds the lock", "hold Shift",
            "there is no longer a take", "What is next?")

# Paths whose comments are checked, too.
COMMENTED = ("Makefile", "bench", "examples", "include", "setup", "src", "tests", "tools", "web")


def check_wording():
    done = subprocess.run([sys.executable, "tools/strings.py", "--check"], capture_output=True, text=True)
    result(done.returncode == 0, "wording: docs/style.md rejects", done.stdout, done.stderr)
    done = subprocess.run([sys.executable, "tools/strings.py", "--comments", *COMMENTED], capture_output=True, text=True)
    result(done.returncode == 0, "wording: docs/style.md rejects comments", done.stdout, done.stderr)
    rows = re.findall(r"^\| `([^`]+)` \|", read("docs/style.md").split("## Rejected patterns")[1], re.M)
    patterns = [re.compile(row.replace(r"\|", "|"), re.I) for row in rows]
    for words in REJECTED + ACCEPTED:
        is_found = any(pattern.search(words) for pattern in patterns)
        result(is_found == (words in REJECTED), f"wording: {words}")


if not os.access(RETAKE, os.X_OK):
    print(f"{RETAKE} is not there; run make first")
    sys.exit(1)
check_walk()
check_operations()
check_events()
check_keys()
check_config()
check_api()
check_play()
check_hook()
check_example()
check_commands()
check_findings()
check_contract()
check_seeds()
check_providers()
check_formats()
check_links()
check_decisions()
check_names()
check_wording()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
PYTHON
