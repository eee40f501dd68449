/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a rollout of Codex. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(codex)
