#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Verbs of the tree, on one row and on marked ones, each undone and redone. RETAKE names the program
# (build/retake); names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 tree_verbs.py "$@"
