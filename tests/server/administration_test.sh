#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Administration of accounts over HTTP: administration_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/administration_test.py
