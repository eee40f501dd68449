# SPDX-License-Identifier: MIT
"""Terminals of any size, resized during a reply, without colour, without UTF-8; the program
suspended and continued, ended by signals, refused where it cannot work."""
import os
import pty
import re
import select
import signal
import subprocess
import termios

from screen import RETAKE
from talk import LONG, add, contents, fork, ids, run, script, tree_rows, until

SIZES = [(40, 10), (20, 5), (300, 100), (80, 24), (10, 3), (1, 1), (200, 12), (41, 11), (80, 24)]


def resized(c, place):
    """Resizing during a reply: it continues, and the final screen is the same."""
    fork(place)
    words = []
    for i in range(60 if not LONG else 600):
        words += [{"text": f"word{i} with *marks* and 你好, "}, {"wait_ms": 20}]
    t = place.open(size=(80, 24), RETAKE_MODEL=script(place, *words, {"text": "the end"}))
    t.wait("Good. Schema", "Enter send")
    t.type("Go")
    t.key("Enter")
    t.wait("word0")
    for columns, rows in SIZES * (1 if not LONG else 8):
        t.resize(columns, rows)
        if columns >= 20 and rows >= 5:
            def edges(rows=rows):
                screen = t.screen() + [""] * rows
                return screen[0][:5], screen[rows - 2 if rows >= 7 else rows - 1][:2]
            c.equal(f"{columns}x{rows}: title and input", until("edges", edges, (" Whic", " >"), t), (" Whic", " >"))
            c.says(f"{columns}x{rows}: it continues", t, re.compile(r"word|你好"))
    c.says("to the end", t, "the end", gone=["AI ..."])
    c.store("kept", lambda: place.texts()[-1][1].endswith("the end"), True)
    model = dict(RETAKE_MODEL=script(place, {"text": "x"}))
    same = place.open(size=(80, 24), **model)
    same.wait("the end")
    wanted = same.screen()[1:]
    c.equal("row by row what a new one shows", until("rows", lambda: t.screen()[1:], wanted, t), wanted)
    # With the tree open, too.
    t.key("F2")
    t.wait("─ Tree")
    for size in (*SIZES, (90, 24)):
        t.resize(*size)
    same.resize(90, 24)
    same.key("F2")
    same.wait("─ Tree " + "─" * 83)
    wanted = tree_rows(same)
    c.equal("the tree, too", until("rows", lambda: tree_rows(t), wanted, t), wanted)


def small(c, place):
    """40x10: everything works."""
    fork(place)
    t = place.open(size=(40, 10))
    t.wait("Good. Schema", "Enter send")
    c.rows("its rows", t, 0, [" Which database?  take: main, 1 of 2",
                              "  User < 1/2 >                         3", "  Use SQLite, not Postgres", "",
                              "  AI                                   4", "  Good. Schema", "", "─" * 40, " >",
                              " Enter send  Ctrl+P commands"])
    t.type("A message that is longer than a row of this")
    c.says("it is wrapped", t, "> A message that is longer than a row", "   of this")
    t.key("Enter")
    c.store("sent", lambda: [x for _, x in place.texts()[4:5]], ["A message that is longer than a row of this"])
    t.wait("main, 1 of 2", "That makes 5 messages")
    t.key("F2")
    t.wait("/8)")  # the reply is visible before it is stored, and undo asks about steps that are not in view
    t.key("Escape")
    t.wait(gone=["/8)"])
    t.key("M-u", "M-u")
    c.store("undone", lambda: len(place.texts()), 4)
    t.wait("Undone", "1 of 2")
    t.key("F2")
    t.wait("(4/6)")
    c.rows("the tree has all of it", t, 1, ["─ Tree " + "─" * 33])
    t.key("Up", "M-e")
    t.wait("› Use SQLite")
    t.type("!")
    t.key("Enter")
    c.says("edited", t, "Edited entry 3")
    c.equal("in the store", contents(place)[2][1], "Use SQLite, not Postgres!")
    t.key("M-u")
    t.wait("Undone")
    t.key("Enter")
    c.says("the question can be read", t, "Summarise the branch you are leaving?", "› Alt+1  No: just go there", "  Alt+2  Yes")
    t.key("M-1")
    c.says("gone", t, "> Use SQLite, not Postgres")
    for key, seen in (("F3", "History of "), ("F4", "Discussions"), ("F1", "Keys here"), ("C-p", "Commands")):
        t.key(key)
        c.says(f"{key}: {seen}", t, seen)
        t.key("Escape")
        c.says(f"{key}: back", t, "> Use SQLite", gone=[seen])


def smaller(c, place):
    """20x5 and smaller: usable, and never breaks."""
    fork(place)
    t = place.open(size=(20, 5))
    t.wait("Good. Schema")
    t.type("Hi")
    t.key("Enter")
    c.store("sent", lambda: [x for _, x in place.texts()[4:5]], ["Hi"])
    t.wait("model.", gone=["..."])
    t.key("F2")
    c.says("the tree", t, "Tree")
    t.key("Escape")
    t.wait(gone=["Tree"])
    for size in ((5, 2), (2, 1), (1, 1), (1, 30), (200, 1), (3, 3)):
        t.resize(*size)
        t.key("F2", "M-e", "M-Enter", "C-p", "F1", "F3", "F4")
    t.key("F5")
    t.resize(80, 24)
    c.says("it lives", t, re.compile(r"^ .*take: main.* builtin/echo ", re.M))
    t.key("C-q")
    c.says("and is left from wherever it is", t, "ended 0")
    c.equal("nothing was changed", ids(place)[:4], ["u1", "a1", "u2", "a2"])


def large(c, place):
    fork(place)
    t = place.open(size=(300, 100))
    t.wait("Good. Schema", "Enter send")
    c.rows("the rule is as wide", t, 97, ["─" * 300, " >"])
    t.key("F2")
    t.wait("← active")
    screen = t.screen()
    c.equal("half of it", screen.index("─ Tree " + "─" * 293), 50)
    c.check("with a preview", any(row.endswith("│ AI") for row in screen))


def colours(c, place):
    """NO_COLOR, --no-color: no colours; the selection is still visible."""
    fork(place)
    for words, more, some in ((("tui",), {}, True), (("tui",), {"NO_COLOR": "1"}, False),
                              (("tui", "--no-color"), {}, False)):
        t = place.open(*words, size=(80, 24), **more)
        t.wait("Good. Schema", "Enter send")
        t.key("F2")
        t.wait("(4/6)")
        t.key("Up")
        t.wait("(3/6)")
        text = t.tmux("capture-pane", "-p", "-e")
        c.equal(f"{words} {more}: colours", bool(re.search(r"\x1b\[[0-9;]*[34][0-9](;5;\d+)?m",
                                                            text.replace("\x1b[39m", "").replace("\x1b[49m", ""))), some)
        row = next(r for r in text.split("\n") if "Use SQLite" in r and "⊟" in r)
        c.check(f"{words} {more}: the selected row", "›" in row and "\x1b[" in row, repr(row))
        t.close()


def colours_of(place, reply):
    """The 256-colours in a frame, on a terminal that reports this background."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    program = subprocess.Popen([RETAKE, "tui"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               env=place.env(TERM="xterm-256color"))
    os.close(theirs)
    before, seen = b"", b""
    while select.select([ours], [], [], 30)[0]:
        seen += os.read(ours, 65536)
        if b"Good. Schema" in seen and b"\x1b[?2026l" in seen.rpartition(b"Good. Schema")[2]:
            if not reply:
                break
            before, seen = before + seen, b""
            os.write(ours, reply)
            reply = None
    os.write(ours, b"\x04")
    program.wait(30)
    os.close(ours)
    return (before + seen).count(b"\x1b]11;?\x1b\\"), {int(n) for n in re.findall(rb"38;5;(\d+)m", seen)}


def light(c, place):
    """The colours follow the reported background of the terminal, or the configuration."""
    fork(place)
    for reply, wanted in ((b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", 25), (b"\x1b]11;rgb:1e/1e/2e\a", 75), (None, 33)):
        asked, colours = colours_of(place, reply)
        c.equal(f"{reply}: it is asked for once", asked, 1)
        c.equal(f"{reply}: the colour of a user", colours & {25, 33, 75}, {wanted})
    folder = os.path.join(place.dir, ".config/retake")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as out:
        out.write('[tui]\ntheme = "light"\n')
    asked, colours = colours_of(place, None)
    c.equal("by the configuration", (asked, colours & {25, 33, 75}), (0, {25}))


def bytes_of(place, *wanted, columns=80, **more):
    """What is written until a frame has ended that contains all of these, and its end."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, columns))
    program = subprocess.Popen([RETAKE, "tui"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               env=place.env(**{"TERM": "xterm-256color", **more}))
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], 30)[0]:
        seen += os.read(ours, 65536)
        if all(one in seen for one in wanted) and seen.endswith(b"\x1b[?2026l"):
            break
    os.write(ours, b"\x04")
    program.wait(30)
    os.close(ours)
    return seen


def depth(c, place):
    """256 colours; true colour if it is announced and described; 8 colours."""
    fork(place)
    c.check("256 colours", b"38;5;33m" in (seen := bytes_of(place, b"Good. Schema")) and b"38;2;" not in seen, seen)
    source = subprocess.run(["infocmp", "-x", "xterm-256color"], stdout=subprocess.PIPE, text=True, check=True).stdout
    source = re.sub(r"xterm-256color\|[^,]*,", "retake-direct|true colour,\n\tRGB,", source)
    source = re.sub(r"colors#[^,]*,", "colors#0x1000000,", source)
    source = re.sub(r"setaf=[^,]*,", r"setaf=\\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;"
                    r"%p1%{255}%&%d%;m,", source)
    info = os.path.join(place.dir, "retake.ti")
    with open(info, "w", encoding="utf-8") as out:
        out.write(source + source.replace("retake-direct|true colour,\n\tRGB,", "retake-256color|the same,"))
    subprocess.run(["tic", "-x", "-o", os.path.join(place.dir, ".terminfo"), info], check=True,
                   stderr=subprocess.DEVNULL)
    for name in ("truecolor", "24bit"):
        seen = bytes_of(place, b"Good. Schema", TERM="retake-256color", COLORTERM=name)
        c.check(f"COLORTERM={name}", b"38;2;0;135;255m" in seen and b"38;5;" not in seen, seen)
    seen = bytes_of(place, b"Good. Schema", COLORTERM="truecolor")
    c.check("announced, but not described here", b"38;5;33m" in seen or b"38;2;0;135;255m" in seen, seen)
    seen = bytes_of(place, b"Good. Schema", TERM="xterm")
    c.check("8 colours", b"\x1b[36m" in seen and b"38;5;" not in seen, seen)


def links(c, place):
    """Links in messages, where the terminal supports them; no address that cannot be followed."""
    place.run("add", "-q", "-r", "AI", "See [the docs](https://example.com/a?b=c) and [bad](javascript:alert(1)) end.")
    seen = bytes_of(place, b"end.")
    c.check("a link", re.search(rb"\x1b\]8;id=[0-9a-f]+;https://example.com/a\?b=c\x1b\\the docs\x1b\]8;;\x1b\\", seen), seen)
    c.equal("nothing else is one", set(re.findall(rb"\x1b\]8;[^;]*;([^\x1b]*)\x1b", seen)), {b"https://example.com/a?b=c", b""})
    c.check("the cursor and the attributes are restored", seen.count(b"\x1b7") == seen.count(b"\x1b8") > 0, seen)
    c.check("none on the console", b"\x1b]8;" not in bytes_of(place, b"end.", TERM="linux"))
    with place.open() as t:
        text = t.wait("See the docs (https://example.com/a?b=c) and bad")
        c.check("the screen is otherwise the same", "(javascript:alert(1)) end." in re.sub(r"\s+", " ", text), text)


def ascii_only(c, place):
    """Without UTF-8 only ASCII is drawn."""
    fork(place)
    add(place, "User", "u5", "Grüße, 你好 and → more")
    t = place.open(size=(80, 30), LANG="C")
    t.wait("Enter send")
    t.key("F2")
    t.wait("(5/7)")
    rows = t.screen()
    top = next(i for i, row in enumerate(rows) if row.startswith("- Tree -"))
    c.equal("the tree", rows[top + 1:top + 5],
            ["  * User: Which database?", "  * AI: SQLite: one file.", "  |- * User: Use SQLite, not Postgres",
             "  |     * AI: Good. Schema"])
    c.check("the head", rows[top + 5].startswith("> |     * User: Gr") and rows[top + 5].endswith("<- active"),
            rows[top + 5])
    c.equal("the other branch", rows[top + 6:top + 8],
            ["  `- User: What about DuckDB?", "        AI: DuckDB is fine too  {duck}"])
    for key in ("Escape", "F3", "F4", "F1", "C-p", "M-Up"):
        t.key(key)
        t.wait({"Escape": "Enter send", "F3": "History of", "F4": "Discussions", "F1": "Keys here",
                "C-p": "Commands", "M-Up": "> User"}[key], gone=["- Tree -"])
        c.check(f"{key}: nothing but ASCII", t.text().isascii(), t.text())
        if key not in ("Escape", "M-Up"):
            t.key("Escape")
            t.wait("Enter send")


def refused(c, place):
    """Without a usable terminal: the reason, alternatives, and an exit status."""
    fork(place)
    for term in ("dumb", "", "no-such-terminal"):
        done = subprocess.run(["script", "-qec", f"{RETAKE} tui", "/dev/null"], env=place.env(TERM=term),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              text=True, check=False)
        c.check(f"TERM={term!r}: why and what else", "does not support full-screen" in done.stdout and
                "retake" in done.stdout and "chat" in done.stdout, done.stdout)
        c.check(f"TERM={term!r}: no codes but colours", not re.search(r"\x1b(?!\[[0-9;]*m)", done.stdout), repr(done.stdout))
        c.equal(f"TERM={term!r}: its status", done.returncode, 1)
    done = subprocess.run([RETAKE, "tui"], env=place.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, start_new_session=True)
    c.check("no terminal at all", done.returncode == 1 and "needs a terminal" in done.stderr, done)


def suspended(c, place):
    fork(place)
    t = place.open(size=(80, 24))
    t.wait("Good. Schema", "Enter send")
    t.type("half a text")
    t.wait("> half a text")
    before = t.screen()
    t.key("C-z")
    c.says("the shell is back", t, re.compile(r"^\$ *$", re.M), gone=["Good. Schema"])
    c.equal("with its screen", t.tmux("display-message", "-p", "#{alternate_on}").strip(), "0")
    place.run("edit", "a2", "Changed meanwhile")
    t.type("echo here")
    t.key("Enter")
    c.says("the shell works", t, re.compile("^here$", re.M))
    t.resize(70, 20)
    t.type("fg")
    t.key("Enter")
    c.says("it continues, with the typed text and new changes", t, "> half a text", "Changed meanwhile")
    t.resize(80, 24)
    at = next(nr for nr, row in enumerate(before) if "Good. Schema" in row)
    wanted = list(before)
    wanted[at] = wanted[at].replace("Good. Schema", "Changed meanwhile")
    wanted[at - 1] = wanted[at - 1].replace("AI" + " " * 9, "AI (edited)", 1)
    wanted = wanted[1:]
    c.equal("the same screen", until("rows", lambda: t.screen()[1:], wanted, t), wanted)


def killed(c, place):
    """Signals: the terminal is restored, a partial reply is kept, and the exit status shows the
    signal."""
    fork(place)
    model = script(place, {"text": "Half "}, {"wait_ms": 60000}, {"text": "more"})
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        t = place.open(size=(80, 24), RETAKE_MODEL=model)
        t.wait("Enter send")
        t.type(f"Question {number.name}")
        t.key("Enter")
        t.wait(re.compile(r"^  AI \.\.\.\n  Half$", re.M))
        t.type("a draft")
        t.wait("> a draft", gone=["a drafta"])
        t.kill(number)
        c.says(f"{number.name}: ended", t, re.compile(r"^ended \d+$", re.M), gone=["Question", "> a draft"])
        c.equal(f"{number.name}: the terminal",
                t.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}").strip(),
                "0 1 0")
        t.type("echo goes on")
        t.key("Enter")
        c.says(f"{number.name}: the shell has its keys", t, re.compile("^goes on$", re.M))
        c.equal(f"{number.name}: the partial reply", place.texts()[-2:],
                [("User", f"Question {number.name}"), ("AI", "Half ")])
        t.close()
        # The unsent text is restored, and stays deleted once it is deleted.
        t = place.open(size=(80, 24), RETAKE_MODEL=model)
        c.says(f"{number.name}: the draft", t, re.compile("^ > a draft$", re.M))
        t.key("C-u")
        c.says(f"{number.name}: deleted", t, re.compile("^ >$", re.M))
        t.key("C-q")
        t.wait("ended 0")
        t.close()
    c.equal("the store is whole", place.run("fsck", check=False).strip() != "", True)


run(resized, small, smaller, large, colours, light, depth, links, ascii_only, refused, suspended, killed)
