#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/server/examples_test.sh [--write]
#
# Runs the examples of docs/http.md, see examples.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/examples.py "$@"
