/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/models_host.h"

#include <poll.h>
#include <stdlib.h>

#include "base/scope.h"
#include "chat/context.h"
#include "llm/builtin.h"
#include "llm/keys_host.h"
#include "llm/system_host.h"
#include "llm/tokens_host.h"
#include "llm/transport_curl.h"

/* ---- the configuration ---- */

rt_status
rt_config_path(rt_buf *out, rt_error *err)
{
	if (!rt_home_path(out, "XDG_CONFIG_HOME", ".config", "config.toml"))
		return rt_fail(err, RT_NOT_FOUND,
			       "there is no home directory: set HOME or XDG_CONFIG_HOME");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

rt_status
rt_config_load(const rt_alloc *alloc, rt_str path, rt_config **out, rt_error *err)
{
	rt_error why = {0};
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_buf *full = rt_scope_buf(&s), *text = rt_scope_buf(&s);
	rt_buf_add_str(full, path);
	if (path.size == 0)
		RT_TRY(&s, rt_config_path(full, &s.error));
	(void)rt_scope_str(&s, full);
	RT_TRY(&s, rt_file_read(full->ptr, 0, RT_CONFIG_SIZE_MAX, text, &s.error));
	if (path.size == 0 && s.status == RT_NOT_FOUND) {
		rt_scope_deinit(&s);
		return rt_config_read(alloc, RT_STR(""), out, err);
	}
	if (rt_ok(&s) && rt_config_read(alloc, rt_buf_str(text), out, &why) != RT_OK) {
		(void)rt_scope_fail(&s, why.status, "%s: %s", full->ptr, why.text);
		s.error.line = why.line;
		s.error.at = why.at;
		s.error.has_at = why.has_at;
	}
	return rt_scope_end(&s, err);
}

/* ---- a model ---- */

/* The configuration's file with "~" for the home folder: others than its owner may read the
 * message. */
static void
add_config_path(rt_buf *out)
{
	rt_str home = rt_str_of(getenv("HOME"));
	size_t before = out->size;

	if (rt_config_path(out, NULL) != RT_OK) {
		rt_buf_add_c(out, "the configuration");
		return;
	}
	rt_str path = rt_str_at(out->ptr + before, out->size - before);
	if (home.size > 1 && rt_str_starts(path, home) && path.ptr[home.size] == '/') {
		out->ptr[before] = '~';
		memmove(out->ptr + before + 1, path.ptr + home.size, path.size - home.size + 1);
		out->size -= home.size - 1;
	}
}

/* Where the user sets the key. */
static void
add_key_hint(rt_buf *out, const rt_model_choice *choice)
{
	const char *env = choice->provider->key_env;

	if (choice->config != NULL && choice->config->key_env.size > 0) {
		rt_buf_add_f(out, "The key is read from %s", choice->config->key_env.ptr);
		return;
	}
	rt_buf_add_c(out, "Set ");
	if (env != NULL && rt_str_is(choice->provider_name, choice->provider->name))
		rt_buf_add_f(out, "%s, or ", env);
	rt_buf_add_f(out, "key_env, key_file or key_cmd of [provider.%.*s] in ",
		     RT_STR_ARG(choice->provider_name));
	add_config_path(out);
}

static void
open_server(rt_scope *s, const rt_models_options *o, const rt_model_choice *choice,
	    rt_buf *warnings, rt_model **out)
{
	const rt_config_provider *p = choice->config;
	rt_buf *url = rt_scope_buf(s), *key = rt_scope_buf(s), *hint = rt_scope_buf(s);

	RT_TRY(s, rt_key_url(choice, url, &s->error));
	RT_TRY(s, rt_key_find(choice, o->stop, o->stop_ctx, key, warnings, &s->error));
	add_key_hint(hint, choice);
	rt_transport_curl_options over = {.alloc = s->alloc};
	rt_server_model_options options = {
		.alloc = s->alloc,
		.env = o->env,
		.provider = choice->provider,
		.url = rt_scope_str(s, url),
		.model = choice->model,
		.service = choice->provider_name,
		.key = rt_scope_str(s, key),
		.key_hint = rt_scope_str(s, hint),
		.tries = o->tries,
	};
	if (p != NULL) {
		over.ca_file = p->ca_file;
		options.headers = p->headers;
		options.header_count = p->header_count;
		options.allow_plain_http = p->allow_plain_http;
		options.first_byte_ms = options.idle_ms = (unsigned)p->timeout_s * 1000;
		if (options.idle_ms > RT_HTTP_TOTAL_MS / 2)
			options.total_ms = 2 * options.idle_ms;
	}
	RT_TRY(s, rt_transport_curl_open(&over, &options.transport, &s->error));
	RT_TRY(s, rt_server_model_open(&options, out, &s->error));
	if (!rt_ok(s) && options.transport != NULL)
		options.transport->ops->close(options.transport);
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

static void
open_builtin(rt_scope *s, const rt_models_options *o, rt_str name, rt_model **out)
{
	static const rt_str play = RT_STR_INIT("play:");
	rt_builtin_options options = {.name = name, .pace_ms = o->pace_ms, .wait_ms = wait_here};
	rt_buf *script = rt_scope_buf(s);

	if (rt_str_is(name, "play"))
		(void)rt_scope_fail(s, RT_USAGE, "play needs a file: builtin/play:FILE");
	if (rt_str_starts(name, play) && !o->may_play)
		(void)rt_scope_fail(
			s, RT_REFUSED,
			"a model that plays a file (play:FILE) can be chosen only on the command "
			"line or in config.toml, not by a stored setting or in a browser");
	if (rt_str_starts(name, play)) {
		rt_str path = rt_scope_copy(s,
					    rt_str_at(name.ptr + play.size, name.size - play.size));

		RT_TRY(s, rt_file_read(path.ptr, 0, RT_CONFIG_SIZE_MAX, script, &s->error));
		options.script = rt_buf_str(script);
	}
	RT_TRY(s, rt_builtin_open(s->alloc, &options, out, &s->error));
}

rt_status
rt_models_open(const rt_models_options *options, rt_model **out, rt_model_choice *out_choice,
	       rt_buf *warnings, rt_error *err)
{
	rt_model_choice choice = {0};
	rt_scope s;

	rt_scope_init(&s, options->alloc != NULL ? options->alloc : rt_alloc_libc());
	RT_TRY(&s, rt_models_choose(options->config, options->name, &choice, &s.error));
	if (rt_ok(&s) && choice.provider->url == NULL) /* there is no server */
		open_builtin(&s, options, choice.model, out);
	else if (rt_ok(&s))
		open_server(&s, options, &choice, warnings, out);
	if (rt_ok(&s) && out_choice != NULL)
		*out_choice = choice;
	return rt_scope_end(&s, err);
}

/* ---- which model ---- */

rt_status
rt_pick_setting(const rt_alloc *alloc, const rt_project *project, const rt_disc *disc, rt_buf *out,
		rt_error *err)
{
	rt_str json = rt_project_setting(project, disc, "setting.model");
	rt_json_doc *doc = NULL;
	rt_status st;

	if (json.ptr == NULL)
		return RT_OK;
	st = rt_json_read(alloc, json, &doc, err);
	if (st != RT_OK)
		return st;
	if (yyjson_is_str(rt_json_root(doc)))
		rt_buf_add_str(out, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

rt_status
rt_pick_name(const rt_alloc *alloc, const rt_project *project, const rt_disc *disc, rt_str said,
	     rt_str standard, rt_buf *out, rt_pick_source *out_source, rt_error *err)
{
	rt_pick_source source = said.size > 0 ? RT_PICK_SAID : RT_PICK_SETTING;
	size_t before = out->size;

	rt_buf_add_str(out, said);
	if (said.size == 0) {
		rt_status st = rt_pick_setting(alloc, project, disc, out, err);

		if (st != RT_OK)
			return st;
	}
	if (out->size == before) {
		source = RT_PICK_STANDARD;
		rt_buf_add_str(out, standard);
	}
	if (out->status != RT_OK)
		return rt_fail(err, out->status, "out of memory");
	if (out_source != NULL)
		*out_source = source;
	return RT_OK;
}

/* ---- counting tokens ---- */

void
rt_pick_counter_init(rt_pick_counter *c, const rt_alloc *alloc, rt_str model)
{
	*c = (rt_pick_counter){.alloc = alloc, .encoding = rt_token_encoding_of(model)};
	rt_buf_init(&c->warnings, alloc, RT_BUF_UNLIMITED);
}

void
rt_pick_counter_deinit(rt_pick_counter *c)
{
	rt_tokens_free(c->ranks);
	rt_buf_deinit(&c->warnings);
}

size_t
rt_pick_count(void *counter, rt_str text)
{
	rt_pick_counter *c = counter;
	size_t count = 0;
	rt_status st;

	if (!c->is_sought && c->encoding != NULL) {
		c->is_sought = true;
		c->status = rt_tokens_load(c->alloc, c->encoding, &c->ranks, &c->warnings, NULL);
		if (c->status != RT_OK)
			c->ranks = NULL;
	}
	if (c->ranks == NULL)
		return rt_tokens_estimate(text.size);
	st = rt_tokens_count(c->ranks, text, &count);
	if (st == RT_OK)
		return count;
	c->status = st;
	return rt_tokens_estimate(text.size);
}
