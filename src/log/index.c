/* SPDX-License-Identifier: MIT
 *
 * The search index, filled after the log. */
#include "log/index.h"

#include "log/engine_impl.h"
#include "log/identity.h"

/* ---- batches ---- */

rt_batch *
rt_batch_new(const rt_alloc *alloc)
{
	rt_batch *b = rt_new0(alloc, sizeof(*b));

	if (b != NULL) {
		b->alloc = alloc;
		rt_buf_init(&b->texts, alloc, RT_BUF_UNLIMITED);
	}
	return b;
}

void
rt_batch_free(rt_batch *b)
{
	if (b == NULL)
		return;
	rt_buf_deinit(&b->texts);
	rt_free(b->alloc, b);
}

static bool
add_body(void *ctx, const rt_store_row *row)
{
	rt_batch *b = ctx;
	size_t before = b->texts.size, size;
	rt_body body;
	rt_status st;

	b->last = row->number;
	if (row->entry == 0) /* no entry's text */
		return true;
	st = rt_body_read(b->alloc, row->data, &body, NULL);
	if (st == RT_NOMEM) /* if it were left out, it would never be found */
		b->texts.status = st;
	if (st != RT_OK)
		return st != RT_NOMEM;
	rt_body_add_searched(&b->texts, &body);
	rt_body_deinit(&body);
	size = b->texts.size - before;
	if (b->wants != NULL ? !b->wants(b->ctx, rt_str_at(b->texts.ptr + before, size))
			     : size == 0) {
		b->texts.size = before;
		return true;
	}
	b->items[b->count].number = row->number;
	b->items[b->count].entry = row->entry;
	b->items[b->count].at = before;
	b->items[b->count].size = size;
	b->count++;
	b->full = b->count == RT_BATCH_BODIES || b->texts.size >= RT_BATCH_BYTES;
	return !b->full && b->texts.status == RT_OK;
}

rt_status
rt_batch_read(rt_engine *engine, rt_batch *b, uint64_t first, uint64_t last, rt_error *err)
{
	b->count = 0;
	b->full = false;
	rt_buf_clear(&b->texts);
	rt_status st = rt_engine_read(engine, RT_STORE_BODIES, first, last, add_body, b, err);
	if (st == RT_OK && b->texts.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory while searching");
	if (!b->full)
		b->last = last;
	return st;
}

typedef struct texts {
	const rt_alloc *alloc;
	rt_buf text;
	void (*fn)(void *ctx, uint64_t number, rt_str text);
	void *ctx;
} texts;

static bool
pass_text(void *ctx, const rt_store_row *row)
{
	texts *t = ctx;
	rt_body body;
	rt_status st = rt_body_read(t->alloc, row->data, &body, NULL);

	if (st == RT_NOMEM)
		t->text.status = st;
	if (st != RT_OK)
		return st != RT_NOMEM;
	rt_buf_clear(&t->text);
	rt_body_add_searched(&t->text, &body);
	rt_body_deinit(&body);
	if (t->text.status == RT_OK)
		t->fn(t->ctx, row->number, rt_buf_str(&t->text));
	return t->text.status == RT_OK;
}

rt_status
rt_engine_texts(rt_engine *engine, const uint64_t *numbers, size_t count,
		void (*fn)(void *ctx, uint64_t number, rt_str text), void *ctx, rt_error *err)
{
	texts t = {.alloc = engine->alloc, .fn = fn, .ctx = ctx};
	rt_status st;

	rt_buf_init(&t.text, engine->alloc, RT_BUF_UNLIMITED);
	st = engine->store->ops->read(
		engine->store, rt_rows_listed(RT_STORE_BODIES, engine->project, numbers, count),
		pass_text, &t, err);
	if (st == RT_OK && t.text.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory while searching");
	rt_buf_deinit(&t.text);
	return st;
}

/* ---- the index ---- */

static void
find_ends(rt_engine *engine, uint64_t *out_mark, uint64_t *out_head, rt_scope *s)
{
	RT_TRY(s, rt_engine_head(engine, RT_STORE_INDEX, out_mark, &s->error));
	RT_TRY(s, rt_engine_head(engine, RT_STORE_BODIES, out_head, &s->error));
}

/* One transaction. false: there is nothing more, or a failure. */
static bool
index_batch(rt_engine *engine, rt_batch *b, rt_scope *s)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t mark = 0, head = 0;

	RT_TRY(s, ops->begin(engine->store, &s->error));
	find_ends(engine, &mark, &head, s);
	if (!rt_ok(s) || mark >= head) {
		ops->cancel(engine->store);
		return false;
	}
	RT_TRY(s, rt_batch_read(engine, b, mark + 1,
				head - mark > RT_BATCH_BODIES ? mark + RT_BATCH_BODIES : head,
				&s->error));
	for (size_t i = 0; rt_ok(s) && i < b->count; i++)
		RT_TRY(s, ops->index_add(engine->store, engine->project, b->items[i].number,
					 b->items[i].entry,
					 rt_str_at(b->texts.ptr + b->items[i].at, b->items[i].size),
					 &s->error));
	if (b->count == 0 || b->items[b->count - 1].number < b->last)
		RT_TRY(s, ops->index_add(engine->store, engine->project, b->last, 0,
					 rt_str_at("", 0), &s->error));
	rt_store_end(engine->store, s);
	return rt_ok(s);
}

rt_status
rt_engine_index_with(rt_engine *engine, rt_progress_fn progress, void *ctx, rt_error *err)
{
	rt_str identity = rt_store_identity();
	uint64_t mark = 0, head = 0, first;
	rt_batch *b;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	find_ends(engine, &mark, &head, &s);
	if (!rt_ok(&s) || mark >= head) /* most often: without the write lock */
		return rt_scope_end(&s, err);
	RT_TRY(&s, rt_engine_may_write(engine, &s.error));
	b = rt_batch_new(engine->alloc);
	if (b == NULL)
		rt_scope_fail(&s, RT_NOMEM, "out of memory while searching");
	(void)rt_store_set_identity(RT_STORE_ITSELF); /* whoever searches may not write */
	for (first = mark; rt_ok(&s) &&
			   (progress == NULL || progress(ctx, mark - first, head - first)) &&
			   index_batch(engine, b, &s);)
		mark = b->last < head ? b->last : head;
	(void)rt_store_set_identity(identity);
	rt_batch_free(b);
	return rt_scope_end(&s, err);
}

rt_status
rt_engine_index(rt_engine *engine, rt_error *err)
{
	return rt_engine_index_with(engine, NULL, NULL, err);
}

typedef struct step {
	uint64_t least;
	bool has_work;
} step;

static bool
is_first(void *ctx, uint64_t done, uint64_t all)
{
	step *one = ctx;

	one->has_work |= all >= one->least;
	return done == 0 && all >= one->least;
}

rt_status
rt_engine_index_step(rt_engine *engine, uint64_t least, bool *out_is_idle, rt_error *err)
{
	step one = {.least = least};
	rt_status st = rt_engine_index_with(engine, is_first, &one, err);

	*out_is_idle = st == RT_OK && !one.has_work;
	return st;
}
