#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What newcomers do in the page, in Debian's chromium: first_use_test.mjs.
exec "$(dirname "$0")/in_browser.sh" first_use_test.mjs
