/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an export of Claude.ai. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(claude_ai)
