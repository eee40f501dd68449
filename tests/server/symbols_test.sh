#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Symbols of a discussion's files over HTTP.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/symbols_test.py
