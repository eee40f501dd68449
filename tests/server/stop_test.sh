#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Servers that are stopped under load end in order. TIMES=50 sets the number.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/stop_test.py
