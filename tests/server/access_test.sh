#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Access control: each route with each credential, Host, Origin, method and type. ALL=1 tries every
# cell of three routes; CELLS=20000 that many; SEED=7 chooses others.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/access_test.py
