#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The chat: writing, sending, stopping, selecting, verbs, finding, two instances on one store.
# RETAKE names the program (build/retake); names of parts as arguments run only these.
cd "$(dirname "$0")" || exit 1
export PYTHONDONTWRITEBYTECODE=1
exec python3 chat_keys.py "$@"
