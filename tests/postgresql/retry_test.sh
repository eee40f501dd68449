#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Serialization failures (40001, usual in CockroachDB and YugabyteDB) and connections that end during a
# statement: every second or third statement that writes fails so. Changes are repeated, and each takes
# effect once.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

"$RETAKE" --db "$address" -q add first
sql "CREATE SEQUENCE public.turns; CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
	CASE nextval('public.turns') % 4 WHEN 1 THEN RAISE serialization_failure;
	WHEN 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); ELSE END CASE;
	RETURN new; END \$\$; CREATE TRIGGER fail BEFORE INSERT ON retake.log FOR EACH ROW EXECUTE FUNCTION public.fail()"
texts=
for i in 1 2 3 4 5 6 7 8 9 10; do
	code "change $i" 0 "$RETAKE" --db "$address" -q add "text $i"
	texts="$texts text $i"
done
is 'each once' "first$texts" "$("$RETAKE" --db "$address" show --json | json '" ".join(e["content"] for e in d["entries"])')"
failures=$(($(sql 'SELECT last_value FROM public.turns') - 10))
is 'there were failures' 1 "$((failures >= 10))"

# With the lock of a project, nothing is written and the message says to try again.
sql 'ALTER SEQUENCE public.turns RESTART WITH 1'
tries=0
until "$RETAKE" --db "$address" purge --text 'text 7' --yes >"$work/out" 2>"$work/err"; do
	has 'a purge fails: message' 'try again' "$(cat "$work/err")"
	tries=$((tries + 1))
	[ "$tries" -lt 6 ] || break
done
is 'a purge succeeds after some tries' 1 "$((tries > 0 && tries < 6))"
sql 'DROP TRIGGER fail ON retake.log'
code 'sound' 0 "$RETAKE" --db "$address" fsck
is 'purged' 0 "$(sql "SELECT count(*) FROM retake.body WHERE position('text 7' IN encode(data, 'escape')) > 0")"
finish
