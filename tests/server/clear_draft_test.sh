#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is asked and was the draft leaves the draft in the same step.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/clear_draft_test.py
