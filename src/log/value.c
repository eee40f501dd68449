/* SPDX-License-Identifier: MIT
 *
 * The newest value, which any thread may take a reference to, and the leader: the one thread
 * that may replace it and write to the store. Other threads that want to write queue (commit.c) or
 * wait. */
#include "log/engine_impl.h"

rt_store *
rt_engine_store(const rt_engine *engine)
{
	return engine->store;
}

uint64_t
rt_engine_project_number(const rt_engine *engine)
{
	return engine->project;
}

const rt_alloc *
rt_engine_alloc(const rt_engine *engine)
{
	return engine->alloc;
}

uint64_t
rt_engine_epoch(rt_engine *engine)
{
	pthread_mutex_lock(&engine->value_lock);
	uint64_t epoch = engine->value_epoch;
	pthread_mutex_unlock(&engine->value_lock);
	return epoch;
}

const rt_project *
rt_engine_value(rt_engine *engine)
{
	pthread_mutex_lock(&engine->value_lock);
	const rt_project *value = rt_object_ref(engine->value);
	pthread_mutex_unlock(&engine->value_lock);
	return value;
}

void
rt_engine_publish(rt_engine *engine, const rt_project *project)
{
	pthread_mutex_lock(&engine->value_lock);
	const rt_project *old = engine->value;
	engine->value = project;
	engine->value_epoch = engine->epoch;
	pthread_mutex_unlock(&engine->value_lock);
	rt_object_unref(old);
}

/* ---- rows of a newer version ---- */

bool
rt_engine_newer(rt_engine *engine, rt_error *out)
{
	pthread_mutex_lock(&engine->value_lock);
	bool newer = engine->newer_seq != 0;
	if (newer && out != NULL)
		*out = engine->newer;
	pthread_mutex_unlock(&engine->value_lock);
	return newer;
}

void
rt_engine_set_newer(rt_engine *engine, uint64_t seq, const rt_error *why)
{
	pthread_mutex_lock(&engine->value_lock);
	engine->newer_seq = seq;
	if (seq != 0)
		rt_fail(&engine->newer, RT_TOO_NEW,
			"the log continues with row %llu, which this version cannot read: %.300s",
			(unsigned long long)seq, why->text);
	pthread_mutex_unlock(&engine->value_lock);
}

rt_status
rt_engine_may_write(rt_engine *engine, rt_error *err)
{
	if (engine->read_only)
		return rt_fail(err, RT_READ_ONLY, "%s is open read-only",
			       engine->store->place);
	return rt_engine_newer(engine, err) ? RT_TOO_NEW : RT_OK;
}

/* ---- the leader ---- */

void
rt_engine_lock_writer(rt_engine *engine)
{
	pthread_mutex_lock(&engine->queue_lock);
	while (engine->leading)
		pthread_cond_wait(&engine->queue_moved, &engine->queue_lock);
	engine->leading = true;
	pthread_mutex_unlock(&engine->queue_lock);
}

bool
rt_engine_try_lead(rt_engine *engine)
{
	pthread_mutex_lock(&engine->queue_lock);
	bool leads = !engine->leading;
	engine->leading = true;
	pthread_mutex_unlock(&engine->queue_lock);
	return leads;
}

void
rt_engine_yield_writer(rt_engine *engine)
{
	engine->leading = false;
	if (engine->queue_first != NULL)
		pthread_cond_signal(&engine->queue_first->moved);
	pthread_cond_broadcast(&engine->queue_moved);
}

void
rt_engine_unlock_writer(rt_engine *engine)
{
	pthread_mutex_lock(&engine->queue_lock);
	rt_engine_yield_writer(engine);
	pthread_mutex_unlock(&engine->queue_lock);
}

void
rt_engine_add_gone(rt_engine *engine, rt_str text, rt_scope *s)
{
	const rt_text *copy, **gone;

	if (engine->purged == NULL || !rt_ok(s))
		return;
	copy = rt_text_new(engine->alloc, text);
	gone = copy == NULL ? NULL
			    : rt_array_add(engine->alloc, &engine->gone, &engine->gone_count,
					   &engine->gone_room, sizeof(*gone));
	if (gone != NULL) {
		*gone = copy;
	} else {
		rt_text_unref(copy);
		rt_scope_nomem(s);
	}
}

void
rt_engine_forget_gone(rt_engine *engine, size_t count)
{
	while (engine->gone_count > count)
		rt_text_unref(engine->gone[--engine->gone_count]);
}
