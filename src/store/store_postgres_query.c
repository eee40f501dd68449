/* SPDX-License-Identifier: MIT
 *
 * Statements of the PostgreSQL store: their parameters and results. */
#include "store/store_postgres_impl.h"


enum { BIGINT = 20, BYTEA = 17, TEXT = 25, BIGINTS = 1016, BYTEAS = 1001 }; /* numbers of types */

/* --- parameters --- */

void
rt_pg_put_u32(rt_buf *buf, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		rt_buf_add_byte(buf, (char)(number >> shift));
}

void
rt_pg_put_u64(rt_buf *buf, uint64_t number)
{
	rt_pg_put_u32(buf, (uint32_t)(number >> 32));
	rt_pg_put_u32(buf, (uint32_t)number);
}

void
rt_pg_put_array(rt_buf *buf, size_t count, bool is_bytes)
{
	rt_pg_put_u32(buf, count > 0 ? 1 : 0); /* dimensions */
	rt_pg_put_u32(buf, 0);                 /* without NULL */
	rt_pg_put_u32(buf, is_bytes ? BYTEA : BIGINT);
	if (count > 0) {
		rt_pg_put_u32(buf, (uint32_t)count);
		rt_pg_put_u32(buf, 1); /* the first index */
	}
}

static void
add_arg(rt_pg_query *q, Oid type, rt_str value)
{
	RT_ASSERT(q->count < RT_PG_ARGS_MAX);
	q->types[q->count] = type;
	q->values[q->count] = value.size > 0 ? value.ptr : ""; /* a NULL pointer is SQL's NULL */
	q->sizes[q->count] = (int)value.size;
	q->count++;
}

void
rt_pg_arg_u64(rt_pg_query *q, uint64_t number)
{
	char *to = q->numbers[q->count];

	for (int i = 0; i < 8; i++)
		to[i] = (char)(number >> (56 - 8 * i));
	add_arg(q, BIGINT, rt_str_at(to, 8));
}

void
rt_pg_arg_bytes(rt_pg_query *q, rt_str bytes)
{
	add_arg(q, BYTEA, bytes);
}

void
rt_pg_arg_text(rt_pg_query *q, rt_str text)
{
	add_arg(q, TEXT, text);
}

uint64_t
rt_pg_query_project(const rt_pg_query *q)
{
	uint64_t number = 0;

	if (q->is_of_list || q->count == 0 || q->types[0] != BIGINT)
		return 0;
	for (int i = 0; i < 8; i++)
		number = number << 8 | (unsigned char)q->numbers[0][i];
	return number;
}

void
rt_pg_arg_array(rt_pg_query *q, rt_str array, bool is_bytes)
{
	add_arg(q, is_bytes ? BYTEAS : BIGINTS, array);
}

/* --- results --- */

void
rt_pg_clear(rt_pg_call *call, PGresult *rows)
{
	call->store->pq->clear(rows);
}

rt_str
rt_pg_bytes(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	const rt_pq *pq = call->store->pq;

	return rt_str_at(pq->getvalue(rows, row, column), (size_t)pq->getlength(rows, row, column));
}

uint64_t
rt_pg_u64(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	rt_str bytes = rt_pg_bytes(call, rows, row, column);
	uint64_t number = 0;

	for (size_t i = 0; i < bytes.size && i < 8; i++)
		number = number << 8 | (unsigned char)bytes.ptr[i];
	return number;
}

bool
rt_pg_has_written(rt_pg_call *call, const PGresult *rows)
{
	return call->store->pq->ntuples(rows) == 1 && rt_pg_u64(call, rows, 0, 0) == 1;
}

bool
rt_pg_bool(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	return rt_pg_u64(call, rows, row, column) == 1;
}
