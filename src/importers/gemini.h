/* SPDX-License-Identifier: MIT
 *
 * Gemini: the parts of Google's API, which Gemini CLI and AI Studio store.
 *
 *   {"text","thought"?} {"functionCall":{"id"?,"name","args"}} {"functionResponse":{"id"?,"name",
 *   "response":{"output"}}} {"inlineData":{"mimeType","data"}} {"executableCode":{"language","code"}}
 *   {"codeExecutionResult":{"outcome","output"}} */
#ifndef RT_IMPORTERS_GEMINI_H
#define RT_IMPORTERS_GEMINI_H

#include "importers/parts.h"

/* A part, or a chunk of AI Studio, which has the same members. False: it has none of them. */
bool rt_gemini_part(rt_parts *p, yyjson_val *part);
/* A text, a part, or an array of them. */
void rt_gemini_content(rt_parts *p, yyjson_val *content);

#endif
