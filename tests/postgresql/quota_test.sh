#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Limits of users, teams and projects in PostgreSQL: tests/server/quota_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
DB=$address python3 "$root/tests/server/quota_test.py"
