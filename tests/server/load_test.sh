#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Load test, see load.py. SECONDS=3600 for an hour.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/load.py
