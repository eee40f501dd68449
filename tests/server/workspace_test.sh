#!/bin/sh
# SPDX-License-Identifier: MIT
#
# One workspace for the command line and browsers; signing in and staying signed in.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/workspace_test.py
