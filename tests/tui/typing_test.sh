#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sentences typed blindly into every screen change nothing. RETAKE names the program
# (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 typed.py "$@"
