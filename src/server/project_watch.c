/* SPDX-License-Identifier: MIT */
#include "server/project_watch.h"

#include "log/heads.h"

typedef struct list {
	rt_store_watched *at;
	rt_open_project **projects;
	size_t count, watched_room, project_room;
} list;

/* A project whose number of rows is to be compared. */
static void
add(rt_scope *s, list *l, rt_open_project *open_project)
{
	const rt_project *value = rt_engine_value(open_project->engine);

	l->at = rt_scope_grow(s, l->at, l->count, &l->watched_room, sizeof(*l->at));
	l->projects = rt_scope_grow(s, l->projects, l->count, &l->project_room, sizeof(rt_open_project *));
	if (rt_ok(s)) {
		l->at[l->count] = (rt_store_watched){rt_engine_project_number(open_project->engine), value->seq, false,
						     false};
		l->projects[l->count++] = open_project;
	}
	rt_object_unref(value);
}

static bool
has_passed(int64_t now_us, int64_t since_us, int64_t ms)
{
	return since_us == 0 || now_us < since_us || now_us - since_us >= ms * 1000;
}

/* The projects with streams, or all. */
static list
gather(rt_scope *s, rt_project_pool *pool, bool all)
{
	list l = {0};

	for (rt_open_project *p = rt_project_pool_first(pool); p != NULL; p = p->next)
		if (all || rt_feed_stream_count(p->feed) > 0)
			add(s, &l, p);
	return l;
}

static void
note(const list *l, uint64_t epoch, bool has_streams, bool has_replies)
{
	for (size_t i = 0; i < l->count; i++) {
		rt_open_project *p = l->projects[i];

		if (has_streams) {
			p->news.has_rows = l->at[i].has_changed || epoch != rt_engine_epoch(p->engine);
			if (has_replies)
				p->news.has_replies = l->at[i].has_side;
		} else {
			p->has_side = l->at[i].has_side;
		}
	}
}

bool
rt_project_watch_look(rt_project_watch *watch, rt_project_pool *pool, int64_t now_us)
{
	static const char *const replies[] = {RT_INFLIGHT_PREFIX, RT_RUN_PREFIX, NULL};
	static const char *const all[] = {RT_INFLIGHT_PREFIX, RT_RUN_PREFIX, RT_RAN_PREFIX, NULL};
	const rt_project_pool_options *given = rt_project_pool_get_options(pool);
	rt_store *store = given->store;
	bool has_replies = has_passed(now_us, watch->replies_us, RT_FEED_FLIGHTS_MS);
	bool has_side = has_passed(now_us, watch->side_us, RT_WATCH_SIDE_MS);
	uint64_t epoch = 0;
	rt_scope s;

	if (store->ops->watch == NULL)
		return false;
	if (now_us < watch->next_us && watch->next_us - now_us < 1000000)
		return true; /* with the last news */
	rt_scope_init(&s, given->alloc);
	list l = gather(&s, pool, false);
	if (rt_ok(&s) && l.count > 0)
		RT_TRY(&s, store->ops->watch(store, l.at, l.count, has_replies ? replies : NULL, &epoch, &s.error));
	if (rt_ok(&s)) {
		note(&l, epoch, true, has_replies);
		watch->replies_us = has_replies ? now_us : watch->replies_us;
	}
	if (has_side && rt_ok(&s)) {
		l = gather(&s, pool, true);
		if (rt_ok(&s) && l.count > 0)
			RT_TRY(&s, store->ops->watch(store, l.at, l.count, all, &epoch, &s.error));
		if (rt_ok(&s)) {
			note(&l, epoch, false, true);
			watch->side_us = now_us;
		}
	}
	rt_scope_deinit(&s);
	int64_t end_us = given->env->now_us(given->env->ctx);
	int64_t took_us = end_us > now_us ? end_us - now_us : 0;
	/* The shorter of two, because one may have waited for a processor. */
	watch->next_us = end_us + (took_us < watch->took_us ? took_us : watch->took_us) * (RT_WATCH_SHARE - 1);
	watch->took_us = took_us;
	return true;
}

/* ---- deleted projects ---- */

static bool
note_present(void *ctx, const rt_store_row *row)
{
	for (rt_open_project *p = rt_project_pool_first(ctx); p != NULL; p = p->next)
		if (rt_engine_project_number(p->engine) == row->number)
			p->is_present = true;
	return true;
}

void
rt_project_watch_deleted(rt_project_watch *watch, rt_project_pool *pool, int64_t now_us)
{
	rt_store *store = rt_project_pool_get_options(pool)->store;
	rt_open_project *first = rt_project_pool_first(pool), *p;
	uint64_t epoch;

	if (!has_passed(now_us, watch->deleted_us, RT_WATCH_SIDE_MS))
		return;
	watch->deleted_us = now_us;
	if (store->ops->epoch(store, &epoch, NULL) != RT_OK || epoch == watch->epoch)
		return;
	for (p = first; p != NULL; p = p->next)
		p->is_present = false;
	if (store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), note_present, pool, NULL) != RT_OK)
		return; /* the next time */
	watch->epoch = epoch;
	for (p = first; p != NULL; p = p->next)
		if (!p->is_present && !rt_engine_is_deleted(p->engine)) {
			(void)!rt_engine_refresh(p->engine, NULL);
			if (p->cache != NULL)
				rt_response_cache_forget(p->cache);
		}
}
