#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Attachments over HTTP.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/attachments_test.py
