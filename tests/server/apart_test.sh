#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Isolation of browser projects, see apart_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/apart_test.py
