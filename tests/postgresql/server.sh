#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A PostgreSQL server for tests, without a network, in a new folder:
#
#	tests/postgresql/server.sh make FOLDER          its data (user retake, no password)
#	tests/postgresql/server.sh run FOLDER [ARG…]    the server; ends with the calling process
#	tests/postgresql/server.sh pool FOLDER          PgBouncer before it, on port 6432 of the same
#	                                                folder, with a connection for each transaction
#
# Its address is postgresql://retake@/postgres?host=FOLDER. Root runs it as another user, because the
# server refuses root. Its programs are in the folder RETAKE_POSTGRESQL, by default Debian's newest.
# Exit status 77: it is not installed (Debian: postgresql-15).
set -eu

bin=${RETAKE_POSTGRESQL:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
if [ ! -x "$bin/initdb" ]; then
	echo "skipped: PostgreSQL is not installed (Debian: postgresql-15)" >&2
	exit 77
fi
as_user=
if [ "$(id -u)" = 0 ]; then
	user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	as_user="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi
command=$1
folder=$2
shift 2
if [ "$command" = pool ] && ! command -v pgbouncer >/dev/null 2>&1; then
	echo "skipped: PgBouncer is not installed (Debian: pgbouncer)" >&2
	exit 77
fi
case $command in
make)
	[ -z "$as_user" ] || chown "$user" "$folder"
	cd "$folder"
	# shellcheck disable=SC2086
	$as_user "$bin/initdb" -D "$folder/data" -A trust -U retake -E UTF8 --locale=C --no-sync \
		--no-instructions >/dev/null
	;;
run)
	cd "$folder"
	# shellcheck disable=SC2086
	exec setpriv --pdeathsig INT $as_user "$bin/postgres" -D "$folder/data" -k "$folder" \
		-c listen_addresses= -c shared_buffers=64MB -c max_connections=150 "$@" \
		>>"$folder/log" 2>&1
	;;
pool)
	# Few connections, so that a client gets another one most of the time.
	printf '"%s" ""\n' retake retake_server >"$folder/pool-users"
	cat >"$folder/pool.ini" <<-END
		[databases]
		* = host=$folder port=5432
		[pgbouncer]
		listen_addr =
		listen_port = 6432
		unix_socket_dir = $folder
		auth_type = trust
		auth_file = $folder/pool-users
		pool_mode = transaction
		default_pool_size = 6
		max_client_conn = 500
	END
	[ -z "$as_user" ] || chown "$user" "$folder/pool.ini" "$folder/pool-users"
	# shellcheck disable=SC2086
	exec setpriv --pdeathsig INT $as_user pgbouncer "$folder/pool.ini" >>"$folder/pool-log" 2>&1
	;;
esac
