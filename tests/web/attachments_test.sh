#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Attachments in the page, in Debian's chromium: attachments_test.mjs.
exec "$(dirname "$0")/in_browser.sh" attachments_test.mjs
