/* SPDX-License-Identifier: MIT
 *
 * Any bytes as Markdown: the result is JSON of the documented form, every url in it passes a check
 * that shares no code with link.c, and blocks that were stable in any beginning of the text do not
 * change. */
#include "codec/json.h"
#include "markup/markup.h"
#include "markup/markup_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* all: the blocks of text; part: those of a beginning of it. */
static void
check_growing(rt_str text, rt_str all, size_t part)
{
	rt_markup_options options = {0};
	rt_buf kept, rest;
	size_t stable = 0;

	rt_buf_init(&kept, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&rest, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_markup_blocks(&kept, rt_str_at(text.ptr, part), NULL, &stable, NULL) == RT_OK) {
		RT_ASSERT(stable <= part);
		rt_buf_clear(&kept);
		options.from = stable;
		if (rt_markup_blocks(&kept, rt_str_at(text.ptr, stable), NULL, NULL, NULL) == RT_OK &&
		    rt_markup_blocks(&rest, text, &options, NULL, NULL) == RT_OK) {
			kept.size--;
			if (kept.size > 1 && rest.size > 2)
				rt_buf_add_byte(&kept, ',');
			rt_buf_add(&kept, rest.ptr + 1, rest.size - 1);
			RT_ASSERT(rt_str_eq(rt_buf_str(&kept), all));
		}
	}
	rt_buf_deinit(&kept);
	rt_buf_deinit(&rest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rt_str text = rt_str_at((const char *)data, size);
	size_t stable = 0;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	st = rt_markup_blocks(&json, text, NULL, &stable, NULL);
	RT_ASSERT(st == RT_OK || (st == RT_LIMIT && json.size == 0));
	if (st == RT_OK) {
		RT_ASSERT(stable <= size);
		markup_check(rt_buf_str(&json), size);
		check_growing(text, rt_buf_str(&json), size / 2);
		check_growing(text, rt_buf_str(&json), size - size / 8);
	}
	rt_buf_clear(&json);
	rt_markup_plain(&json, text);
	markup_check(rt_buf_str(&json), size);
	rt_buf_deinit(&json);
	return 0;
}
