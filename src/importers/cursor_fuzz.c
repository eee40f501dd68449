/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a transcript of Cursor. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(cursor)
