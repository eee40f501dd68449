/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a session of opencode. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(opencode)
