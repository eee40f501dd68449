#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Health, readiness, metrics, the access log, and an end that waits for replies: monitoring_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/monitoring_test.py
