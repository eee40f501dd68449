#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Removing a user with all data, in PostgreSQL: tests/server/user_purge_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
DB=$address code 'the owner' 0 python3 "$root/tests/server/user_purge_test.py"

# No row of the deleted project is left; the role of a server with row-level security can delete it, too.
rows=0
for table in log body node root side found; do
	rows=$((rows + $(sql "SELECT count(*) FROM retake.$table WHERE project NOT IN (SELECT id FROM retake.project)")))
done
is 'rows without a project' 0 "$rows"
is 'its texts' 0 "$(sql "SELECT count(*) FROM retake.body WHERE position('mulberry-7731-ocean mine'::bytea IN data) > 0")"
is 'those of others' 2 "$(sql "SELECT count(*) FROM retake.body WHERE position('mulberry-7731-ocean shared'::bytea IN data) > 0")"
sql 'CREATE ROLE retake_server LOGIN NOBYPASSRLS' postgres
sql 'CREATE DATABASE limited' postgres
"$RETAKE" --db "postgresql://retake@/limited?host=$server" -q store init
sql 'GRANT USAGE ON SCHEMA retake TO retake_server;
	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retake TO retake_server' limited
DB="postgresql://retake_server@/limited?host=$server" code 'the role of a server' 0 python3 "$root/tests/server/user_purge_test.py"
finish
