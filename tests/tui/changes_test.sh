#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Changes that have to wait, and concurrent changes of others, see changes.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/tui/changes.py
