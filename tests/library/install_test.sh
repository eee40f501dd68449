#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The installed library: installed into a new directory, and used from there with only its headers,
# -lretake and pkg-config. As C and as C++, shared and static.
set -u
cd "$(dirname "$0")/../.."
root=$PWD
RETAKE=${RETAKE:-$root/build/retake}
build=$(dirname "$(dirname "$(readlink -f "$RETAKE")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

result() { # result NAME STATUS [FILE]: the contents of FILE are shown if STATUS is not 0
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
		[ ! -f "${3:-}" ] || head -n 30 "$3" | sed 's/^/    /'
	fi
}

finish() {
	echo "$passed passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
	exit
}

# ---- installed ----

meson install -C "$build" --no-rebuild --destdir "$work/root" >"$work/log" 2>&1
result 'meson install' $? "$work/log"
pc=$(find "$work/root" -name retake.pc)
[ -n "$pc" ]
result 'there is a pkg-config file' $?
[ -n "$pc" ] || finish
prefix=$(sed -n 's/^prefix=//p' "$pc")
lib=$(dirname "$(dirname "$pc")")
include=$work/root$prefix/include
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# The prefix differs here.
config() {
	pkg-config --define-variable=prefix="$work/root$prefix" "$@"
}
is() { # is NAME WANTED GOT
	printf 'wanted %s\ngot    %s\n' "$2" "$3" >"$work/is"
	[ "$2" = "$3" ]
	result "$1" $? "$work/is"
}
number() {
	sed -n "s/^#define RETAKE_VERSION \"\(.*\)\"/\1/p" "$include/retake/version.h"
}
is 'the version of the package is that of the headers' "$(number)" "$(config --modversion retake)"
is 'the soname' libretake.so.0 \
	"$(objdump -p "$lib/libretake.so" | sed -n 's/^ *SONAME *//p')"

# ---- names ----

(cd include && find . -name '*.h' | sort) >"$work/ours"
(cd "$include" && find . -name '*.h' | sort) >"$work/theirs"
diff "$work/ours" "$work/theirs" >"$work/out"
result 'all headers are installed, and no others' $? "$work/out"

nm -D --defined-only "$lib/libretake.so" | awk '{ print $3 }' | sort >"$work/exported"
grep -v '^retake_' "$work/exported" >"$work/out"
[ ! -s "$work/out" ]
result 'only retake_ names are exported' $? "$work/out"

# All function names in the preprocessed headers: every name before a "(".
echo '#include <retake/retake.h>' | cc -E -P -I"$include" - |
	grep -o 'retake_[a-z_]*(' | tr -d '(' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported" >"$work/out"
result 'what is declared is exported, and the reverse' $? "$work/out"

grep -n '# *include' -r "$include/retake" |
	grep -v -e '"retake/[a-z]*\.h"$' -e '<std[a-z]*\.h>$' >"$work/out"
[ ! -s "$work/out" ]
result 'headers include only each other and the C library' $? "$work/out"

# ---- each header alone ----

for header in "$include"/retake/*.h; do
	name=$(basename "$header")
	echo "#include <retake/$name>" >"$work/one.c"
	cp "$work/one.c" "$work/one.cpp"
	cc -std=c99 -pedantic-errors -Wall -Wextra -Wstrict-prototypes -Werror -I"$include" \
		-fsyntax-only "$work/one.c" >"$work/out" 2>&1
	result "$name is C99" $? "$work/out"
	c++ -std=c++11 -pedantic-errors -Wall -Wextra -Werror -I"$include" -fsyntax-only \
		"$work/one.cpp" >"$work/out" 2>&1
	result "$name is C++11" $? "$work/out"
done

# ---- the example ----

runs() { # runs NAME PROGRAM
	LD_LIBRARY_PATH=$lib "$2" >"$work/said" 2>&1
	result "$1 runs" $? "$work/said"
	# the library uses the real clock: times of changes are removed
	sed 's/,"last_updated":"[^"]*"//g' "$work/said" | diff examples/hello.out - >"$work/out"
	result "$1 says what it should" $? "$work/out"
}

flags=$(config --cflags --libs retake)
cp examples/hello.c "$work/hello.c"
cp examples/hello.c "$work/hello.cpp"
cd "$work" || exit 1
cc -std=c99 -pedantic-errors -Wall -Wextra -Werror hello.c $flags -o hello-c >out 2>&1
result 'the example as C' $? out
c++ -std=c++11 -pedantic-errors -Wall -Wextra -Werror hello.cpp $flags -o hello-cpp >out 2>&1
result 'the example as C++' $? out
# By file name: -lretake would find the shared library beside it.
static=$(config --static --libs retake | sed "s|-lretake|$lib/libretake.a|")
cc -std=c99 hello.c $(config --cflags retake) $static -o hello-static >out 2>&1
result 'the example with the static library' $? out
cd "$root" || exit 1
for program in hello-c hello-cpp hello-static; do
	[ ! -x "$work/$program" ] || runs "$program" "$work/$program"
done
ninja -C "$build" uninstall >"$work/log" 2>&1
result 'ninja uninstall' $? "$work/log"
is 'nothing of it is left' '' "$(find "$work/root" -type f 2>/dev/null)"
finish
