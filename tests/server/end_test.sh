#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Shutdown under load, see end_test.py. ROUNDS=100 sets the number.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/end_test.py
