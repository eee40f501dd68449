#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Drafts of the terminal UI, see draft_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/tui/draft_test.py
