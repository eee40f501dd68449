#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The statistics of the page in Debian's chromium: stats_test.mjs.
exec "$(dirname "$0")/in_browser.sh" stats_test.mjs
