#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Keys of the history and of the list of discussions. RETAKE names the program (build/retake); names
# of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 lists.py "$@"
