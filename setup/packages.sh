#!/bin/sh
# SPDX-License-Identifier: MIT
#
# setup/packages.sh build|test
#
# Installs the system packages that a build needs, or the longer list for the tests. Missing ones
# are installed with apt-get; if that is not permitted, the list and the command are printed and the
# exit status is 1. Prints nothing, and needs no network, if everything is installed.
set -eu

# One requirement per line: how to detect it, and the Debian package.
#   cmd NAME  a command      pc NAME  a pkg-config module      deb NAME  a package
build_list='
cmd gcc gcc
cmd g++ g++
cmd make make
cmd meson meson
cmd ninja ninja-build
cmd pkg-config pkg-config
cmd python3 python3
cmd flock util-linux
cmd tar tar
cmd xz xz-utils
hdr stdio.h libc6-dev
pc tomlplusplus libtomlplusplus-dev
pc libcurl libcurl4-openssl-dev
pc libpq libpq-dev
pc jansson libjansson-dev
pc libcrypto libssl-dev
pc cjose libcjose-dev
pc libutf8proc libutf8proc-dev
pc ncursesw libncurses-dev
pc libmicrohttpd libmicrohttpd-dev
pc md4c libmd4c-dev
pc zlib zlib1g-dev
'
# Needed once, to fetch SQLite (see setup/deps.sh).
fetch_list='
cmd npm npm
'
test_list='
pc cmocka libcmocka-dev
cmd clang clang
cmd ld.lld lld
deb libclang-rt-dev libclang-rt-dev
cmd llvm-symbolizer llvm
cmd chromium-headless-shell chromium-headless-shell
cmd tmux tmux
cmd pgrep procps
cmd ctags universal-ctags
pc vterm libvterm-dev
deb postgresql-15 postgresql-15
cmd pgbouncer pgbouncer
deb python3-cryptography python3-cryptography
'

here=$(cd "$(dirname "$0")/.." && pwd)
deps=${RETAKE_DEPS:-$here/build/deps}

case ${1-} in
build) list=$build_list ;;
test) list=$build_list$test_list ;;
*)
	echo "usage: setup/packages.sh build|test" >&2
	exit 2
	;;
esac
if ! [ -f "$deps/sqlite/sqlite3.c" ] &&
	! pkg-config --atleast-version=3.51.3 sqlite3 2>/dev/null; then
	list=$list$fetch_list
fi

is_there() {
	case $1 in
	cmd) command -v "$2" >/dev/null 2>&1 ;;
	pc) pkg-config --exists "$2" 2>/dev/null ;;
	hdr) [ -f "/usr/include/$2" ] ;;
	deb) dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q 'ok installed' ;;
	esac
}

missing_packages() {
	echo "$list" | while read -r kind name package; do
		[ -n "$kind" ] || continue
		is_there "$kind" "$name" || echo "$package"
	done | sort -u | tr '\n' ' '
}

missing=$(missing_packages)
missing=${missing% }
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		as_root=sudo
	else
		as_root=no
	fi
fi
if [ "$as_root" = no ] || ! command -v apt-get >/dev/null 2>&1; then
	cat >&2 <<-END
	These packages are missing (names as in Debian 12): $missing
	Install them as root, then try again:

	    apt-get update && apt-get install --no-install-recommends -y $missing

	END
	exit 1
fi

echo "Installing: $missing"
# sudo clears the environment, so variables for apt-get are passed with env.
install() {
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install --no-install-recommends -y -q $missing </dev/null
}
$as_root apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists there are" >&2
install || {
	echo "Could not install: $missing" >&2
	exit 1
}
left=$(missing_packages)
[ -z "$left" ] || {
	echo "Installed, but still not found (pkg-config --print-errors --exists NAME shows why): $left" >&2
	exit 1
}
