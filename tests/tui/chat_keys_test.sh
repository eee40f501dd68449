#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The chat: writing, sending, stopping, selecting, verbs, finding, two on one store. RETAKE names the
# program (build/retake); with names of parts only these are run.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 chat_keys.py "$@"
