/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "server/house.h"

#include <pthread.h>

#include "server/idem.h"
#include "server/run.h"

enum { TEND_S = 15 };

struct rt_house {
	rt_house_options options;
	pthread_mutex_t opening;      /* held while a project is opened */
	_Atomic(rt_served *) first;
};

rt_status
rt_house_open(const rt_house_options *options, rt_house **out, rt_error *err)
{
	rt_house *house = rt_new0(options->alloc, sizeof(*house));

	if (house == NULL || pthread_mutex_init(&house->opening, NULL) != 0) {
		rt_free(options->alloc, house);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	house->options = *options;
	*out = house;
	return RT_OK;
}

const rt_house_options *
rt_house_given(const rt_house *house)
{
	return &house->options;
}

rt_served *
rt_house_first(rt_house *house)
{
	return house->first;
}

/* ---- a project ---- */

rt_act_with
rt_served_with(rt_served *served, rt_str by, rt_buf *notes)
{
	return (rt_act_with){.hooks = served->hooks, .notes = notes, .by = by};
}

static void
served_free(rt_served *served)
{
	rt_act_with with = rt_served_with(served, RT_STR("http"), NULL);
	const rt_alloc *alloc = served->house->options.alloc;

	rt_runs_free(served->runs);
	rt_feed_free(served->feed);
	if (served->is_told)
		rt_act_close(served->engine, &with);
	rt_engine_close(served->engine);
	if (served->hooks != NULL)
		served->hooks->ops->close(served->hooks);
	if (served->kept != NULL)
		rt_kept_deinit(served->kept);
	rt_free(alloc, served->kept);
	rt_text_unref(served->name);
	rt_free(alloc, served);
}

/* What others keep of the project's texts, and of no other's: who may purge here may not touch
 * what is there. */
static void
purged(void *ctx, rt_str text)
{
	rt_served *served = ctx;
	const rt_house_options *given = &served->house->options;

	rt_runs_purge(served->runs, text);
	if (served->kept != NULL)
		rt_kept_forget(served->kept);
	if (given->purged != NULL)
		given->purged(given->purged_ctx, rt_engine_project_number(served->engine), text);
}

static rt_status
served_new(rt_house *house, rt_str name, bool create, rt_served **out, rt_error *err)
{
	const rt_house_options *given = &house->options;
	rt_engine_options options = {.alloc = given->alloc,
				     .env = given->env,
				     .project = name,
				     .by = RT_STR("http"),
				     .create = create,
				     .purged = purged};
	rt_served *served = rt_new0(given->alloc, sizeof(*served));
	rt_act_with with;
	rt_status st = RT_OK;

	if (served == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	served->house = house;
	served->kept = rt_new(given->alloc, sizeof(*served->kept));
	if (served->kept != NULL && !rt_kept_init(served->kept, given->alloc)) {
		rt_free(given->alloc, served->kept);
		served->kept = NULL;
	}
	options.purged_ctx = served;
	served->name = rt_text_new(given->alloc, name);
	options.read_only = given->store->ops->is_read_only(given->store);
	if (served->name == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = rt_engine_open(&options, given->store, &served->engine, err);
	if (st == RT_OK && !options.read_only && given->lives != NULL)
		st = rt_engine_keep_left(served->engine, given->lives, NULL, NULL, err);
	if (st == RT_OK && given->hooks_open != NULL)
		st = given->hooks_open(given->hooks_ctx, name, &served->hooks, err);
	if (st == RT_OK)
		st = rt_feed_new(served->engine, given->env, &served->feed, err);
	if (st == RT_OK)
		st = rt_runs_new(served, &served->runs, err);
	if (st != RT_OK) {
		served_free(served);
		return st;
	}
	rt_feed_set_runs(served->feed, served->runs);
	with = rt_served_with(served, RT_STR("http"), NULL);
	rt_act_open(served->engine, &with);
	served->is_told = true;
	*out = served;
	return RT_OK;
}

static rt_served *
find(rt_house *house, rt_str name)
{
	rt_served *served = house->first;

	while (served != NULL && !rt_str_eq(rt_text_str(served->name), name))
		served = served->next;
	return served;
}

bool
rt_house_is_open(rt_house *house, rt_str name)
{
	return find(house, name.size == 0 ? house->options.project : name) != NULL;
}

rt_status
rt_house_project(rt_house *house, rt_str name, bool create, rt_served **out, rt_error *err)
{
	rt_served *served;
	rt_status st = RT_OK;

	if (name.size == 0)
		name = house->options.project;
	served = find(house, name);
	if (served == NULL) {
		pthread_mutex_lock(&house->opening);
		served = find(house, name);
		if (served == NULL) {
			st = served_new(house, name, create, &served, err);
			if (st == RT_OK) {
				served->next = house->first;
				house->first = served;
			}
		}
		pthread_mutex_unlock(&house->opening);
	}
	if (st == RT_OK)
		*out = served;
	return st;
}

/* What others left behind, and what is old. Failures are tried again. */
static void
tend(rt_served *served, int64_t now_us)
{
	const rt_house_options *given = &served->house->options;
	size_t kept = 0;

	if (now_us >= served->tended_us && now_us - served->tended_us < (int64_t)TEND_S * 1000000)
		return;
	served->tended_us = now_us;
	if (given->store->ops->is_read_only(given->store))
		return;
	(void)!rt_idem_sweep(served->engine, now_us, NULL, NULL);
	if (given->lives != NULL &&
	    rt_engine_keep_left(served->engine, given->lives, NULL, &kept, NULL) == RT_OK && kept > 0)
		rt_feed_changed(served->feed);
}

void
rt_house_pulse(rt_house *house)
{
	int64_t now_us = house->options.env->now_us(house->options.env->ctx);
	rt_served *served;

	for (served = house->first; served != NULL; served = served->next) {
		rt_feed_pulse(served->feed);
		tend(served, now_us);
	}
}

void
rt_house_close(rt_house *house)
{
	rt_served *served, *next;

	if (house == NULL)
		return;
	for (served = house->first; served != NULL; served = next) {
		next = served->next;
		served_free(served);
	}
	pthread_mutex_destroy(&house->opening);
	rt_free(house->options.alloc, house);
}
