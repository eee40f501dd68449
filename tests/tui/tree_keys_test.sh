#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Keys of the tree: what is seen, moving, filters, folds, search, going somewhere. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 tree_keys.py "$@"
