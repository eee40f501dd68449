#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the compiler does not: who may include whom, and who may do what.

  layer     a file includes only its own layer and those below; store, formats,
            llm and hooks do not know each other
  include   quoted includes are written from src/ or include/
  pure      base, core, codec and engine include only headers from a short list,
            call nothing that reads or writes the world, and define no _GNU_SOURCE;
            memory comes from an rt_alloc
  quiet     nothing below the programs prints or exits (a child that is about to become
            another program may)
  banned    functions that have no safe use, anywhere
  licence   an SPDX line among the first three of every source file

Comments and string literals are not looked at; tests and fuzz targets need only
keep to layer, include, banned and licence. With --root it checks another tree,
which is how tests/layers_test.sh shows that each rule can fail.
"""
import argparse
import os
import re
import sys

RANK = {"base": 0, "core": 1, "codec": 2, "engine": 3,
        "store": 4, "formats": 4, "llm": 4, "hooks": 4,
        "cli": 5, "tui": 5, "server": 5}
PURE = {"base", "core", "codec", "engine"}
PROGRAMS = {"cli", "tui", "server"}

# Headers that a pure file may include.
PURE_HEADERS = set("""
    errno.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h stdatomic.h stdbool.h
    stddef.h stdint.h stdlib.h string.h yyjson.h
    emmintrin.h immintrin.h tmmintrin.h arm_neon.h
""".split())
# Further ones, by file or folder. stdio.h is there for vsnprintf, which is pure;
# engine may share work between threads.
PURE_EXTRA = {
    "stdio.h": ["base/", "codec/", "engine/"],
    "pthread.h": ["engine/"],
}

# Calls that a pure file may not make.
OUTSIDE = set("""
    printf fprintf vprintf vfprintf dprintf puts fputs fputc putc putchar perror scanf sscanf fscanf
    fopen fdopen freopen fclose fread fwrite fgets fgetc getc getchar getline fseek ftell fflush
    remove rename tmpfile setvbuf
    open openat creat close read write pread pwrite readv writev lseek fsync fdatasync ftruncate
    stat fstat lstat mkdir rmdir unlink link symlink opendir readdir mmap munmap ioctl fcntl
    time clock clock_gettime gettimeofday localtime localtime_r gmtime gmtime_r mktime strftime
    sleep usleep nanosleep alarm
    rand srand rand_r random srandom drand48 arc4random getrandom getentropy
    getenv secure_getenv setenv putenv unsetenv setlocale localeconv
    socket connect bind listen accept send recv sendto recvfrom poll select epoll_wait
    fork execv execve execvp execl execlp posix_spawn waitpid kill signal sigaction raise
    exit _exit _Exit quick_exit atexit
""".split())
MEMORY = set("malloc calloc realloc reallocarray free strdup strndup aligned_alloc asprintf vasprintf"
             .split())
MEMORY_ALLOWED = re.compile(r"base/alloc[a-z_]*\.c$")
# Calls that nothing below the programs may make.
LOUD = set("printf vprintf puts putchar perror exit _exit _Exit quick_exit syslog".split())
# Between fork and execve a child can only end itself.
FORKS = re.compile(r"hooks/hooks_process\.c$")
LOUD_STREAMS = re.compile(r"\b(stderr|stdout)\b")
# Calls that nobody may make.
BANNED = set("strcpy strcat stpcpy strncpy strncat sprintf vsprintf gets system popen tmpnam tempnam "
             "mktemp strtok asctime ctime alloca".split())

SOURCE_DIRS = ["src", "include", "tests", "fuzz", "bench", "tools", "setup", "web", "share"]
SKIPPED_DIRS = {"node_modules", "corpus", "dist", "build", "__pycache__", "data", "fixtures"}
LICENSED = (".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".build", ".ts", ".tsx", ".js", ".mjs",
            ".css", ".map")
C_FILES = (".c", ".h", ".cpp", ".hpp")

# A name followed by "(" that is no member of something and no longer name.
CALL = re.compile(r"(?<![\w.])(?<!->)([A-Za-z_]\w*)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
FEATURE = re.compile(r"^\s*#\s*define\s+(_GNU_SOURCE|_POSIX_C_SOURCE|_XOPEN_SOURCE|_DEFAULT_SOURCE)",
                     re.M)
# A function defined here: its name begins a line, as our style has it. A pure file
# may call one of its own "read".
OWN = re.compile(r"^([a-z_]\w*)\(", re.M)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match):
    """The same lines and columns, without what is said there."""
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    return NOISE.sub(blank, text)


def without_comments(text):
    """Keeps strings, because includes look like them."""
    return NOISE.sub(lambda m: blank(m) if m.group().startswith("/") else m.group(), text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Check:
    def __init__(self, root):
        self.root = root
        self.findings = []

    def say(self, path, line, rule, words):
        self.findings.append((path, line, rule, words))

    def layer_of(self, path):
        parts = path.split("/")
        return parts[1] if parts[0] == "src" and len(parts) > 2 else None

    def includes(self, path, text, layer, is_test):
        for match in INCLUDE.finditer(without_comments(text)):
            line, quoted, name = line_of(text, match.start()), match[1] == '"', match[2]
            top = name.split("/")[0]
            if not quoted:
                if layer in PURE and not is_test and not self.pure_header(path, name):
                    self.say(path, line, "pure", f"<{name}> has no business in {layer}")
                continue
            if top == "retake":
                continue
            if top not in RANK or "/" not in name:
                self.say(path, line, "include", f'"{name}" is not written from src/ or include/')
                continue
            if top == layer:
                continue
            if RANK[top] > RANK[layer] and not path.endswith(("_test.c", "_fuzz.c")):
                self.say(path, line, "layer", f'{layer} is below {top} and includes "{name}"')
            elif RANK[top] == RANK[layer] and layer not in PROGRAMS:
                self.say(path, line, "layer", f'{layer} stands beside {top} and includes "{name}"')

    @staticmethod
    def pure_header(path, name):
        if name in PURE_HEADERS:
            return True
        inside = path[len("src/"):]
        return any(inside.startswith(place) for place in PURE_EXTRA.get(name, []))

    def calls(self, path, code, layer, is_test):
        inside = path[len("src/"):] if layer else path
        own = set(OWN.findall(code))
        for match in CALL.finditer(code):
            name, line = match[1], line_of(code, match.start())
            if name in BANNED and not (name == "system" and path.endswith("_test.c")):
                self.say(path, line, "banned", f"{name}() is used nowhere here")
            if layer is None or is_test:
                continue
            if layer in PURE and name in OUTSIDE and name not in own:
                self.say(path, line, "pure", f"{name}() touches the outside, {layer} does not")
            elif layer in PURE and name in MEMORY and not MEMORY_ALLOWED.search(inside):
                self.say(path, line, "pure", f"{name}(): memory comes from an rt_alloc")
            elif (layer not in PROGRAMS and name in LOUD
                  and not (name == "_exit" and FORKS.search(inside))):
                self.say(path, line, "quiet", f"{name}(): only programs print and exit")
        if layer is None or is_test or layer in PROGRAMS:
            return
        for match in LOUD_STREAMS.finditer(code):
            self.say(path, line_of(code, match.start()), "quiet",
                     f"{match[1]}: only programs print and exit")
        if layer in PURE:
            for match in FEATURE.finditer(code):
                self.say(path, line_of(code, match.start()), "pure",
                         f"{match[1]}: {layer} is plain C17")

    def file(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        name = os.path.basename(path)
        if name.endswith(LICENSED) or text.startswith("#!"):
            if "SPDX-License-Identifier: MIT" not in "\n".join(text.splitlines()[:3]):
                self.say(path, 1, "licence", "no SPDX-License-Identifier: MIT in the first 3 lines")
        if not name.endswith(C_FILES):
            return
        layer = self.layer_of(path)
        if layer is not None and layer not in RANK:
            self.say(path, 1, "layer", f"{layer} is not a layer that this check knows")
            return
        is_test = re.search(r"_(test|fuzz)\.\w+$", name) is not None
        if layer is not None:
            self.includes(path, text, layer, is_test)
        self.calls(path, code_of(text), layer, is_test)

    def tree(self):
        count = 0
        for top in SOURCE_DIRS:
            for folder, inner, names in os.walk(os.path.join(self.root, top)):
                inner[:] = sorted(set(inner) - SKIPPED_DIRS)
                for name in sorted(names):
                    self.file(os.path.relpath(os.path.join(folder, name), self.root))
                    count += 1
        return count


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=here)
    check = Check(parser.parse_args().root)
    count = check.tree()
    for path, line, rule, words in check.findings:
        print(f"{path}:{line}: {rule}: {words}")
    if count == 0:
        print(f"{check.root}: no files to check")
    if not check.findings and count:
        print(f"{count} files keep to the layers")
    return 1 if check.findings or not count else 0


if __name__ == "__main__":
    sys.exit(main())
