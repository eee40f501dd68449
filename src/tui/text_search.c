/* SPDX-License-Identifier: MIT */
#include "tui/text_search.h"

#include "tui/find.h"

void
rt_text_search_begin(rt_text_search *search, const rt_work *work, size_t at, bool back)
{
	size_t count = rt_work_count(work);

	RT_ASSERT(at < count);
	*search = (rt_text_search){.is_on = true, .back = back, .at = at};
	search->all = search->left = count < RT_TEXT_SEARCH_MAX ? count : RT_TEXT_SEARCH_MAX;
}

/* The position after the last one. The take may have become shorter meanwhile. */
static size_t
next_position(const rt_text_search *search, size_t count)
{
	if (!search->back)
		return (search->at + 1) % count;
	return search->at == 0 || search->at > count ? count - 1 : search->at - 1;
}

bool
rt_text_search_next(rt_text_search *search, rt_work *work, rt_str what, size_t *out_at)
{
	size_t count = rt_work_count(work), entries = 0, bytes = 0;

	search->is_on = search->is_on && count > 0;
	while (search->is_on && search->left > 0 && entries++ < RT_TEXT_SEARCH_ENTRIES &&
	       bytes < RT_TEXT_SEARCH_BYTES) {
		rt_work_entry e;
		rt_error ignored;
		bool holds;

		search->at = next_position(search, count);
		search->left--;
		if (rt_work_entry_at(work, search->at, &e, &ignored) != RT_OK)
			continue;
		holds = what.size > 0 && !e.is_hidden && rt_find_holds(rt_buf_str(&e.text), what);
		bytes += e.text.size;
		rt_work_entry_deinit(&e);
		if (holds) {
			*out_at = search->at;
			search->is_on = false;
			return true;
		}
	}
	search->is_on = search->is_on && search->left > 0;
	return false;
}

size_t
rt_text_search_count(rt_work *work, rt_str what, size_t at, size_t *out_number)
{
	size_t all = rt_work_count(work), bytes = 0, count = 0;

	*out_number = 0;
	for (size_t i = 0; i < all; i++) {
		rt_work_entry e;
		rt_error ignored;

		if (i == RT_TEXT_SEARCH_ENTRIES || bytes > RT_TEXT_SEARCH_BYTES)
			return 0;
		if (rt_work_entry_at(work, i, &e, &ignored) != RT_OK)
			continue;
		if (!e.is_hidden && rt_find_holds(rt_buf_str(&e.text), what)) {
			count++;
			*out_number += i <= at;
		}
		bytes += e.text.size;
		rt_work_entry_deinit(&e);
	}
	return count;
}

unsigned
rt_text_search_percent(const rt_text_search *search)
{
	return search->all == 0 ? 100
				: (unsigned)((search->all - search->left) * 100 / search->all);
}
