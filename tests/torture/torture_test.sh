#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every command with its memory or its disk failing (torture.py): of each fault one in five
# of the first 25 points, other ones for each command, and four further on. TORTURE_OFFSET
# turns the sample; `make torture` tries every point.
exec python3 "$(dirname "$0")/torture.py" --stride 5 --offset "${TORTURE_OFFSET:-0}" --seconds 85
