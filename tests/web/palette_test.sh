#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Search words of the palette, and files without a shared directory, in Debian's chromium:
# palette_test.mjs.
exec "$(dirname "$0")/in_browser.sh" palette_test.mjs
