/* SPDX-License-Identifier: MIT
 *
 * What call.c and call_change.c share: failures, in one line. Each answers and gives false. */
#ifndef RT_SERVER_CALL_IMPL_H
#define RT_SERVER_CALL_IMPL_H

#include "server/call.h"

bool rt_call_failed(rt_call *call, const rt_error *err);
/* RT_USAGE with these words. */
bool rt_call_refuse(rt_call *call, const char *detail);
bool rt_call_nomem(rt_call *call);

#endif
