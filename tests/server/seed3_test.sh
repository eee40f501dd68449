#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tests that seed 3 requires for sessions and conversations, by name, over HTTP.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/seed3_test.py
