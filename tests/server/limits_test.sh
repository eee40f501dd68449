#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Limits, and clients that are slow, never read, or disconnect: limits_test.py. One part by name:
# tests/server/limits_test.sh late
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/limits_test.py "$@"
