#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Limits of users, teams and projects: quota_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/quota_test.py
