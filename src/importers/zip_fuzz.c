/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a zip archive. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(zip)
