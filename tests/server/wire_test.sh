#!/bin/sh
# SPDX-License-Identifier: MIT
# See wire_test.py.
exec python3 "$(dirname "$0")/wire_test.py"
