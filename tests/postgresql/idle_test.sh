#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A server with many open projects and no clients hardly asks the database: idle_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
python3 "$here/idle_test.py" "$server" "$address" ${PROJECTS:-}
