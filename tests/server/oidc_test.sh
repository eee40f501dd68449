#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sign-in with OpenID Connect, by a proxy and with invitations: oidc_test.py.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/server/oidc_test.py
