#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The search by meaning in the palette, in Debian's chromium: similar_test.mjs.
exec "$(dirname "$0")/in_browser.sh" similar_test.mjs
