/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/names_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/moment.h"
#include "codec/json.h"
#include "llm/provider.h"
#include "llm/server_model.h"

enum { FILE_MAX = 1 << 20, PATH_ROOM = 4096, SHOWN = 12 };

/* ---- the file ---- */

static bool
path_of(char out[PATH_ROOM])
{
	const char *dir = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int size;

	if (dir != NULL && *dir == '/')
		size = snprintf(out, PATH_ROOM, "%s/retake/models.json", dir);
	else if (home != NULL && *home == '/')
		size = snprintf(out, PATH_ROOM, "%s/.local/state/retake/models.json", home);
	else
		return false;
	return size > 0 && size < PATH_ROOM - 16;
}

/* NULL: there is none, or none that can be used. */
static rt_json_doc *
read_cache(const rt_alloc *alloc)
{
	rt_json_doc *doc = NULL;
	char path[PATH_ROOM], *to;
	ssize_t got = 1;
	rt_buf text;
	int fd = path_of(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;

	if (fd < 0)
		return NULL;
	rt_buf_init(&text, alloc, FILE_MAX);
	while (got > 0) {
		to = rt_buf_reserve(&text, 8192);
		got = to != NULL ? read(fd, to, 8192) : 0;
		text.size += got > 0 ? (size_t)got : 0;
	}
	(void)close(fd);
	if (text.status != RT_OK || rt_json_read(alloc, rt_buf_str(&text), &doc, NULL) != RT_OK)
		doc = NULL;
	rt_buf_deinit(&text);
	return doc;
}

static void
write_cache(rt_str text)
{
	char path[PATH_ROOM], fresh[PATH_ROOM + 32];
	bool is_written;
	size_t i;
	int fd;

	if (!path_of(path))
		return;
	for (i = 1; path[i] != '\0'; i++) /* the folders above it */
		if (path[i] == '/') {
			path[i] = '\0';
			(void)mkdir(path, 0700);
			path[i] = '/';
		}
	(void)snprintf(fresh, sizeof(fresh), "%s.%ld", path, (long)getpid());
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	is_written = write(fd, text.ptr, text.size) == (ssize_t)text.size;
	if (close(fd) != 0 || !is_written || rename(fresh, path) != 0)
		(void)unlink(fresh);
}

/* Its key in the file: the same name may stand for another server one day. */
static void
add_key(rt_buf *out, const rt_model *model)
{
	rt_buf_add_str(out, rt_model_service(model));
	rt_buf_add_byte(out, ' ');
	rt_buf_add_str(out, model->server);
}

static yyjson_val *
server_of(const rt_json_doc *doc, rt_str key)
{
	yyjson_val *servers = doc != NULL ? rt_json_get(rt_json_root(doc), "servers") : NULL, *name,
		   *value;
	size_t i, max;

	if (yyjson_is_obj(servers))
		yyjson_obj_foreach(servers, i, max, name,
				   value) if (rt_str_eq(rt_json_str(name), key)) return value;
	return NULL;
}

/* The file with this server's list (NULL: the one it has), and a name that answered (or empty). */
static void
keep(const rt_alloc *alloc, const rt_env *env, const rt_model *model, const rt_buf *list,
     rt_str answered)
{
	rt_json_doc *doc = read_cache(alloc);
	yyjson_val *servers = doc != NULL ? rt_json_get(rt_json_root(doc), "servers") : NULL, *ours;
	yyjson_val *name, *value;
	rt_moment now = {.us = env->now_us(env->ctx)};
	rt_buf key, out;
	size_t i, max;

	rt_buf_init(&key, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&out, alloc, FILE_MAX);
	add_key(&key, model);
	ours = server_of(doc, rt_buf_str(&key));
	rt_buf_add_c(&out, "{\"v\":1,\"servers\":{");
	if (yyjson_is_obj(servers))
		yyjson_obj_foreach(servers, i, max, name, value)
		{
			if (value == ours)
				continue;
			rt_json_add_key_str(&out, rt_json_str(name));
			rt_json_add_value(&out, value);
		}
	rt_json_add_key_str(&out, rt_buf_str(&key));
	rt_buf_add_c(&out, "{\"at\":\"");
	rt_moment_format(&out, now);
	rt_buf_add_c(&out, "\",\"models\":[");
	if (list != NULL)
		rt_buf_add_str(&out, rt_buf_str(list));
	else
		yyjson_arr_foreach(rt_json_get(ours, "models"), i, max, value)
		{
			rt_json_add_comma(&out);
			rt_json_add_value(&out, value);
		}
	rt_buf_add_c(&out, "],\"answered\":[");
	yyjson_arr_foreach(rt_json_get(ours, "answered"), i, max, value)
	{
		if (rt_str_eq(rt_json_str(value), answered))
			continue;
		rt_json_add_comma(&out);
		rt_json_add_value(&out, value);
	}
	if (answered.size > 0) {
		rt_json_add_comma(&out);
		rt_json_add_string(&out, answered);
	}
	rt_buf_add_c(&out, "]}}}\n");
	if (key.status == RT_OK && out.status == RT_OK)
		write_cache(rt_buf_str(&out));
	rt_json_free(doc);
	rt_buf_deinit(&key);
	rt_buf_deinit(&out);
}

/* ---- names ---- */

static bool
is_number(rt_str text)
{
	return text.size > 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9';
}

/* Does a name that people use mean the listed one? Ollama adds ":latest"; others list what is dated
 * ("gpt-4o-2024-08-06", "claude-sonnet-4-20250514") and take it without the date, with "-latest" or
 * "-0" in its place. */
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
	rest = rt_str_at(listed.ptr + name.size, listed.size - name.size);
	return rt_str_is(rest, ":latest") || rt_str_is(rest, "-latest") ||
	       (rest.size > 1 && rest.ptr[0] == '-' &&
		is_number(rt_str_at(rest.ptr + 1, rest.size - 1)));
}

static bool
is_among(yyjson_val *list, rt_str name)
{
	yyjson_val *item;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, item) if (yyjson_is_str(item) &&
						   means(name, rt_json_str(item))) return true;
	return false;
}

/* Does the configuration name it? */
static bool
is_configured(const rt_model_names *n)
{
	const rt_config_provider *p = n->choice->config;
	rt_model_choice usual;
	size_t i;

	for (i = 0; p != NULL && i < p->model_count; i++)
		if (rt_str_eq(p->models[i], n->choice->model))
			return true;
	return n->config != NULL && n->config->model.size > 0 &&
	       rt_models_choose(n->config, rt_str_at("", 0), &usual, NULL) == RT_OK &&
	       rt_str_eq(usual.provider_name, n->choice->provider_name) &&
	       rt_str_eq(usual.model, n->choice->model);
}

/* A list that arrives. */
typedef struct listing {
	const rt_model_names *names;
	rt_str name;
	rt_buf json;  /* the names, as the items of an array */
	rt_buf shown; /* the first of them, for people */
	size_t count;
	bool found;
	char nearest[128];
	size_t distance;
	struct timespec until;
} listing;

static void
take(void *ctx, rt_str listed, size_t context_tokens)
{
	listing *l = ctx;
	size_t distance = listed.size < sizeof(l->nearest) ? rt_str_distance(l->name, listed)
							   : SIZE_MAX;

	(void)context_tokens;
	rt_json_add_comma(&l->json);
	rt_json_add_string(&l->json, listed);
	if (l->count++ < SHOWN) {
		rt_buf_add_c(&l->shown, l->count > 1 ? ", " : "");
		rt_buf_add(&l->shown, listed.ptr, rt_utf8_cut(listed, 60));
	}
	l->found |= means(l->name, listed);
	if (distance < l->distance) {
		l->distance = distance;
		memcpy(l->nearest, listed.ptr, listed.size);
		l->nearest[listed.size] = '\0';
	}
}

static bool
is_over(void *ctx)
{
	listing *l = ctx;
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (l->names->stop != NULL && l->names->stop(l->names->stop_ctx)) ||
	       now.tv_sec > l->until.tv_sec ||
	       (now.tv_sec == l->until.tv_sec && now.tv_nsec >= l->until.tv_nsec);
}

static rt_status
fail_unknown(const listing *l, rt_error *err)
{
	rt_str service = rt_model_service(l->names->model);
	size_t slash = rt_str_find(l->name, RT_STR("/"), 0);
	int size = (int)rt_utf8_cut(l->name, 80);
	bool is_near = l->distance <= 1 + l->name.size / 4;
	rt_error why = {0};

	/* "nope/foo": perhaps that was to be a provider. */
	if (slash != SIZE_MAX &&
	    rt_models_check_provider(l->names->config, rt_str_at(l->name.ptr, slash), &why) ==
		    RT_OK)
		why.text[0] = '\0';
	return rt_fail(err, RT_NOT_FOUND, "%.*s has no model %.*s%s%s%s; it has %s%s%s%s",
		       RT_STR_ARG(service), size, l->name.ptr, is_near ? " (did you mean " : "",
		       is_near ? l->nearest : "", is_near ? "?)" : "", l->shown.ptr,
		       l->count > SHOWN ? " and others" : "", why.text[0] != '\0' ? "; and " : "",
		       why.text);
}

static rt_status
ask_server(const rt_model_names *n, rt_buf *notes, rt_error *err)
{
	listing l = {.names = n, .name = n->choice->model, .distance = SIZE_MAX};
	rt_error why = {0};
	rt_status st;

	rt_buf_init(&l.json, n->alloc, FILE_MAX / 2);
	rt_buf_init(&l.shown, n->alloc, RT_BUF_UNLIMITED);
	(void)clock_gettime(CLOCK_MONOTONIC, &l.until);
	l.until.tv_sec += RT_MODEL_NAMES_WAIT_MS / 1000;
	st = rt_server_models_once(n->model, is_over, &l, take, &l, &why);
	if (st == RT_OK && l.shown.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else if (st == RT_NOMEM)
		*err = why;
	if (st == RT_OK && l.count > 0 && l.json.status == RT_OK)
		keep(n->alloc, n->env, n->model, &l.json, rt_str_at("", 0));
	if (st == RT_OK && l.count > 0 && !l.found) {
		st = fail_unknown(&l, err);
	} else if (st == RT_INTERRUPTED && n->stop != NULL && n->stop(n->stop_ctx)) {
		*err = why;
	} else if (st == RT_CREDENTIALS) {
		st = RT_OK; /* who sends the request is told so */
	} else if (st != RT_NOMEM && (st != RT_OK || l.count == 0)) {
		rt_buf_add_f(notes, "cannot check whether %.*s has a model %.*s: %s\n",
			     RT_STR_ARG(rt_model_service(n->model)), (int)rt_utf8_cut(l.name, 80),
			     l.name.ptr,
			     st == RT_OK            ? "its server lists none"
			     : st == RT_INTERRUPTED ? "its server took too long to list them"
						    : why.text);
		st = RT_OK;
	}
	rt_buf_deinit(&l.json);
	rt_buf_deinit(&l.shown);
	return st;
}

rt_status
rt_model_names_check(const rt_model_names *n, rt_buf *notes, rt_error *err)
{
	rt_json_doc *doc;
	yyjson_val *server;
	bool known;
	rt_buf key;

	if (n->choice->provider->url == NULL || is_configured(n))
		return RT_OK;
	rt_buf_init(&key, n->alloc, RT_BUF_UNLIMITED);
	add_key(&key, n->model);
	doc = read_cache(n->alloc);
	server = server_of(doc, rt_buf_str(&key));
	known = is_among(rt_json_get(server, "models"), n->choice->model) ||
		is_among(rt_json_get(server, "answered"), n->choice->model);
	rt_json_free(doc);
	rt_buf_deinit(&key);
	return known ? RT_OK : ask_server(n, notes, err);
}

void
rt_model_names_answered(const rt_alloc *alloc, const rt_env *env, const rt_model *model)
{
	rt_json_doc *doc;
	yyjson_val *server;
	bool known;
	rt_buf key;

	if (model->provider->url == NULL)
		return;
	rt_buf_init(&key, alloc, RT_BUF_UNLIMITED);
	add_key(&key, model);
	doc = read_cache(alloc);
	server = server_of(doc, rt_buf_str(&key));
	known = is_among(rt_json_get(server, "models"), model->name) ||
		is_among(rt_json_get(server, "answered"), model->name);
	rt_json_free(doc);
	rt_buf_deinit(&key);
	if (!known)
		keep(alloc, env, model, NULL, model->name);
}
