#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every view, pane, dialog and menu of the web interface, and the exported page, in light and
# dark, wide and on a phone: axe-core finds nothing, and nothing goes sideways. axe_test.mjs.
exec "$(dirname "$0")/in_browser.sh" axe_test.mjs axe/axe.min.js
