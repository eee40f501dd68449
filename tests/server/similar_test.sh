#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The search by meaning over HTTP: similar_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/similar_test.py
