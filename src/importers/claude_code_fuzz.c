/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a session of Claude Code. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(claude_code)
