#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Symbols in entries and in the composer, in Debian's chromium: symbols_test.mjs.
exec "$(dirname "$0")/in_browser.sh" symbols_test.mjs
