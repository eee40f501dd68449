/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an export of ChatGPT. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(chatgpt)
