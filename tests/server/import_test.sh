#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Imports of large files over HTTP, and what browsers may import.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/import_test.py
