/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a session of Gemini CLI. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(gemini_cli)
