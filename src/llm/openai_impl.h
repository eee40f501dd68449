/* SPDX-License-Identifier: MIT
 *
 * What others share with OpenAI's form: the built-in model reads the same requests. */
#ifndef RT_LLM_OPENAI_IMPL_H
#define RT_LLM_OPENAI_IMPL_H

#include "chat/model_request.h"

extern const struct rt_provider_writer rt_openai_writer;

#endif
