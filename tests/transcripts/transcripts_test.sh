#!/bin/sh
# SPDX-License-Identifier: MIT
# All transcripts, as tests/run.py runs scripts.
exec python3 "$(dirname "$0")/transcripts.py" "$@"
