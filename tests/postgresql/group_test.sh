#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Commits of one server that share a pipeline, and rows that are lost in a crash of the database:
# group_test.py.
. "$(dirname "$0")/../cli/lib.sh"

. "$here/lib.sh"

unset HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
HOME=$work
export HOME
python3 "$here/group_test.py" "$server" "$address"
