/* SPDX-License-Identifier: MIT
 *
 * Any bytes as exported chats of Open WebUI. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(open_webui)
