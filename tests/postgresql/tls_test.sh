#!/bin/sh
# SPDX-License-Identifier: MIT
#
# TLS to the database: the certificate and the name of the server are verified.
. "$(dirname "$0")/../cli/lib.sh"

if ! command -v openssl >/dev/null 2>&1; then
	echo "skipped: openssl is not installed" >&2
	exit 77
fi
PGPORT=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PGPORT
. "$here/lib.sh"

for name in ca other; do
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$name" -keyout "$work/$name.key" \
		-out "$work/$name.crt" 2>/dev/null
done
openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$server/tls.key" -out "$work/tls.csr" 2>/dev/null
openssl x509 -req -in "$work/tls.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
	-out "$server/tls.crt" 2>/dev/null
chmod 600 "$server/tls.key"
chown "$(stat -c %u "$server/data")" "$server/tls.key" 2>/dev/null || true
kill -INT "$server_process"
wait "$server_process"
server_run -c fsync=off -c listen_addresses=127.0.0.1 -c ssl=on -c "ssl_cert_file=$server/tls.crt" \
	-c "ssl_key_file=$server/tls.key"
tls() { # tls PARAMETERS: an address
	echo "postgresql://retake@/test?hostaddr=127.0.0.1&$1"
}
good="host=localhost&sslmode=verify-full&sslrootcert=$work/ca.crt"
code 'verified' 0 "$RETAKE" --db "$(tls "$good")" add one
code 'and read' 0 "$RETAKE" --db "$(tls "$good")" show
has 'the text' 'one' "$out"
code 'another certificate authority' 1 "$RETAKE" --db "$(tls "host=localhost&sslmode=verify-full&sslrootcert=$work/other.crt")" show
has 'another certificate authority: cause' 'certificate verify failed' "$err"
code 'another name' 1 "$RETAKE" --db "$(tls "host=desk.example&sslmode=verify-full&sslrootcert=$work/ca.crt")" show
has 'another name: cause' 'does not match host name' "$err"
code 'encrypted, not verified' 0 "$RETAKE" --db "$(tls 'host=desk.example&sslmode=require')" show
sql 'ALTER SYSTEM SET ssl = off'
is 'encrypted' 't' "$(psql -X -q -A -t -d "$(tls "$good")" -c 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')"
finish
