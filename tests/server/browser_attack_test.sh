#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A hostile page in Chromium: browser_attack_test.py. Skipped if there is no Chromium; CHROMIUM
# names another one.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/browser_attack_test.py
