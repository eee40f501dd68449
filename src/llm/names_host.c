/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/names_host.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock_host.h"
#include "base/moment.h"
#include "base/scope.h"
#include "codec/json.h"
#include "llm/keys_host.h"
#include "llm/models_host.h"
#include "llm/provider.h"
#include "llm/server_model.h"
#include "llm/system_host.h"

enum { CACHE_SIZE_MAX = 1 << 20, SHOWN_MAX = 12, LOCK_WAIT_MS = 2000 };

/* ---- the cache ---- */

/* An open cache and the record of one server in it. */
typedef struct cache {
	rt_buf *path;
	rt_buf *key;         /* of the server: its name and its address */
	yyjson_val *servers; /* NULL: none are cached */
	yyjson_val *server;  /* NULL: it is not cached */
} cache;

static void
close_document(void *item)
{
	rt_json_free(item);
}

/* A cache that is missing or damaged is an empty one. */
static cache
read_cache(rt_scope *s, cache c)
{
	rt_buf *text = rt_scope_buf(s);
	rt_json_doc *doc = NULL;

	if (!rt_ok(s) || c.path->size == 0 ||
	    rt_file_read(c.path->ptr, 0, CACHE_SIZE_MAX, text, NULL) != RT_OK ||
	    rt_json_read(s->alloc, rt_buf_str(text), &doc, NULL) != RT_OK)
		return (cache){.path = c.path, .key = c.key};
	rt_scope_defer(s, close_document, doc);
	c.servers = rt_ok(s) ? rt_json_get(rt_json_root(doc), "servers") : NULL;
	c.server = rt_json_get(c.servers, c.key->ptr);
	return c;
}

static cache
open_cache(rt_scope *s, const rt_model *model)
{
	cache c = {.path = rt_scope_buf(s), .key = rt_scope_buf(s)};

	rt_buf_add_str(c.key, rt_model_service(model));
	rt_buf_add_byte(c.key, ' ');
	rt_buf_add_str(c.key, model->server);
	(void)rt_home_path(c.path, "XDG_STATE_HOME", ".local/state", "models.json");
	(void)rt_scope_str(s, c.path);
	(void)rt_scope_str(s, c.key);
	return read_cache(s, c);
}

/* Writes the cache with a new record of the server. list: its models as a JSON array; NULL:
 * unchanged. answered: a name to add to those that answered; may be empty. */
static void
write_locked(rt_scope *s, const cache *c, const rt_env *env, const rt_buf *list, rt_str answered)
{
	yyjson_val *models = rt_json_get(c->server, "models");
	rt_moment now = {.us = env->now_us(env->ctx)};
	rt_buf *out = rt_scope_buf(s), *at = rt_scope_buf(s), *fresh = rt_scope_buf(s);

	rt_moment_format(at, now);
	rt_json_open(out, NULL, '{');
	rt_json_put_u64(out, "v", 1);
	rt_json_open(out, "servers", '{');
	for (rt_json_iter it = rt_json_members(c->servers); rt_json_next(&it);) {
		if (it.value == c->server)
			continue;
		rt_json_add_key_str(out, it.key);
		rt_json_add_value(out, it.value);
	}
	rt_json_add_key_str(out, rt_buf_str(c->key));
	rt_json_open(out, NULL, '{');
	rt_json_put_str(out, "at", rt_buf_str(at));
	if (list == NULL && yyjson_is_arr(models))
		rt_json_put_value(out, "models", models);
	else
		rt_json_put_raw(out, "models", list == NULL ? RT_STR("[]") : rt_buf_str(list));
	rt_json_open(out, "answered", '[');
	for (rt_json_iter it = rt_json_items(rt_json_get(c->server, "answered")); rt_json_next(&it);)
		if (!rt_str_eq(rt_json_str(it.value), answered))
			rt_json_put_value(out, NULL, it.value);
	if (answered.size > 0)
		rt_json_put_str(out, NULL, answered);
	rt_buf_add_c(out, "]}}}\n");
	rt_buf_add_f(fresh, "%s.%ld", c->path->ptr == NULL ? "" : c->path->ptr, (long)getpid());
	if (out->status != RT_OK || at->status != RT_OK || out->size > CACHE_SIZE_MAX ||
	    c->path->size == 0 || fresh->status != RT_OK)
		return;
	if (!rt_file_write(fresh->ptr, rt_buf_str(out), false) ||
	    rename(fresh->ptr, c->path->ptr) != 0)
		(void)unlink(fresh->ptr);
}

/* Other programs and threads write it, too: it is read again under a lock. */
static void
write_cache(rt_scope *s, const cache *c, const rt_env *env, const rt_buf *list, rt_str answered)
{
	cache now;
	int lock;

	if (!rt_ok(s) || c->path->size == 0 || !rt_folders_make(c->path->ptr))
		return;
	lock = rt_folder_lock(c->path->ptr, LOCK_WAIT_MS);
	if (lock < 0)
		return;
	now = read_cache(s, *c);
	write_locked(s, &now, env, list, answered);
	(void)close(lock);
}

/* ---- names ---- */

/* Does a name that people use mean the listed one? Ollama adds ":latest"; others list a dated
 * name ("gpt-4o-2024-08-06", "claude-sonnet-4-20250514") and accept it without the date, with
 * "-latest" or "-0" in its place. */
static bool
means(rt_str name, rt_str listed)
{
	rt_str rest;

	if (rt_str_eq(name, listed))
		return true;
	if (name.size > 7 && rt_str_is(rt_str_at(name.ptr + name.size - 7, 7), "-latest"))
		name.size -= 7;
	else if (name.size > 2 && rt_str_is(rt_str_at(name.ptr + name.size - 2, 2), "-0"))
		name.size -= 2;
	if (!rt_str_starts(listed, name))
		return false;
	rest = rt_str_skip(listed, name.size);
	return rt_str_is(rest, ":latest") || rt_str_is(rest, "-latest") ||
	       (rest.size > 1 && rest.ptr[0] == '-' && rest.ptr[1] >= '0' && rest.ptr[1] <= '9');
}

static bool
has_name(yyjson_val *list, rt_str name)
{
	for (rt_json_iter it = rt_json_items(list); rt_json_next(&it);)
		if (yyjson_is_str(it.value) && means(name, rt_json_str(it.value)))
			return true;
	return false;
}

static bool
is_cached(const cache *c, rt_str name)
{
	return has_name(rt_json_get(c->server, "models"), name) ||
	       has_name(rt_json_get(c->server, "answered"), name);
}

static bool
is_configured(const rt_model_names *n)
{
	const rt_config_provider *p = n->choice->config;
	rt_model_choice usual;

	for (size_t i = 0; p != NULL && i < p->model_count; i++)
		if (rt_str_eq(p->models[i], n->choice->model))
			return true;
	return n->config != NULL && n->config->model.size > 0 &&
	       rt_models_choose(n->config, rt_str_at("", 0), &usual, NULL) == RT_OK &&
	       rt_str_eq(usual.provider_name, n->choice->provider_name) &&
	       rt_str_eq(usual.model, n->choice->model);
}

/* ---- the server's list ---- */

typedef struct listing {
	const rt_model_names *names;
	rt_str name;   /* that is searched for */
	rt_buf *json;  /* the names as a JSON array */
	rt_buf *shown; /* the first of them, for a message */
	size_t count;
	bool found;
	char nearest[128];
	size_t distance;
	int64_t end_ms;
} listing;

static void
add_listed(void *ctx, rt_str listed, size_t context_tokens)
{
	listing *l = ctx;
	size_t distance = listed.size < sizeof(l->nearest) ? rt_str_distance(l->name, listed)
							   : SIZE_MAX;

	(void)context_tokens;
	rt_json_put_str(l->json, NULL, listed);
	if (l->count++ < SHOWN_MAX) {
		rt_buf_add_c(l->shown, l->count > 1 ? ", " : "");
		rt_buf_add(l->shown, listed.ptr, rt_utf8_cut(listed, 60));
	}
	l->found |= means(l->name, listed);
	if (distance < l->distance) {
		l->distance = distance;
		memcpy(l->nearest, listed.ptr, listed.size);
		l->nearest[listed.size] = '\0';
	}
}

static bool
is_interrupted(const rt_model_names *n)
{
	return n->stop != NULL && n->stop(n->stop_ctx);
}

static bool
is_over(void *ctx)
{
	const listing *l = ctx;

	return is_interrupted(l->names) || rt_clock_ms() >= l->end_ms;
}

static rt_status
fail_unknown(rt_scope *s, const listing *l)
{
	rt_str service = rt_model_service(l->names->model);
	size_t slash = rt_str_find(l->name, RT_STR("/"), 0);
	bool is_near = l->distance <= 1 + l->name.size / 4;
	rt_error why = {0};

	/* "nope/foo": perhaps the part before the slash is meant as a provider's name. */
	if (slash != SIZE_MAX &&
	    rt_models_check_provider(l->names->config, rt_str_at(l->name.ptr, slash), &why) ==
		    RT_OK)
		why.text[0] = '\0';
	return rt_scope_fail(s, RT_NOT_FOUND, "%.*s has no model %.*s%s%s%s; it has %s%s%s%s",
			     RT_STR_ARG(service), (int)rt_utf8_cut(l->name, 80), l->name.ptr,
			     is_near ? " (did you mean " : "", is_near ? l->nearest : "",
			     is_near ? "?)" : "", l->shown->ptr,
			     l->count > SHOWN_MAX ? " and others" : "",
			     why.text[0] != '\0' ? "; and " : "", why.text);
}

/* Requests the list and caches it; an empty one is not cached. */
static rt_status
request_list(rt_scope *s, const cache *c, int64_t wait_ms, listing *l, rt_error *why)
{
	const rt_model_names *n = l->names;
	rt_status st;

	l->name = n->choice->model;
	l->json = rt_scope_buf(s);
	l->shown = rt_scope_buf(s);
	l->distance = SIZE_MAX;
	l->end_ms = rt_clock_ms() + wait_ms;
	rt_json_open(l->json, NULL, '[');
	st = rt_server_models_once(n->model, is_over, l, add_listed, l, why);
	rt_json_close(l->json, ']');
	(void)rt_scope_str(s, l->shown);
	if (st == RT_OK && l->count > 0 && l->json->status == RT_OK &&
	    l->json->size < CACHE_SIZE_MAX / 2)
		write_cache(s, c, n->env, l->json, rt_str_at("", 0));
	return st;
}

static void
check_list(rt_scope *s, const rt_model_names *n, const cache *c, rt_buf *notes)
{
	listing l = {.names = n};
	const char *problem = "its server lists no models";
	rt_error why = {0};
	rt_status st;

	if (!rt_ok(s))
		return;
	st = request_list(s, c, RT_MODEL_NAMES_WAIT_MS, &l, &why);
	if (st == RT_NOMEM || !rt_ok(s)) {
		(void)rt_scope_fail(s, RT_NOMEM, "%s", why.text);
		return;
	}
	if (st == RT_OK && l.count > 0) {
		if (!l.found)
			(void)fail_unknown(s, &l);
		return;
	}
	if (st == RT_INTERRUPTED && is_interrupted(n))
		(void)rt_scope_fail(s, st, "%s", why.text);
	else if (st == RT_INTERRUPTED)
		problem = "its server took too long to list them";
	else if (st != RT_OK)
		problem = why.text;
	if (rt_ok(s) && st != RT_CREDENTIALS) /* the request itself will report that */
		rt_buf_add_f(notes, "cannot check whether %.*s has a model %.*s: %s\n",
			     RT_STR_ARG(rt_model_service(n->model)), (int)rt_utf8_cut(l.name, 80),
			     l.name.ptr, problem);
}

rt_status
rt_model_names_check(const rt_model_names *n, rt_buf *notes, rt_error *err)
{
	rt_scope s;
	cache c;

	if (n->choice->provider->url == NULL || is_configured(n))
		return RT_OK;
	rt_scope_init(&s, n->alloc);
	c = open_cache(&s, n->model);
	if (!is_cached(&c, n->choice->model))
		check_list(&s, n, &c, notes);
	return rt_scope_end(&s, err);
}

static void
close_model(void *item)
{
	rt_model *model = item;

	model->ops->close(model);
}

/* Opens a model to read names of its server; NULL: it has none, or it cannot be opened now, and why
 * has the reason. No command is run for this. */
static rt_model *
open_for_names(rt_scope *s, const rt_env *env, const rt_config *config, rt_str name,
	       rt_model_choice *choice, rt_error *why)
{
	rt_models_options options = {.alloc = s->alloc, .env = env, .config = config, .name = name};
	rt_model *model = NULL;

	why->text[0] = '\0';
	if (rt_models_choose(config, name, choice, why) != RT_OK || choice->provider->url == NULL ||
	    (choice->config != NULL && choice->config->key_cmd_count > 0) ||
	    rt_models_open(&options, &model, choice, rt_scope_buf(s), why) != RT_OK)
		return NULL;
	rt_scope_defer(s, close_model, model);
	return model;
}

rt_status
rt_model_names_verify(const rt_alloc *alloc, const rt_env *env, const rt_config *config, rt_str name,
		      rt_stop_fn stop, rt_buf *notes, rt_error *err)
{
	rt_model_choice choice = {0};
	rt_error why = {0};
	rt_scope s;

	rt_scope_init(&s, alloc);
	RT_TRY(&s, rt_models_check_setting(config, name, &s.error));
	rt_model *model = rt_ok(&s) ? open_for_names(&s, env, config, name, &choice, &why) : NULL;
	if (model != NULL) {
		rt_model_names names = {.alloc = alloc,
					.env = env,
					.config = config,
					.choice = &choice,
					.model = model,
					.stop = stop};

		RT_TRY(&s, rt_model_names_check(&names, notes, &s.error));
	} else if (why.text[0] != '\0') {
		rt_buf_add_f(notes, "%s\n", why.text);
	}
	return rt_scope_end(&s, err);
}

/* ---- suggestions ---- */

typedef struct suggesting {
	rt_scope *s;
	const rt_env *env;
	const rt_config *config;
	rt_str prefix, provider;
	void (*fn)(void *ctx, rt_str name);
	void *ctx;
} suggesting;

static void
suggest(const suggesting *g, rt_str model)
{
	rt_buf *full = rt_scope_buf(g->s);

	rt_buf_add_str(full, g->provider);
	rt_buf_add_byte(full, '/');
	rt_buf_add_str(full, model);
	rt_str name = rt_scope_str(g->s, full);
	if (rt_ok(g->s) && rt_str_starts(name, g->prefix))
		g->fn(g->ctx, name);
}

static void
suggest_all(const suggesting *g, yyjson_val *names)
{
	for (rt_json_iter it = rt_json_items(names); rt_json_next(&it);)
		suggest(g, rt_json_str(it.value));
}

/* The models of a server; its list is requested if it is not cached and may_ask. */
static void
suggest_server(const suggesting *g, bool may_ask)
{
	rt_buf *any = rt_scope_buf(g->s);
	rt_model_choice choice = {0};
	rt_error why;

	rt_buf_add_str(any, g->provider);
	rt_buf_add_c(any, "/-"); /* which of its models does not matter */
	rt_model *model = open_for_names(g->s, g->env, g->config, rt_scope_str(g->s, any), &choice,
					 &why);
	if (model == NULL)
		return;
	cache c = open_cache(g->s, model);
	if (may_ask && yyjson_arr_size(rt_json_get(c.server, "models")) == 0) {
		rt_model_names names = {.alloc = g->s->alloc,
					.env = g->env,
					.config = g->config,
					.choice = &choice,
					.model = model};
		rt_scope quiet; /* no list has the name "-", which is not a failure here */

		rt_scope_init(&quiet, g->s->alloc);
		check_list(&quiet, &names, &c, rt_scope_buf(&quiet));
		rt_scope_deinit(&quiet);
		c = open_cache(g->s, model);
	}
	suggest_all(g, rt_json_get(c.server, "models"));
	suggest_all(g, rt_json_get(c.server, "answered"));
}

static void
suggest_provider(suggesting *g, const rt_provider *kind, const rt_config_provider *p, rt_str name)
{
	static const char *const builtin[] = {"echo", "summary", "text"};
	rt_buf *begin = rt_scope_buf(g->s);

	rt_buf_add_str(begin, name);
	rt_buf_add_byte(begin, '/');
	rt_str full = rt_scope_str(g->s, begin);
	bool is_named = rt_str_starts(g->prefix, full);

	if (!rt_ok(g->s) || (!is_named && !rt_str_starts(full, g->prefix)))
		return;
	g->provider = name;
	for (size_t i = 0; kind->url == NULL && i < sizeof(builtin) / sizeof(builtin[0]); i++)
		suggest(g, rt_str_of(builtin[i]));
	for (size_t i = 0; p != NULL && i < p->model_count; i++)
		suggest(g, p->models[i]);
	if (kind->url != NULL)
		suggest_server(g, is_named);
}

void
rt_model_names_each(const rt_alloc *alloc, const rt_env *env, const rt_config *config, rt_str prefix,
		    void (*fn)(void *ctx, rt_str name), void *ctx)
{
	rt_scope s;
	suggesting g = {.s = &s, .env = env, .config = config, .prefix = prefix, .fn = fn, .ctx = ctx};
	rt_model_choice p;
	size_t at = 0;

	rt_scope_init(&s, alloc);
	while (rt_models_next_provider(config, &at, &p))
		suggest_provider(&g, p.provider, p.config, p.provider_name);
	rt_scope_deinit(&s);
}

/* ---- all lists ---- */

/* One provider's list. RT_OK as well if it has none. */
static rt_status
read_list(const rt_model_lists *lists, rt_str provider, const rt_config_provider *p, rt_error *why)
{
	rt_scope s;
	rt_status st = RT_OK;
	rt_model_choice choice = {0};

	rt_scope_init(&s, lists->alloc);
	suggesting g = {.s = &s, .prefix = RT_STR(""), .provider = provider, .fn = lists->fn,
			.ctx = lists->ctx};
	rt_buf *any = rt_scope_buf(&s);

	rt_buf_add_str(any, provider);
	rt_buf_add_c(any, "/-"); /* which of its models does not matter */
	rt_model *model = open_for_names(&s, lists->env, lists->config, rt_scope_str(&s, any),
					 &choice, why);
	for (size_t i = 0; p != NULL && i < p->model_count; i++)
		suggest(&g, p->models[i]);
	if (model != NULL) {
		rt_model_names names = {.alloc = lists->alloc,
					.env = lists->env,
					.config = lists->config,
					.choice = &choice,
					.model = model,
					.stop = lists->stop,
					.stop_ctx = lists->ctx};
		listing l = {.names = &names};
		cache c = open_cache(&s, model);

		st = request_list(&s, &c, RT_MODEL_LISTS_WAIT_MS, &l, why);
		if (st == RT_INTERRUPTED)
			st = rt_fail(why, RT_UPSTREAM, "its server sent no list within %d seconds",
				     RT_MODEL_LISTS_WAIT_MS / 1000);
		rt_json_doc *doc = NULL;
		if (st == RT_OK && rt_json_read(s.alloc, rt_buf_str(l.json), &doc, NULL) == RT_OK)
			suggest_all(&g, rt_json_root(doc));
		rt_json_free(doc);
		suggest_all(&g, rt_json_get(c.server, "answered"));
	} else if (why->text[0] != '\0') {
		st = why->status;
	}
	rt_scope_deinit(&s);
	return st;
}

/* Is there a key for it? No command is run for this. */
static bool
has_key(const rt_model_lists *lists, const rt_provider *kind, rt_str name)
{
	rt_model_choice choice = {kind, NULL, name, RT_STR("-")};
	rt_scope s;
	rt_buf *key;
	bool found;

	rt_scope_init(&s, lists->alloc);
	key = rt_scope_buf(&s);
	found = rt_key_find(&choice, NULL, NULL, key, rt_scope_buf(&s), NULL) == RT_OK &&
		key->size > 0;
	if (key->size > 0)
		memset(key->ptr, 0, key->size);
	rt_scope_deinit(&s);
	return found;
}

static void
list_provider(const rt_model_lists *lists, const rt_provider *kind, const rt_config_provider *p,
	      rt_str name)
{
	rt_error why = {0};
	bool is_in_use = p != NULL || has_key(lists, kind, name) ||
			 (lists->in_use.size > name.size && lists->in_use.ptr[name.size] == '/' &&
			  rt_str_starts(lists->in_use, name));
	rt_status st;

	if (kind->url == NULL || (kind->key_needed && !is_in_use) ||
	    (lists->stop != NULL && lists->stop(lists->ctx)))
		return;
	st = read_list(lists, name, p, &why);
	if (lists->stop == NULL || !lists->stop(lists->ctx))
		lists->done(lists->ctx, name, st != RT_OK && is_in_use ? &why : NULL);
}

void
rt_model_lists_each(const rt_model_lists *lists)
{
	rt_model_choice p;
	size_t at = 0;

	while (rt_models_next_provider(lists->config, &at, &p))
		list_provider(lists, p.provider, p.config, p.provider_name);
}

void
rt_model_names_answered(const rt_alloc *alloc, const rt_env *env, const rt_model *model)
{
	rt_scope s;
	cache c;

	if (model->provider->url == NULL)
		return;
	rt_scope_init(&s, alloc);
	c = open_cache(&s, model);
	if (!is_cached(&c, model->name))
		write_cache(&s, &c, env, NULL, model->name);
	rt_scope_deinit(&s);
}
