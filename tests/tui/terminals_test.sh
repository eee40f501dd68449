#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Terminals of all sizes, without colour, without UTF-8; suspended, killed, refused. RETAKE names
# the program (build/retake); names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 terminals.py "$@"
