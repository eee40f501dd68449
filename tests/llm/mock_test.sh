#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Requests to model servers and their replies: against a mock of four API families (aimock), and
# against a faulty server. If the mock is not available, its half is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
ask=${RETAKE_ASK:-build/obj/tests/llm/ask}
if [ ! -x "$ask" ]; then
	echo "$ask is not built: make build"
	exit 77
fi
mock=
node=node
if setup/deps.sh mock; then
	mock=${RETAKE_DEPS:-build/deps}/aimock/dist/cli.js
	[ ! -x "${RETAKE_DEPS:-build/deps}/node/node" ] || node=${RETAKE_DEPS:-build/deps}/node/node
else
	echo "the mock of model servers cannot be had: that half is skipped"
fi
exec python3 tests/llm/mock_checks.py "$ask" "$node" "$mock"
