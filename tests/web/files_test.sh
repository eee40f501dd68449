#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files in the prompt pane, in Debian's chromium: files_test.mjs.
exec "$(dirname "$0")/in_browser.sh" files_test.mjs
