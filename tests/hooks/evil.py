#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cases of evil_test.sh, which describes them."""
import json
import os
import signal
import stat
import subprocess
import sys
import time

FIRE, WORK, PYTHON = os.environ["FIRE"], os.environ["work"], os.environ["python"]
SLACK_S = 40  # tolerance for slow machines
GONE_S = 20   # timeout for killed processes; none would exit by itself before
passed = failed = skipped = 0
number = 0


def check(ok, name, *details):
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print("FAILED: " + name)
    for detail in details:
        print("    " + str(detail)[:2000])
    sys.stdout.flush()


def write(name, text, mode=0o755, folder=WORK):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)
    return path


def marked(mark):
    """Processes that have the mark in their environment, except zombies."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid():
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def fire(args, event="entry.before_add", seconds=60, env=None):
    done = subprocess.run([FIRE, *args, event], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=seconds, env=env, cwd=WORK)
    lines = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    return done, lines


def evil(name, run, timeout="30s", expect="allow", status="ok", note=None, event="entry.before_add",
         times=1, extra=None, required=True, close_s=3, members=None, leaves=0, reason=None,
         args=()):
    """Runs a hook, once normally and once as required. run: argv, or the text of a script."""
    global number
    limit = float(timeout.rstrip("ms")) / (1000 if timeout.endswith("ms") else 1)
    went_wrong = note is not None and "warning" in note
    for needed in ([False, True] if required else [False]):
        number += 1
        mark = f"MARK_{os.getpid()}_{number}_"
        argv = run
        if isinstance(run, (str, bytes)):
            argv = [write(f"hook{number}", run)]
        hook = {"event": event, "run": argv, "timeout": timeout, "name": "evil"}
        hook.update(extra or {})
        if needed:
            hook["required"] = True
        title = name + (" (required)" if needed else "")
        # passed on to hooks, so that their processes can be found
        env = dict(os.environ, XDG_MARK=mark)
        command = ["-d", json.dumps([hook]), "-n", str(times), *args]
        if members:
            command += ["-m", members]
        start = time.monotonic()
        try:
            done, lines = fire(command, event, (limit + SLACK_S) * times + close_s + 90, env)
        except subprocess.TimeoutExpired:
            check(False, title + ": it hangs")
            continue
        took = time.monotonic() - start
        if done.returncode != 0 or len(lines) != times + 1:
            check(False, title + ": the driver failed", done.returncode, done.stderr, lines)
            continue
        said, end = lines[times - 1], lines[-1]
        want = "hook_refused" if needed and went_wrong else status
        check(said["status"] == want, title + ": status", f"wanted {want}", said)
        if want == "ok":
            check(said["decision"] == expect, title + ": decision", f"wanted {expect}", said)
            if note:
                check(note in said["notes"], title + ": notes", note, said["notes"])
            if reason:
                check(reason in said["reason"], title + ": reason", reason, said["reason"])
        slowest = max(line["ms"] for line in lines[:-1]) / 1000
        check(slowest < limit + SLACK_S, title + ": time", f"{slowest} s")
        check(end["fds"] == 0, title + ": descriptors", end)
        check(end["children"] == 0, title + ": children", end)
        check(took < (limit + SLACK_S) * times + close_s + SLACK_S, title + ": whole time", took)
        left = marked(mark)
        until = time.monotonic() + GONE_S
        while len(left) > leaves and time.monotonic() < until:  # killed, and not yet gone
            time.sleep(0.05)
            left = marked(mark)
        check(len(left) <= leaves, title + ": processes left", left)
        for pid in left:
            os.kill(pid, signal.SIGKILL)  # started by this test: they have our mark


def sh(text):
    return "#!/bin/sh\n" + text + "\n"


def py(text):
    return f"#!{PYTHON} -S\nimport os, sys, time, signal\n{text}\n"


WARN = "evil: warning: "
big = write("members", '"text":"' + "x" * (1 << 20) + '"', 0o644)

# --- well-behaved hooks ---
evil("says nothing", sh("cat >/dev/null"))
evil("white space", sh("cat >/dev/null; echo; echo ' '"))
evil("allows", sh("""echo '{"decision":"allow","note":"fine"}'"""), note="evil: fine")
evil("denies", sh("""echo '{"decision":"deny","reason":"no"}'"""), expect="deny", reason="no")
evil("cancels", sh("""echo '{"cancel":true}'"""), expect="deny")
evil("status 2", sh("echo 'not today' >&2; exit 2"), expect="deny", reason="not today")
evil("status 2 with bad UTF-8", sh(r"printf 'no\377' >&2; exit 2"), expect="deny", reason="no\ufffd")
evil("status 2 too late", sh("echo late >&2; exit 2"), event="entry.after", note="late")
evil("sums up", sh("""echo '{"summary":{"summary":"S","details":{"a":1}}}'"""),
     event="session_before_tree")
evil("finds programs in PATH", ["true"])

# --- exit statuses ---
for code in (1, 3, 77, 126, 127, 128, 255):
    evil(f"exit {code}", sh(f"exit {code}"), note=f"{WARN}it exited with status {code}",
         required=code == 1)
evil("SEGV", sh("kill -SEGV $$"), note=WARN + "it was terminated by signal 11")
evil("KILL", sh("kill -KILL $$"), note=WARN + "it was terminated by signal 9", required=False)
evil("ABRT", py("os.abort()"), note=WARN + "it was terminated by signal 6", required=False)
evil("SIGPIPE is as usual", py("r, w = os.pipe(); os.close(r)\n"
     "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nos.write(w, b'x')"),
     note=WARN + "it was terminated by signal 13", required=False)

# --- timeouts ---
LATE = WARN + "it exceeded the timeout of 500 ms and was stopped"
evil("hangs", sh("exec sleep 100"), "500ms", note=LATE)
evil("ignores TERM", sh("trap '' TERM INT HUP; while :; do sleep 1; done"), "500ms", note=LATE)
evil("stops itself", sh("kill -STOP $$; sleep 100"), "500ms", note=LATE)
evil("one byte a second", sh("while :; do printf ' '; sleep 1; done"), "500ms", note=LATE)
evil("closes its output and sleeps", sh("exec >&- 2>&-; sleep 100"), "500ms", note=LATE)
evil("closes everything and sleeps", sh("exec <&- >&- 2>&-; sleep 100"), "500ms", note=LATE)
evil("eats time", py("while True: pass"), "500ms", note=LATE, required=False)
evil("a line without an end", py("while True: sys.stdout.write('x'); time.sleep(0.01)"), "500ms",
     note=LATE, required=False)

# --- child processes ---
evil("a fork bomb", py(
    "import resource\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "end = time.monotonic() + 60\n"  # bounded: it ends by itself, and is 7 generations deep
    "for i in range(7):\n"
    "    try: os.fork()\n"
    "    except OSError: pass\n"
    "while time.monotonic() < end: time.sleep(0.1)\n"), "1s", note=WARN + "it exceeded the timeout")
evil("a daemon that holds the pipes", sh("(sleep 100 & ) ; exit 0"))
evil("a child that writes after its end", sh("(while :; do echo x; sleep 0.01; done) & exit 0"),
     note=WARN + "its answer is invalid")
evil("a quiet child that stays", sh("sleep 100 </dev/null >/dev/null 2>&1 & exit 0"))
evil("a child that ignores TERM", sh("(trap '' TERM; sleep 100; sleep 100) & exit 0"),
     required=False)
evil("leaves the group, holds the pipes", py(
    "if os.fork() == 0:\n    os.setsid()\n    time.sleep(100)\n    os._exit(0)\nos._exit(0)"),
    leaves=1, required=False)
evil("leaves the group and hangs", py(
    "if os.fork() == 0:\n    os.setsid()\n    time.sleep(100)\n    os._exit(0)\ntime.sleep(100)"),
    "500ms", note=LATE, leaves=1, required=False)

# --- output ---
MUCH = WARN + "it wrote more than 1048576 bytes"
evil("1 GB of output", sh("exec head -c 1000000000 /dev/zero"), "20s", note=MUCH)
evil("endless output", sh("exec yes"), "20s", note=MUCH, required=False)
ERRORS = MUCH + " to standard error and was stopped"
evil("less than 1 MiB of complaints", sh("head -c 1000000 /dev/zero >&2; exit 0"), "20s", required=False)
evil("1 GB of complaints", sh("head -c 1000000000 /dev/zero >&2; exit 0"), "20s", note=ERRORS, required=False)
evil("endless complaints", sh("exec yes >&2"), "30s", note=ERRORS)
evil("a huge line without LF", py("sys.stdout.write('{\"note\":\"' + 'x' * 900000 + '\"}')"),
     note="evil: xxx")
BAD = WARN + "its answer is invalid"
evil("no JSON", sh("echo hello"), note=BAD)
evil("half of it", sh("""printf '{"decision":'"""), note=BAD, required=False)
evil("two objects", sh("""echo '{"decision":"deny"} {"decision":"allow"}'"""), note=BAD)
evil("an array", sh("echo '[]'"), note=BAD, required=False)
evil("a number", sh("echo 1"), note=BAD, required=False)
evil("NUL bytes", sh(r"printf '{\000}'"), note=BAD)
evil("bad UTF-8", sh(r"""printf '{"note":"\377\376"}'"""), note=BAD)
evil("a lone surrogate", sh(r"""printf '{"note":"\\ud800"}'"""), note=BAD, required=False)
evil("deep nesting", py("sys.stdout.write('[' * 100000)"), note=BAD)
evil("deep nesting that ends", py("sys.stdout.write('{\"x\":' + '[' * 600 + ']' * 600 + '}')"),
     note=BAD, required=False)
evil("an unknown decision", sh("""echo '{"decision":"maybe"}'"""), note=BAD)
evil("a decision that is a number", sh("""echo '{"decision":1}'"""), note=BAD, required=False)
evil("a patch of what is not its own", sh("""echo '{"decision":"replace","patch":{"cwd":"/"}}'"""),
     note=BAD)
evil("a patch without replace", sh("""echo '{"patch":{"op":{"a":1}}}'"""), note=BAD, required=False)
evil("replace without a patch", sh("""echo '{"decision":"replace"}'"""), note=BAD, required=False)
evil("a summary where none is wanted", sh("""echo '{"summary":{"summary":"x"}}'"""), note=BAD,
     required=False)
evil("a summary that is a text", sh("""echo '{"summary":"x"}'"""), note=BAD,
     event="head.before_move", required=False)
evil("a note of line ends", sh(r"""printf '%s' '{"note":"a\nb\r\nevil: fine"}'"""), note="evil: a b",
     required=False)

# --- input ---
evil("closes its input", sh("exec <&-; sleep 0.2"), members=big)
evil("never reads 1 MB", sh("sleep 0.2"), members=big)
evil("never reads 1 MB, and hangs", sh("sleep 100"), "500ms", members=big, note=LATE)
evil("reads 1 MB slowly", py("n = 0\nwhile True:\n    b = os.read(0, 65536)\n    n += len(b)\n"
     "    time.sleep(0.01)\n    if not b: break\nsys.exit(0 if n > 1 << 20 else 9)"), "20s",
     members=big)

# --- files ---
NOT_RUN = WARN + "it could not be run"
evil("changes its own file", sh('printf "#!/bin/sh\\nexit 2\\n" >"$0.new"; mv "$0.new" "$0"'),
     required=False)
evil("deletes itself", sh('rm "$0"'), required=False)
evil("is not executable", [write("plain", sh("exit 2"), 0o644)], note=NOT_RUN)
evil("has no interpreter", "#!/nowhere/at/all\n", note=NOT_RUN)
evil("has no first line", "exit 2\n", note=NOT_RUN)
evil("is empty", "", note=NOT_RUN, required=False)
evil("is noise", bytes(range(256)) * 8, note=NOT_RUN, required=False)
evil("is a folder", [WORK], note=NOT_RUN)
os.mkfifo(WORK + "/fifo", 0o755)
evil("is a fifo", [WORK + "/fifo"], note=NOT_RUN)
os.symlink(WORK + "/nothing", WORK + "/dangling")
evil("is a link to nothing", [WORK + "/dangling"], note=NOT_RUN, required=False)
os.symlink(WORK + "/loop", WORK + "/loop")
evil("is a link to itself", [WORK + "/loop"], note=NOT_RUN, required=False)
evil("is not in PATH", ["no-such-program-anywhere"], note=WARN + "there is no such program")
evil("is a relative path", ["./hook1"], note=WARN + "the first word")
evil("is a shell's line", {"not": "a list"}, note=WARN + "run must be a list")

# --- persistent hooks ---
STAYS = {"persistent": True}
GOOD = ("import json\nfor line in sys.stdin:\n    e = json.loads(line)\n"
        "    print(json.dumps({'id': e['id'], 'note': 'fine %d' % os.getpid()}), flush=True)\n")
evil("stays, and answers", py(GOOD), "30s", times=3, extra=STAYS, note="evil: fine")
evil("stays, and U+2028 is no line end", py(
    "import json\nwhile True:\n    line = sys.stdin.buffer.readline()\n    if not line: break\n"
    "    e = json.loads(line)\n"
    "    sys.stdout.buffer.write(json.dumps({'id': e['id'], 'note': 'a\u2028b'},"
    " ensure_ascii=False).encode() + b'\\n')\n    sys.stdout.flush()\n"), "30s", times=2,
    extra=STAYS, note="evil: a\u2028b", required=False)
evil("stays, with a wrong id", py("for line in sys.stdin: print('{\"id\":\"x\"}', flush=True)"),
     "30s", times=2, extra=STAYS, note=WARN + "its answer does not contain the id of the event")
evil("stays, answers twice", py(
    "import json\nfor line in sys.stdin:\n    e = json.loads(line)\n"
    "    a = json.dumps({'id': e['id'], 'note': 'fine'})\n    print(a + '\\n' + a, flush=True)\n"),
    "30s", times=2, extra=STAYS, note="it wrote output before an event was sent", required=False)
evil("stays, never answers", py("for line in sys.stdin: pass"), "500ms", times=2, extra=STAYS,
     note=LATE)
evil("stays, dies at once", sh("exit 0"), "30s", times=2, extra=STAYS,
     note=WARN + "it exited without an answer")
evil("stays, dies after reading", sh("read line; exit 3"), "30s", extra=STAYS, required=False,
     note=WARN + "it exited without an answer")
evil("stays, dies after an answer", py(
    "import json\ne = json.loads(sys.stdin.readline())\n"
    "print(json.dumps({'id': e['id'], 'note': 'fine'}), flush=True)\n"), "30s", times=3,
    extra=STAYS, note="evil: fine", required=False)
evil("stays, floods", sh("exec yes"), "30s", extra=STAYS, note=WARN)
evil("stays, floods standard error", sh("exec yes 3>&1 >&2"), "30s", extra=STAYS, note=ERRORS)
evil("stays, a line without an end", sh("exec tr '\\n' x"), "500ms", extra=STAYS, note=LATE,
     required=False)
evil("stays, and will not go", py(
    "import json\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + GOOD.replace(
        "import json\n", "") + "while True: time.sleep(1)\n"), "30s", times=2, extra=STAYS,
    note="evil: fine", required=False, close_s=5)
evil("stays, does not exist", ["/nowhere/at/all"], extra=STAYS, note=NOT_RUN)

# --- asynchronous hooks ---
hook = {"event": "entry.after", "run": [write("later", sh(
    "cat >got; until [ -e go ]; do sleep 0.05; done; echo done >>got"))], "async": True}
done, lines = fire(["-w", WORK, "-d", json.dumps([hook]), "-m", big], "entry.after")
check(lines[0]["status"] == "ok" and lines[0]["ms"] < 25000, "async: nobody waits", lines)
check(lines[-1]["children"] > 0, "async: it outlives us within its time", lines)
write("go", "")
for _ in range(600):
    time.sleep(0.1)
    if os.path.exists(WORK + "/got") and open(WORK + "/got").read().endswith("done\n"):
        break
text = open(WORK + "/got").read()
check(text.endswith("done\n") and len(text) > 1 << 20, "async: it gets all of the event", len(text))
check("async" in lines[0]["runs"], "async: the log says so", lines[0])
hook["event"] = "entry.before_add"
done, lines = fire(["-d", json.dumps([hook])])
check(b"async cannot be used" in done.stderr, "async: not for what can be stopped", done.stderr)

# --- stop ---
hook = {"event": "entry.before_add", "run": [write("stop", sh("sleep 100"))]}
done, lines = fire(["-d", json.dumps([hook]), "-c", "300"])
check(lines[0]["status"] == "interrupted", "stop", lines)
check(lines[0]["ms"] < 60000 and lines[1]["children"] == 0, "stop: at once", lines)
hook = {"event": "entry.after", "run": [write("many", sh("echo $$ >>pids; exec sleep 50"))],
        "async": True}
done, lines = fire(["-w", WORK, "-d", json.dumps([hook]), "-n", "65", "-c", "3000"], "entry.after")
check(lines[63]["status"] == "ok", "stop: so many may run in the background", lines[63])
check(lines[64]["status"] == "interrupted", "stop: while one more waits for them", lines[64])
for pid in open(WORK + "/pids").read().split():
    os.kill(int(pid), signal.SIGKILL)

# --- depth ---
hook = {"event": "entry.before_add", "run": [write("deep", sh(
    'echo "{\\"note\\":\\"depth $RETAKE_HOOK_DEPTH\\"}"'))], "name": "deep"}
for depth, want in ((None, "deep: depth 1"), ("0", "depth 1"), ("3", "depth 4"),
                    ("4", "was not run"), ("99", "was not run"), ("x", "was not run"),
                    ("-1", "was not run")):
    env = dict(os.environ)
    if depth is not None:
        env["RETAKE_HOOK_DEPTH"] = depth
    done, lines = fire(["-d", json.dumps([hook])], env=env)
    check(want in lines[0]["notes"], f"depth {depth}", lines)

# --- several hooks in order ---
one = {"event": "entry.before_add", "run": [write("one", sh(
    """echo '{"decision":"replace","patch":{"op":{"content":"one","x":null}}}'"""))]}
two = {"event": "entry.before_add", "run": [write("two", py(
    "import json\ne = json.load(sys.stdin)\n"
    "print(json.dumps({'decision': 'replace', 'patch': {'op': {'content': "
    "e['op']['content'] + ' two', 'y': sorted(e['op'])}}}))"))]}
small = write("small", '"op":{"content":"zero","x":1,"z":2},\n"cwd":"/"', 0o644)
done, lines = fire(["-d", json.dumps([one, two]), "-m", small])
check(lines[0]["decision"] == "replace", "chain: decision", lines)
check(json.loads(lines[0]["patch"]) == {"op": {"content": "one two", "z": 2, "y": ["content", "z"]}},
      "chain: the patch", lines[0]["patch"])
no = {"event": "entry.before_add", "run": [write("no", sh("exit 2"))], "name": "no"}
done, lines = fire(["-d", json.dumps([no, one])])
check(lines[0]["decision"] == "deny" and lines[0]["by"] == "no" and "one" not in lines[0]["runs"],
      "chain: the first no ends it", lines)
for match, runs in (("role=user", True), ("role=ai", False), ("role=u* kind=*", True),
                    ("role=user take=main", False)):
    done, lines = fire(["-d", json.dumps([dict(no, match=match)])])
    check((lines[0]["decision"] == "deny") == runs, "match " + match, lines)
done, lines = fire(["-d", json.dumps([dict(no, once=True)]), "-n", "2"])
check([line["decision"] for line in lines[:2]] == ["deny", "allow"], "once", lines)
done, lines = fire(["-d", json.dumps([dict(no, event="entry.befor_add")])])
check(b"did you mean entry.before_add" in done.stderr and lines[0]["decision"] == "allow",
      "a misspelt event", done.stderr)

# --- no leaks of secrets ---
def key(prefix, size, letters="aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz"):
    return prefix + "".join(letters[(i * 7 + size) % len(letters)] for i in range(size))


KEYS = {
    "OPENAI_API_KEY": key("sk-proj-", 48), "ANTHROPIC_API_KEY": key("sk-ant-api03-", 80),
    "GEMINI_API_KEY": key("AIza", 35), "AWS_ACCESS_KEY_ID": key("AKIA", 16, "ABCDEFGHIJKLMNOP23"),
    "AWS_SECRET_ACCESS_KEY": key("", 40), "AWS_SESSION_TOKEN": key("FwoGZXIvYXdz", 100),
    "GITHUB_TOKEN": key("ghp_", 36), "GH_TOKEN": key("github_pat_", 82),
    "GITLAB_TOKEN": key("glpat-", 20), "HF_TOKEN": key("hf_", 34),
    "MISTRAL_API_KEY": key("", 32), "GROQ_API_KEY": key("gsk_", 52),
    "OPENROUTER_API_KEY": key("sk-or-v1-", 64, "0123456789abcdef"), "XAI_API_KEY": key("xai-", 80),
    "DEEPSEEK_API_KEY": key("sk-", 32, "0123456789abcdef"), "COHERE_API_KEY": key("co-", 40),
    "REPLICATE_API_TOKEN": key("r8_", 37), "TOGETHER_API_KEY": key("tgp_v1_", 43),
    "AZURE_OPENAI_API_KEY": key("az", 32, "0123456789abcdef"), "SLACK_BOT_TOKEN": key("xoxb-", 50),
    "NPM_TOKEN": key("npm_", 36), "STRIPE_SECRET_KEY": key("sk_live_", 24),
    "DATABASE_URL": "postgres://me:" + key("pw", 20) + "@db/x",
    "SSH_AUTH_SOCK": "/run/" + key("agent", 20),
}
check(len(KEYS) == 24, "24 keys", len(KEYS))
env = dict(os.environ, **KEYS)
env.update({"LC_TIME": "C", "RETAKE_DB": "/a.db", "RETAKE_PROJECT": "p", "LD_PRELOAD": "",
            "RETAKE_TOKEN": "no"})
dump = write("dump", sh("tr '\\0' '\\n' </proc/$$/environ; echo ---; tr '\\0' ' ' </proc/$$/cmdline; "
                        "echo; echo ---; ls -l /proc/$$/fd; env; grep -i '^Sig' /proc/$$/status; "
                        "pwd; exit 2").replace("; exit 2", "; } >&2; exit 2").replace(
                            "#!/bin/sh\n", "#!/bin/sh\n{ "))
allowed = {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ", "PWD", "_",
           "OLDPWD", "SHLVL", "RETAKE_DB", "RETAKE_PROJECT", "RETAKE_HOOK_DEPTH",
           "RETAKE_HOOK"}
project = WORK + "/project"
inner = ".retake/hooks/entry.before_add/10-dump"
write(inner, open(dump).read(), folder=project)
for title, args in (("user", ["-d", json.dumps([{"event": "entry.before_add", "run": [dump]}])]),
                    ("project", ["-w", project, "-s", WORK + "/state", "-t"])):
    # descriptors of this process without close-on-exec
    extra = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(extra, True)
    done = subprocess.run([FIRE, *args, "entry.before_add"], stdout=subprocess.PIPE, env=env,
                          stderr=subprocess.PIPE, pass_fds=[extra], cwd=WORK)
    os.close(extra)
    said = json.loads(done.stdout.splitlines()[0])
    whole = done.stdout.decode()
    check(said["decision"] == "deny" and "---" in said["reason"], f"{title}: it ran", said, done.stderr)
    hits = [k for k, v in KEYS.items() if v in whole or k in whole]
    check(not hits, f"{title}: keys", hits)
# everything, without the limit of 1,000 characters
full = write("full", py("text = (open('/proc/self/environ').read().replace('\\0', '\\n')"
                        "+ '\\n---\\n' + open('/proc/self/cmdline').read() + '\\n---\\n'"
                        "+ '\\n'.join(os.listdir('/proc/self/fd')) + '\\n---\\n'"
                        "+ ''.join(l for l in open('/proc/self/status') if l[:3] == 'Sig'))\n"
                        "open('leak', 'w').write(text)"))
pipe = os.pipe()
os.set_inheritable(pipe[1], True)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
done = subprocess.run([FIRE, "-w", WORK, "-d",
                       json.dumps([{"event": "entry.before_add", "run": [full]}]),
                       "entry.before_add"], stdout=subprocess.PIPE, env=env, pass_fds=[pipe[1]])
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
names, cmdline, fds, signals = open(WORK + "/leak").read().split("\n---\n")
leak = open(WORK + "/leak").read()
for name, value in KEYS.items():
    check(value not in leak and name + "=" not in leak, "leak: " + name)
names = {line.split("=")[0] for line in names.splitlines() if line}
check(names <= {n for n in names if n in allowed or n.startswith(("LC_", "XDG_"))},
      "only names of the list", names)
check({"PATH", "RETAKE_DB", "RETAKE_PROJECT", "RETAKE_HOOK_DEPTH", "LC_TIME"} <= names,
      "names of the list come through", names)
check(set(fds.split()) <= {"0", "1", "2", "3"}, "descriptors", fds)  # 3: listing the directory
masks = dict(line.split(":") for line in signals.splitlines())
check(int(masks["SigBlk"], 16) == 0, "no signal is blocked", masks)

# --- trust ---
state = WORK + "/state2"


def project_fire(*args):
    done, lines = fire(["-w", project, "-s", state, *args])
    return lines[0]


write(inner, sh("echo yes >&2; exit 2"), folder=project)
said = project_fire()
check(said["decision"] == "allow" and "not trusted" in said["notes"] and
      "retake hooks trust" in said["notes"], "trust: not before", said)
said = project_fire("-t")
check(said["decision"] == "deny" and "sha256" in said["runs"], "trust: then it runs", said)
check(stat.S_IMODE(os.stat(state + "/trust.json").st_mode) == 0o600, "trust: 0600")
check(stat.S_IMODE(os.stat(state).st_mode) == 0o700, "trust: 0700")
check(project_fire()["decision"] == "deny", "trust: it lasts")
write(inner, sh("echo yes >&2; exit 2 "), folder=project)
said = project_fire()
check(said["decision"] == "allow" and "has changed" in said["notes"], "trust: changed", said)
write(inner, sh("echo yes >&2; exit 2"), folder=project)
check(project_fire()["decision"] == "deny", "trust: as it was")
os.rename(project, WORK + "/moved")
done, lines = fire(["-w", WORK + "/moved", "-s", state])
check(lines[0]["decision"] == "allow", "trust: another path", lines)
os.rename(WORK + "/moved", project)
os.rename(project + "/" + inner, WORK + "/elsewhere")
os.symlink(WORK + "/elsewhere", project + "/" + inner)
done, lines = fire(["-w", project, "-s", state])
check(lines[0]["decision"] == "allow" and b"symbolic link" in done.stderr, "trust: a link", lines)
os.remove(project + "/" + inner)
os.rename(WORK + "/elsewhere", project + "/" + inner)
os.rename(project + "/.retake/hooks", WORK + "/hooks2")
os.symlink(WORK + "/hooks2", project + "/.retake/hooks")
check(project_fire()["decision"] == "allow", "trust: behind a link")
os.remove(project + "/.retake/hooks")
os.rename(WORK + "/hooks2", project + "/.retake/hooks")
check(project_fire()["decision"] == "deny", "trust: back again")
write(inner, sh('printf "#!/bin/sh\\nexit 9\\n" >"$PWD/' + inner + '"; echo first >&2; exit 2'),
      folder=project)
said = project_fire("-t")
check(said["decision"] == "deny" and "first" in said["reason"], "trust: it changes itself", said)
said = project_fire()
check(said["decision"] == "allow" and "has changed" in said["notes"], "trust: and then no more", said)
write(inner, open("/bin/true", "rb").read(), folder=project)
said = project_fire("-t")
check('"end":"exit","code":0' in said["runs"], "trust: a program that is no script", said)
write(inner, py("sys.stderr.write(','.join(sorted(os.listdir('/proc/self/fd'))) + ' ' + "
                "os.readlink('/proc/self/fd/3'))\nsys.exit(2)"), folder=project)
said = project_fire("-t")
check("memfd:retake-hook" in said["reason"], "trust: what runs is the copy", said)
os.chmod(state + "/trust.json", 0o666)
check(project_fire()["decision"] == "allow", "trust: a file that others may write to")
os.chmod(state + "/trust.json", 0o600)
with open(state + "/trust.json", "w") as file:
    file.write("{")
said = project_fire()
check(said["decision"] == "allow" and "damaged" in said["notes"], "trust: a damaged file", said)
done = subprocess.run([FIRE, "-w", project, "-s", state, "-t", "entry.before_add"],
                      capture_output=True)
check(done.returncode == 98 and open(state + "/trust.json").read() == "{",
      "trust: it is not written over", done.stderr)

print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
