/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/models_host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "llm/builtin.h"
#include "llm/keys_host.h"
#include "llm/transport_curl.h"

/* ---- the configuration ---- */

rt_status
rt_config_path(rt_buf *out, rt_error *err)
{
	const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (dir != NULL && *dir == '/') /* a relative one is to be ignored */
		rt_buf_add_f(out, "%s/retake/config.toml", dir);
	else if (home != NULL && *home == '/')
		rt_buf_add_f(out, "%s/.config/retake/config.toml", home);
	else
		return rt_fail(err, RT_NOT_FOUND, "there is no home folder: set HOME or "
			       "XDG_CONFIG_HOME");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static rt_status
read_file(const char *path, rt_buf *out, rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	rt_status st = RT_OK;
	struct stat info;
	char room[128], *to;
	ssize_t got = 1;

	if (fd < 0)
		return rt_fail(err, errno == ENOENT || errno == ENOTDIR ? RT_NOT_FOUND : RT_IO,
			       "%s cannot be read: %s", path, strerror_r(errno, room, sizeof(room)));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		st = rt_fail(err, RT_IO, "%s is no file", path);
	while (st == RT_OK && got != 0 && out->size <= RT_CONFIG_SIZE_MAX) {
		to = rt_buf_reserve(out, 4096);
		if (to == NULL) {
			st = rt_fail(err, out->status, "out of memory");
			break;
		}
		got = read(fd, to, 4096);
		if (got > 0)
			out->size += (size_t)got;
		else if (got < 0 && errno != EINTR)
			st = rt_fail(err, RT_IO, "%s cannot be read", path);
	}
	if (st == RT_OK && out->size > RT_CONFIG_SIZE_MAX)
		st = rt_fail(err, RT_LIMIT, "%s has more than %d bytes", path,
			     (int)RT_CONFIG_SIZE_MAX);
	close(fd);
	return st;
}

/* The words of err with the path in front. */
static void
name_path(rt_error *err, const rt_alloc *alloc, const char *path)
{
	rt_error old;
	rt_buf words;

	if (err == NULL)
		return;
	old = *err;
	rt_buf_init(&words, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&words, "%s: %s", path, old.text);
	if (words.status == RT_OK) {
		(void)rt_fail(err, old.status, "%s", words.ptr);
		err->line = old.line;
		err->at = old.at;
		err->has_at = old.has_at;
	}
	rt_buf_deinit(&words);
}

rt_status
rt_config_load(const rt_alloc *alloc, rt_str path, rt_config **out, rt_error *err)
{
	rt_buf full, text;
	rt_status st = RT_OK;

	rt_buf_init(&full, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&text, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&full, path);
	if (path.size == 0)
		st = rt_config_path(&full, err);
	else if (full.status != RT_OK)
		st = rt_fail(err, full.status, "out of memory");
	if (st == RT_OK)
		st = read_file(full.ptr, &text, err);
	if (st == RT_NOT_FOUND && path.size == 0)
		st = rt_config_read(alloc, RT_STR(""), out, err);
	else if (st == RT_OK) {
		st = rt_config_read(alloc, rt_buf_str(&text), out, err);
		if (st != RT_OK)
			name_path(err, alloc, full.ptr);
	}
	rt_buf_deinit(&full);
	rt_buf_deinit(&text);
	return st;
}

/* ---- a model ---- */

/* The configuration's file as people type it: what is read may be seen by others than the
 * owner of the home folder. */
static void
add_file(rt_buf *out)
{
	const char *home = getenv("HOME");
	size_t before = out->size, size = home != NULL ? strlen(home) : 0;
	rt_error ignored;

	if (rt_config_path(out, &ignored) != RT_OK) {
		rt_buf_add_c(out, "the configuration");
	} else if (size > 1 && out->size - before > size &&
		   memcmp(out->ptr + before, home, size) == 0 && out->ptr[before + size] == '/') {
		out->ptr[before] = '~';
		memmove(out->ptr + before + 1, out->ptr + before + size,
			out->size - before - size + 1);
		out->size -= size - 1;
	}
}

static void
add_hint(rt_buf *out, const rt_model_choice *choice)
{
	const char *env = choice->provider->key_env;
	bool family = rt_str_is(choice->provider_name, choice->provider->name);

	if (choice->config != NULL && choice->config->key_env.size > 0) {
		rt_buf_add_f(out, "Its key is taken from %s", choice->config->key_env.ptr);
		return;
	}
	rt_buf_add_c(out, "Set ");
	if (family && env != NULL)
		rt_buf_add_f(out, "%s, or ", env);
	rt_buf_add_f(out, "key_env, key_file or key_cmd of [provider.%.*s] in ",
		     RT_STR_ARG(choice->provider_name));
	add_file(out);
}

static rt_status
open_server(const rt_models_options *o, const rt_alloc *alloc, const rt_model_choice *choice,
	    rt_str url, rt_str key, rt_str hint, rt_model **out, rt_error *err)
{
	const rt_config_provider *p = choice->config;
	rt_transport_curl_options over = {.alloc = alloc};
	rt_server_model_options options = {
		.alloc = alloc,
		.env = o->env,
		.provider = choice->provider,
		.url = url,
		.model = choice->model,
		.service = choice->provider_name,
		.key = key,
		.key_hint = hint,
		.tries = o->tries,
	};
	rt_status st;

	if (p != NULL) {
		over.ca_file = p->ca_file;
		options.headers = p->headers;
		options.header_count = p->header_count;
		options.allow_plain_http = p->allow_plain_http;
		options.first_byte_ms = options.idle_ms = p->timeout_s * 1000;
		if (options.idle_ms > RT_HTTP_TOTAL_MS / 2)
			options.total_ms = 2 * options.idle_ms;
	}
	st = rt_transport_curl_open(&over, &options.transport, err);
	if (st != RT_OK)
		return st;
	st = rt_server_model_open(&options, out, err);
	if (st != RT_OK)
		options.transport->ops->close(options.transport);
	return st;
}

static void
wait_here(void *ctx, unsigned ms)
{
	(void)ctx;
	(void)poll(NULL, 0, (int)ms); /* a signal ends it early */
}

bool
rt_models_may_play(rt_pick_source source, bool may_say)
{
	return source == RT_PICK_STANDARD || (source == RT_PICK_SAID && may_say);
}

/* "play:PATH" plays that file. */
static rt_status
open_builtin(const rt_models_options *o, const rt_alloc *alloc, rt_str name, rt_model **out,
	     rt_error *err)
{
	static const rt_str play = RT_STR_INIT("play:");
	rt_builtin_options options = {.name = name, .pace_ms = o->pace_ms, .wait_ms = wait_here};
	rt_buf path, script;
	rt_status st = RT_OK;

	if (rt_str_starts(name, play) && !o->may_play)
		return rt_fail(err, RT_REFUSED, "a model that plays a file (play:FILE) is not taken "
			       "from a stored setting or from a browser; only from -m, RETAKE_MODEL or "
			       "config.toml");
	rt_buf_init(&path, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&script, alloc, RT_BUF_UNLIMITED);
	if (rt_str_starts(name, play)) {
		rt_buf_add(&path, name.ptr + play.size, name.size - play.size);
		rt_buf_add_byte(&path, '\0');
		st = path.status != RT_OK ? rt_fail(err, path.status, "out of memory")
					  : read_file(path.ptr, &script, err);
		options.script = rt_buf_str(&script);
	}
	if (st == RT_OK)
		st = rt_builtin_open(alloc, &options, out, err);
	rt_buf_deinit(&path);
	rt_buf_deinit(&script);
	return st;
}

rt_status
rt_models_open(const rt_models_options *options, rt_model **out, rt_model_choice *out_choice,
	       rt_buf *warnings, rt_error *err)
{
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_model_choice choice;
	rt_buf url, key, hint;
	rt_status st;

	rt_buf_init(&url, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&key, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&hint, alloc, RT_BUF_UNLIMITED);
	st = rt_models_choose(options->config, options->name, &choice, err);
	if (st == RT_OK && choice.provider->url == NULL) { /* there is no server */
		st = open_builtin(options, alloc, choice.model, out, err);
		goto done;
	}
	if (st == RT_OK)
		st = rt_key_url(&choice, &url, err);
	if (st == RT_OK)
		st = rt_key_find(&choice, options->stop, options->stop_ctx, &key, warnings, err);
	if (st == RT_OK)
		add_hint(&hint, &choice);
	if (st == RT_OK && hint.status != RT_OK)
		st = rt_fail(err, hint.status, "out of memory");
	if (st == RT_OK)
		st = open_server(options, alloc, &choice, rt_buf_str(&url), rt_buf_str(&key),
				 rt_buf_str(&hint), out, err);
done:
	if (st == RT_OK && out_choice != NULL)
		*out_choice = choice;
	rt_buf_deinit(&url);
	rt_buf_deinit(&key);
	rt_buf_deinit(&hint);
	return st;
}
