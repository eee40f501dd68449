/* SPDX-License-Identifier: MIT
 *
 * What every kind of hooks shares: an answer's memory, and how a subject is written. */
#include "ops/hook.h"

enum { WORDS_MAX = 16 << 20 }; /* bytes of one field of an answer; hooks need far less */

static rt_buf *
field(rt_hook_answer *answer, size_t index)
{
	rt_buf *const fields[] = {&answer->reason, &answer->patch, &answer->summary,
				  &answer->by,     &answer->notes, &answer->runs};

	return index < sizeof(fields) / sizeof(fields[0]) ? fields[index] : NULL;
}

void
rt_hook_answer_init(rt_hook_answer *answer, const rt_alloc *alloc)
{
	size_t i;

	answer->decision = RT_HOOK_ALLOW;
	for (i = 0; field(answer, i) != NULL; i++)
		rt_buf_init(field(answer, i), alloc, WORDS_MAX);
	answer->patch.limit = RT_BUF_UNLIMITED; /* contains our own members, of any size */
}

void
rt_hook_answer_deinit(rt_hook_answer *answer)
{
	size_t i;

	for (i = 0; field(answer, i) != NULL; i++)
		rt_buf_deinit(field(answer, i));
}

void
rt_hook_answer_clear(rt_hook_answer *answer)
{
	size_t i;

	answer->decision = RT_HOOK_ALLOW;
	for (i = 0; field(answer, i) != NULL; i++)
		rt_buf_clear(field(answer, i));
}

void
rt_hook_subject_add(rt_buf *subject, const char *key, rt_str value)
{
	size_t i;

	if (subject->size > 0)
		rt_buf_add_byte(subject, ' ');
	rt_buf_add_c(subject, key);
	rt_buf_add_byte(subject, '=');
	for (i = 0; i < value.size; i++)
		rt_buf_add_byte(subject, (unsigned char)value.ptr[i] <= ' ' ? '_' : value.ptr[i]);
}
