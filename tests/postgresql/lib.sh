# SPDX-License-Identifier: MIT
#
# Starts a server for a test of the command line and creates a database; sourced after tests/cli/lib.sh.
#
#   $server     the folder of its socket
#   $address    the address of the store
#   sql TEXT    runs SQL [in another database]; prints the rows
#   unit_test NAME   prints the path of a unit test: of the normal build, or of the one with sanitizers
server=$(mktemp -d -p /tmp) # the path of a socket has to be short
trap 'kill -QUIT "$server_process" 2>/dev/null; wait 2>/dev/null; rm -rf "$work" "$server"' EXIT
server_process=
if ! "$root/tests/postgresql/server.sh" make "$server"; then
	exit 77
fi

server_run() { # in the background, until it has a socket
	"$root/tests/postgresql/server.sh" run "$server" "$@" &
	server_process=$!
	server_tries=0
	until psql -X -q -h "$server" -U retake -d postgres -c 'SELECT 1' >/dev/null 2>&1; do
		server_tries=$((server_tries + 1))
		[ "$server_tries" -lt 200 ] || exit 1
		sleep 0.1
	done
}

unit_test() {
	for unit_test_dir in obj asan; do
		if [ -x "$root/build/$unit_test_dir/src/$1" ]; then
			echo "$root/build/$unit_test_dir/src/$1"
			return
		fi
	done
	echo "there is no unit test $1: make build" >&2
}

sql() {
	psql -X -q -A -t -h "$server" -U retake -d "${2:-test}" -c "$1"
}
server_run -c fsync=off
sql 'CREATE DATABASE test' postgres
address="postgresql://retake:sesame@/test?host=$server"
