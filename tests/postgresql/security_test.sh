#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Row-level security: a server whose role is not the owner of the tables gives the same answers, and
# SQL connections with random identities see what a plain model of the accounts allows, without the
# decision of the server (security.py). REQUESTS: how many, 3,000 by default.
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
finish
