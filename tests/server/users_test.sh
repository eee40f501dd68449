#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Browsers that each have a project of their own: no address reaches into another's.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/users_test.py
