/* SPDX-License-Identifier: MIT
 *
 * Any bytes as trees of OpenAssistant. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(oasst)
