#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Limits, and clients that are late, that never read, or that are gone: limits_test.py. A part
# by its name: tests/server/limits_test.sh late
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/limits_test.py "$@"
