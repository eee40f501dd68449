#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A reset stops active model runs.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/reset_test.py
