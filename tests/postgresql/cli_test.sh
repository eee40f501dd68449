#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command line and the server on a store in PostgreSQL: the same results as on a file, clear
# errors, and no password in any output.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

p() {
	"$RETAKE" --db "$address" "$@"
}

# Nothing is created by reading.
code 'nothing yet' 0 p show
has 'nothing yet: where' "postgresql://retake@/test?host=$server" "$out"
is 'no schema' '0' "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'retake'")"

# The same requests on a file.
cat >"$work/ops" <<-'END'
	{"op":"entry.append","role":"User","content":"one fox","id":"e1"}
	{"op":"entry.append","role":"AI","content":"two foxes","id":"e2"}
	{"op":"take.branch","at":"e1","name":"other"}
	{"op":"entry.append","role":"AI","content":"three","id":"e3"}
	{"op":"entry.edit","entry":"e3","content":"three and a half"}
	{"op":"undo"}
	{"op":"redo"}
	{"op":"discussion.new","name":"second"}
	{"op":"entry.append","role":"User","content":"four 東京","id":"e4"}
END
code 'apply' 0 p apply "$work/ops"
code 'apply to a file' 0 r apply "$work/ops"
same() { # same NAME ARGS…: the same output, but for times
	same_name=$1
	shift
	is "$same_name" "$(r "$@" 2>&1 | sed 's/20[0-9-]*T[0-9:.]*Z//g')" \
		"$(p "$@" 2>&1 | sed 's/20[0-9-]*T[0-9:.]*Z//g')"
}
same 'export' export --format canonical
same 'search' search fox --json
same 'search for a part' search 京 --json
same 'takes' takes --json -d main
code 'fsck' 0 p fsck
code 'doctor' 0 p doctor
code 'a second project' 0 p -p work add hello
same 'the first is unchanged' export --format canonical
code 'purge' 0 p purge --text 'four' --yes
code 'purge in a file' 0 r purge --text 'four' --yes
same 'after purge' export --format canonical
is 'no row has the text' '0' "$(sql "SELECT count(*) FROM retake.body WHERE position('four' IN encode(data, 'escape')) > 0")"
code 'search after purge' 0 p search four
code 'fsck after purge' 0 p fsck
code 'backup' 0 p backup "$work/copy"
same_state() { # same_state NAME ADDRESS
	is "$1" "$(p export --format canonical)" "$("$RETAKE" --db "$2" export --format canonical)"
}
same_state 'backup: the same' "$work/copy"
is 'backup: nothing else' '' "$(find "$work" -name 'copy.part*')"
code 'backup: sound' 0 "$RETAKE" --db "$work/copy" fsck
code 'backup: never overwrites' 1 p backup "$work/copy"
sql 'CREATE DATABASE copied' postgres
copied="postgresql://retake:sesame@/copied?host=$server"
code 'a file to a database' 0 "$RETAKE" copy "$work/copy" "$copied"
same_state 'a file to a database: the same' "$copied"
code 'a file to a database: sound' 0 "$RETAKE" --db "$copied" fsck
p -q add 'and one more'
code 'a database to a database' 0 "$RETAKE" copy "$address" "$copied"
hasnt 'no password' 'sesame' "$out$err"
same_state 'a database to a database: the same' "$copied"
in_index() { # how many texts with the word are in the index of the copy
	sql "SELECT count(*) FROM retake.found WHERE words::text LIKE '%:more''%'" copied
}
code 'the index of the copy is made' 0 "$RETAKE" --db "$copied" search more
is 'the index of the copy: the word' 1 "$(in_index)"
p -q purge --text 'one more' --yes
code 'a purge is copied' 0 "$RETAKE" copy "$address" "$copied"
same_state 'a purge is copied: the same' "$copied"
is 'a purge is copied: not in the index' 0 "$(in_index)"
code 'a purge is copied: a search' 0 "$RETAKE" --db "$copied" search more
hasnt 'a purge is copied: not found' 'one more' "$out"
is 'a purge is copied: no row' '0' "$(sql "SELECT count(*) FROM retake.body WHERE position('one more' IN encode(data, 'escape')) > 0" copied)"
code 'repair refuses' 1 p repair
code 'read-only' 1 p --read-only add five

# Damage is reported, not shown.
sql "UPDATE retake.body SET data = 'Tevil' WHERE project = 1 AND number = 1"
code 'a changed body' 1 p show :1 -d main
has 'a changed body: message' 'wrong checksum' "$err"
code 'fsck finds it' 1 p fsck
has 'fsck: id' 'store-body-damaged' "$out$err"
has 'fsck: body' 'body 1 of project 1 was altered' "$out$err"
sql "UPDATE retake.project SET sum = sum + 1 WHERE id = 1"
code 'a damaged project' 1 p fsck
has 'fsck: project' 'the row of project 1 was altered' "$out$err"
sql "UPDATE retake.project SET sum = sum - 1 WHERE id = 1"
sql "DELETE FROM retake.log WHERE project = 1 AND seq = 2"
code 'a lost row' 1 p fsck
has 'fsck: gap' 'store-log-gap' "$out$err"

# Errors name the cause and repeat no password.
wrong() { # wrong NAME STATUS PART ADDRESS ARGS…
	wrong_name=$1
	wrong_status=$2
	wrong_part=$3
	shift 3
	code "$wrong_name" "$wrong_status" "$RETAKE" --db "$@"
	has "$wrong_name: message" "$wrong_part" "$err"
	hasnt "$wrong_name: no password" 'sesame' "$out$err"
}
wrong 'no server' 1 'cannot be reached' "postgresql://me:sesame@/x?host=$work" add one
wrong 'no database' 1 'createdb' "postgresql://retake:sesame@/nowhere?host=$server" add one
wrong 'no role' 1 'does not accept this user' "postgresql://nobody:sesame@/test?host=$server" show
wrong 'a password with @' 2 'not valid' 'postgresql://me:x@sesame@localhost:1/x' show
wrong 'a password with /' 2 'not valid' 'postgresql://me:x/sesame@localhost:1/x' show
wrong 'a password with ?' 1 'postgresql://me@localhost' 'postgresql://me:sesame?sesame@localhost:1/x' show
wrong 'not an address' 2 'not valid' 'postgresql://u:sesame@h:port/%zz' show
sql 'CREATE ROLE guest LOGIN'
sql 'CREATE DATABASE guests'
wrong 'no permission' 1 'no permission' "postgresql://guest:sesame@/guests?host=$server" add one
is 'nothing is left of it' '0' "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'retake'" guests)"
sql 'CREATE SCHEMA retake CREATE TABLE notes(x int)' guests
wrong 'a schema of another program' 1 'not a Retake store' "postgresql://retake:sesame@/guests?host=$server" add one
sql "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0"
wrong 'an encoding' 1 'LATIN1' "postgresql://retake:sesame@/latin?host=$server" add one
sql "UPDATE retake.store SET min_writer = 9, written_by = '9.9.9'"
wrong 'a newer store' 1 '9.9.9' "postgresql://retake:sesame@/test?host=$server" add one
finish
