#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each rule of the layer check fails on a small tree that violates it; correct trees and this
# repository pass.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
python=$(python3 -c 'import sys; print(sys.executable)') # past any wrapper, which costs more
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
count=0

result() { # result NAME OK
	if [ "$2" = yes ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
		sed 's/^/    /' "$work/out"
	fi
}

# try RULE FILE LINE...: checking a tree with this one file reports RULE, or nothing if RULE is
# "good". The licence line is added unless RULE is licence. The function "tried" checks all of them.
try() {
	rule=$1
	path=$2
	shift 2
	count=$((count + 1))
	mkdir -p "$work/tried/$count/${path%/*}"
	{
		[ "$rule" = licence ] || echo '/* SPDX-License-Identifier: MIT */'
		printf '%s\n' "$@"
	} >"$work/tried/$count/$path"
	printf '%s\n' "$rule $path: $*" >"$work/tried/$count.name"
}

# Checks all trees in one Python process; each has its own output and exit status.
tried() {
	PYTHONPATH=$root/tools "$python" - "$work/tried" "$count" <<'END'
import contextlib
import sys
import check_layers

folder, count = sys.argv[1], int(sys.argv[2])
for number in range(1, count + 1):
    sys.argv = ["check_layers.py", "--root", f"{folder}/{number}"]
    with open(f"{folder}/{number}.out", "w") as out, contextlib.redirect_stdout(out):
        status = check_layers.main()
    with open(f"{folder}/{number}.status", "w") as file:
        file.write(f"{status}\n")
END
	number=0
	while [ $number -lt "$count" ]; do
		number=$((number + 1))
		read -r rule path <"$work/tried/$number.name"
		path=${path%%:*}
		status=none
		[ -e "$work/tried/$number.status" ] && read -r status <"$work/tried/$number.status"
		cp "$work/tried/$number.out" "$work/out"
		ok=no
		if [ "$rule" = good ]; then
			[ "$status" = 0 ] && ok=yes
		else
			[ "$status" = 1 ] && grep -q "^$path:[0-9]*: $rule: " "$work/out" && ok=yes
		fi
		result "$(cat "$work/tried/$number.name")" "$ok"
	done
}

try layer src/base/a.c '#include "core/seq.h"'
try layer src/core/a.c '#include "codec/json.h"'
try layer src/codec/a.h '  #  include "log/engine.h"'
try layer src/store/a.c '#include "formats/pi.h"'
try layer src/formats/a.c '#include "llm/provider.h"'
try layer src/llm/a.c '#include "store/store_memory.h"'
try layer src/store/a.c '#include "cli/print.h"'
try layer src/hooks/a.c '#include "library/library_impl.h"'
try layer src/library/a.c '#include "app/host.h"'
try layer src/cli/a.c '#include "library/library_impl.h"'
try layer src/app/a.c '#include "cli/cli.h"'
try layer src/tui/a.c '#include "cli/cli.h"'
try layer src/cli/a.c '#include "server/server.h"'
try layer src/server/a.c '#include "tui/tui.h"'
try layer src/cli/a.c '#include "program/commands.h"'
try layer src/app/a.c '#include "library/library_impl.h"'
try layer src/library/a.c '#include "app/host.h"'
try layer include/retake/a.h '#include "base/text.h"'
try layer src/elsewhere/a.c 'int a;'
try include src/core/a.c '#include "seq.h"'
try include src/core/a.c '#include "../base/text.h"'
for header in stdio.h time.h unistd.h fcntl.h sys/stat.h pthread.h locale.h sqlite3.h; do
	try pure src/core/a.c "#include <$header>"
done
try pure src/base/a.c '#include <time.h>'
try pure src/base/a.c '#include "base/clock_host.h"'
try pure src/log/a.c '#include "base/clock_host.h"'
try pure src/codec/a.c '#include <unistd.h>'
try pure src/log/a.c '#include <sys/socket.h>'
try pure src/chat/a.c '#include <sys/socket.h>'
for call in 'time(NULL)' 'clock_gettime(0, &t)' 'rand()' 'random()' 'getenv("HOME")' 'open(p, 0)' \
	'read(0, b, 1)' 'write(1, b, 1)' 'printf("x")' 'fopen(p, "r")' 'exit(1)'; do
	try pure src/base/a.c "void f(void) { $call; }"
	try pure src/core/a.c "void f(void) {" "	(void) $call; }"
done
for call in 'malloc(1)' 'calloc(1, 1)' 'realloc(p, 1)' 'free(p)' 'strdup(p)'; do
	try pure src/core/a.c "void f(void) { $call; }"
done
try pure src/ops/a.c 'void f(void *p) { free(p); }'
try pure src/view/a.c 'void f(void *p) { free(p); }'
try pure src/core/a.c '#define _GNU_SOURCE'
try quiet src/store/a.c 'void f(void) { printf("x"); }'
try quiet src/formats/a.c 'void f(void) { fprintf(stderr, "x"); }'
try quiet src/llm/a.c 'void f(void) { exit(1); }'
try quiet src/app/a.c 'void f(void) { printf("x"); }'
try quiet src/hooks/a.c 'void f(void) { _exit(1); }'
try quiet src/hooks/process.c 'void f(void) { exit(1); }'
for call in apply apply_text import export export_last_requests; do
	try asks src/cli/a.c "void f(void) { rt_engine_$call(e); }"
	try asks src/app/a.c "void f(void) { rt_engine_$call(e); }"
	try asks src/server/a.c "void f(void) { rt_engine_$call(e); }"
	try asks src/library/a.c "void f(void) { rt_engine_$call(e); }"
done
for call in 'strcpy(a, b)' 'strcat(a, b)' 'sprintf(a, "x")' 'system("ls")' 'popen("ls", "r")' 'gets(a)'; do
	try banned src/cli/a.c "void f(void) { $call; }"
done
try banned tests/a_test.c 'void f(void) { strcpy(a, b); }'
for first in 'struct rt_a { int a; };' 'typedef struct rt_a rt_a;'; do
	case $first in typedef*) rule=good ;; *) rule=twice ;; esac
	try $rule src/log/b.c 'struct rt_a {' '	int a;' '};'
	mkdir -p "$work/tried/$count/src/core"
	printf '%s\n' '/* SPDX-License-Identifier: MIT */' "$first" >"$work/tried/$count/src/core/a.h"
done
try licence src/core/a.c 'int a;'
try licence src/core/a.h '/* one' 'two' 'three' 'SPDX-License-Identifier: MIT */'
try licence tools/a.sh '#!/bin/sh'
try licence tests/tool '#!/usr/bin/env python3'

try good src/ops/a.c 'void f(void) { rt_engine_apply(e); }'
try good src/cli/a.c 'void f(void) { rt_apply(e); }'
try good src/core/a.c '#include "base/alloc.h"' '#include "core/seq.h"' '#include <string.h>'
try good src/core/a_test.c '#include <stdio.h>' 'void f(void) { printf("x"); free(malloc(1)); }'
try good src/core/a_test.c '#include "log/engine.h"' # a test may drive its layer through others
try good src/chat/a_test.c '#include "store/store_memory.h"'
try good src/core/a_testing.h '#include <cmocka.h>' # what tests share
try good tests/a_test.c 'void f(void) { system("ls"); }' # and set a scene with a command
try good src/base/clock_host.c '#include "base/clock_host.h"' '#include <time.h>' \
	'void f(void) { clock_gettime(0, &t); }'
try good src/store/a.c '#include "base/clock_host.h"'
try good src/base/alloc.c 'void f(void *p) { free(p); }'
try good src/base/text.c '#include <stdio.h>' 'void f(void) { vsnprintf(a, 1, b, c); }'
try good src/core/a.c '/* never printf("x") or #include "cli/x.h" */' 'const char *s = "time(NULL)";'
try good src/core/a.c 'void f(rt_env *e) { e->time(e); e->of.random(e); rt_free(a, b); mine_open(c); }'
try good src/codec/a.c 'static int' 'read(int a)' '{' '	return a;' '}' 'int f(void) { return read(1); }'
for layer in log ops view chat; do
	try good src/$layer/a.c '#include <pthread.h>' '#include "codec/json.h"'
done
try good src/ops/a.c '#include "log/engine.h"'
try good src/view/a.c '#include "ops/names.h"' '#include "log/engine.h"'
try good src/chat/a.c '#include "view/highlight.h"'
try good src/store/store_sqlite.c '#include <sqlite3.h>' '#include "log/store.h"' '#define _GNU_SOURCE'
try good src/program/main.c '#include "store/store_sqlite.h"' '#include "formats/pi.h"' \
	'int main(void) { printf("x"); exit(1); }'
try good src/hooks/process.c 'void f(void) { _exit(1); }'
try good src/app/host.c 'void f(void) { _exit(1); }'
try good src/tui/a.c '#include "app/width.h"' '#include "app/session.h"'
try good src/program/a.c '#include "cli/cli.h"' '#include "tui/tui.h"' '#include "server/server.h"'
try good src/server/a.c '#include "retake/retake.h"'

tried

# cycle COUNT: a tree with COUNT files that call each other in a cycle.
cycle() {
	rm -rf "$work/tree"
	mkdir -p "$work/tree/src/log" "$work/tree/build/obj/src/librt_engine.a.p"
	i=0
	while [ $i -lt "$1" ]; do
		printf '/* SPDX-License-Identifier: MIT */\nvoid f%d(void);\nvoid f%d(void) { f%d(); }\n' \
			$(((i + 1) % $1)) $i $(((i + 1) % $1)) >"$work/tree/src/log/a$i.c"
		cc -c -o "$work/tree/build/obj/src/librt_engine.a.p/log_a$i.c.o" "$work/tree/src/log/a$i.c"
		i=$((i + 1))
	done
	status=0
	"$python" "$root/tools/check_layers.py" --root "$work/tree" >"$work/out" 2>&1 || status=$?
}
cycle 4
ok=no
[ "$status" = 1 ] && grep -q '^src/log/a0.c:1: cycle: 4 files' "$work/out" && ok=yes
result 'a cycle of four files' "$ok"
cycle 3
ok=no
[ "$status" = 0 ] && ok=yes
result 'a cycle of three files' "$ok"

# An empty tree is an error.
rm -rf "$work/tree"
mkdir "$work/tree"
ok=yes
"$python" "$root/tools/check_layers.py" --root "$work/tree" >"$work/out" 2>&1 && ok=no
result 'an empty tree' "$ok"

ok=yes
"$python" "$root/tools/check_layers.py" >"$work/out" 2>&1 || ok=no
result 'this tree' "$ok"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
