#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Commands of the chat that begin with a slash, and their completion. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 slash.py "$@"
