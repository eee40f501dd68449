#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hooks that do all that a program can do wrong. Whatever they do: nothing waits for longer
# than the hook's time (and what a slow machine needs), none of its group is left, no
# descriptor and no child is lost, nothing of our environment gets out, and the decision is
# the one that docs/hooks.md names.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
FIRE=${FIRE:-$root/build/obj/tests/hooks/hooks-fire}
[ -x "$FIRE" ] || { echo "evil_test.sh: $FIRE is not there"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(python3 -c 'import sys; print(sys.executable)') # past any wrapper, which costs more
export FIRE python work
exec "$python" "$root/tests/hooks/evil.py"
