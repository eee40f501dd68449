/* SPDX-License-Identifier: MIT */
#include "app/stats.h"

typedef struct names {
	rt_scope *s;
	rt_str *items;
	size_t count, capacity;
} names;

static bool
add_name(void *ctx, const rt_store_row *row)
{
	names *n = ctx;

	if (rt_store_is_reserved(row->data))
		return true;
	n->items = rt_scope_grow(n->s, n->items, n->count, &n->capacity, sizeof(*n->items));
	if (n->items != NULL)
		n->items[n->count++] = rt_scope_copy(n->s, row->data);
	return rt_ok(n->s);
}

/* The totals of a project. */
static rt_stats
read_project(rt_scope *outer, rt_store *store, const rt_env *env, rt_str name,
	     const rt_stats_options *options)
{
	rt_stats_options all = *options;
	rt_engine_options given = {.alloc = outer->alloc,
				   .env = env,
				   .project = name,
				   .read_only = true};
	rt_engine *engine = NULL;
	rt_stats stats = {0};
	rt_scope s;

	all.by = RT_STATS_PROJECT;
	all.only_here = false;
	rt_scope_init(&s, outer->alloc);
	RT_TRY(&s, rt_engine_open(&given, store, &engine, &s.error));
	if (rt_ok(&s)) {
		rt_view view = {&s, engine, rt_engine_value(engine), {0, 0}};

		stats = rt_stats_read(&view, &all);
		rt_object_unref(view.project);
	}
	rt_engine_close(engine);
	rt_scope_join(outer, &s);
	return stats;
}

rt_stats
rt_stats_of_projects(rt_scope *s, rt_store *store, const rt_env *env,
		     const rt_stats_options *options)
{
	names n = {.s = s};
	rt_stats stats = {0};
	rt_stats_row *rows;

	RT_TRY(s, store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), add_name, &n, &s->error));
	rows = rt_scope_array(s, n.count, sizeof(*rows));
	for (size_t i = 0; rt_ok(s) && i < n.count; i++) {
		rt_stats one = read_project(s, store, env, n.items[i], options);

		rows[i] = one.total;
		rows[i].name = n.items[i];
		stats.total.entries += rows[i].entries;
		rt_usage_add(&stats.total.usage, &rows[i].usage);
		rt_usage_add(&stats.received, &one.received);
	}
	stats.rows = rows;
	stats.count = n.count;
	return rt_ok(s) ? stats : (rt_stats){0};
}
