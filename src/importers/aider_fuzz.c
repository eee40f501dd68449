/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a chat history of aider. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(aider)
