/* SPDX-License-Identifier: MIT
 *
 * Response: the output of one hook, parsed and validated. Pure.
 *
 * A response is empty (or white space), or one JSON object:
 *
 *   {"decision":"allow" | "deny" | "replace",   default: allow
 *    "reason":"why not",  "note":"for the user",
 *    "patch":{"op":{"content":"…"}},            with replace: a merge patch (RFC 7396) of the
 *                                               event, limited to its replaceable members
 *    "cancel":true,                             same as "deny"; without a reason, nothing is shown
 *    "summary":{"summary":"…","details":…}}     for events that accept one
 *
 * Unknown members are ignored, and null means absent. Any other deviation invalidates the
 * whole response. */
#ifndef RT_HOOKS_RESPONSE_H
#define RT_HOOKS_RESPONSE_H

#include "ops/hook.h"
#include "hooks/event.h"

enum {
	RT_HOOK_MESSAGE_MAX = 1000,      /* characters kept of a reason or a note */
	RT_HOOK_PATCH_MEMBERS_MAX = 1000 /* members of one object in a patch */
};

typedef struct rt_hook_response {
	rt_hook_decision decision;
	rt_str reason, note; /* complete and unmodified */
	bool is_quiet;       /* cancelled without a reason: users are not notified */
	yyjson_val *patch;   /* an object, or NULL */
	yyjson_val *summary; /* an object, or NULL */
} rt_hook_response;

/* The response refers to memory of the scope. The scope fails with RT_USAGE (invalid; its error
 * says why), RT_LIMIT (too deep, too many members) or RT_NOMEM; *out is then unspecified. */
void rt_hook_response_read(rt_scope *scope, rt_str text, const rt_hook_event *event,
			   rt_hook_response *out);

/* Append target with patch merged into it (RFC 7396). target may be NULL. */
void rt_hook_merge(rt_buf *out, yyjson_val *target, yyjson_val *patch);

/* Append a hook's text as one line: trimmed, invalid UTF-8 replaced, line ends as blanks, at most
 * RT_HOOK_MESSAGE_MAX characters. */
void rt_hook_add_message(rt_buf *out, rt_str text);

#endif
