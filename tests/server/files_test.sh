#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A server with a low limit of open files, and clients that open more connections than that.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/files_test.py
