#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files attached to a message in the page, in Debian's chromium: attachments_test.mjs.
exec "$(dirname "$0")/in_browser.sh" attachments_test.mjs
