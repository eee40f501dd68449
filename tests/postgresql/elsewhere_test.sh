#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs of one server through another one, on a store in PostgreSQL: tests/server/elsewhere_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
DB=$address python3 "$root/tests/server/elsewhere_test.py"
