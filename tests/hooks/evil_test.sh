#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Misbehaving hooks. Whatever they do: nothing waits for longer than the hook's timeout (plus a
# tolerance), no process of its group remains, no descriptor or child is leaked, no secret of our
# environment is exposed, and the decision is the one documented in docs/hooks.md.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
FIRE=${FIRE:-$root/build/obj/tests/hooks/hooks-fire}
[ -x "$FIRE" ] || { echo "evil_test.sh: $FIRE is not there"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(python3 -c 'import sys; print(sys.executable)') # past any wrapper, which costs more
export FIRE python work
exec "$python" "$root/tests/hooks/evil.py"
