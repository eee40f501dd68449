#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a browser does in its own project leaves alone what others keep.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/apart_test.py
