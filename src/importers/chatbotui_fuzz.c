/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a history of Chatbot UI. */
#include "importers/importer_fuzz.h"

RT_IMPORTER_FUZZ(chatbotui)
