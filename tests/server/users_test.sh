#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Isolated browsers with separate projects: no URL reaches another browser's project.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/users_test.py
