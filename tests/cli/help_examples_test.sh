#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every example of the help runs.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/cli/help_examples.py
