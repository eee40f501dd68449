/* SPDX-License-Identifier: MIT
 *
 * models: lists available models; replay: shows the request of a reply. */
#include "cli/model_session.h"
#include "cli/requests_log.h"
#include "chat/last_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "llm/keys_host.h"
#include "llm/provider.h"

/* ---- models ---- */

typedef struct listing {
	rt_cli *cli;
	rt_buf *json;
	rt_str provider;
	const char *about; /* of a built-in model; or NULL */
	size_t count;
} listing;

static void
add_model(void *ctx, rt_str name, size_t context_tokens)
{
	listing *l = ctx;
	rt_cli *cli = l->cli;
	rt_buf *full = rt_scope_buf(&cli->s);

	l->count++;
	rt_buf_add_f(full, "%.*s/%.*s", RT_STR_ARG(l->provider), RT_STR_ARG(name));
	rt_json_open(l->json, NULL, '{');
	rt_json_put_str(l->json, "model", rt_buf_str(full));
	if (context_tokens > 0)
		rt_json_put_u64(l->json, "context_tokens", context_tokens);
	if (l->about != NULL)
		rt_json_put_c(l->json, "about", l->about);
	rt_json_close(l->json, '}');
	if (cli->json)
		return;
	rt_term_line(&cli->out, rt_buf_str(full));
	if (context_tokens > 0)
		rt_term_f(&cli->out, "  (%zu tokens)", context_tokens);
	if (l->about != NULL) {
		rt_term_spaces(&cli->out, full->size < 18 ? 20 - full->size : 2);
		rt_term_c(&cli->out, l->about);
	}
	rt_term_c(&cli->out, "\n");
}

static bool
is_stopped(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

static void
note_warnings(rt_cli *cli, const rt_buf *warnings)
{
	if (warnings->size > 0)
		rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(warnings)).size,
			    warnings->ptr);
}

/* The models on a provider's server. */
static void
list_server_models(listing *l, const rt_config *config)
{
	rt_cli *cli = l->cli;
	rt_scope *s = &cli->s;
	rt_buf *name = rt_scope_buf(s), *warnings = rt_scope_buf(s);
	rt_model *model = NULL;

	rt_buf_add_str(name, l->provider);
	rt_buf_add_c(name, "/-"); /* which of its models does not matter */

	rt_models_options options = {.alloc = cli->alloc,
				     .env = cli->env,
				     .config = config,
				     .name = rt_scope_str(s, name),
				     .tries = 2,
				     .stop = is_stopped};

	rt_host_hold(true);
	RT_TRY(s, rt_models_open(&options, &model, NULL, warnings, &s->error));
	note_warnings(cli, warnings);
	RT_TRY(s, rt_server_models(model, is_stopped, NULL, add_model, l, &s->error));
	rt_host_hold(false);
	if (model != NULL)
		model->ops->close(model);
}

static void
list_models(rt_cli *cli, const rt_config *config, const char *provider)
{
	rt_scope *s = &cli->s;
	listing l = {.cli = cli, .provider = rt_str_of(provider), .json = rt_scope_buf(s)};

	if (RT_TRY(s, rt_models_check_provider(config, l.provider, &s->error)) != RT_OK) {
		rt_cli_hint(cli, "Providers: retake models   To configure one: retake help config");
		return;
	}
	rt_json_open(l.json, NULL, '[');
	if (strcmp(provider, "builtin") == 0) {
		static const char *const models[][2] = {
			{"echo", "repeats the question, and names the images that it receives"},
			{"summary", "extracts sentences using fixed rules; for summaries"},
			{"text", "repeats the question, and accepts no images"},
			{"play:FILE", "plays the replies of a script, for demos and tests"},
		};

		for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
			l.about = models[i][1];
			add_model(&l, rt_str_of(models[i][0]), 0);
		}
	} else {
		list_server_models(&l, config);
	}
	rt_json_close(l.json, ']');
	if (cli->json)
		rt_cli_print_json(cli, l.json);
	else if (rt_ok(s) && l.count == 0)
		rt_cli_note(cli, "%s lists no models. For Ollama: ollama pull NAME", provider);
}

/* One provider: its address, and whether there is a key. */
static void
say_provider(listing *l, const rt_model_choice *p)
{
	rt_cli *cli = l->cli;
	const rt_provider *kind = p->provider;
	rt_str name = p->provider_name;
	rt_buf *url = rt_scope_buf(&cli->s);
	const char *state = rt_key_state(&cli->s, p, url);

	rt_json_open(l->json, NULL, '{');
	rt_json_put_str(l->json, "provider", name);
	rt_json_put_c(l->json, "kind", kind->name);
	rt_json_put_str(l->json, "url", rt_buf_str(url));
	rt_json_put_c(l->json, "state", state);
	rt_json_close(l->json, '}');
	if (cli->json)
		return;
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_line(&cli->out, name);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_spaces(&cli->out, name.size < 11 ? 11 - name.size : 1);
	rt_term_f(&cli->out, " %-16s ", state);
	rt_term_line(&cli->out, url->size > 0 ? rt_buf_str(url) : rt_str_of(kind->title));
	if (strcmp(state, "no key") == 0 && kind->key_env != NULL && p->config == NULL)
		rt_term_f(&cli->out, "  (set %s)", kind->key_env);
	rt_term_c(&cli->out, "\n");
}

/* Has the discussion its own model? */
static bool
is_of_discussion(rt_cli *cli)
{
	const rt_disc *disc = rt_cli_disc(cli);

	return disc != NULL && rt_fields_get(disc->fields, RT_STR("setting.model")).ptr != NULL;
}

/* The model in use, and the setting that selects it. */
static void
say_choice(rt_cli *cli, const rt_config *config)
{
	rt_buf *setting = rt_scope_buf(&cli->s);
	bool is_set;

	rt_cli_open(cli, RT_SESSION_LOOK);
	RT_TRY(&cli->s, rt_model_session_setting(&cli->session, setting, &cli->s.error));
	if (cli->s.status == RT_NOT_FOUND)
		rt_cli_recover(cli, NULL); /* there is no store yet */
	if (!rt_ok(&cli->s))
		return;
	is_set = setting->size > 0;
	if (!is_set && config->model.size == 0) {
		rt_cli_advise(cli, "\nNo model is set: retake set model PROVIDER/NAME\n");
		return;
	}
	rt_term_c(&cli->out, "\nUsing ");
	rt_term_line(&cli->out, is_set ? rt_buf_str(setting) : config->model);
	rt_term_f(&cli->out, " (%s).\n",
		  !is_set		? "from the configuration"
		  : is_of_discussion(cli) ? "of this discussion"
					: "default of the project");
}

static void
list_providers(rt_cli *cli, const rt_config *config)
{
	listing l = {.cli = cli, .json = rt_scope_buf(&cli->s)};
	rt_model_choice p;
	size_t at = 0;

	rt_json_open(l.json, NULL, '[');
	while (rt_models_next_provider(config, &at, &p))
		say_provider(&l, &p);
	rt_json_close(l.json, ']');
	if (cli->json)
		rt_cli_print_json(cli, l.json);
	else
		say_choice(cli, config);
}

static void
run_models(rt_cli *cli)
{
	const char *provider = rt_cli_word(cli, 0);
	const rt_config *config = rt_cli_config(cli);

	if (config != NULL && provider != NULL)
		list_models(cli, config, provider);
	else if (config != NULL)
		list_providers(cli, config);
}

const rt_command rt_cli_models = {
	.name = "models",
	.group = RT_COMMANDS_ASKING,
	.max_words = 1,
	.usage = "[PROVIDER]",
	.summary = "list the providers, or the models of one",
	.about =
		"Without PROVIDER: the providers, their addresses, and whether an API key was "
		"found (never the key itself). With PROVIDER: the models that its server offers. "
		"Define your own providers in config.toml.",
	.examples = "retake models\nretake models ollama",
	.kinds = {RT_ARG_PROVIDER},
	.run = run_models,
};

/* ---- replay ---- */

/* The record of an entry's request. */
typedef struct finding {
	rt_cli *cli;
	const char *entry;
	const char *store;   /* NULL: not known, or not a file */
	yyjson_val *request; /* NULL: not found yet */
	rt_buf *newest;      /* the requests so far of the file that is read, a line each */
} finding;

/* The request of that name among the newest, if it is of this store and project: ids are the same
 * everywhere. */
static yyjson_val *
find_request(finding *f, rt_str name)
{
	rt_scope *s = &f->cli->s;
	rt_str all = rt_buf_str(f->newest);
	rt_buf *member = rt_scope_buf(s); /* a replay has the name of its original in another key */
	yyjson_val *record;
	uint64_t project = 0;
	size_t at, from, end;

	rt_json_add_key(member, "request");
	rt_json_add_string(member, name);
	at = name.size == 0 ? SIZE_MAX : rt_str_find(all, rt_scope_str(s, member), 0);
	if (at == SIZE_MAX || f->store == NULL)
		return NULL;
	for (from = at; from > 0 && all.ptr[from - 1] != '\n'; from--)
		;
	end = rt_str_find(all, RT_STR("\n"), at);
	record = rt_json_parse(s, rt_str_at(all.ptr + from, end - from));
	(void)rt_json_u64(rt_json_get(record, "project"), &project);
	return rt_str_is(rt_json_str(rt_json_get(record, "store")), f->store) &&
			       project == rt_engine_project_number(f->cli->session.engine)
		       ? record
		       : NULL;
}

/* Within a file a request precedes its reply, and files come newest first. So the requests of a
 * file are kept until the reply is found. */
static bool
look_at_line(void *ctx, const rt_comms_line *at)
{
	rt_str line = at->line;
	finding *f = ctx;
	rt_json_doc *doc = NULL;
	rt_str what;

	if (rt_json_read(f->cli->alloc, line, &doc, NULL) != RT_OK)
		return true;

	yyjson_val *root = rt_json_root(doc);

	what = rt_json_str(rt_json_get(root, "what"));
	if (rt_str_is(what, "request")) {
		rt_buf_add_str(f->newest, line);
		rt_buf_add_byte(f->newest, '\n');
	} else if (rt_str_is(what, "reply") &&
		   rt_str_is(rt_json_str(rt_json_get(root, "entry")), f->entry)) {
		f->request = find_request(f, rt_json_str(rt_json_get(root, "request")));
	}
	rt_json_free(doc);
	return f->request == NULL;
}

/* Is it the server that the conversation was held with? The same name may mean another one by
 * now, and private texts must not go there without an explicit request. */
static void
check_server(rt_cli *cli, yyjson_val *record, const rt_model *model)
{
	rt_str then = rt_json_str(rt_json_get(record, "server"));

	if (!rt_ok(&cli->s) || rt_str_eq(then, model->server))
		return;
	rt_cli_hint(cli, "To send it there anyway: -m %.*s/%.*s",
		    RT_STR_ARG(rt_model_service(model)), RT_STR_ARG(model->name));
	rt_cli_fail(cli, RT_REFUSED, "%.*s was %.*s when this was sent; now it is %.*s",
		    RT_STR_ARG(rt_model_service(model)),
		    RT_STR_ARG(then.size > 0 ? then : RT_STR("no server")),
		    RT_STR_ARG(model->server.size > 0 ? model->server : RT_STR("no server")));
}

/* The model of that time, of the provider under its name in the configuration. */
static void
open_same(rt_cli_model_session *session, yyjson_val *record)
{
	rt_cli *cli = session->cli;
	rt_scope *s = &cli->s;
	rt_str service = rt_json_str(rt_json_get(record, "service"));
	rt_buf *name = rt_scope_buf(s);

	if (service.size == 0) {
		rt_cli_hint(cli, "Choose a model: -m PROVIDER/NAME   Providers: retake models");
		rt_cli_fail(cli, RT_REFUSED, "an older version of Retake sent this and did not "
					     "record the server");
	}
	rt_buf_add_str(name, service);
	rt_buf_add_byte(name, '/');
	rt_buf_add_str(name, rt_json_str(rt_json_get(record, "model")));
	RT_TRY(s, rt_model_session_model(&session->m, rt_scope_str(s, name), true, &session->m.model,
					 &s->error));
	if (rt_ok(s) && !rt_str_eq(rt_model_service(session->m.model), service))
		rt_cli_fail(cli, RT_REFUSED, "the provider %.*s no longer exists",
			    RT_STR_ARG(service));
	check_server(cli, record, session->m.model);
}

static void
print_reply(rt_cli *cli, const rt_model *model, rt_str reply)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "provider", rt_model_service(model));
	rt_json_put_str(json, "model", model->name);
	rt_json_put_str(json, "reply", reply);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* Send the same request again; the reply is printed, not stored. */
static void
resend(rt_cli *cli, yyjson_val *record, rt_str body)
{
	rt_scope *s = &cli->s;
	rt_str provider = rt_json_str(rt_json_get(record, "provider"));
	rt_cli_model_session *session =
		rt_cli_model_session_open(cli, rt_cli_has(cli, "model"));
	const rt_text *note = NULL;

	if (session != NULL && session->m.model == NULL)
		open_same(session, record);
	if (rt_ok(s) && !rt_str_is(provider, session->m.model->provider->name))
		rt_cli_fail(cli, RT_USAGE, "the request is for %.*s; choose one of its models "
					   "with -m",
			    RT_STR_ARG(provider));
	if (!rt_ok(s))
		return;

	rt_resend_options options = {
		.discussion = rt_json_str(rt_json_get(record, "discussion")),
		.take = rt_json_str(rt_json_get(record, "take")),
		.body = body,
		.of = rt_json_str(rt_json_get(record, "request")),
		.with = rt_cli_model_session_with(session),
	};

	session->collects = cli->json;
	RT_TRY(s, rt_engine_resend(cli->session.engine, &options, &note, &s->error));
	rt_cli_model_session_end(session, note);
	rt_text_unref(note);
	rt_scope_note(s, session->reply.status);
	if (rt_ok(s) && cli->json)
		print_reply(cli, session->m.model, rt_buf_str(&session->reply));
}

static void
close_request(void *item)
{
	rt_last_request_deinit(item);
}

static void
run_replay(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	char id[RT_ID_MAX + 1] = "";
	finding f = {.cli = cli, .entry = id, .newest = rt_scope_buf(s)};
	rt_buf *state = rt_scope_buf(s);
	rt_last_request *sent = rt_scope_get(s, sizeof(*sent));

	rt_cli_open(cli, RT_SESSION_LOOK);

	uint32_t entry = rt_cli_entry(cli, rt_cli_word(cli, 0), true);

	RT_TRY(s, rt_entry_id(cli->session.value, entry, id, &s->error));
	RT_TRY(s, rt_host_state_dir(state, &s->error));
	if (!rt_ok(s))
		return;

	char *store = rt_session_store_path(&cli->session);

	rt_scope_defer(s, free, store);
	f.store = store;
	RT_TRY(s, rt_comms_read(cli->alloc, rt_buf_str(state), look_at_line, &f, &s->error));
	if (rt_ok(s) && f.request == NULL) {
		rt_cli_hint(cli, "The next request: retake context");
		rt_cli_fail(cli, RT_NOT_FOUND,
			    "no request is recorded for the reply %s", id);
	}
	if (!rt_ok(s))
		return;
	rt_buf_init(&sent->body, cli->alloc, RT_BUF_UNLIMITED);
	rt_scope_defer(s, close_request, sent);
	RT_TRY(s, rt_last_request_build(
			  cli->session.engine, f.request,
			  rt_provider_named(rt_json_str(rt_json_get(f.request, "provider"))), NULL,
			  NULL, sent, &s->error));
	if (!rt_ok(s))
		return;
	/* A hook changed it, or another version built it: the log may contain the sent form. */
	if (!sent->is_same)
		sent->is_same = rt_cli_logged_request(
			cli, rt_buf_str(state), rt_json_str(rt_json_get(f.request, "request")),
			&sent->body);
	if (!sent->is_same)
		rt_cli_note(cli, "%s", RT_CLI_NOT_EXACT);
	if (rt_cli_has(cli, "send"))
		resend(cli, f.request, rt_buf_str(&sent->body));
	else
		rt_cli_print_json(cli, &sent->body);
}

static const rt_flag replay_flags[] = {
	{"send", 0, NULL, RT_ARG_TEXT, "send it again; the reply is printed, not stored"},
	{"model", 'm', "MODEL", RT_ARG_MODEL, "with --send: the model"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_replay = {
	.name = "replay",
	.group = RT_COMMANDS_ASKING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY [--send]",
	.summary = "print the request of a reply, byte for byte",
	.about =
		"The request is rebuilt from the conversation at that time and compared with the "
		"request log. If they differ, for example because a hook changed it, it is taken "
		"from the log. Purged texts are missing.",
	.examples = "retake replay :2\nretake replay @ --send",
	.flags = replay_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_replay,
};
