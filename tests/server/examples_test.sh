#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/server/examples_test.sh [--write]
#
# docs/http.md as a person would follow it, see examples.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/examples.py "$@"
