#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page around the conversation: focus, Enter, projects, settings, help, menus, installing.
exec "$(dirname "$0")/in_browser.sh" shell_test.mjs
