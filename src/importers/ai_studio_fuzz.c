/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a prompt of AI Studio. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(ai_studio)
