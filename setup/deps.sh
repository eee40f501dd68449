#!/bin/sh
# SPDX-License-Identifier: MIT
#
# setup/deps.sh [mock|types|browser [maybe]|llama|postgresql18] setup/deps.sh object yyjson|sqlite OUTPUT
#
# Puts the third-party sources that Debian 12 does not package into build/deps:
#
#   build/deps/yyjson/   yyjson.c, .h        from Debian's source archive
#   build/deps/sqlite/   sqlite3.c, .h       the amalgamation, from an npm package
#   build/deps/tokens/   *.tiktoken           OpenAI's token ranks, from an npm package
#   build/deps/esbuild/, preact/, highlight/, temml/  build tool and libraries of the web interface
#   build/deps/cache/    the fetched archives; a file put here by hand is used
#
# With "mock", additional packages for tests/llm:
#
#   build/deps/aimock/   a mock of model servers, an npm package
#   build/deps/node/     Node 20 to run it, if the system's is missing or too old
#
# With "types", for tests/web/types_test.sh:
#
#   build/deps/typescript/    the compiler, which is only used to check types
#
# With "browser", for tests/web:
#
#   build/deps/playwright/, axe/   a driver for Debian's chromium, accessibility checks
#   build/deps/parse5/, entities/  an HTML parser, and its dependency
#
# With "llama", for tests/llm/llama_test.sh (about 85 MB):
#
#   build/deps/llama/    llama.cpp for Node, the npm packages of tests/llm/llama, each of
#                        which must match its hash in package-lock.json there
#
# With "postgresql18":
#
#   build/deps/postgresql18/   the server of PostgreSQL 18, an npm package
#
# With "object", compiles one of them, once for all build directories, and copies the object to
# OUTPUT: SQLite takes as long as the rest of Retake.
#
# Without the token ranks everything works, but token counts are estimates; without the packages of
# the web interface the program has none; without the compiler its types are not checked. If they
# cannot be fetched, this is reported, and tried again a day later; likewise with "browser maybe".
#
# Nothing is fetched that the system has in a suitable version, or that was fetched before. Every
# archive must match its hash in setup/pins.txt. The mirrors are those configured for apt and npm.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
deps=${RETAKE_DEPS:-$here/build/deps}
cache=$deps/cache
pins=$here/setup/pins.txt
# The same for all build directories, whatever their CC is.
cc=cc
command -v cc >/dev/null 2>&1 || cc=${CC:-gcc}

fail() {
	echo "setup/deps.sh: $*" >&2
	exit 1
}

# pin NAME: sets kind, where, file, digest.
pin() {
	line=$(grep "^$1 " "$pins") || fail "no line for $1 in setup/pins.txt"
	# shellcheck disable=SC2086
	set -- $line
	kind=$2 where=$3 file=$4 digest=$5
}

# hash_ok FILE DIGEST: the digest as npm writes it, "sha512-" and base64.
hash_ok() {
	algorithm=${2%%-*}
	want=$(printf %s "${2#*-}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
	got=$("${algorithm}sum" "$1" | cut -d ' ' -f 1)
	[ "$want" = "$got" ]
}

# fetch_debian WHERE FILE DEST: from the first configured apt source that has it.
fetch_debian() {
	helper=/usr/lib/apt/apt-helper
	[ -x "$helper" ] || return 1
	for site in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
		if "$helper" -o APT::Sandbox::User="$(id -un)" download-file \
			"${site%/}/$1/$2" "$3" >"$3.log" 2>&1 && [ -s "$3" ]; then
			rm -f "$3.log"
			return 0
		fi
	done
	cat "$3.log" >&2 2>/dev/null || true
	return 1
}

# fetch_npm SPEC FILE DEST
fetch_npm() {
	command -v npm >/dev/null 2>&1 || return 1
	rm -rf "$cache/npm"
	mkdir -p "$cache/npm"
	(cd "$cache/npm" && npm pack --ignore-scripts --loglevel=error "$1") >"$cache/npm/log" 2>&1 || {
		cat "$cache/npm/log" >&2
		return 1
	}
	mv "$cache/npm/$2" "$3"
	rm -rf "$cache/npm"
}

# get NAME: leaves the verified archive in the cache, its path in $archive.
get() {
	pin "$1"
	archive=$cache/$file
	if ! [ -f "$archive" ]; then
		mkdir -p "$cache"
		echo "Fetching $file"
		part=$cache/part.$$
		rm -f "$part"
		"fetch_$kind" "$where" "$file" "$part" ||
			fail "could not fetch $file (see above); check the network and npm's settings, or copy the file into $cache"
		if ! hash_ok "$part" "$digest"; then
			mv "$part" "$archive.rejected"
			fail "$file does not match its hash in setup/pins.txt; it is kept as $archive.rejected and not used"
		fi
		mv "$part" "$archive"
	fi
	hash_ok "$archive" "$digest" ||
		fail "$archive does not match its hash in setup/pins.txt; remove it and try again"
}

# unpack NAME MEMBER...: members of the archive into build/deps/NAME, all or none.
unpack() {
	name=$1
	shift
	dir=$deps/.new-$name.$$
	rm -rf "$dir"
	mkdir -p "$dir/all"
	tar -xf "$archive" -C "$dir/all" --strip-components=1
	for member in "$@"; do
		mv "$dir/all/$member" "$dir/" || fail "$archive does not contain $member"
	done
	rm -rf "$dir/all" "${deps:?}/$name"
	printf '%s\n' "$digest" >"$dir/.pin"
	mv "$dir" "$deps/$name"
}

# unpack_all NAME: the whole archive.
unpack_all() {
	dir=$deps/.new-$1.$$
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -xf "$archive" -C "$dir" --strip-components=1
	rm -rf "${deps:?}/$1"
	printf '%s\n' "$digest" >"$dir/.pin"
	mv "$dir" "$deps/$1"
}

# have NAME FILE: unpacked before, from the archive that is pinned now.
have() {
	pin "$1"
	[ -f "$deps/$1/$2" ] && [ "$(cat "$deps/$1/.pin" 2>/dev/null)" = "$digest" ]
}

mkdir -p "$deps"

# Called by ninja, while our own files are compiled. Recompiles if the flags, the compiler or the
# source have changed.
if [ "${1-}" = object ]; then
	name=$2 output=$3
	common='-g -w -fPIC -fstack-protector-strong'
	case $name in
	yyjson) source=yyjson.c flags="-O3 $common" ;;
	# Threads never share a connection here, hence THREADSAFE=2.
	sqlite) source=sqlite3.c flags="-O2 $common
		-DSQLITE_THREADSAFE=2
		-DSQLITE_ENABLE_FTS5
		-DSQLITE_ENABLE_DBSTAT_VTAB
		-DSQLITE_DQS=0
		-DSQLITE_DEFAULT_MEMSTATUS=0
		-DSQLITE_LIKE_DOESNT_MATCH_BLOBS
		-DSQLITE_MAX_EXPR_DEPTH=0
		-DSQLITE_OMIT_DEPRECATED
		-DSQLITE_OMIT_SHARED_CACHE
		-DSQLITE_OMIT_LOAD_EXTENSION
		-DSQLITE_USE_ALLOCA
		-DHAVE_FDATASYNC=1" ;;
	*) fail "no source is called $name" ;;
	esac
	exec 9>"$deps/.$name.lock"
	flock 9
	object=$deps/$name/${source%.c}.o
	stamp=$(cat "$deps/$name/.pin" && echo "$cc" "$flags")
	if ! [ -f "$object" ] || [ "$(cat "$object.stamp" 2>/dev/null)" != "$stamp" ]; then
		# shellcheck disable=SC2086
		"$cc" $flags -c "$deps/$name/$source" -o "$object.new"
		mv "$object.new" "$object"
		printf '%s\n' "$stamp" >"$object.stamp"
	fi
	cp "$object" "$output"
	exit 0
fi

exec 9>"$deps/.lock"
flock 9

# Is the system's node new enough?
node_is_new() {
	command -v node >/dev/null 2>&1 &&
		node -e 'process.exit(+process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
}

need_node() {
	if ! node_is_new && ! have node node; then
		[ "$(uname -sm)" = "Linux x86_64" ] || fail "$1 needs Node 20 or newer"
		get node
		unpack node bin/node
	fi
}

if [ "${1-}" = mock ]; then
	if ! have aimock package.json; then
		get aimock
		unpack aimock dist package.json
	fi
	need_node 'the mock'
	exit 0
fi

if [ "${1-}" = postgresql18 ]; then
	[ "$(uname -sm)" = "Linux x86_64" ] || fail 'PostgreSQL 18 is fetched for Linux on x86_64 only'
	if ! have postgresql18 native/bin/postgres; then
		get postgresql18
		unpack_all postgresql18
		# The package lists the symbolic links that belong to its libraries.
		(cd "$deps/postgresql18" && tr '{' '\n' <native/pg-symlinks.json |
			sed -n 's/.*"source":"\([^"]*\)","target":"\([^"]*\)".*/\1 \2/p' |
			while read -r source target; do
				ln -sf "${source##*/}" "$target"
			done)
	fi
	exit 0
fi

if [ "${1-}" = llama ]; then
	[ "$(uname -sm)" = "Linux x86_64" ] || fail 'llama.cpp is fetched for Linux on x86_64 alone'
	need_node llama.cpp
	digest=$(sha256sum <"$here/tests/llm/llama/package-lock.json")
	[ "$(cat "$deps/llama/.pin" 2>/dev/null)" != "$digest" ] || exit 0
	command -v npm >/dev/null 2>&1 || fail 'llama.cpp is fetched with npm, which is not there'
	echo "Fetching llama.cpp for Node (about 85 MB)"
	dir=$deps/.new-llama.$$
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "$here/tests/llm/llama/package.json" "$here/tests/llm/llama/package-lock.json" "$dir/"
	(cd "$dir" && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error) || {
		rm -rf "$dir"
		fail 'could not fetch llama.cpp'
	}
	printf '%s\n' "$digest" >"$dir/.pin"
	rm -rf "${deps:?}/llama"
	mv "$dir" "$deps/llama"
	exit 0
fi

# can_get NAME WITHOUT: cached, or fetched; otherwise reports the consequence, and tries again a day
# later.
can_get() {
	pin "$1"
	tried=$cache/$1.log
	if ! [ -f "$cache/$file" ]; then
		[ -z "$(find "$tried" -mtime -1 2>/dev/null)" ] || return 1
		mkdir -p "$cache"
		if ! (npm_config_fetch_retries=0 && export npm_config_fetch_retries && get "$1") \
			>"$tried" 2>&1; then
			echo "$2: $(tail -n 1 "$tried")"
			return 1
		fi
	fi
	rm -f "$tried"
	get "$1"
}

get_tokens() {
	have tokens o200k_base.tiktoken && return
	can_get tokens 'No token ranks, so token counts are estimates' || return 0
	unpack tokens data/cl100k_base.tiktoken data/o200k_base.tiktoken LICENSE
}

get_web() {
	[ "$(uname -sm)" = "Linux x86_64" ] || return 0 # what builds it is a program for it
	for name in esbuild preact highlight temml; do
		have $name package.json && continue
		can_get $name 'No web interface' || return 0
		unpack_all $name
	done
	mkdir -p "$deps/node_modules"
	ln -sfn ../preact "$deps/node_modules/preact"
	ln -sfn ../highlight "$deps/node_modules/highlight.js"
	ln -sfn ../temml "$deps/node_modules/temml"
}

if [ "${1-}" = browser ]; then
	for name in playwright axe entities parse5; do
		if ! have $name package.json; then
			if [ "${2-}" = maybe ]; then
				can_get $name 'No tests in a browser' || exit 0
			else
				get $name
			fi
			unpack_all $name
		fi
	done
	mkdir -p "$deps/node_modules"
	ln -sfn ../entities "$deps/node_modules/entities"
	need_node 'a driver for browsers'
	exit 0
fi

if [ "${1-}" = types ]; then
	have typescript package.json && exit 0
	can_get typescript 'No check of types' || exit 0
	unpack typescript bin lib package.json LICENSE.txt
	exit 0
fi

if ! pkg-config --atleast-version=0.10 yyjson 2>/dev/null && ! have yyjson yyjson.c; then
	get yyjson
	unpack yyjson src/yyjson.c src/yyjson.h LICENSE
fi
if ! pkg-config --atleast-version=3.51.3 sqlite3 2>/dev/null && ! have sqlite sqlite3.c; then
	get sqlite
	unpack sqlite deps/sqlite3/sqlite3.c deps/sqlite3/sqlite3.h deps/sqlite3/sqlite3ext.h
fi
get_tokens
get_web
