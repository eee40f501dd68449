#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Several servers on one store with a balancer: several_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/several_test.py
