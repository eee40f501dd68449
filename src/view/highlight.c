/* SPDX-License-Identifier: MIT
 *
 * Marks: \001 and \002 around what matched, taken out and told apart. */
#include "view/highlight.h"

bool
rt_highlight_next(rt_str *snippet, bool *inside, rt_str *out)
{
	size_t end = 0;

	while (snippet->size > 0 && (snippet->ptr[0] == '\001' || snippet->ptr[0] == '\002')) {
		*inside = snippet->ptr[0] == '\001';
		snippet->ptr++;
		snippet->size--;
	}
	while (end < snippet->size && snippet->ptr[end] != '\001' && snippet->ptr[end] != '\002')
		end++;
	*out = rt_str_at(snippet->ptr, end);
	snippet->ptr += end;
	snippet->size -= end;
	return end > 0;
}

static void
add_hit(const rt_alloc *alloc, yyjson_val *hit, rt_buf *buf)
{
	rt_str snippet = rt_json_str(rt_json_get(hit, "snippet")), run;
	yyjson_val *key, *value;
	rt_buf plain, marks;
	bool inside = false;
	size_t i, members;

	rt_buf_init(&plain, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&marks, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(buf, '{');
	rt_json_foreach(hit, i, members, key, value) {
		if (rt_str_is(rt_json_str(key), "snippet"))
			continue;
		rt_json_add_key_str(buf, rt_json_str(key));
		rt_json_add_value(buf, value);
	}
	while (rt_highlight_next(&snippet, &inside, &run)) {
		if (inside)
			rt_buf_add_f(&marks, "%s[%zu,%zu]", marks.size > 0 ? "," : "",
				     rt_utf8_count(rt_buf_str(&plain)), rt_utf8_count(run));
		rt_buf_add_str(&plain, run);
	}
	rt_json_add_key(buf, "snippet");
	rt_json_add_string(buf, rt_buf_str(&plain));
	rt_json_add_key(buf, "marks");
	rt_buf_add_byte(buf, '[');
	rt_buf_add_str(buf, rt_buf_str(&marks));
	rt_buf_add_c(buf, "]}");
	if (buf->status == RT_OK)
		buf->status = plain.status != RT_OK ? plain.status : marks.status;
	rt_buf_deinit(&plain);
	rt_buf_deinit(&marks);
}

void
rt_highlight_add_hits(const rt_alloc *alloc, yyjson_val *hits, rt_buf *buf)
{
	yyjson_val *hit;
	size_t i, count;

	rt_buf_add_byte(buf, '[');
	yyjson_arr_foreach(hits, i, count, hit) {
		if (i > 0)
			rt_buf_add_byte(buf, ',');
		add_hit(alloc, hit, buf);
	}
	rt_buf_add_byte(buf, ']');
}
