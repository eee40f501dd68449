#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nearly a thousand hostile texts in every displayed field: in the live page, in streaming replies,
# in exported pages. ONLY=stream runs one part.
exec "$(dirname "$0")/in_browser.sh" hostile_test.mjs parse5/package.json esbuild/bin/esbuild
