/* SPDX-License-Identifier: MIT
 *
 * Principal: who asks. Three may: whoever knows the token (programs), whoever may open the Unix
 * socket (the same user's programs), and browsers that were let in with a code. */
#ifndef RT_SERVER_PRINCIPAL_H
#define RT_SERVER_PRINCIPAL_H

#include "base/text.h"

typedef enum rt_principal_kind {
	RT_PRINCIPAL_NOBODY,
	RT_PRINCIPAL_TOKEN,
	RT_PRINCIPAL_LOCAL,
	RT_PRINCIPAL_BROWSER
} rt_principal_kind;

typedef struct rt_principal {
	rt_principal_kind kind;
	rt_str project; /* the browser's own; empty: who asks may name one */
	rt_str browser; /* hash of its cookie, hex; or empty */
} rt_principal;

/* As the history says it: "http" or "web". */
static inline rt_str
rt_principal_actor(const rt_principal *principal)
{
	return principal->kind == RT_PRINCIPAL_BROWSER ? RT_STR("web") : RT_STR("http");
}

#endif
