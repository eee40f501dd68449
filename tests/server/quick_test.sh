#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Slow requests are handled by workers, not by the event loops.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/quick_test.py
