#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Context files in requests: the bytes on the wire for four API families, reconstruction of the
# request after the files have changed, and what a client may name.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/attach_test.py
