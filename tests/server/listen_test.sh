#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A server on another address: its links are correct, and it answers there.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/listen_test.py
