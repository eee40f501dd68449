#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two servers with accounts on one store: accounts_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/accounts_test.py
