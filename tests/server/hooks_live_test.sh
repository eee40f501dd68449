#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hooks that are added, changed and removed while a server or `retake apply` runs.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/hooks_live_test.py
