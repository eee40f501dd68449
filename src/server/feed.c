/* SPDX-License-Identifier: MIT
 *
 * The feed: its streams, waking them, the tick. */
#define _POSIX_C_SOURCE 200809L

#include "server/feed_impl.h"

#include "base/encode.h"

/* ---- new and free ---- */

typedef struct project_name {
	const rt_alloc *alloc;
	uint64_t project;
	const rt_text *name;
} project_name;

static bool
on_project(void *ctx, const rt_store_row *row)
{
	project_name *n = ctx;

	if (row->number != n->project)
		return true;
	n->name = rt_text_new(n->alloc, row->data);
	return false;
}

/* Notes the newest state; false: it is unchanged. */
static bool
note_newest(rt_feed *feed)
{
	const rt_project *project = rt_engine_value(feed->engine);
	uint64_t epoch = rt_engine_epoch(feed->engine), seq = project->seq;
	bool newer = rt_engine_newer(feed->engine, NULL);

	rt_object_unref(project);
	bool has_changed = epoch != feed->seen_epoch || seq != feed->seen_seq ||
			   newer != feed->seen_newer;
	feed->seen_epoch = epoch;
	feed->seen_seq = seq;
	feed->seen_newer = newer;
	return has_changed;
}

rt_status
rt_feed_new(rt_engine *engine, const rt_env *env, rt_feed **out, rt_error *err)
{
	const rt_alloc *alloc = rt_engine_alloc(engine);
	rt_store *store = rt_engine_store(engine);
	project_name n = {alloc, rt_engine_project_number(engine), NULL};
	rt_feed *feed = rt_new0(alloc, sizeof(*feed));
	rt_status st = RT_OK;

	if (feed != NULL)
		st = store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), on_project, &n, err);
	if (st == RT_OK && (feed == NULL || n.name == NULL))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st != RT_OK) {
		rt_text_unref(n.name);
		rt_free(alloc, feed);
		return st;
	}
	feed->engine = engine;
	feed->env = env;
	feed->alloc = alloc;
	feed->project = n.name;
	atomic_init(&feed->refs, 1);
	atomic_init(&feed->beat, 0);
	pthread_rwlock_init(&feed->gate, NULL);
	pthread_mutex_init(&feed->list, NULL);
	pthread_mutex_init(&feed->tick, NULL);
	rt_feed_rows_init(&feed->rows);
	rt_feed_inflight_init(&feed->inflight);
	feed->beat_us = env->now_us(env->ctx);
	(void)note_newest(feed);
	*out = feed;
	return RT_OK;
}

static void
unref(rt_feed *feed)
{
	if (atomic_fetch_sub(&feed->refs, 1) != 1)
		return;
	rt_feed_rows_deinit(&feed->rows);
	rt_feed_inflight_deinit(&feed->inflight);
	pthread_mutex_destroy(&feed->tick);
	pthread_mutex_destroy(&feed->list);
	pthread_rwlock_destroy(&feed->gate);
	rt_text_unref(feed->project);
	rt_free(feed->alloc, feed);
}

void
rt_feed_free(rt_feed *feed)
{
	if (feed == NULL)
		return;
	pthread_rwlock_wrlock(&feed->gate);
	feed->is_over = true;
	feed->runs = NULL;
	pthread_rwlock_unlock(&feed->gate);
	rt_feed_changed(feed);
	unref(feed);
}

void
rt_feed_set_runs(rt_feed *feed, struct rt_runs *runs)
{
	pthread_rwlock_wrlock(&feed->gate);
	feed->runs = runs;
	pthread_rwlock_unlock(&feed->gate);
}

/* ---- streams ---- */

static void
close_stream(rt_web_stream *stream)
{
	rt_feed_stream_at *s = (rt_feed_stream_at *)stream;
	rt_feed *feed = s->feed;

	pthread_mutex_lock(&feed->list);
	if (s->before != NULL)
		s->before->next = s->next;
	else
		feed->first = s->next;
	if (s->next != NULL)
		s->next->before = s->before;
	feed->count--;
	pthread_mutex_unlock(&feed->list);
	rt_buf_deinit(&s->pending);
	rt_free(feed->alloc, s->runs);
	rt_free(feed->alloc, s);
	unref(feed);
}

static const rt_web_stream_ops stream_ops = {rt_feed_stream_read, close_stream};

static bool
read_id(rt_str id, uint64_t *epoch, uint64_t *seq)
{
	enum { DIGITS = 16, SEQ_MAX = 15 };

	*epoch = *seq = 0;
	if (id.size < DIGITS + 2 || id.size > DIGITS + 1 + SEQ_MAX || id.ptr[DIGITS] != '.')
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		int digit = id.ptr[i] >= 'A' && id.ptr[i] <= 'F' ? -1 : rt_hex_digit(id.ptr[i]);

		if (digit < 0)
			return false;
		*epoch = *epoch << 4 | (uint64_t)digit;
	}
	for (size_t i = DIGITS + 1; i < id.size; i++) {
		if (id.ptr[i] < '0' || id.ptr[i] > '9')
			return false;
		*seq = *seq * 10 + (uint64_t)(id.ptr[i] - '0');
	}
	return true;
}

/* Where a stream begins. A client may know rows from another server on the same store. */
static rt_status
find_place(rt_feed *feed, rt_str last_id, uint64_t *epoch, uint64_t *seq, rt_error *err)
{
	rt_status st = RT_OK;

	if (last_id.size > 0 && !read_id(last_id, epoch, seq))
		return rt_fail(err, RT_USAGE, "Last-Event-ID is not an id of this server");
	if (last_id.size == 0)
		*epoch = rt_engine_epoch(feed->engine);
	const rt_project *project = rt_engine_value(feed->engine);
	if (last_id.size == 0)
		*seq = project->seq;
	else if (*seq > project->seq)
		st = rt_engine_refresh(feed->engine, err);
	rt_object_unref(project);
	return st;
}

rt_status
rt_feed_stream(rt_feed *feed, rt_str last_id, uint32_t disc, rt_web_stream **out, rt_error *err)
{
	rt_feed_stream_at *s;
	uint64_t epoch = 0, seq = 0;
	rt_status st = find_place(feed, last_id, &epoch, &seq, err);

	if (st != RT_OK)
		return st;
	s = rt_new0(feed->alloc, sizeof(*s));
	if (s != NULL)
		s->runs = rt_new0(feed->alloc, sizeof(*s->runs));
	if (s == NULL || s->runs == NULL) {
		rt_free(feed->alloc, s);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	s->base.ops = &stream_ops;
	s->feed = feed;
	s->epoch = epoch;
	s->seq = seq;
	s->disc = disc;
	s->runs->is_new = true;
	s->runs->disc = disc;
	pthread_rwlock_rdlock(&feed->gate);
	if (feed->runs != NULL)
		rt_runs_join(feed->runs, s->runs);
	pthread_rwlock_unlock(&feed->gate);
	s->beat = atomic_load(&feed->beat);
	atomic_init(&s->is_waiting, false);
	rt_buf_init(&s->pending, feed->alloc, RT_BUF_UNLIMITED);
	pthread_mutex_lock(&feed->list);
	if (feed->count >= RT_FEED_STREAMS_MAX) {
		st = rt_fail(err, RT_LIMIT, "%d event streams are open; close some",
			     (int)RT_FEED_STREAMS_MAX);
	} else {
		s->next = feed->first;
		if (feed->first != NULL)
			feed->first->before = s;
		feed->first = s;
		feed->count++;
		atomic_fetch_add(&feed->refs, 1);
	}
	pthread_mutex_unlock(&feed->list);
	if (st != RT_OK) {
		rt_free(feed->alloc, s->runs);
		rt_free(feed->alloc, s);
		return st;
	}
	*out = &s->base;
	return RT_OK;
}

rt_status
rt_feed_stream_of_one(rt_feed *feed, rt_str last_id, uint32_t disc, rt_web_stream **out, rt_error *err)
{
	rt_status st;

	RT_ASSERT(disc != 0);
	st = rt_feed_stream(feed, last_id, disc, out, err);
	if (st == RT_OK)
		((rt_feed_stream_at *)*out)->is_of_one = true; /* it is not read before it is returned */
	return st;
}

size_t
rt_feed_stream_count(rt_feed *feed)
{
	size_t count;

	pthread_mutex_lock(&feed->list);
	count = feed->count;
	pthread_mutex_unlock(&feed->list);
	return count;
}

/* ---- waking ---- */

void
rt_feed_changed(rt_feed *feed)
{
	pthread_mutex_lock(&feed->list);
	for (rt_feed_stream_at *s = feed->first; s != NULL; s = s->next)
		if (atomic_load(&s->is_waiting) && atomic_exchange(&s->is_waiting, false))
			rt_web_wake(&s->base);
	pthread_mutex_unlock(&feed->list);
}

/* Other processes' changes, and whether it is time for a heartbeat. */
static bool
look_for_changes(rt_feed *feed, const rt_feed_news *news)
{
	uint64_t epoch = feed->seen_epoch;
	bool is_read = (news != NULL && !news->has_rows) || rt_engine_refresh(feed->engine, NULL) == RT_OK;
	bool has_changed = is_read && note_newest(feed);
	bool may_have_replies = news == NULL || news->has_replies || rt_feed_inflight_is_waiting(&feed->inflight);

	if (epoch != feed->seen_epoch) /* there may have been a purge */
		rt_feed_inflight_forget(&feed->inflight);
	pthread_rwlock_rdlock(&feed->gate);
	if (may_have_replies && rt_feed_inflight_poll(&feed->inflight, feed->engine, feed->env, feed->runs)) {
		(void)note_newest(feed);
		has_changed = true;
	}
	pthread_rwlock_unlock(&feed->gate);
	int64_t now = feed->env->now_us(feed->env->ctx);
	if (now < feed->beat_us || now - feed->beat_us >= (int64_t)RT_FEED_HEARTBEAT_MS * 1000) {
		feed->beat_us = now;
		atomic_fetch_add(&feed->beat, 1);
		has_changed = true;
	}
	return has_changed;
}

void
rt_feed_tick(rt_feed *feed, const rt_feed_news *news)
{
	bool has_changed = false;

	if (pthread_mutex_trylock(&feed->tick) != 0)
		return;
	if (rt_feed_stream_count(feed) == 0)
		rt_feed_inflight_forget(&feed->inflight);
	else
		has_changed = look_for_changes(feed, news);
	pthread_mutex_unlock(&feed->tick);
	if (has_changed)
		rt_feed_changed(feed);
}
