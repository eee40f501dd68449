#!/bin/sh
# SPDX-License-Identifier: MIT
#
# importer_variants.py: unusual files of other programs.
. "$(dirname "$0")/lib.sh"

exec "$python" "$(dirname "$0")/importer_variants.py" "$RETAKE" "$work/variants"
