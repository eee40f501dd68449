#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Event streams that are cut anywhere and resumed: no gap, no duplicate. CUTS=1000 sets the number;
# SEED=7 the first seed.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/events_test.py
