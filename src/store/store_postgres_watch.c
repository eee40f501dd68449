/* SPDX-License-Identifier: MIT
 *
 * Changes of other programs in many projects of the PostgreSQL store: one statement for all of their
 * logs, and one for their side rows. */
#include "store/store_postgres_impl.h"

/* In one statement: an estimated cost above jit_above_cost (100,000) would make the server compile it. */
enum { WATCHED_MAX = 1000 };

typedef struct watch {
	rt_pg_call *call;
	rt_store_watched *list;
	size_t count;
	uint64_t *epoch;
} watch;

/* The rows of a statement are places in the list, or NULL, and the epoch. */
static void
ask(const watch *w, const rt_pg_query *q, bool is_side)
{
	rt_pg_call *call = w->call;
	PGresult *rows = rt_pg_rows(call, q);
	int row_count = rows != NULL ? call->store->pq->ntuples(rows) : 0;

	for (int i = 0; i < row_count; i++) {
		uint64_t at = rt_pg_u64(call, rows, i, 0);

		if (!is_side)
			*w->epoch = rt_pg_epoch_of(call->store, rt_pg_u64(call, rows, i, 1));
		if (at == 0 || at > w->count)
			continue;
		w->list[at - 1].has_changed |= !is_side;
		w->list[at - 1].has_side |= is_side;
	}
	rt_pg_clear(call, rows);
}

/* An array of the projects, or of their last rows. */
static rt_str
numbers(const watch *w, bool is_seq)
{
	rt_buf *array = rt_scope_buf(&w->call->scope);

	rt_pg_put_array(array, w->count, false);
	for (size_t i = 0; i < w->count; i++) {
		rt_pg_put_u32(array, sizeof(uint64_t));
		rt_pg_put_u64(array, is_seq ? w->list[i].seq : w->list[i].project);
	}
	return rt_scope_str(&w->call->scope, array);
}

/* The first name after all names with the prefix. */
static rt_str
after(rt_pg_call *call, const char *prefix)
{
	rt_buf *name = rt_scope_buf(&call->scope);

	rt_buf_add_c(name, prefix);
	if (name->size > 0)
		name->ptr[name->size - 1]++;
	return rt_scope_str(&call->scope, name);
}

static void
ask_rows(const watch *w)
{
	rt_pg_query q = rt_pg_query_of("SELECT k.at, s.epoch FROM retake.store s LEFT JOIN (unnest($1, $2) WITH"
				       " ORDINALITY AS k(id, seq, at) JOIN retake.project p ON p.id = k.id) ON"
				       " p.seq <> k.seq");

	q.is_of_list = true;
	q.name = RT_PG_NAME_WATCH;
	rt_pg_arg_array(&q, numbers(w, false), false);
	rt_pg_arg_array(&q, numbers(w, true), false);
	if (rt_ok(&w->call->scope))
		ask(w, &q, false);
}

/* LATERAL with a limit is one look into the index for each project and prefix; EXISTS would read all side
 * rows of the store. */
static void
ask_side(const watch *w, const char *prefix)
{
	rt_pg_query q = rt_pg_query_of("SELECT k.at FROM unnest($1) WITH ORDINALITY AS k(id, at) CROSS JOIN LATERAL"
				       " (SELECT FROM retake.side t WHERE t.project = k.id AND t.name >= $2 AND"
				       " t.name < $3 LIMIT 1) f");

	q.doing = "reading side rows";
	q.is_of_list = true;
	q.name = RT_PG_NAME_WATCH_SIDE;
	rt_pg_arg_array(&q, numbers(w, false), false);
	rt_pg_arg_bytes(&q, rt_str_of(prefix));
	rt_pg_arg_bytes(&q, after(w->call, prefix));
	if (rt_ok(&w->call->scope))
		ask(w, &q, true);
}

rt_status
rt_pg_watch(rt_store *store, rt_store_watched *list, size_t count, const char *const *prefixes,
	    uint64_t *out_epoch, rt_error *err)
{
	rt_pg_call call = rt_pg_reading(store);
	watch w = {.call = &call, .list = list, .epoch = out_epoch};

	for (size_t i = 0; i < count; i++)
		list[i].has_changed = list[i].has_side = false;
	do {
		w.list = count > 0 ? w.list + w.count : NULL;
		w.count = count < WATCHED_MAX ? count : WATCHED_MAX;
		count -= w.count;
		if (rt_ok(&call.scope))
			ask_rows(&w);
		for (size_t i = 0; prefixes != NULL && prefixes[i] != NULL; i++)
			ask_side(&w, prefixes[i]);
	} while (count > 0 && rt_ok(&call.scope));
	return rt_pg_end(&call, err);
}
