#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Verbs of the tree, on one row and on marked ones, each there and back. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 tree_verbs.py "$@"
