#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Terminals of all sizes, without colour, without UTF-8; stopped, killed, refused. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 terminals.py "$@"
