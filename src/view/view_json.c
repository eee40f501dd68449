/* SPDX-License-Identifier: MIT
 *
 * Rows as JSON objects, by tables of their fields. */
#include "view/view_impl.h"

static bool
is_empty(const rt_view_field *f, const void *member)
{
	switch (f->type) {
	case RT_VIEW_STR:
	case RT_VIEW_JSON: return ((const rt_str *)member)->ptr == NULL;
	case RT_VIEW_BOOL: return !*(const bool *)member;
	case RT_VIEW_SIZE: return *(const size_t *)member == 0;
	case RT_VIEW_U64:
	case RT_VIEW_NODE_ID: return *(const uint64_t *)member == 0;
	case RT_VIEW_TIME: return *(const int64_t *)member == 0;
	case RT_VIEW_TAKE_ID:
	case RT_VIEW_DISC_ID: return *(const uint32_t *)member == 0;
	}
	return false;
}

static void
add_number_id(rt_buf *buf, char letter, uint32_t number)
{
	rt_buf_add_byte(buf, '"');
	rt_buf_add_number_id(buf, letter, number);
	rt_buf_add_byte(buf, '"');
}

static void
add_value(rt_buf *buf, rt_view_type type, const void *member)
{
	switch (type) {
	case RT_VIEW_STR: rt_json_add_string(buf, *(const rt_str *)member); break;
	case RT_VIEW_JSON: rt_buf_add_str(buf, *(const rt_str *)member); break;
	case RT_VIEW_BOOL: rt_buf_add_c(buf, *(const bool *)member ? "true" : "false"); break;
	case RT_VIEW_SIZE: rt_buf_add_u64(buf, *(const size_t *)member); break;
	case RT_VIEW_U64: rt_buf_add_u64(buf, *(const uint64_t *)member); break;
	case RT_VIEW_TAKE_ID: add_number_id(buf, 't', *(const uint32_t *)member); break;
	case RT_VIEW_DISC_ID: add_number_id(buf, 'd', *(const uint32_t *)member); break;
	case RT_VIEW_NODE_ID:
		rt_buf_add_f(buf, "\"n%012llx\"", (unsigned long long)*(const uint64_t *)member);
		break;
	case RT_VIEW_TIME:
		rt_buf_add_byte(buf, '"');
		rt_moment_format_ms(buf, (rt_moment){*(const int64_t *)member, 0});
		rt_buf_add_byte(buf, '"');
		break;
	}
}

void
rt_view_put_fields(rt_buf *buf, const rt_view_field *fields, size_t count, const void *row)
{
	for (size_t i = 0; i < count; i++) {
		const rt_view_field *f = &fields[i];
		const void *member = (const char *)row + f->offset;
		bool empty = f->empty != RT_VIEW_ALWAYS && is_empty(f, member);

		if (empty && f->empty == RT_VIEW_OMIT)
			continue;
		rt_json_add_key(buf, f->key);
		if (empty)
			rt_buf_add_c(buf, "null");
		else
			add_value(buf, f->type, member);
	}
}

void
rt_view_put_time(rt_buf *buf, const char *key, int64_t at_us)
{
	rt_json_add_key(buf, key);
	add_value(buf, RT_VIEW_TIME, &at_us);
}
