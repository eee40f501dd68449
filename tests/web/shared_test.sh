#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Share links, members and tokens in the page, in Debian's chromium: shared_test.mjs.
exec "$(dirname "$0")/in_browser.sh" shared_test.mjs axe/axe.min.js
