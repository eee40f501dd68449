#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The same operations through the server and through `retake apply` give the same state, byte for
# byte, and the same results. SCRIPTS=1000 sets the number; SEED=7 the first seed.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/same_state_test.py
