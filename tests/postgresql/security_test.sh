#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Row-level security: a server whose role is not the owner of the tables gives the same answers, and
# SQL connections with random identities see what a plain model of the accounts allows, without the
# decision of the server (security.py). REQUESTS: how many, 600 by default.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

owner=$address
sql 'CREATE ROLE retake_server LOGIN NOBYPASSRLS'
code 'init' 0 "$RETAKE" --db "$owner" add first -p work
sql 'GRANT USAGE ON SCHEMA retake TO retake_server;
	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retake TO retake_server'
limited="postgresql://retake_server:sesame@/test?host=$server"

# Nothing without an identity; everything for the program itself.
as_server() {
	psql -X -q -A -t -h "$server" -U retake_server -d test -c "$1"
}
for table in project log body side; do
	is "no identity: $table" 0 "$(as_server "SELECT count(*) FROM retake.$table")"
done
code 'the command line' 0 "$RETAKE" --db "$limited" show -p work
has 'the command line: the text' 'first' "$out"
code 'the command line writes' 0 "$RETAKE" --db "$limited" add second -p other
code 'a search' 0 "$RETAKE" --db "$limited" search second -p other
has 'a search: found' 'second' "$out"
code 'fsck' 0 "$RETAKE" --db "$limited" fsck

# The test of the server with its random requests, and the database alone.
new_store() { # new_store NAME: its address for the server's role
	sql "CREATE DATABASE $1" postgres
	"$RETAKE" --db "postgresql://retake@/$1?host=$server" -q store init
	sql 'GRANT USAGE ON SCHEMA retake TO retake_server;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retake TO retake_server' "$1"
	echo "postgresql://retake_server@/$1?host=$server"
}
cd "$root" || exit 1
requests=${REQUESTS:-600}
RETAKE_TEST_REQUESTS=$requests RETAKE_TEST_STORE=$(new_store requests) code 'random requests' 0 "$(unit_test access_random_test)"
grep '^#' "$work/out"
RETAKE_TEST_REQUESTS=$requests RETAKE_TEST_STORE=$(new_store rows) RETAKE_TEST_ROWS=1 code 'the database alone' 0 "$(unit_test access_random_test)"
grep '^#' "$work/out"

RETAKE_TEST_STORE=$(new_store commits) RETAKE_TEST_COMMITS=1 code 'users share commits' 0 "$(unit_test access_random_test)"

# A connection sees no other project than the one it has named, whatever its role.
is 'another project' '0|1' "$(as_server "BEGIN; SELECT set_config('retake.project', '2', true), set_config('retake.level', '4', true);
	SELECT (SELECT count(*) FROM retake.log WHERE project = 1), (SELECT min(1) FROM retake.log WHERE project = 2); COMMIT" | tail -n 1)"
unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
DB=$(new_store accounts) code 'accounts' 0 python3 tests/server/accounts_test.py
has 'accounts: ran' ' passed, 0 failed' "$out"

# A server with accounts warns if its role bypasses the policies.
warning() { # warning ROLE DATABASE [FLAG ...]: the messages of a server with this role
	role=$1 database=$2
	shift 2
	"$RETAKE" --db "postgresql://$role@/$database?host=$server" serve --no-socket --port 0 --port-file "$work/port" "$@" \
		>"$work/served" 2>&1 &
	served=$!
	tries=0
	until [ -s "$work/port" ] || [ "$tries" -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	kill "$served"
	wait "$served"
	grep 'row-level security' "$work/served"
}
sql 'CREATE ROLE retake_bypass LOGIN BYPASSRLS; CREATE ROLE retake_owner LOGIN; CREATE ROLE retake_member LOGIN;
	GRANT retake_owner TO retake_member; GRANT retake_server TO retake_bypass'
sql 'CREATE DATABASE owned OWNER retake_owner' postgres
has 'the role owns the tables' '(it has the rights of the owner of the tables)' "$(warning retake_owner owned --accounts)"
has 'the role has those rights' '(it has the rights of the owner of the tables)' "$(warning retake_member owned --accounts)"
has 'the role is a superuser' '(it is a superuser)' "$(warning retake accounts --accounts)"
has 'the role has BYPASSRLS' '(it has BYPASSRLS)' "$(warning retake_bypass accounts --accounts)"
is 'the policies apply' '' "$(warning retake_server accounts --accounts)"
has 'it served' 'listening on' "$(cat "$work/served")"
is 'without accounts' '' "$(warning retake accounts)"
finish
