#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The Hook API of docs/hook-api.md, as a client sees it.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/hook_api_test.py
