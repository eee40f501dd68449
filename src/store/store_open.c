/* SPDX-License-Identifier: MIT
 *
 * The table of the kinds of stores. */
#include "store/store_open.h"

const rt_store_kind *
rt_store_kind_of(const char *address)
{
#define ROW(id) &rt_store_##id,
	static const rt_store_kind *const kinds[] = {RT_STORE_TABLE(ROW)};
#undef ROW
	size_t i = 0;

	while (!kinds[i]->accepts(address))
		i++;
	return kinds[i];
}

const char *
rt_store_file(const char *address)
{
	const rt_store_kind *kind = rt_store_kind_of(address);

	return kind->file != NULL ? kind->file(address) : NULL;
}

void
rt_store_add_place(rt_buf *out, const char *address)
{
	const rt_store_kind *kind = rt_store_kind_of(address);

	if (kind->add_place != NULL)
		kind->add_place(out, address);
	else
		rt_buf_add_c(out, address);
}

rt_status
rt_store_open(const rt_alloc *alloc, const rt_env *env, const char *address,
	      const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	return rt_store_kind_of(address)->open(alloc, env, address, options, out_store, err);
}
