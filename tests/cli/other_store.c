/* SPDX-License-Identifier: MIT
 *
 * Replaces store/store_open.c: a kind of store whose addresses, other:NAME, are not paths. It
 * keeps its rows in the directory OTHER_STORE, which the rest of the program does not know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_open.h"

static bool
is_other(const char *address)
{
	return strncmp(address, "other:", 6) == 0;
}

static rt_status
open_other(const rt_alloc *alloc, const rt_env *env, const char *address,
	   const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	const char *folder = getenv("OTHER_STORE");
	char path[4096];

	if (folder == NULL)
		return rt_fail(err, RT_USAGE, "OTHER_STORE is not set");
	(void)snprintf(path, sizeof(path), "%s/%s", folder, address + 6);
	return rt_store_sqlite.open(alloc, env, path, options, out_store, err);
}

static const rt_store_kind other = {.name = "other", .accepts = is_other, .open = open_other};

const rt_store_kind *
rt_store_kind_of(const char *address)
{
	return is_other(address)		? &other
	       : strcmp(address, ":memory:") == 0 ? &rt_store_memory
						  : &rt_store_sqlite;
}

const char *
rt_store_file(const char *address)
{
	return is_other(address) || strcmp(address, ":memory:") == 0 ? NULL : address;
}

void
rt_store_add_place(rt_buf *out, const char *address)
{
	rt_buf_add_c(out, address);
}

rt_status
rt_store_open(const rt_alloc *alloc, const rt_env *env, const char *address,
	      const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	return rt_store_kind_of(address)->open(alloc, env, address, options, out_store, err);
}
