#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All transcripts, for tests/run.py.
exec python3 "$(dirname "$0")/transcripts.py" "$@"
