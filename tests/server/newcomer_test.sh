#!/bin/sh
# SPDX-License-Identifier: MIT
# See newcomer_test.py.
exec python3 "$(dirname "$0")/newcomer_test.py"
