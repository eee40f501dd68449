#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Requests that are repeated with their Idempotency-Key.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/retry_test.py
