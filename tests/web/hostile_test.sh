#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nearly a thousand hostile texts in every field that is shown: in the live page, in replies that
# are streamed, in exported pages. ONLY=stream runs one part.
exec "$(dirname "$0")/in_browser.sh" hostile_test.mjs parse5/package.json esbuild/bin/esbuild
