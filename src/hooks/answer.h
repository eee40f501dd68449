/* SPDX-License-Identifier: MIT
 *
 * Answer: what one hook says, read with distrust. Pure.
 *
 * An answer is nothing (white space counts as that), or one JSON object:
 *
 *   {"decision":"allow" | "deny" | "replace",   left out: allow
 *    "reason":"why not",  "note":"for people",
 *    "patch":{"op":{"content":"…"}},            with replace: a merge patch (RFC 7396) of
 *                                               the event, for members it lets change
 *    "cancel":true,                             the same as "deny"
 *    "summary":{"summary":"…","details":…}}     where the event takes one
 *
 * Further members are ignored, null counts as left out; anything else is wrong, and then
 * nothing of it counts. */
#ifndef RT_HOOKS_ANSWER_H
#define RT_HOOKS_ANSWER_H

#include "ops/hook.h"
#include "hooks/event.h"

enum {
	RT_HOOK_WORDS_MAX = 1000,        /* characters of a reason or a note that are kept */
	RT_HOOK_PATCH_MEMBERS_MAX = 1000 /* members of one object in a patch */
};

typedef struct rt_hook_said {
	rt_json_doc *doc; /* owns the rest; NULL: nothing was said. To be freed. */
	rt_hook_decision decision;
	rt_str reason, note; /* whole, as they came */
	yyjson_val *patch;   /* an object, or NULL */
	yyjson_val *summary; /* an object, or NULL */
} rt_hook_said;

/* RT_USAGE: it is wrong; err says what. RT_LIMIT: too deep or too many members. RT_NOMEM.
 * Then there is nothing to free. */
RT_CHECKED rt_status rt_hook_said_read(const rt_alloc *alloc, rt_str text,
				       const rt_hook_event *event, rt_hook_said *out,
				       rt_error *err);

/* target with patch merged into it (RFC 7396) appended. target may be NULL. */
void rt_hook_merge(rt_buf *out, yyjson_val *target, yyjson_val *patch);

/* Words of a hook on one line: repaired where they are not UTF-8, trimmed, line ends become
 * blanks, and no more than RT_HOOK_WORDS_MAX characters. */
void rt_hook_add_words(rt_buf *out, rt_str words);

#endif
