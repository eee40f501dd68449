/* SPDX-License-Identifier: MIT
 *
 * The changes of a transaction of the PostgreSQL store: six arrays, one item for each change, which
 * are the parameters of one statement. */
#include "store/store_postgres_impl.h"

enum {
	COLUMNS = 6,
	NAMES = 4, /* the first column of bytes */
	DATAS = 5,
	HEADER = 20,  /* of an array */
	COUNT_AT = 12 /* of the number of items, in the header of an array */
};

void
rt_pg_batch_init(rt_pg_batch *b, const rt_alloc *alloc)
{
	for (int i = 0; i < COLUMNS; i++)
		rt_buf_init(&b->columns[i], alloc, RT_BUF_UNLIMITED);
}

void
rt_pg_batch_deinit(rt_pg_batch *b)
{
	for (int i = 0; i < COLUMNS; i++)
		rt_buf_deinit(&b->columns[i]);
}

void
rt_pg_batch_clear(rt_pg_batch *b)
{
	for (int i = 0; i < COLUMNS; i++)
		rt_buf_clear(&b->columns[i]);
	b->count = b->bytes = 0;
	b->written = 0;
}

static unsigned
table_of(rt_pg_change kind)
{
	switch (kind) {
	case RT_PG_LOG_ADD:
	case RT_PG_LOG_SET: return 1u << RT_STORE_LOG;
	case RT_PG_BODY_ADD:
	case RT_PG_BODY_SET: return 1u << RT_STORE_BODIES;
	case RT_PG_NODE_SET:
	case RT_PG_NODE_DROP: return 1u << RT_STORE_NODES;
	case RT_PG_ROOT_SET: return 1u << RT_STORE_ROOT;
	case RT_PG_ROOT_DROP: return 1u << RT_STORE_ROOT | 1u << RT_STORE_NODES;
	case RT_PG_SIDE_SET:
	case RT_PG_SIDE_DROP: return 1u << RT_STORE_SIDE;
	case RT_PG_INDEX_ADD:
	case RT_PG_INDEX_MARK:
	case RT_PG_INDEX_DROP:
	case RT_PG_INDEX_CLEAR: return 1u << RT_STORE_INDEX;
	case RT_PG_PROJECT_ADD: return 1u << RT_STORE_PROJECTS;
	case RT_PG_EPOCH_SET:
	case RT_PG_FENCE_SET: break;
	}
	return 0;
}

static void
put_bytes(rt_buf *buf, rt_str bytes)
{
	rt_pg_put_u32(buf, (uint32_t)bytes.size);
	rt_buf_add_str(buf, bytes);
}

void
rt_pg_add(rt_pg_call *call, rt_pg_change kind, uint64_t number, uint64_t extra, int64_t sum,
	  rt_str name, rt_str data)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_batch *b = &tx->batch;
	const uint64_t numbers[NAMES] = {kind, number, extra, (uint64_t)sum};

	rt_store_check_size(&call->scope, data.size, RT_PG_ROW_SIZE_MAX);
	if (name.size > RT_PG_NAME_SIZE_MAX)
		rt_scope_fail(&call->scope, RT_LIMIT,
			      "%zu bytes are too many for the name of a row", name.size);
	if (b->count >= RT_PG_BATCH_ROWS ||
	    (b->count > 0 && b->bytes + data.size > RT_PG_BATCH_BYTES))
		rt_pg_flush(call);
	if (!rt_ok(&call->scope))
		return;
	for (int i = 0; i < COLUMNS; i++) {
		rt_buf *buf = &b->columns[i];

		if (b->count == 0)
			rt_pg_put_array(buf, 1, i >= NAMES);
		if (i < NAMES) {
			rt_pg_put_u32(buf, sizeof(uint64_t));
			rt_pg_put_u64(buf, numbers[i]);
		} else {
			put_bytes(buf, i == NAMES ? name : data);
		}
		RT_TRY(&call->scope, buf->status);
	}
	if (!rt_ok(&call->scope)) {
		rt_scope_reset(&call->scope);
		tx->status = rt_scope_nomem(&call->scope);
		return;
	}
	if (kind == RT_PG_LOG_ADD && !tx->has_log) {
		tx->has_log = true;
		tx->first_seq = number;
		memcpy(tx->step, name.ptr, sizeof(tx->step));
	}
	b->count++;
	b->bytes += data.size + name.size;
	b->written |= table_of(kind);
}

/* An item of a column of numbers. */
static uint64_t
number_at(const rt_pg_batch *b, int column, size_t at)
{
	const char *from = b->columns[column].ptr + HEADER + at * 12 + 4;
	uint64_t number = 0;

	for (int i = 0; i < 8; i++)
		number = number << 8 | (unsigned char)from[i];
	return number;
}

/* The bytes at *from, which is moved after them. */
static rt_str
bytes_at(const rt_buf *column, size_t *from)
{
	const unsigned char *at = (const unsigned char *)column->ptr + *from;
	size_t size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];

	*from += 4 + size;
	return rt_str_at((const char *)at + 4, size);
}

/* Their result is a row with 1 if they have written. They exist twice: in a group (store_postgres_group.c), a later commit makes them durable. */
#define APPEND_ONE(more) \
	"WITH h AS (UPDATE retake.project t SET seq = $2 + 1, body = $10 WHERE t.id = $1 AND" \
	" t.seq = $2 AND t.body = $3 AND t.fence = $4 AND $5 = (SELECT s.epoch FROM" \
	" retake.store s) RETURNING t.id), l AS (INSERT INTO retake.log SELECT h.id, $2 + 1, $6," \
	" $7, $8, $9 FROM h), b AS (INSERT INTO retake.body SELECT h.id, $10, $11, $12, $13 FROM" \
	" h) SELECT 1::bigint" more " FROM h"

bool
rt_pg_append_query(rt_pg_call *call, rt_pg_query *out)
{
	const rt_pg_transaction *tx = &call->conn->tx;
	const rt_pg_batch *b = &tx->batch;
	size_t from = HEADER;

	if (b->count != 2 || number_at(b, 0, 0) != RT_PG_LOG_ADD ||
	    number_at(b, 0, 1) != RT_PG_BODY_ADD)
		return false;
	*out = rt_pg_query_of(APPEND_ONE(""));
	out->later_sql = APPEND_ONE(RT_PG_LATER);
	out->later_name = RT_PG_NAME_APPEND_ONE_LATER;
	out->doing = "writing to it";
	out->name = RT_PG_NAME_APPEND_ONE;
	out->is_cancelled = true; /* a setting for the lock would be a tenth of the cost */
	rt_pg_arg_u64(out, tx->now.project);
	rt_pg_arg_u64(out, tx->base.seq);
	rt_pg_arg_u64(out, tx->base.body);
	rt_pg_arg_u64(out, tx->base.fence);
	rt_pg_arg_u64(out, tx->base.epoch);
	rt_pg_arg_bytes(out, rt_str_at((const char *)tx->step, RT_STEP_ID_SIZE));
	rt_pg_arg_u64(out, number_at(b, 2, 0));
	rt_pg_arg_u64(out, number_at(b, 3, 0));
	rt_pg_arg_bytes(out, bytes_at(&b->columns[DATAS], &from));
	rt_pg_arg_u64(out, number_at(b, 1, 1));
	rt_pg_arg_u64(out, number_at(b, 2, 1));
	rt_pg_arg_u64(out, number_at(b, 3, 1));
	rt_pg_arg_bytes(out, bytes_at(&b->columns[DATAS], &from));
	return true;
}

#define WRITE(more) "SELECT retake.write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)" more

/* The same for log rows and bodies alone, at about half the cost. */
#define APPEND(more) \
	"WITH h AS (UPDATE retake.project t SET seq = $7, body = $8 WHERE t.id = $1 AND t.seq = $3 AND" \
	" t.body = $4 AND t.fence = $5 AND $6 = (SELECT s.epoch FROM retake.store s) AND $2 > 0" \
	" RETURNING t.id), u AS MATERIALIZED (SELECT * FROM h, unnest($9, $10, $11, $12, $13, $14) AS" \
	" c(kind, n, extra, sum, name, data)), l AS (INSERT INTO retake.log SELECT id, n, name, extra, sum," \
	" data FROM u WHERE kind = 1), b AS (INSERT INTO retake.body SELECT id, n, extra, sum, data FROM u" \
	" WHERE kind = 2) SELECT 1::bigint" more " FROM h"

static bool
is_only_append(const rt_pg_batch *b)
{
	const unsigned appended = 1u << RT_STORE_LOG | 1u << RT_STORE_BODIES;
	bool is_only = (b->written & ~appended) == 0;

	for (size_t i = 0; i < b->count && is_only; i++)
		is_only = number_at(b, 0, i) == RT_PG_LOG_ADD || number_at(b, 0, i) == RT_PG_BODY_ADD;
	return is_only;
}

void
rt_pg_batch_query(rt_pg_call *call, uint64_t project, bool is_alone, rt_pg_query *out)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_batch *b = &tx->batch;
	bool is_append = !is_alone && tx->now.project == project && is_only_append(b);

	*out = rt_pg_query_of(is_append ? APPEND("") : WRITE(""));
	out->later_sql = is_append ? APPEND(RT_PG_LATER) : WRITE(RT_PG_LATER);
	out->later_name = is_append ? RT_PG_NAME_APPEND_LATER : RT_PG_NAME_WRITE_LATER;
	out->doing = "writing to it";
	out->name = is_append ? RT_PG_NAME_APPEND : RT_PG_NAME_WRITE;
	out->is_cancelled = is_append;
	rt_pg_arg_u64(out, project);
	rt_pg_arg_u64(out, (uint64_t)call->store->options.busy_ms);
	rt_pg_arg_u64(out, tx->base.seq);
	rt_pg_arg_u64(out, tx->base.body);
	rt_pg_arg_u64(out, is_alone ? UINT64_MAX : tx->base.fence);
	rt_pg_arg_u64(out, is_alone ? 0 : tx->base.epoch);
	rt_pg_arg_u64(out, tx->now.seq);
	rt_pg_arg_u64(out, tx->now.body);
	for (int i = 0; i < COLUMNS; i++) {
		for (int k = 0; k < 4; k++)
			b->columns[i].ptr[COUNT_AT + k] = (char)(b->count >> (24 - 8 * k));
		rt_pg_arg_array(out, rt_buf_str(&b->columns[i]), i >= NAMES);
	}
}
