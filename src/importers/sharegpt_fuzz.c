/* SPDX-License-Identifier: MIT
 *
 * Any bytes as conversations of ShareGPT. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(sharegpt)
