#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Changes that have to wait, and changes of others meanwhile, see changes.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/tui/changes.py
