#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Clients that leave in the middle, see leave_test.py. LEAVES=10000 for so many.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/leave_test.py
