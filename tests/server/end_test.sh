#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The server's end while it is asked, see end_test.py. ROUNDS=100 for so many.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/end_test.py
