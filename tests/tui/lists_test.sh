#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Keys of the history and of the list of discussions, against the store. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 lists.py "$@"
