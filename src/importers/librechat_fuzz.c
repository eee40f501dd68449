/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a conversation of LibreChat. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(librechat)
