#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Servers that are stopped while they are asked: they end in order. TIMES=50 stops so many.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/stop_test.py
