#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Streams of events that are cut anywhere and resumed: no gap, no repeat. CUTS=1000 cuts so
# often; SEED=7 begins with that one.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/events_test.py
