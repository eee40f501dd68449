#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exported pages, in Debian's chromium: what a conversation says never runs, nothing is fetched,
# the page does what docs/formats.md says, accessibility, 100,000 entries.
exec "$(dirname "$0")/in_browser.sh" export_test.mjs axe/axe.min.js esbuild/bin/esbuild
