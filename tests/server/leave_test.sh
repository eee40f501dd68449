#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Clients that disconnect in the middle, see leave_test.py. LEAVES=10000 sets the number.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/leave_test.py
