#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Through PgBouncer, which assigns a connection of the server for each transaction: the contract of
# stores, and accounts on two servers.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

"$here/server.sh" pool "$server" &
pooler_process=$!
trap 'kill "$pooler_process"; kill -QUIT "$server_process" 2>/dev/null; wait 2>/dev/null; rm -rf "$work" "$server"' EXIT
tries=0
until psql -X -q -h "$server" -p 6432 -U retake -d test -c 'SELECT 1' >/dev/null 2>&1; do
	if ! kill -0 "$pooler_process" 2>/dev/null; then
		wait "$pooler_process"
		exit
	fi
	tries=$((tries + 1))
	[ "$tries" -lt 200 ] || exit 1
	sleep 0.1
done

cd "$root" || exit 1
for program in store_contract_test store_contract_threads_test; do
	RETAKE_TEST_POOLER=$server code "$program" 0 "$(unit_test "$program")"
	has "$program: ran" 'postgresql ' "$out$err"
done
unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
DB="$address&port=6432" code 'accounts' 0 python3 tests/server/accounts_test.py
has 'accounts: ran' ' passed, 0 failed' "$out"
finish
