#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The question whether to summarise the entries that are left, and all its outcomes. RETAKE names
# the program (build/retake); names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 summary.py "$@"
