#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sentences typed blindly into every screen change nothing. RETAKE names the program (build/retake);
# names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 typed.py "$@"
