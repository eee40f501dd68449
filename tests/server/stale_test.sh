#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two clients, one of which has seen an older state: what it writes is refused or kept, never
# lost. SCRIPTS=10000 tries so many pairs; SEED=7 begins with that one.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/stale_test.py
