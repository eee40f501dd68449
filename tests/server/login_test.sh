#!/bin/sh
# SPDX-License-Identifier: MIT
#
# serve --login: a link for exactly the server that was named, or none.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/login_test.py
