/* SPDX-License-Identifier: MIT
 *
 * Hook state: the fields of the Hook API that are computed, each group as the members of one
 * object. A group is only computed if one of its fields is requested. */
#ifndef RT_SERVER_HOOK_STATE_H
#define RT_SERVER_HOOK_STATE_H

#include "server/call.h"

/* Place, catalogue and activity. Reads no entry. */
void rt_hook_state_put(rt_call *call, const rt_snapshot *v, rt_buf *out);
/* From the entries of the take: O(their texts). */
void rt_hook_state_put_take(rt_call *call, const rt_snapshot *v, rt_buf *out);
/* "comms_log": the newest lines of the log of requests that are this discussion's. O(record). */
void rt_hook_state_put_comms(rt_call *call, const rt_snapshot *v, rt_buf *out);
/* "ai_status": "running", "session reset" right after a reset, else "idle". */
void rt_hook_state_put_status(rt_call *call, const rt_snapshot *v, rt_buf *out);
/* "can_undo", "can_redo". */
void rt_hook_state_put_history(const rt_snapshot *v, rt_buf *out);

#endif
