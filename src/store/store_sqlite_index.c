/* SPDX-License-Identifier: MIT
 *
 * The full-text index of the SQLite store: segments of terms (store_segment.h) as rows of the table `found`.
 * The watermark says up to which body the index is complete; it is written in the same transaction as the rows
 * it covers.
 *
 *	key    project << 43 | segment << 23 | number of a part, or:
 *	  TEXTS  numbers and entries of its texts
 *	  HEAD   texts, first and last number, parts, bytes of them: varints
 *
 * Segments are numbered from 1 without gaps, in the order of their texts. What a transaction adds becomes a
 * segment when it is committed or read; it takes the place of the last ones while they are not much larger, so
 * that few are small. A text that is dropped or replaced costs its segment again. */
#include "store/store_sqlite_index.h"

#include <stdlib.h> /* qsort */

#include "base/varint.h"

enum {
	SEGMENT_BITS = 43 - RT_PART_BITS,
	JOINED_BYTES = 2 << 20, /* of the parts of a segment that others are joined with */
	JOINED_TEXTS = 60000
};

/* --- the watermark --- */

bool
rt_sqlite_index_is_present(rt_sqlite_call *call)
{
	rt_sqlite_args args = {.bytes = RT_STR(RT_SQLITE_INDEX_TABLE), .is_text = true};
	rt_sqlite_query q = rt_sqlite_select(call, SQL_INDEX_KIND, args);
	bool has = rt_sqlite_next(&q);

	rt_sqlite_end(&q);
	return has;
}

static uint64_t
read_mark(rt_sqlite_call *call, uint64_t project)
{
	rt_sqlite_query q =
		rt_sqlite_select(call, SQL_MARK_GET, (rt_sqlite_args){.key = project});
	rt_store_row row = {0};
	uint64_t key;

	if (rt_sqlite_next(&q) && rt_sqlite_row_read(q.stmt, RT_TABLE_MARK, &key, &row) != RT_OK)
		rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
				     "%s is damaged: the index mark of project %llu has a wrong "
				     "checksum",
				     call->store->place, (unsigned long long)project);
	rt_sqlite_end(&q);
	return row.number;
}

uint64_t
rt_sqlite_index_mark(rt_sqlite_call *call, uint64_t project)
{
	const rt_sqlite_pending *p = &call->store->pending;

	if (call->conn == &call->store->writer && p->project == project && p->mark > 0)
		return p->mark;
	return rt_sqlite_index_is_present(call) ? read_mark(call, project) : 0;
}

/* --- rows of segments --- */

uint64_t
rt_index_key(uint64_t project, uint64_t segment, uint64_t number)
{
	return rt_row_key(project, segment << RT_PART_BITS | number);
}

void
rt_index_damaged(rt_sqlite_call *call, uint64_t segment)
{
	rt_sqlite_damaged(call, "index segment", segment);
}

/* 0: there is none. */
uint64_t
rt_index_last(rt_sqlite_call *call, uint64_t project)
{
	uint64_t key = rt_sqlite_number(call, SQL_FOUND_LAST,
					rt_sqlite_range(project, 0, RT_STORE_NUMBER_MAX));

	return (key & RT_STORE_NUMBER_MAX) >> RT_PART_BITS;
}

/* A row that has to exist; the query has to be ended. */
static rt_sqlite_query
select_row(rt_sqlite_call *call, uint64_t project, uint64_t segment, uint64_t number, rt_store_row *out)
{
	rt_sqlite_query q = rt_sqlite_select(call, SQL_FOUND_GET,
					     (rt_sqlite_args){.key = rt_index_key(project, segment, number)});

	*out = (rt_store_row){0};
	if (rt_sqlite_next(&q))
		rt_sqlite_row(&q, "index row", out);
	else
		rt_index_damaged(call, segment);
	return q;
}

rt_index_head
rt_index_head_read(rt_sqlite_call *call, uint64_t project, uint64_t segment)
{
	rt_store_row row;
	rt_sqlite_query q = select_row(call, project, segment, RT_INDEX_HEAD_ROW, &row);
	rt_byte_reader r = rt_byte_reader_of(row.data);
	rt_index_head h = {.segment = segment};

	h.texts = rt_read_varint(&r);
	h.first = rt_read_varint(&r);
	h.last = rt_read_varint(&r);
	h.parts = rt_read_varint(&r);
	h.bytes = rt_read_varint(&r);
	if (rt_ok(&call->scope) && (!r.ok || h.texts > UINT32_MAX))
		rt_index_damaged(call, segment);
	rt_sqlite_end(&q);
	return rt_ok(&call->scope) ? h : (rt_index_head){.segment = segment};
}

/* Keeps the failure of a segment in memory. */
static bool
is_read(rt_sqlite_call *call, const rt_segment *s, uint64_t segment, bool is_whole)
{
	if (s->status != RT_OK)
		rt_scope_fail(&call->scope, s->status, "out of memory for the index");
	else if (!is_whole && rt_ok(&call->scope))
		rt_index_damaged(call, segment);
	return rt_ok(&call->scope);
}

void
rt_index_read_texts(rt_sqlite_call *call, uint64_t project, const rt_index_head *h, rt_segment *to)
{
	rt_store_row row;
	rt_sqlite_query q = select_row(call, project, h->segment, RT_INDEX_TEXTS_ROW, &row);

	if (rt_ok(&call->scope))
		(void)is_read(call, to, h->segment,
			      rt_segment_read_texts(to, row.data, (size_t)h->texts));
	rt_sqlite_end(&q);
}

void
rt_index_read_segment(rt_sqlite_call *call, uint64_t project, const rt_index_head *h, rt_segment *to)
{
	rt_sqlite_query q;
	rt_store_row row;

	rt_index_read_texts(call, project, h, to);
	q = rt_sqlite_select(call, SQL_FOUND_UP,
			     (rt_sqlite_args){.key = rt_index_key(project, h->segment, 0),
					      .last = rt_index_key(project, h->segment, RT_PART_LAST)});
	while (rt_sqlite_next(&q)) {
		rt_sqlite_row(&q, "index row", &row);
		if (!rt_ok(&call->scope) ||
		    !is_read(call, to, h->segment,
			     rt_segment_read_part(to, (uint32_t)(row.number & RT_INDEX_HEAD_ROW), row.data)))
			break;
	}
	rt_sqlite_end(&q);
}

typedef struct writing {
	rt_sqlite_call *call;
	uint64_t project, segment, parts, bytes;
} writing;

static bool
write_part(void *ctx, uint32_t number, rt_str bytes)
{
	writing *w = ctx;

	rt_sqlite_row_write(w->call, SQL_FOUND_SET, rt_index_key(w->project, w->segment, number),
			    &(rt_store_row){.data = bytes});
	w->parts++;
	w->bytes += bytes.size;
	return rt_ok(&w->call->scope);
}

/* In place of the segments from this one up to last. */
static void
write_segment(rt_sqlite_call *call, uint64_t project, const rt_index_head *h, uint64_t last, rt_segment *s)
{
	writing w = {call, project, h->segment, 0, 0};
	rt_buf *bytes = rt_scope_buf(&call->scope);

	rt_segment_sort(s);
	if (!is_read(call, s, h->segment, true))
		return;
	if (last >= h->segment)
		rt_sqlite_run(call, SQL_FOUND_DROP,
			      (rt_sqlite_args){.key = rt_index_key(project, h->segment, 0),
					       .last = rt_index_key(project, last, RT_INDEX_HEAD_ROW)});
	rt_segment_parts(s, bytes, write_part, &w);
	(void)rt_scope_str(&call->scope, bytes);
	rt_buf_clear(bytes);
	rt_segment_write_texts(s, bytes);
	rt_sqlite_row_write(call, SQL_FOUND_SET, rt_index_key(project, h->segment, RT_INDEX_TEXTS_ROW),
			    &(rt_store_row){.data = rt_scope_str(&call->scope, bytes)});
	rt_buf_clear(bytes);
	rt_buf_add_varint(bytes, s->text_count);
	rt_buf_add_varint(bytes, h->first);
	rt_buf_add_varint(bytes, h->last);
	rt_buf_add_varint(bytes, w.parts);
	rt_buf_add_varint(bytes, w.bytes);
	rt_sqlite_row_write(call, SQL_FOUND_SET, rt_index_key(project, h->segment, RT_INDEX_HEAD_ROW),
			    &(rt_store_row){.data = rt_scope_str(&call->scope, bytes)});
}

/* --- adding and dropping --- */

/* Adds a segment; the last ones that are not much larger are joined with it. */
static void
append_segment(rt_sqlite_call *call, uint64_t project, rt_segment *added)
{
	uint64_t last = rt_index_last(call, project), bytes = added->count * 4 / 3;
	uint64_t texts = added->text_count;
	rt_index_head first = {.segment = last + 1, .first = added->texts[0].number}, h;
	rt_segment whole;

	while (rt_ok(&call->scope) && first.segment > 1) {
		h = rt_index_head_read(call, project, first.segment - 1);
		if (h.texts > 2 * texts || h.texts + texts > JOINED_TEXTS || h.bytes + bytes > JOINED_BYTES)
			break;
		texts += h.texts;
		bytes += h.bytes;
		first = h;
	}
	rt_segment_init(&whole, call->store->alloc);
	for (uint64_t i = first.segment; rt_ok(&call->scope) && i <= last; i++) {
		rt_segment one;

		rt_segment_init(&one, call->store->alloc);
		h = rt_index_head_read(call, project, i);
		rt_index_read_segment(call, project, &h, &one);
		rt_segment_join(&whole, &one, NULL);
		rt_segment_deinit(&one);
	}
	if (last >= first.segment) {
		rt_segment_join(&whole, added, NULL);
		rt_segment_deinit(added);
		*added = whole;
	}
	if (first.segment >> SEGMENT_BITS > 0)
		rt_scope_fail(&call->scope, RT_LIMIT, "the search index of project %llu is full",
			      (unsigned long long)project);
	first.last = added->text_count > 0 ? added->texts[added->text_count - 1].number : first.first;
	write_segment(call, project, &first, last, added);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
is_listed(const uint64_t *numbers, size_t count, uint64_t number)
{
	return count > 0 && bsearch(&number, numbers, count, sizeof(*numbers), by_number) != NULL;
}

/* Writes a segment again: without the listed texts, with those that are added after `before`, which then are not
 * to be kept. */
static void
change_segment(rt_sqlite_call *call, uint64_t project, rt_index_head h, uint64_t before, const uint64_t *numbers,
	       size_t count, const rt_segment *added, bool *keep)
{
	rt_segment old, changed;
	bool *kept, *taken;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || (numbers[i] > before && numbers[i] <= h.last);
	if (!any)
		return;
	rt_segment_init(&old, call->store->alloc);
	rt_segment_init(&changed, call->store->alloc);
	rt_index_read_segment(call, project, &h, &old);
	kept = rt_scope_array(&call->scope, old.text_count, sizeof(*kept));
	taken = rt_scope_array(&call->scope, added->text_count, sizeof(*taken));
	for (size_t i = 0; rt_ok(&call->scope) && i < old.text_count; i++)
		kept[i] = !is_listed(numbers, count, old.texts[i].number);
	for (size_t i = 0; rt_ok(&call->scope) && i < added->text_count; i++) {
		taken[i] = added->texts[i].number > before && added->texts[i].number <= h.last;
		keep[i] = keep[i] && !taken[i];
		if (taken[i] && added->texts[i].number < h.first)
			h.first = added->texts[i].number;
	}
	if (rt_ok(&call->scope)) {
		rt_segment_join(&changed, &old, kept);
		rt_segment_join(&changed, added, taken);
		write_segment(call, project, &h, h.segment, &changed);
	}
	rt_segment_deinit(&old);
	rt_segment_deinit(&changed);
}

/* Texts that the present segments cover are changed there. */
static void
change_segments(rt_sqlite_call *call, rt_sqlite_pending *p, const uint64_t *numbers, size_t count)
{
	uint64_t last = rt_index_last(call, p->project);
	rt_index_head h = last > 0 ? rt_index_head_read(call, p->project, last) : (rt_index_head){0};
	bool *keep = rt_scope_array(&call->scope, p->added.text_count, sizeof(*keep));
	rt_segment rest;

	if (last == 0 || !rt_ok(&call->scope) || count == 0 || numbers[0] > h.last)
		return;
	for (size_t i = 0; i < p->added.text_count; i++)
		keep[i] = true;
	while (rt_ok(&call->scope) && h.segment > 0 && numbers[0] <= h.last) {
		rt_index_head before = h.segment > 1 ? rt_index_head_read(call, p->project, h.segment - 1) : (rt_index_head){0};

		change_segment(call, p->project, h, before.last, numbers, count, &p->added, keep);
		h = before;
	}
	if (!rt_ok(&call->scope))
		return;
	rt_segment_init(&rest, call->store->alloc);
	rt_segment_join(&rest, &p->added, keep);
	rt_segment_deinit(&p->added);
	p->added = rest;
	(void)is_read(call, &p->added, 0, true);
}

void
rt_sqlite_index_flush(rt_sqlite_call *call)
{
	rt_sqlite_pending *p = &call->store->pending;
	rt_buf *numbers;

	if (p->project == 0)
		return;
	numbers = rt_scope_buf(&call->scope);
	rt_segment_sort(&p->added);
	(void)is_read(call, &p->added, 0, true);
	for (size_t i = 0; i < p->added.text_count; i++)
		rt_buf_add(numbers, &p->added.texts[i].number, sizeof(uint64_t));
	rt_buf_add_str(numbers, rt_buf_str(&p->dropped));
	(void)rt_scope_str(&call->scope, numbers);
	if (rt_ok(&call->scope) && numbers->size > 0) {
		uint64_t *list = (uint64_t *)(void *)numbers->ptr;
		size_t count = numbers->size / sizeof(*list);

		qsort(list, count, sizeof(*list), by_number);
		change_segments(call, p, list, count);
	}
	if (rt_ok(&call->scope) && p->added.text_count > 0)
		append_segment(call, p->project, &p->added);
	if (rt_ok(&call->scope) && p->mark > read_mark(call, p->project))
		rt_sqlite_row_write(call, SQL_MARK_SET, p->project, &(rt_store_row){.number = p->mark});
	if (!rt_ok(&call->scope)) /* a segment may be half written */
		call->store->tx_status = call->scope.status;
	rt_sqlite_index_forget(call->store);
}

void
rt_sqlite_index_forget(rt_sqlite_store *s)
{
	if (s->pending.project == 0)
		return;
	rt_segment_deinit(&s->pending.added);
	rt_buf_deinit(&s->pending.dropped);
	s->pending.project = 0;
}

/* Begins a list of changes, of texts that are added or of others that are dropped. */
static void
begin_pending(rt_sqlite_call *call, uint64_t project, bool is_drop)
{
	rt_sqlite_pending *p = &call->store->pending;

	if (p->project != 0 && (p->project != project || p->is_drop != is_drop))
		rt_sqlite_index_flush(call);
	if (!rt_ok(&call->scope) || p->project != 0)
		return;
	if (!rt_sqlite_index_is_present(call))
		rt_sqlite_index_clear(call);
	*p = (rt_sqlite_pending){.project = project, .is_drop = is_drop};
	rt_segment_init(&p->added, call->store->alloc);
	rt_buf_init(&p->dropped, call->store->alloc, RT_BUF_UNLIMITED);
}

rt_status
rt_sqlite_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry, rt_str text,
		    rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_writing(store, project);
	rt_sqlite_pending *p = &call.store->pending;

	rt_store_check_number(&call.scope, "body", number);
	rt_store_check_size(&call.scope, text.size, RT_SQLITE_ROW_SIZE_MAX);
	if (rt_ok(&call.scope))
		begin_pending(&call, project, false);
	if (rt_ok(&call.scope) && text.size > 0) {
		rt_segment_add(&p->added, number, entry, text);
		(void)is_read(&call, &p->added, 0, true);
	}
	if (rt_ok(&call.scope) && p->mark == 0)
		p->mark = read_mark(&call, project);
	if (rt_ok(&call.scope) && p->mark < number)
		p->mark = number;
	return rt_scope_end(&call.scope, err);
}

void
rt_sqlite_index_drop(rt_sqlite_call *call, uint64_t project, uint64_t number)
{
	rt_sqlite_wipe(call);
	if (rt_ok(&call->scope))
		begin_pending(call, project, true);
	if (!rt_ok(&call->scope))
		return;
	rt_buf_add(&call->store->pending.dropped, &number, sizeof(number));
	rt_scope_note(&call->scope, call->store->pending.dropped.status);
}

/* Drops the table itself, which may be damaged. That of an earlier version belongs to FTS5; SQLite 3.53.2 leaves
 * found_content of such a table, and protects it. */
void
rt_sqlite_index_clear(rt_sqlite_call *call)
{
	rt_sqlite_index_forget(call->store);
	(void)sqlite3_db_config(call->conn->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	rt_sqlite_exec(call,
		       "DROP TABLE IF EXISTS found; DROP TABLE IF EXISTS found_content;"
		       "DELETE FROM mark;" RT_SQLITE_INDEX_TABLE,
		       "rebuilding the index");
	(void)sqlite3_db_config(call->conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}
