/* SPDX-License-Identifier: MIT
 *
 * Replies that other processes receive: their side rows, read now and then. Each has a
 * number that rises whenever one of them changes; a stream remembers the number up to
 * which it was told. What is over stays a while, so that slow streams hear of it. */
#define _POSIX_C_SOURCE 200809L

#include "server/feed_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/json.h"

enum { LOOK_SHARE = 20 /* of the time at most one part in so many is spent on looking */ };

void
rt_feed_inflight_init(rt_feed_inflight_list *inflight)
{
	memset(inflight, 0, sizeof(*inflight));
	pthread_mutex_init(&inflight->lock, NULL);
}

void
rt_feed_inflight_forget(rt_feed_inflight_list *inflight)
{
	pthread_mutex_lock(&inflight->lock);
	while (inflight->count > 0)
		rt_text_unref(inflight->at[--inflight->count].event);
	inflight->looked_us = 0;
	pthread_mutex_unlock(&inflight->lock);
}

void
rt_feed_inflight_deinit(rt_feed_inflight_list *inflight)
{
	rt_feed_inflight_forget(inflight);
	pthread_mutex_destroy(&inflight->lock);
}

static void
add_member(rt_buf *out, const char *key, rt_str value)
{
	rt_json_add_key(out, key);
	rt_json_add_string(out, value);
}

/* An event about it; NULL: no memory. */
static const rt_text *
draw(const rt_alloc *alloc, const char *name, const rt_inflight_view *v)
{
	const rt_text *text = NULL;
	rt_buf out;

	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, v == NULL ? "event: flight.ended\ndata: {" : "event: flight\ndata: {");
	add_member(&out, "flight", rt_str_of(name));
	if (v != NULL) {
		rt_str end = v->text;
		size_t skipped = 0;

		if (end.size > RT_FEED_FLIGHT_MAX) { /* from a character's beginning on */
			skipped = end.size - RT_FEED_FLIGHT_MAX;
			while (skipped < end.size && (end.ptr[skipped] & 0xc0) == 0x80)
				skipped++;
			end = rt_str_at(end.ptr + skipped, end.size - skipped);
		}
		add_member(&out, "discussion", v->discussion);
		add_member(&out, "take", v->take);
		add_member(&out, v->into.size > 0 ? "into" : "after",
			   v->into.size > 0 ? v->into : v->after);
		add_member(&out, "model", v->model);
		if (skipped > 0)
			rt_buf_add_f(&out, ",\"skipped\":%zu", skipped);
		add_member(&out, "text", end);
	}
	rt_buf_add_c(&out, "}\n\n");
	if (out.status == RT_OK)
		text = rt_text_new(alloc, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return text;
}

typedef struct looking {
	rt_feed_inflight_list *inflight;
	const rt_alloc *alloc;
	struct rt_runs *runs;
	bool changed;
} looking;

static rt_feed_inflight *
find(rt_feed_inflight_list *f, rt_str name)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (rt_str_is(name, f->at[i].name))
			return &f->at[i];
	return NULL;
}

/* A place for a new one: where there is none, that of the one that has been over longest. */
static rt_feed_inflight *
make_room(rt_feed_inflight_list *f)
{
	rt_feed_inflight *oldest = NULL;
	size_t i;

	for (i = 0; f->count == RT_FEED_INFLIGHT_MAX && i < f->count; i++)
		if (f->at[i].is_over && (oldest == NULL || f->at[i].version < oldest->version))
			oldest = &f->at[i];
	if (f->count == RT_FEED_INFLIGHT_MAX && oldest == NULL)
		return NULL;
	if (oldest == NULL)
		oldest = &f->at[f->count++];
	else
		rt_text_unref(oldest->event);
	memset(oldest, 0, sizeof(*oldest));
	return oldest;
}

static void
tell(looking *l, rt_feed_inflight *flight, const rt_inflight_view *v)
{
	const rt_text *event = draw(l->alloc, flight->name, v);

	if (event == NULL)
		return; /* at the next look */
	rt_text_unref(flight->event);
	flight->event = event;
	flight->is_over = v == NULL;
	flight->written_us = v == NULL ? 0 : v->written_us;
	flight->version = ++l->inflight->version;
	l->changed = true;
}

static bool
look_at(void *ctx, const rt_inflight_view *v)
{
	looking *l = ctx;
	rt_feed_inflight *flight;

	if (v->is_broken || v->is_stranded || v->name.size >= sizeof(flight->name))
		return true;
	if (l->runs != NULL && !rt_runs_is_elsewhere(l->runs, v->owner, v->written_us))
		return true;
	flight = find(l->inflight, v->name);
	if (flight == NULL) {
		flight = make_room(l->inflight);
		if (flight == NULL)
			return true;
		(void)snprintf(flight->name, sizeof(flight->name), "%.*s", RT_STR_ARG(v->name));
		if (v->discussion.size > 1 && v->discussion.size < 12)
			flight->disc = (uint32_t)strtoul(v->discussion.ptr + 1, NULL, 10);
	}
	flight->is_seen = true;
	if (flight->event == NULL || flight->written_us != v->written_us)
		tell(l, flight, v);
	return true;
}

bool
rt_feed_inflight_poll(rt_feed_inflight_list *f, rt_engine *engine, const rt_env *env,
		      struct rt_runs *runs)
{
	looking l = {.inflight = f, .alloc = rt_engine_alloc(engine), .runs = runs};
	int64_t now = env->now_us(env->ctx), wait = RT_FEED_FLIGHTS_MS * 1000;
	size_t i;
	rt_status st;

	pthread_mutex_lock(&f->lock);
	if (f->took_us > wait / LOOK_SHARE)
		wait = f->took_us * LOOK_SHARE;
	if (f->looked_us != 0 && now >= f->looked_us && now - f->looked_us < wait) {
		pthread_mutex_unlock(&f->lock);
		return false;
	}
	for (i = 0; i < f->count; i++)
		f->at[i].is_seen = false;
	st = rt_engine_inflight(engine, look_at, &l, NULL);
	for (i = 0; st == RT_OK && i < f->count; i++)
		if (!f->at[i].is_seen && !f->at[i].is_over)
			tell(&l, &f->at[i], NULL);
	f->looked_us = env->now_us(env->ctx);
	f->took_us = f->looked_us > now ? f->looked_us - now : 0;
	pthread_mutex_unlock(&f->lock);
	return l.changed;
}

bool
rt_feed_inflight_events(rt_feed_inflight_list *f, uint64_t base, uint32_t disc, uint64_t *seen,
			size_t room, rt_buf *out)
{
	const rt_feed_inflight *next;
	size_t i;

	pthread_mutex_lock(&f->lock);
	do {
		next = NULL;
		for (i = 0; i < f->count; i++)
			if (f->at[i].event != NULL && f->at[i].version > *seen &&
			    (next == NULL || f->at[i].version < next->version))
				next = &f->at[i];
		if (next == NULL || out->size >= room)
			break;
		*seen = next->version;
		if (next->is_over && next->version <= base)
			continue;
		if (disc == 0 || next->disc == 0 || next->disc == disc)
			rt_buf_add_str(out, rt_text_str(next->event));
	} while (true);
	pthread_mutex_unlock(&f->lock);
	return next != NULL;
}
