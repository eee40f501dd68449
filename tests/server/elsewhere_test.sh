#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs of one server through another server of the same store: elsewhere_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/elsewhere_test.py
