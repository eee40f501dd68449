#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random keys on a store that others change and lock, see crowd.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/tui/crowd.py "$@"
