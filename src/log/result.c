/* SPDX-License-Identifier: MIT
 *
 * The result of a request. */
#include "log/engine_impl.h"

void
rt_result_deinit(rt_result *result)
{
	rt_text_unref(result->editor);
	rt_text_unref(result->note);
	result->editor = NULL;
	result->note = NULL;
}

void
rt_result_reset(rt_result *result)
{
	rt_result_deinit(result);
	*result = (rt_result){0};
}

void
rt_result_fail(rt_result *result, rt_status status, const rt_error *err)
{
	rt_result_reset(result);
	result->status = status;
	result->error = *err;
	result->error.status = status;
}

void
rt_results_fail(rt_result *results, size_t count, size_t failed, rt_status status,
		const rt_error *err)
{
	rt_error other;

	rt_fail_advise(&other, status, err->advice, "not applied because line %zu failed: %.*s",
		       failed + 1, (int)rt_error_message_size(err), err->text);
	for (size_t i = 0; i < count; i++) {
		rt_result_fail(&results[i], status, i == failed ? err : &other);
		results[i].is_consequence = i != failed;
	}
}

size_t
rt_results_cause(const rt_result *results, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && (results[i].status == RT_OK || results[i].is_consequence))
		i++;
	return i;
}

void
rt_result_set_note(rt_result *result, rt_scope *s, const rt_buf *note)
{
	rt_str text = rt_scope_str(s, note);

	if (!rt_ok(s))
		return;
	rt_text_unref(result->note);
	result->note = (rt_text *)(uintptr_t)rt_text_new(s->alloc, text);
	if (result->note == NULL)
		rt_scope_nomem(s);
}

static void
put_text(rt_buf *buf, const char *key, const char *text)
{
	if (text[0] != '\0')
		rt_json_put_c(buf, key, text);
}

void
rt_result_add_json(rt_buf *buf, const rt_result *result)
{
	rt_json_open(buf, NULL, '{');
	if (result->status != RT_OK) {
		rt_json_open(buf, "error", '{');
		rt_json_put_c(buf, "code", rt_status_word(result->status));
		rt_json_put_c(buf, "message", result->error.text);
		rt_json_close(buf, '}');
	} else {
		rt_json_put_u64(buf, "seq", result->seq);
		put_text(buf, "entry", result->entry);
		put_text(buf, "take", result->take);
		put_text(buf, "discussion", result->discussion);
		if (result->steps > 0)
			rt_json_put_u64(buf, "steps", result->steps);
		if (result->move_seq != 0 && result->move_seq != result->seq)
			rt_json_put_u64(buf, "move_seq", result->move_seq);
		if (result->editor != NULL)
			rt_json_put_str(buf, "editor", rt_text_str(result->editor));
		if (result->note != NULL)
			rt_json_put_str(buf, "note", rt_text_str(result->note));
		if (result->unchanged)
			rt_json_put_bool(buf, "unchanged", true);
	}
	rt_json_close(buf, '}');
}
