#!/bin/sh
# SPDX-License-Identifier: MIT
#
# While another program writes to the store, requests that write nothing do not wait.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/busy_test.py
