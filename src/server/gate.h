/* SPDX-License-Identifier: MIT
 *
 * Gate: a stream that ends when the browser that reads it has logged out.
 *
 * Threads: as web.h says of streams. */
#ifndef RT_SERVER_GATE_H
#define RT_SERVER_GATE_H

#include "server/browser.h"
#include "server/web.h"

/* Takes inner over. Without memory inner is closed, and the answer is NULL. hash is copied. */
rt_web_stream *rt_gate_new(const rt_alloc *alloc, rt_browsers *browsers, rt_str hash,
			   rt_web_stream *inner);

#endif
