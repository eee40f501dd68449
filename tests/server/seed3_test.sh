#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tests that the third seed names for sessions and conversations, by their names, over HTTP.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/seed3_test.py
