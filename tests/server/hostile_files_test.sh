#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hostile file lists: each is refused with a clear error, on the command line and over HTTP.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/hostile_files_test.py
