#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Removing a user with all data, while two servers are running: user_purge_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/user_purge_test.py
