#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The field "draft" in the terminal UI, see draft_field_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/tui/draft_field_test.py
