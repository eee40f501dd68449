#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Requests that are sent again with their Idempotency-Key, whatever has become of what they name.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/retry_test.py
