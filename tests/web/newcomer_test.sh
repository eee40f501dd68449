#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Findings of trials with newcomers, in Debian's chromium: newcomer_test.mjs.
exec "$(dirname "$0")/in_browser.sh" newcomer_test.mjs
