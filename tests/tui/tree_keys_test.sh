#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Keys of the tree: display, movement, filters, folds, search, navigation. RETAKE names the program
# (build/retake); names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 tree_keys.py "$@"
