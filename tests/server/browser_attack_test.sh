#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A hostile page in Chromium: browser_attack_test.py. Skipped where there is none; CHROMIUM
# names another one.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/browser_attack_test.py
