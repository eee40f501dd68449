/* SPDX-License-Identifier: MIT
 *
 * Rows as events. The newest are kept, so that a row is drawn once and not by every stream;
 * what lies further back is drawn for the one who asks. */
#define _POSIX_C_SOURCE 200809L

#include "server/feed_impl.h"

#include "codec/json.h"

void
rt_feed_rows_init(rt_feed_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	pthread_mutex_init(&rows->lock, NULL);
}

static void
drop(rt_feed_rows *rows, rt_feed_row *row)
{
	if (row->text != NULL)
		rows->bytes -= row->text->size;
	rt_text_unref(row->text);
	memset(row, 0, sizeof(*row));
}

static void
drop_all(rt_feed_rows *rows)
{
	size_t i;

	for (i = 0; i < RT_FEED_ROWS; i++)
		drop(rows, &rows->at[i]);
	rows->low = 0;
}

void
rt_feed_rows_deinit(rt_feed_rows *rows)
{
	drop_all(rows);
	pthread_mutex_destroy(&rows->lock);
}

void
rt_feed_add_id(rt_buf *out, uint64_t epoch, uint64_t seq)
{
	rt_buf_add_f(out, "id: %016llx.%llu\n", (unsigned long long)epoch, (unsigned long long)seq);
}

/* Will it never be readable? */
static bool
is_lasting(rt_status st)
{
	return st == RT_NOT_FOUND || st == RT_CORRUPT || st == RT_TOO_NEW;
}

static rt_status
draw(rt_engine *engine, uint64_t epoch, const rt_project *project, uint64_t seq, rt_feed_row *out,
     rt_error *err)
{
	const rt_alloc *alloc = rt_engine_alloc(engine);
	rt_buf event;
	size_t head;
	rt_status st;

	memset(out, 0, sizeof(*out));
	rt_buf_init(&event, alloc, RT_BUF_UNLIMITED);
	rt_feed_add_id(&event, epoch, seq);
	rt_buf_add_c(&event, "event: op\ndata: ");
	head = event.size;
	st = rt_view_change(engine, project, seq, &event, &out->discs, err);
	if (is_lasting(st) && event.status == RT_OK) {
		event.size = head;
		rt_buf_add_f(&event, "{\"seq\":%llu,\"whole\":true}", (unsigned long long)seq);
		out->discs.count = RT_CHANGE_DISCS + 1;
		st = RT_OK;
	}
	rt_buf_add_c(&event, "\n\n");
	if (st == RT_OK && event.status != RT_OK)
		st = rt_fail(err, event.status, "out of memory");
	if (st == RT_OK) {
		out->seq = seq;
		out->text = rt_text_new(alloc, rt_buf_str(&event));
		if (out->text == NULL)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_buf_deinit(&event);
	return st;
}

/* Take a copy in, and let go of what is too much. */
static void
keep(rt_feed_rows *rows, const rt_feed_row *row)
{
	rt_feed_row *slot = &rows->at[row->seq % RT_FEED_ROWS];

	if (row->text->size > RT_FEED_ROWS_BYTES / 4)
		return;
	drop(rows, slot);
	*slot = *row;
	(void)rt_text_ref(row->text);
	rows->bytes += row->text->size;
	if (rows->low == 0 || row->seq < rows->low)
		rows->low = row->seq;
	for (; rows->bytes > RT_FEED_ROWS_BYTES && rows->low < row->seq; rows->low++) {
		slot = &rows->at[rows->low % RT_FEED_ROWS];
		if (slot->seq == rows->low)
			drop(rows, slot);
	}
}

rt_status
rt_feed_rows_get(rt_feed_rows *rows, rt_engine *engine, uint64_t epoch, const rt_project *project,
		 uint64_t seq, rt_feed_row *out, rt_error *err)
{
	rt_feed_row *slot = &rows->at[seq % RT_FEED_ROWS];
	rt_status st = RT_OK;

	if (seq + RT_FEED_ROWS <= project->seq)
		return draw(engine, epoch, project, seq, out, err);
	/* Drawn under the lock: whoever comes meanwhile wants the same row. */
	pthread_mutex_lock(&rows->lock);
	if (rows->epoch != epoch) {
		drop_all(rows);
		rows->epoch = epoch;
	}
	if (slot->seq == seq) {
		*out = *slot;
		(void)rt_text_ref(out->text);
	} else {
		st = draw(engine, epoch, project, seq, out, err);
		if (st == RT_OK)
			keep(rows, out);
	}
	pthread_mutex_unlock(&rows->lock);
	return st;
}
