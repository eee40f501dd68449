#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A reset while models are at work: they stop.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/reset_test.py
