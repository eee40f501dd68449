/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a chat of SillyTavern. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(sillytavern)
