#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exported pages, in Debian's chromium: nothing in a conversation runs, nothing is fetched, the page
# works as described in docs/formats.md, accessibility, 100,000 entries.
exec "$(dirname "$0")/in_browser.sh" export_test.mjs axe/axe.min.js esbuild/bin/esbuild
