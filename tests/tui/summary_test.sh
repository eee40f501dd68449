#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The question whether to sum up what is left, and all ways in which it can end. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 summary.py "$@"
