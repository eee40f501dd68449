/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the log of llm. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(llm)
