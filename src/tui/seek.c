/* SPDX-License-Identifier: MIT */
#include "tui/seek.h"

#include "tui/find.h"

void
rt_seek_begin(rt_seek *seek, const rt_work *work, size_t at, bool back)
{
	size_t count = rt_work_count(work);

	RT_ASSERT(at < count);
	*seek = (rt_seek){.is_on = true, .back = back, .at = at};
	seek->all = seek->left = count < RT_SEEK_MAX ? count : RT_SEEK_MAX;
}

bool
rt_seek_on(rt_seek *seek, rt_work *work, rt_str what, size_t *out_at)
{
	size_t count = rt_work_count(work), looked = 0, bytes = 0;

	/* The take may have become another one since. */
	seek->is_on = seek->is_on && count > 0;
	while (seek->is_on && seek->left > 0 && looked < RT_SEEK_ENTRIES && bytes < RT_SEEK_BYTES) {
		rt_work_entry e;
		rt_error err;
		bool holds;

		seek->at = seek->back ? (seek->at == 0 || seek->at > count ? count : seek->at) - 1
				      : (seek->at + 1) % count;
		seek->left--;
		looked++;
		if (rt_work_entry_at(work, seek->at, &e, &err) != RT_OK)
			continue;
		holds = what.size > 0 && !e.is_hidden && rt_find_holds(rt_buf_str(&e.text), what);
		bytes += e.text.size;
		rt_work_entry_deinit(&e);
		if (holds) {
			*out_at = seek->at;
			seek->is_on = false;
			return true;
		}
	}
	seek->is_on = seek->is_on && seek->left > 0;
	return false;
}

unsigned
rt_seek_percent(const rt_seek *seek)
{
	return seek->all == 0 ? 100 : (unsigned)((seek->all - seek->left) * 100 / seek->all);
}
