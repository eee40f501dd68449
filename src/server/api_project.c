/* SPDX-License-Identifier: MIT
 *
 * The server itself, the projects of its store, and the models that it can ask. */
#include "server/api.h"

#include "formats/formats.h"
#include "llm/keys_host.h"
#include "llm/provider.h"
#include "llm/url.h"
#include "server/openapi.h"
#include "server/run_json.h"

static void
add_text(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

void
rt_api_health(rt_call *call)
{
	rt_buf_add_c(&call->answer->body, "{\"status\":\"ok\",\"version\":\"" RT_VERSION "\"}");
	rt_call_done(call, 200);
}

void
rt_api_openapi(rt_call *call)
{
	rt_openapi_write(call->routes, &call->answer->body);
	rt_call_done(call, 200);
}

static void
add_formats(rt_buf *buf)
{
	size_t i;

	rt_buf_add_c(buf, ",\"formats\":[");
	for (i = 0; rt_formats[i] != NULL; i++) {
		rt_buf_add_c(buf, i > 0 ? ",{" : "{");
		add_text(buf, "name", rt_str_of(rt_formats[i]->name));
		add_text(buf, "extension", rt_str_of(rt_formats[i]->extension));
		add_text(buf, "about", rt_str_of(rt_formats[i]->about));
		rt_buf_add_f(buf, ",\"reads\":%s,\"writes\":%s}",
			     rt_formats[i]->read != NULL ? "true" : "false",
			     rt_formats[i]->write != NULL ? "true" : "false");
	}
	rt_buf_add_byte(buf, ']');
}

void
rt_api_info(rt_call *call)
{
	rt_buf *buf = &call->answer->body;
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	const rt_project *project = NULL;
	size_t i;

	if (!rt_call_value(call, &project))
		return;
	rt_buf_add_c(buf, "{\"name\":\"retake\",\"version\":\"" RT_VERSION "\",\"api\":\"v1\"");
	add_text(buf, "project", rt_text_str(call->open_project->name));
	add_text(buf, "default_project",
		 call->principal.project.size > 0
			 ? call->principal.project
			 : rt_project_pool_get_options(call->pool)->project);
	rt_buf_add_f(buf, ",\"seq\":%llu,\"epoch\":\"%llx\"", (unsigned long long)project->seq,
		     (unsigned long long)rt_engine_epoch(call->open_project->engine));
	rt_buf_add_f(buf,
		     ",\"limits\":{\"body\":%d,\"import\":%d,\"window\":%d,\"steps\":%d,"
		     "\"hits\":%d,\"batch\":%d,\"runs\":%d}",
		     RT_BODY_MAX,
		     call->principal.kind == RT_PRINCIPAL_BROWSER ? RT_BODY_BROWSER : RT_BODY_LARGE,
		     RT_API_WINDOW_MAX, RT_API_STEPS_MAX, RT_API_HITS_MAX, RT_API_BATCH_MAX,
		     RT_RUNS_MAX);
	rt_buf_add_c(buf, ",\"features\":[\"at-op\",\"batch\",\"columns\",\"events\","
			  "\"idempotency-key\",\"if-match\",\"runs\"]");
	add_formats(buf);
	rt_buf_add_c(buf, ",\"providers\":[");
	for (i = 0; rt_providers[i] != NULL; i++) {
		rt_buf_add_c(buf, i > 0 ? "," : "");
		rt_json_add_string(buf, rt_str_of(rt_providers[i]->name));
	}
	rt_buf_add_c(buf, "]");
	if (given->model.size > 0 || (given->config != NULL && given->config->model.size > 0))
		add_text(buf, "model",
			 given->model.size > 0 ? given->model : given->config->model);
	rt_buf_add_c(buf, ",\"operations\":[");
	for (i = 0; i < RT_OP_COUNT; i++) {
		rt_buf_add_c(buf, i > 0 ? "," : "");
		rt_json_add_string(buf, rt_str_of(rt_ops[i].name));
	}
	rt_buf_add_c(buf, "]}");
	rt_object_unref(project);
	rt_call_done(call, 200);
}

/* ---- projects ---- */

static bool
add_project(void *ctx, const rt_store_row *row)
{
	rt_call *call = ctx;
	rt_buf *buf = &call->answer->body;

	rt_json_add_comma(buf);
	rt_buf_add_c(buf, "{\"name\":");
	rt_json_add_string(buf, row->data);
	rt_buf_add_c(buf, rt_str_eq(row->data, rt_project_pool_get_options(call->pool)->project)
				  ? ",\"default\":true}"
				  : ",\"default\":false}");
	return buf->status == RT_OK;
}

void
rt_api_projects(rt_call *call)
{
	rt_store *store = rt_project_pool_get_options(call->pool)->store;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	rt_buf_add_byte(&call->answer->body, '[');
	st = store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), add_project, call, &err);
	rt_buf_add_byte(&call->answer->body, ']');
	if (st == RT_OK)
		rt_call_done(call, 200);
	else
		rt_call_fail(call, &err, NULL);
}

void
rt_api_project_new(rt_call *call)
{
	rt_store *store = rt_project_pool_get_options(call->pool)->store;
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL;
	rt_open_project *open_project = NULL;
	uint64_t number;
	rt_error err;
	rt_str name;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_body(call, false, &doc, &root))
		return;
	name = rt_json_str(rt_json_get(root, "name"));
	if (!yyjson_is_str(rt_json_get(root, "name")) || name.size == 0)
		st = rt_fail(&err, RT_USAGE, "\"name\" is the name of the project");
	else
		st = rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL, &number,
				  &err);
	if (st == RT_OK)
		st = rt_fail(&err, RT_REFUSED, "there is a project \"%.*s\" already",
			     (int)rt_utf8_cut(name, 80), name.ptr);
	else if (st == RT_NOT_FOUND)
		st = rt_project_pool_project(call->pool, name, true, &open_project, &err);
	if (st == RT_OK) {
		rt_buf_add_byte(&call->answer->body, '{');
		add_text(&call->answer->body, "project", name);
		rt_buf_add_byte(&call->answer->body, '}');
		rt_call_done(call, 201);
	} else {
		rt_call_fail(call, &err, NULL);
	}
	rt_json_free(doc);
}

/* ---- models ---- */

typedef struct listing {
	rt_buf *buf;
	rt_str provider;
	const rt_alloc *alloc;
} listing;

static void
add_model(void *ctx, rt_str name, size_t context_tokens)
{
	listing *l = ctx;
	rt_buf full;

	rt_buf_init(&full, l->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&full, l->provider);
	rt_buf_add_byte(&full, '/');
	rt_buf_add_str(&full, name);
	if (full.status != RT_OK)
		l->buf->status = full.status;
	rt_json_add_comma(l->buf);
	rt_buf_add_c(l->buf, "{\"model\":");
	rt_json_add_string(l->buf, rt_buf_str(&full));
	if (context_tokens > 0)
		rt_buf_add_f(l->buf, ",\"context_tokens\":%zu", context_tokens);
	rt_buf_add_byte(l->buf, '}');
	rt_buf_deinit(&full);
}

/* What the server of a provider has. */
static rt_status
list_models(rt_call *call, rt_str provider, rt_error *err)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	rt_models_options options = {.alloc = call->request->alloc,
				     .env = given->env,
				     .config = given->config,
				     .tries = 2};
	listing l = {&call->answer->body, provider, call->request->alloc};
	rt_model *model = NULL;
	rt_buf name, warnings;
	rt_status st = rt_models_check_provider(given->config, provider, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&name, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(l.buf, '[');
	if (rt_str_is(provider, "builtin")) {
		add_model(&l, RT_STR("echo"), 0);
		add_model(&l, RT_STR("summary"), 0);
	} else {
		rt_buf_add_str(&name, provider);
		rt_buf_add_c(&name, "/-"); /* which of its models does not matter */
		options.name = rt_buf_str(&name);
		st = name.status != RT_OK ? rt_fail(err, RT_NOMEM, "out of memory")
					  : rt_models_open(&options, &model, NULL, &warnings, err);
		if (st == RT_OK)
			st = rt_server_models(model, NULL, NULL, add_model, &l, err);
		if (model != NULL)
			model->ops->close(model);
	}
	rt_buf_add_byte(l.buf, ']');
	rt_buf_deinit(&name);
	rt_buf_deinit(&warnings);
	return st;
}

/* Is there a key? A command is not run just to look. */
static const char *
state_of(const rt_model_choice *choice, const rt_alloc *alloc)
{
	const rt_provider *kind = choice->provider;
	const char *state = "needs no key";
	rt_buf key, warnings;

	if (choice->config != NULL && choice->config->key_cmd_count > 0)
		return "key by command";
	if (kind->url == NULL)
		return "always there";
	rt_buf_init(&key, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, alloc, RT_BUF_UNLIMITED);
	if (rt_key_find(choice, NULL, NULL, &key, &warnings, NULL) != RT_OK)
		state = "no key";
	else if (key.size > 0)
		state = "key found";
	else if (kind->key_env != NULL && kind->key_needed && choice->config == NULL)
		state = "no key";
	if (key.size > 0)
		memset(key.ptr, 0, key.size);
	rt_buf_deinit(&key);
	rt_buf_deinit(&warnings);
	return state;
}

static void
add_provider(rt_call *call, const rt_provider *kind, const rt_config_provider *config, rt_str name)
{
	rt_model_choice choice = {kind, config, name, RT_STR("-")};
	const rt_alloc *alloc = call->request->alloc;
	rt_buf *buf = &call->answer->body, said, url;
	rt_status st = RT_OK;

	rt_buf_init(&said, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&url, alloc, RT_BUF_UNLIMITED);
	if (kind->url != NULL)
		st = rt_key_url(&choice, &said, NULL);
	if (st == RT_OK && kind->url != NULL)
		rt_url_add_shown(&url, said.size > 0 ? rt_buf_str(&said) : rt_str_of(kind->url));
	rt_json_add_comma(buf);
	rt_buf_add_c(buf, "{\"provider\":");
	rt_json_add_string(buf, name);
	add_text(buf, "kind", rt_str_of(kind->name));
	add_text(buf, "url", rt_buf_str(&url));
	add_text(buf, "state", rt_str_of(st == RT_OK ? state_of(&choice, alloc) : "wrong url"));
	rt_buf_add_byte(buf, '}');
	rt_buf_deinit(&said);
	rt_buf_deinit(&url);
}

void
rt_api_models(rt_call *call)
{
	const rt_config *config = rt_project_pool_get_options(call->pool)->config;
	rt_str provider;
	rt_error err;
	size_t i;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	if (!rt_call_text(call, "provider", &provider))
		return;
	if (provider.size > 0) {
		st = list_models(call, provider, &err);
	} else {
		rt_buf_add_byte(&call->answer->body, '[');
		for (i = 0; config != NULL && i < config->provider_count; i++)
			add_provider(call, config->providers[i].kind, &config->providers[i],
				     config->providers[i].name);
		for (i = 0; rt_providers[i] != NULL; i++)
			if (rt_config_provider_named(config, rt_str_of(rt_providers[i]->name)) ==
			    NULL)
				add_provider(call, rt_providers[i], NULL,
					     rt_str_of(rt_providers[i]->name));
		rt_buf_add_byte(&call->answer->body, ']');
	}
	if (st == RT_OK)
		rt_call_done(call, 200);
	else
		rt_call_fail(call, &err, "Providers: GET " RT_API_ROOT "/models");
}
