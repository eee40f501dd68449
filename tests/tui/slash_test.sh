#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Slash commands of the chat, and their completion. RETAKE names the program (build/retake); names
# of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 slash.py "$@"
