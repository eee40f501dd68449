#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A run that asks the draft clears it in the same step.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/clear_draft_test.py
