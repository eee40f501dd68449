#!/bin/sh
# SPDX-License-Identifier: MIT
#
# First use of the server, see newcomer_test.py.
exec python3 "$(dirname "$0")/newcomer_test.py"
