#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two clients, one with an outdated state: its change is refused or kept, never lost. SCRIPTS=10000
# sets the number of pairs; SEED=7 the first seed.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/stale_test.py
