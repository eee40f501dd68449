/* SPDX-License-Identifier: MIT
 *
 * Any bytes as JSON: strictly, and repairing. What can be read is written, read and
 * written again with the same bytes; sorted likewise. */
#include "codec/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
round_trip(yyjson_val *value, bool sorted)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_buf first, second;

	rt_buf_init(&first, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, alloc, RT_BUF_UNLIMITED);
	if (sorted)
		rt_json_add_sorted(&first, alloc, value);
	else
		rt_json_add_value(&first, value);
	RT_ASSERT(first.status == RT_OK);
	RT_ASSERT(rt_json_read(alloc, rt_buf_str(&first), &doc, &err) == RT_OK);
	if (sorted)
		rt_json_add_sorted(&second, alloc, rt_json_root(doc));
	else
		rt_json_add_value(&second, rt_json_root(doc));
	RT_ASSERT(rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));
	rt_json_free(doc);
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_str input = rt_str_at((const char *)data, size);
	rt_json_doc *doc = NULL;
	rt_error err;
	size_t repaired;

	if (rt_json_read(alloc, input, &doc, &err) == RT_OK) {
		round_trip(rt_json_root(doc), false);
		round_trip(rt_json_root(doc), true);
		rt_json_free(doc);
	} else {
		RT_ASSERT(!err.has_at || err.at <= size);
	}
	if (rt_json_read_repairing(alloc, input, &doc, &repaired, &err) == RT_OK) {
		round_trip(rt_json_root(doc), false);
		rt_json_free(doc);
	}
	return 0;
}
