#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The network between a server and its database is cut: cut_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
python3 "$here/cut_test.py" "$server/.s.PGSQL.5432"
