/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of sending: an engine, a clock that advances only when something waits, and
 * a scripted model that can answer byte by byte. */
#ifndef RT_CHAT_SEND_TESTING_H
#define RT_CHAT_SEND_TESTING_H

#include <stdio.h>

#include "log/engine_testing.h"
#include "chat/send.h"
#include "ops/export.h"
#include "view/view.h"

typedef struct world world;

struct world {
	rt_store *store; /* the test's to open; closed by world_deinit */
	rt_engine *engine;
	rt_env env;
	int64_t now_us;
	uint64_t chance;
	rt_model *model; /* or NULL; closed by world_deinit */
	rt_buf out;
	/* called whenever the model waits; or NULL */
	void (*meanwhile)(world *w);
	size_t waits;   /* number of waits */
	size_t stop_at; /* the wait after which the user stops it; 0: never */
	bool is_over;   /* wait no longer: the test has enough */
	rt_error err;   /* of the last send */
	rt_send_result result;
};

static inline int64_t
world_now(void *ctx)
{
	return ((world *)ctx)->now_us;
}

static inline void
world_random(void *ctx, void *to, size_t size)
{
	env_random(&((world *)ctx)->chance, to, size);
}

static inline void
world_init(world *w)
{
	memset(w, 0, sizeof(*w));
	w->now_us = 1700000000000000;
	w->chance = 5;
	w->env = (rt_env){world_now, world_random, w};
	rt_buf_init(&w->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static inline void
world_open_engine(world *w, const rt_alloc *alloc)
{
	rt_engine_options options = {.alloc = alloc, .env = &w->env, .create = true};

	assert_int_equal(rt_engine_open(&options, w->store, &w->engine, NULL), RT_OK);
}

static inline void
world_deinit(world *w)
{
	rt_send_result_deinit(&w->result);
	rt_buf_deinit(&w->out);
	rt_engine_close(w->engine);
	if (w->model != NULL && w->model->ops->close != NULL)
		w->model->ops->close(w->model);
	w->store->ops->close(w->store);
}

/* For rt_builtin_options.wait_ms. */
static inline void
world_wait(void *ctx, unsigned ms)
{
	world *w = ctx;

	w->now_us += (int64_t)ms * 1000;
	w->waits++;
	if (w->meanwhile != NULL)
		w->meanwhile(w);
}

static inline bool
world_stop(void *ctx)
{
	const world *w = ctx;

	return w->stop_at != 0 && w->waits >= w->stop_at;
}

/* ---- changing and looking ---- */

static inline rt_status
world_try(world *w, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(w->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					    &result);

	w->err = result.error;
	rt_result_deinit(&result);
	return st;
}

static inline void
world_apply(world *w, const char *json)
{
	if (world_try(w, json) != RT_OK)
		fail_msg("%s: %s", json, w->err.text);
}

static inline void
world_add(world *w, const char *id, const char *role, const char *content)
{
	char json[600];

	snprintf(json, sizeof(json),
		 "{\"op\":\"entry.append\",\"id\":\"%s\",\"role\":\"%s\",\"content\":\"%s\"}", id,
		 role, content);
	world_apply(w, json);
}

static inline void
world_add_content(rt_buf *out, yyjson_val *content)
{
	if (yyjson_is_str(content))
		rt_buf_add_str(out, rt_json_str(content));
	else
		rt_json_add_value(out, content);
}

/* A take (empty: the active one), one line per entry: "Role: content", with a leading "*" if
 * partial and "(kind)" if it has one. */
static inline const char *
world_take(world *w, const char *take)
{
	const rt_project *value = rt_engine_value(w->engine);
	rt_window window = {0, 0, {NULL, 0}};
	rt_json_doc *doc;
	rt_place place;
	yyjson_val *entry;
	size_t i, max;
	rt_buf json;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_resolve_place(value, RT_STR(""), rt_str_of(take), &place, NULL), RT_OK);
	assert_int_equal(rt_view_show(w->engine, value, place, &window, &json, NULL), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	rt_buf_clear(&w->out);
	rt_buf_add_c(&w->out, "");
	yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "entries"), i, max, entry)
	{
		rt_str kind = rt_json_str(rt_json_get(entry, "kind"));

		if (yyjson_is_true(rt_json_get(entry, "partial")))
			rt_buf_add_byte(&w->out, '*');
		rt_buf_add_str(&w->out, rt_json_str(rt_json_get(entry, "role")));
		if (kind.size > 0 && !rt_str_is(kind, "message"))
			rt_buf_add_f(&w->out, " (%.*s)", RT_STR_ARG(kind));
		rt_buf_add_c(&w->out, ": ");
		world_add_content(&w->out, rt_json_get(entry, "content"));
		rt_buf_add_byte(&w->out, '\n');
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return w->out.ptr == NULL ? "" : w->out.ptr;
}

static inline const char *
world_shown(world *w)
{
	return world_take(w, "");
}

/* One entry in the form of show. */
static inline const char *
world_entry(world *w, const char *address)
{
	const rt_project *value = rt_engine_value(w->engine);
	rt_place place;
	uint32_t entry;

	rt_buf_clear(&w->out);
	assert_int_equal(rt_resolve_place(value, RT_STR(""), RT_STR(""), &place, NULL), RT_OK);
	assert_int_equal(rt_resolve_entry(value, place, rt_str_of(address), true, &entry, NULL),
			 RT_OK);
	assert_int_equal(rt_view_entry(w->engine, value, place, entry, &w->out, NULL), RT_OK);
	rt_object_unref(value);
	return w->out.ptr;
}

static inline void
world_has(world *w, const char *address, const char *part)
{
	if (strstr(world_entry(w, address), part) == NULL)
		fail_msg("%s is not in %s", part, w->out.ptr);
}

static inline void
world_lacks(world *w, const char *address, const char *part)
{
	if (strstr(world_entry(w, address), part) != NULL)
		fail_msg("%s is in %s", part, w->out.ptr);
}

/* Everything, in a format; the caller must rt_buf_deinit it. */
static inline void
world_export(world *w, const rt_format *format, rt_buf *out)
{
	rt_export_options options = {.whole = true, .lossless = true};
	const rt_project *value = rt_engine_value(w->engine);
	rt_place place = {0, 0};
	rt_outlines all;

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_engine_export(w->engine, value, place, true, &all, NULL), RT_OK);
	assert_int_equal(format->write(rt_alloc_libc(), &all, &options, out, NULL), RT_OK);
	rt_outlines_deinit(&all);
	rt_object_unref(value);
}

static inline uint64_t
world_seq(world *w)
{
	const rt_project *value = rt_engine_value(w->engine);
	uint64_t seq = value->seq;

	rt_object_unref(value);
	return seq;
}

static inline size_t
world_count(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		count++;
	return count;
}

/* ---- replies in flight ---- */

static inline bool
world_count_flight(void *ctx, const rt_inflight_view *inflight)
{
	(void)inflight;
	++*(size_t *)ctx;
	return true;
}

static inline size_t
world_flights(world *w)
{
	size_t count = 0;

	assert_int_equal(rt_engine_inflight(w->engine, world_count_flight, &count, NULL), RT_OK);
	return count;
}

static inline bool
world_nobody_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	(void)owner;
	(void)written_us;
	return false;
}

/* ---- asking ---- */

static inline rt_send_with
world_with(world *w)
{
	return (rt_send_with){
		.model = w->model, .owner = RT_STR("1 2 here"), .stop = world_stop, .ctx = w};
}

static inline rt_status
world_send_options(world *w, rt_send_options options)
{
	if (options.with.model == NULL)
		options.with = world_with(w);
	rt_send_result_deinit(&w->result);
	memset(&w->err, 0, sizeof(w->err));
	w->waits = 0;
	return rt_engine_send(w->engine, &options, &w->result, &w->err);
}

static inline rt_status
world_ask(world *w, const char *text)
{
	return world_send_options(w,
				  (rt_send_options){.how = RT_SEND_ASK, .text = rt_str_of(text)});
}

static inline rt_status
world_again(world *w, rt_send_how how, const char *at)
{
	return world_send_options(w, (rt_send_options){.how = how, .at = rt_str_of(at)});
}

/* ---- a scripted model ---- */

typedef enum say_kind { SAY_TEXT, SAY_THINKING, SAY_SIGNATURE, SAY_CALL, SAY_REDACTED } say_kind;

/* A piece; for a call its index, and its id and name if given. */
typedef struct say {
	say_kind kind;
	const char *bytes;
	unsigned index;
	const char *id, *name;
} say;

typedef struct sayer {
	rt_model model;
	world *w;
	const say *pieces;
	size_t count;
	unsigned pause_ms; /* after each */
	rt_stop stop;      /* how it ends */
	rt_status status;
	rt_buf *body; /* the last request, NUL-terminated; or NULL */
	size_t asked;
} sayer;

static inline rt_status
sayer_ask(rt_model *model, const rt_ask *ask, rt_reply *reply, rt_error *err)
{
	sayer *s = (sayer *)model;
	size_t i;

	s->asked++;
	if (s->body != NULL) {
		rt_buf_clear(s->body);
		rt_buf_add_str(s->body, ask->body);
		rt_buf_add_byte(s->body, '\0');
	}
	reply->provider = model->provider->name;
	rt_reply_set_model(reply, model->name);
	for (i = 0; i < s->count; i++) {
		const say *p = &s->pieces[i];
		rt_str bytes = rt_str_of(p->bytes);

		switch (p->kind) {
		case SAY_TEXT: rt_reply_add_text(reply, bytes); break;
		case SAY_THINKING: rt_reply_add_thinking(reply, bytes); break;
		case SAY_SIGNATURE: rt_reply_add_signature(reply, bytes); break;
		case SAY_REDACTED: rt_reply_add_redacted(reply, bytes); break;
		case SAY_CALL:
			rt_reply_add_call(reply, p->index, rt_str_of(p->id), rt_str_of(p->name),
					  bytes);
			break;
		}
		if (ask->stop != NULL && ask->stop(ask->ctx)) {
			rt_reply_set_stop(reply, RT_STOP_USER);
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		}
		world_wait(s->w, s->pause_ms);
		if (ask->tick != NULL)
			ask->tick(ask->ctx);
	}
	rt_reply_set_stop(reply, s->stop);
	return s->status == RT_OK ? RT_OK : rt_fail(err, s->status, "it went wrong");
}

static inline void
sayer_init(sayer *s, world *w, const rt_provider *provider, const say *pieces, size_t count)
{
	static const rt_model_ops ops = {NULL, sayer_ask};

	*s = (sayer){.model = {.ops = &ops, .provider = provider, .name = RT_STR("m")},
		     .w = w,
		     .pieces = pieces,
		     .count = count,
		     .pause_ms = 300,
		     .stop = RT_STOP_END};
}

#endif
