#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Keys of the tree: what is seen, moving, filters, folds, search, going somewhere.
cd "$(dirname "$0")" && exec python3 tree_keys.py "$@"
