/* SPDX-License-Identifier: MIT
 *
 * Reading one row of a store; deleting a project; identities. */
#include "log/store.h"

#include "log/identity.h"

/* ---- identities ---- */

static _Thread_local rt_str identity;

rt_str
rt_store_identity(void)
{
	return identity;
}

rt_str
rt_store_set_identity(rt_str to)
{
	rt_str before = identity;

	identity = to;
	return before;
}

/* ---- one row ---- */

static const char *const nouns[] = {
	[RT_STORE_PROJECTS] = "project", [RT_STORE_LOG] = "log row", [RT_STORE_BODIES] = "body",
	[RT_STORE_NODES] = "node",       [RT_STORE_ROOT] = "root",   [RT_STORE_SIDE] = "side row",
	[RT_STORE_INDEX] = "text",
};

typedef struct one_row {
	rt_store_table table;
	rt_buf *out;
	uint64_t number;
	bool found;
} one_row;

static bool
keep_row(void *ctx, const rt_store_row *row)
{
	one_row *one = ctx;

	if (one->out != NULL)
		rt_buf_add_str(one->out, row->data);
	one->number = one->table == RT_STORE_BODIES ? row->entry : row->number;
	one->found = true;
	return false;
}

rt_status
rt_store_get(rt_store *store, rt_rows row, rt_buf *out, uint64_t *out_number, rt_error *err)
{
	uint64_t number = row.table == RT_STORE_ROOT ? row.project : row.first;
	one_row one = {.table = row.table, .out = out};
	rt_status st = store->ops->read(store, row, keep_row, &one, err);

	if (st != RT_OK)
		return st;
	if (!one.found && row.table == RT_STORE_PROJECTS && row.is_named)
		return rt_fail(err, RT_NOT_FOUND, "there is no project \"%.*s\"",
			       RT_STR_ARG(row.name));
	if (!one.found)
		return rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu",
			       nouns[row.table], (unsigned long long)number,
			       (unsigned long long)row.project);
	if (out != NULL && out->status != RT_OK)
		return rt_fail(err, out->status,
			       out->status == RT_NOMEM ? "out of memory while reading %s %llu"
						       : "%s %llu is too large for its buffer",
			       nouns[row.table], (unsigned long long)number);
	if (out_number != NULL)
		*out_number = one.number;
	return RT_OK;
}

/* ---- projects ---- */

rt_status
rt_store_project_delete(rt_store *store, uint64_t project, rt_error *err)
{
	rt_status st = store->ops->begin(store, err);

	if (st != RT_OK)
		return st;
	st = store->ops->project_drop(store, project, err);
	if (st == RT_OK)
		st = store->ops->epoch_renew(store, err);
	if (st == RT_OK)
		return store->ops->commit(store, err);
	store->ops->cancel(store);
	return st;
}
