#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every command with its memory or its disk failing (torture.py): of each fault the first 25 points,
# and four further on, different ones for each command. TORTURE_OFFSET shifts these; `make torture`
# tries every point. On a slow machine not all are reached: the last line counts them as skipped,
# and the one before it names the commands.
exec python3 "$(dirname "$0")/torture.py" --offset "${TORTURE_OFFSET:-0}" \
	--seconds "${TORTURE_SECONDS:-80}"
