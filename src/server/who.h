/* SPDX-License-Identifier: MIT
 *
 * Who asks. Three may: whoever knows the token (programs), whoever may open the Unix socket
 * (the same user's programs), and browsers that were let in with a code. */
#ifndef RT_SERVER_WHO_H
#define RT_SERVER_WHO_H

#include "base/text.h"

typedef enum rt_who_kind {
	RT_WHO_NOBODY,
	RT_WHO_TOKEN,
	RT_WHO_LOCAL,
	RT_WHO_BROWSER
} rt_who_kind;

typedef struct rt_who {
	rt_who_kind kind;
	rt_str project; /* the browser's own; empty: who asks may name one */
	rt_str browser; /* hash of its cookie, hex; or empty */
} rt_who;

/* As the history says it: "http" or "web". */
static inline rt_str
rt_who_by(const rt_who *who)
{
	return who->kind == RT_WHO_BROWSER ? RT_STR("web") : RT_STR("http");
}

#endif
