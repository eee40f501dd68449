#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Blocks that a request cannot contain are reported.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/unsent_test.py
