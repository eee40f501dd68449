#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Processes of the server are killed and it restarts while programs write (kill.py). KILL_SECONDS: how
# long, 6 by default.
. "$(dirname "$0")/../cli/lib.sh"
server=$(mktemp -d -p /tmp) # the path of a socket has to be short
trap 'rm -rf "$work" "$server"' EXIT
"$here/server.sh" make "$server" || exit 77
"$python" "$here/kill.py" "$server" "postgresql://retake@/killed?host=$server" "${KILL_SECONDS:-6}"
