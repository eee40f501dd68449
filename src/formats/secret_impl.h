/* SPDX-License-Identifier: MIT
 *
 * What the looks of secrets (secret_look.c) and the ways they are written in (secret.c)
 * share. */
#ifndef RT_FORMATS_SECRET_IMPL_H
#define RT_FORMATS_SECRET_IMPL_H

#include "formats/secret.h"

/* The first secret at or after *at in a text without escapes; *at is then where to go on.
 * False: none. */
bool rt_secret_next(rt_str text, const rt_secret_options *options, size_t *at, rt_secret *out);

#endif
