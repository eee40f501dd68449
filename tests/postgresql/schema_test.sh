#!/bin/sh
# SPDX-License-Identifier: MIT
#
# retake store: creating and upgrading the tables, with roles that may do little, and a catalogue that
# can be distributed by project.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

database() { # database NAME: a new one
	sql "CREATE DATABASE $1" postgres
}
of() { # of ROLE DATABASE: an address
	echo "postgresql://$1:sesame@/$2?host=$server"
}
sql 'CREATE ROLE keeper LOGIN; CREATE ROLE worker LOGIN'

# A role that owns its schema and nothing else; one that only reads and writes rows.
database own
sql 'CREATE SCHEMA retake AUTHORIZATION keeper' own
sql 'REVOKE CREATE ON SCHEMA public FROM PUBLIC' own
keeper=$(of keeper own)
worker=$(of worker own)
code 'dry run' 0 "$RETAKE" --db "$keeper" store init --dry-run
has 'dry run: SQL' 'CREATE TABLE retake.log' "$out"
cp "$work/out" "$work/script.sql"
is 'dry run: nothing' '' "$(sql "SELECT to_regclass('retake.log')" own)"
code 'init' 0 "$RETAKE" --db "$keeper" store init
has 'init: says so' 'Created the tables' "$out"
code 'init again' 0 "$RETAKE" --db "$keeper" store init
has 'init again: nothing to do' 'has the tables of this version' "$out"
code 'the owner of the schema' 0 "$RETAKE" --db "$keeper" add one
code 'a role without rights' 1 "$RETAKE" --db "$worker" show
sql 'GRANT USAGE ON SCHEMA retake TO worker; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retake TO worker' own
code 'a role with rights to rows' 0 "$RETAKE" --db "$worker" add two
code 'it searches' 0 "$RETAKE" --db "$worker" search two
has 'it searches: found' 'two' "$out"
code 'it purges' 0 "$RETAKE" --db "$worker" purge --text two --yes
code 'it checks' 0 "$RETAKE" --db "$worker" fsck
database bare
code 'a server without tables' 1 "$RETAKE" --db "$(of worker bare)" serve --port 0
has 'a server without tables: what to run' ' store init' "$err"
code 'init without permission' 1 "$RETAKE" --db "$(of worker bare)" store init
hasnt 'no password' 'sesame' "$out$err"
code 'a file' 1 r store init
has 'a file: message' 'is a file' "$err"
code 'neither' 2 "$RETAKE" --db "$keeper" store repair

# The format before row-level security.
database old
sql "$(sed 's/ALTER TABLE retake.store ADD COLUMN.*/COMMIT/' "$work/script.sql")" old
old=$(of retake old)
is 'the old format' 1 "$(sql 'SELECT format FROM retake.store' old)"
code 'the old format is used' 0 "$RETAKE" --db "$old" add 'a fox'
code 'and searched' 0 "$RETAKE" --db "$old" search fox
code 'init refuses' 1 "$RETAKE" --db "$old" store init
has 'init refuses: what to run' ' store upgrade' "$err"
code 'upgrade, dry' 0 "$RETAKE" --db "$old" store upgrade -n
has 'upgrade, dry: SQL' 'CREATE POLICY' "$out"
is 'upgrade, dry: nothing' 1 "$(sql 'SELECT format FROM retake.store' old)"
code 'upgrade' 0 "$RETAKE" --db "$old" store upgrade
is 'upgrade: format' 2 "$(sql 'SELECT format FROM retake.store' old)"
code 'upgrade again' 0 "$RETAKE" --db "$old" store upgrade
shape() { # the columns, functions and policies of a database
	sql "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'retake' ORDER BY 1, 2;
		SELECT proname, md5(prosrc) FROM pg_proc WHERE pronamespace = 'retake'::regnamespace ORDER BY 1;
		SELECT tablename, policyname, md5(concat(qual, with_check)) FROM pg_policies ORDER BY 1, 2" "$1"
}
is 'upgrade: as new' "$(shape own)" "$(shape old)"
# An index with other rules for words is filled again.
is 'the index of other rules' 0 "$(sql 'SELECT index_rules FROM retake.store WHERE index_rules > 1' old | grep -c .)"
code 'is replaced' 0 "$RETAKE" --db "$old" add 'another fox'
is 'and empty' '0|0' "$(sql 'SELECT (SELECT count(*) FROM retake.found), (SELECT max(mark) FROM retake.project)' old)"
code 'until a search' 0 "$RETAKE" --db "$old" search fox
is 'which fills it' 2 "$(sql 'SELECT count(*) FROM retake.found' old)"
sql 'UPDATE retake.store SET format = 99' old
code 'a newer format' 1 "$RETAKE" --db "$old" store upgrade
has 'a newer format: message' 'newer version' "$err"

# What Citus needs to distribute the tables by project: it is in every primary key and unique index, and
# there are no foreign keys, triggers, sequences or inherited tables. CockroachDB and YugabyteDB have the
# types, and need nothing of a session: no advisory locks, LISTEN, temporary tables.
catalogue() { # catalogue NAME SQL: no rows
	is "$1" '' "$(sql "$2" own)"
}
in_schema="relnamespace = 'retake'::regnamespace"
catalogue 'each unique index contains the project' "SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON
	c.oid = i.indrelid AND c.$in_schema WHERE i.indisunique AND c.relname NOT IN ('store', 'project') AND NOT EXISTS(
	SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'project' AND a.attnum = ANY(i.indkey))"
catalogue 'each table has a primary key' "SELECT relname FROM pg_class c WHERE c.$in_schema AND relkind = 'r' AND NOT
	EXISTS(SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)"
is 'the project is its first column' 'body found log node root side' "$(sql "SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
	FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary JOIN pg_attribute a ON a.attrelid = c.oid AND
	a.attnum = i.indkey[0] WHERE c.$in_schema AND a.attname = 'project'" own)"
catalogue 'keys, rows and checks alone' "SELECT conname FROM pg_constraint WHERE connamespace = 'retake'::regnamespace AND
	contype NOT IN ('p', 'c', 'n')"
catalogue 'no triggers' "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid AND c.$in_schema"
catalogue 'no sequences, views or partitions' "SELECT relname FROM pg_class WHERE $in_schema AND relkind NOT IN ('r', 'i')"
catalogue 'no inheritance' "SELECT inhrelid FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid AND c.$in_schema"
is 'types' 'bigint bytea text tsvector' "$(sql "SELECT string_agg(DISTINCT data_type, ' ' ORDER BY data_type) FROM
	information_schema.columns WHERE table_schema = 'retake'" own)"
catalogue 'no type of its own, no extension' "SELECT typname FROM pg_type WHERE typnamespace = 'retake'::regnamespace AND
	typtype NOT IN ('c', 'b') UNION ALL SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'"
catalogue 'functions use no session' "SELECT proname FROM pg_proc WHERE pronamespace = 'retake'::regnamespace AND
	prosrc ~* '(advisory|listen|notify|temp table|pg_backend_pid|nextval)'"
is 'nor does the program' '' "$(grep -lE 'pg_advisory|LISTEN |NOTIFY |CREATE TEMP|nextval' "$root"/src/store/store_postgres*.c)"
finish
