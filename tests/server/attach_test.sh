#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Context files in requests: the bytes on the wire of four families of servers, the request built
# again after the files have changed, and what a client of the server may name.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/attach_test.py
