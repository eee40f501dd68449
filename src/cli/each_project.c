/* SPDX-License-Identifier: MIT
 *
 * Every project of a store. */
#include "cli/maintenance.h"

typedef struct reading {
	rt_scope *s;
	rt_cli_names names;
	size_t capacity;
} reading;

static bool
keep_name(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	rt_cli_names *names = &r->names;

	if (rt_store_is_reserved(row->data))
		return true;
	names->items = rt_scope_grow(r->s, names->items, names->count, &r->capacity,
				     sizeof(*names->items));
	if (names->items != NULL)
		names->items[names->count++] = rt_scope_copy(r->s, row->data);
	return rt_ok(r->s);
}

rt_cli_names
rt_cli_names_read(rt_cli *cli, rt_store *store)
{
	reading r = {.s = &cli->s};
	rt_status st;

	if (!rt_ok(&cli->s))
		return r.names;
	st = store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), keep_name, &r,
			      &cli->s.error);
	rt_scope_note(&cli->s, st);
	return r.names;
}

void
rt_cli_each_engine(rt_cli *cli, bool is_lenient, rt_cli_engine_fn fn, void *ctx)
{
	rt_store *store = cli->session.store;
	rt_cli_names names = rt_cli_names_read(cli, store);
	rt_error first = {0};

	for (size_t i = 0; rt_ok(&cli->s) && i < names.count; i++) {
		rt_engine_options options = {.alloc = cli->alloc,
					     .env = cli->env,
					     .project = names.items[i],
					     .by = RT_STR("cli"),
					     .read_only = store->is_read_only,
					     .lenient = is_lenient};
		rt_engine *engine = NULL;
		rt_error error;
		rt_scope outer;

		rt_cli_begin_part(cli, &outer);
		RT_TRY(&cli->s, rt_engine_open(&options, store, &engine, &cli->s.error));
		fn(cli, ctx, names.items[i], engine);
		rt_engine_close(engine);
		if (rt_cli_end_part(cli, &outer, &error) != RT_OK && first.status == RT_OK)
			first = error;
	}
	if (first.status != RT_OK && rt_ok(&cli->s)) {
		cli->s.error = first;
		rt_scope_note(&cli->s, first.status);
	}
}
