#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sentences typed blindly into every view of the page, in Debian's chromium: typing_test.mjs.
exec "$(dirname "$0")/in_browser.sh" typing_test.mjs
